/* What waits for what once nodes have left a graph: those that remain keep their order.
 *
 * Nodes leave in an order in which each comes after those it waits for. So what a node is waited for by
 * is what it was, when it leaves, and only what it waits for has changed. Which dependencies are there is
 * kept in a table, so that a node with thousands of them is not looked through for each of the thousands.
 */
#include "trial/parts.h"

#include <stdlib.h>
#include <string.h>

/* -- a table of dependencies: a node, and one that waits for it -------------------------------------------- */

struct pair {
    uint64_t key; /* 0: nothing stands here */
    bool there;
};

static uint64_t key_of(size_t from, size_t to) { return ((uint64_t)from << 32 | to) + 1; }

static struct pair *find(struct pair *pairs, size_t room, uint64_t key) {
    size_t at = key * 0x9E3779B97F4A7C15ull >> 20 & (room - 1);
    while (pairs[at].key && pairs[at].key != key)
        at = (at + 1) & (room - 1);
    return &pairs[at];
}

static bool make_room(struct removal *removal) {
    size_t room = removal->pair_room ? 2 * removal->pair_room : 64;
    struct pair *grown = calloc(room, sizeof *grown);
    if (!grown)
        return false;
    for (size_t i = 0; i < removal->pair_room; i++)
        if (removal->pairs[i].key)
            *find(grown, room, removal->pairs[i].key) = removal->pairs[i];
    free(removal->pairs);
    removal->pairs = grown;
    removal->pair_room = room;
    return true;
}

static bool is_there(const struct removal *removal, size_t from, size_t to) {
    return find(removal->pairs, removal->pair_room, key_of(from, to))->there;
}

static void set_there(struct removal *removal, size_t from, size_t to, bool there) {
    if (2 * (removal->pair_count + 1) > removal->pair_room && !make_room(removal)) {
        removal->failed = true;
        return;
    }
    struct pair *pair = find(removal->pairs, removal->pair_room, key_of(from, to));
    removal->pair_count += !pair->key;
    *pair = (struct pair){key_of(from, to), there};
}

/* -- what a node waits for ------------------------------------------------------------------------------------ */

/* `arc`: of the graph; NOWHERE: a dependency that is not there yet. */
static void add_wait(struct removal *removal, size_t of, size_t from, size_t arc) {
    struct waits *waits = &removal->of[of];
    if (waits->count == waits->room) {
        size_t room = waits->room ? 2 * waits->room : 4;
        struct wait *grown = realloc(waits->all, room * sizeof *grown);
        if (!grown) {
            removal->failed = true;
            return;
        }
        waits->all = grown;
        waits->room = room;
    }
    waits->all[waits->count++] = (struct wait){from, arc};
    set_there(removal, from, of, true);
}

static void drop_arc(struct removal *removal, size_t arc) {
    removal->dropped[arc] = true;
    set_there(removal, removal->arcs[arc].from, removal->arcs[arc].to, false);
}

/* Those of a node that were dropped go from the list. */
static struct waits *waits_of(struct removal *removal, size_t of) {
    struct waits *waits = &removal->of[of];
    size_t kept = 0;
    for (size_t i = 0; i < waits->count; i++)
        if (waits->all[i].arc == NOWHERE || !removal->dropped[waits->all[i].arc])
            waits->all[kept++] = waits->all[i];
    waits->count = kept;
    return waits;
}

/* Whether a node waits for another by what else it waits for, but for one that leaves. */
static bool is_implied(struct removal *removal, size_t of, size_t from, size_t leaving) {
    struct waits *waits = &removal->of[of];
    bool may_be = removal->order.before;
    if (from == leaving) /* else it is before none of the others */
        may_be = may_be && removal->index.first[from + 1] - removal->index.first[from] > 1;
    for (size_t i = 0; may_be && i < waits->count;) {
        const struct wait *wait = &waits->all[i];
        if (wait->arc != NOWHERE && removal->dropped[wait->arc]) {
            waits->all[i] = waits->all[--waits->count];
            continue;
        }
        if (wait->from != leaving && order_has(&removal->order, from, wait->from))
            return true;
        i++;
    }
    return false;
}

static bool waits_anyway(struct removal *removal, size_t of, size_t from, size_t leaving) {
    return is_there(removal, from, of) || is_implied(removal, of, from, leaving);
}

/* A node waits for no other that these imply, where it is gviz's to say. */
static bool leave_last_ones(struct removal *removal, size_t of) {
    struct waits *waits = waits_of(removal, of);
    size_t *from = calloc(waits->count + 1, sizeof *from), kept = 0;
    bool *last = calloc(waits->count + 1, sizeof *last);
    for (size_t i = 0; from && i < waits->count; i++)
        from[i] = waits->all[i].from;
    bool good = from && last && order_find_last(&removal->order, from, waits->count, last);
    for (size_t i = 0; good && i < waits->count; i++)
        if (last[i])
            waits->all[kept++] = waits->all[i];
    if (good)
        waits->count = kept;
    free(from);
    free(last);
    return good;
}

/* -- a node leaves ----------------------------------------------------------------------------------------------- */

static size_t waiter(const struct removal *removal, size_t k) { return removal->arcs[removal->index.by[k]].to; }

/* Whether no more dependencies are needed with nothing in a node's place than with an empty node there. */
static bool needs_no_other(struct removal *removal, size_t at) {
    const struct waits *waits = &removal->of[at];
    size_t first = removal->index.first[at], end = removal->index.first[at + 1];
    size_t direct = 0, through = waits->count;
    for (size_t k = first; k < end; k++)
        through += !is_implied(removal, waiter(removal, k), at, at);
    for (size_t k = first; k < end && direct <= through; k++)
        for (size_t i = 0; i < waits->count && direct <= through; i++)
            direct += !waits_anyway(removal, waiter(removal, k), waits->all[i].from, at);
    return direct <= through;
}

/* What waited for the node waits for what it waited for, unless it does so anyway. */
static void hand_on(struct removal *removal, size_t at) {
    const struct waits *waits = &removal->of[at];
    for (size_t k = removal->index.first[at]; k < removal->index.first[at + 1]; k++) {
        size_t to = waiter(removal, k);
        drop_arc(removal, removal->index.by[k]);
        for (size_t i = 0; i < waits->count; i++)
            if (!waits_anyway(removal, to, waits->all[i].from, at))
                add_wait(removal, to, waits->all[i].from, NOWHERE);
    }
}

/* What waits for it by others, too, does not wait for what has its place. */
static void leave_implied(struct removal *removal, size_t at) {
    for (size_t k = removal->index.first[at]; k < removal->index.first[at + 1]; k++)
        if (is_implied(removal, waiter(removal, k), at, at))
            drop_arc(removal, removal->index.by[k]);
}

enum leaving removal_leave(struct removal *removal, size_t at) {
    removal->leaves[at] = true;
    if (!leave_last_ones(removal, at))
        return LEAVING_FAILED;
    bool alone = needs_no_other(removal, at);
    if (alone)
        hand_on(removal, at);
    else
        leave_implied(removal, at);
    return removal->failed ? LEAVING_FAILED : alone ? LEAVING_DONE : LEAVING_NEEDS_OTHER;
}

/* -- all of it --------------------------------------------------------------------------------------------------- */

bool removal_make(struct removal *removal, const struct level *level) {
    *removal = (struct removal){.nodes = level->count};
    removal->arcs = arcs_of(level, &removal->arc_count);
    removal->of = calloc(level->count + 1, sizeof *removal->of);
    removal->leaves = calloc(level->count + 1, sizeof *removal->leaves);
    removal->dropped = calloc(removal->arc_count + 1, sizeof *removal->dropped);
    if (!removal->arcs || !removal->of || !removal->leaves || !removal->dropped || !make_room(removal) ||
        !index_make(&removal->index, removal->arcs, removal->arc_count, level->count) ||
        !order_make(&removal->order, removal->arcs, removal->arc_count, level->count))
        return false;
    for (size_t i = 0; i < removal->arc_count; i++)
        add_wait(removal, removal->arcs[i].to, removal->arcs[i].from, i);
    return !removal->failed;
}

void removal_free(struct removal *removal) {
    for (size_t i = 0; removal->of && i < removal->nodes; i++)
        free(removal->of[i].all);
    free(removal->of);
    free(removal->arcs);
    free(removal->leaves);
    free(removal->dropped);
    free(removal->pairs);
    index_free(&removal->index);
    order_free(&removal->order);
    memset(removal, 0, sizeof *removal);
}

bool removal_rewire(const struct removal *removal, const struct level *level, CUgraphNode *made) {
    bool good = true;
    for (size_t i = 0; good && i < level->count; i++) {
        good = !removal->leaves[i] || cuda.GraphDestroyNode(level->nodes[i]) == 0;
        if (good && removal->leaves[i])
            level->nodes[i] = made[i];
    }
    for (size_t i = 0; good && i < level->count; i++)
        for (size_t k = 0; good && level->nodes[i] && k < removal->of[i].count; k++) {
            const struct wait *wait = &removal->of[i].all[k];
            bool dropped = wait->arc != NOWHERE && removal->dropped[wait->arc];
            bool is_new = wait->arc == NOWHERE || removal->leaves[i] || removal->leaves[wait->from];
            good = dropped || !is_new || arc_add(level, level->nodes[wait->from], level->nodes[i]);
        }
    return good;
}
