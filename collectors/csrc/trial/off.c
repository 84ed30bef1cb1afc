/* Kernels left out, or replaced by pauses: what follows them computes something else, or never ends.
 *
 * So this is tried in the process's last moment alone (last.c). Memsets stay, as kernels wait for what
 * they reset, and kernels that by their names make indices or random numbers, which others use as
 * addresses.
 */
#include "trial/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* In names of kernels, in lower case. */
static const char *const makers[] = {"index", "indices", "offset", "arange", "iota", "sort", "topk", "argm", "scan",
                                     "cumsum", "unique", "nonzero", "bincount", "histogram", "rand", "philox",
                                     "rout", "permut", "semaphore", "barrier"};

/* Of a kernel without a name nothing is known. */
static bool may_make_indices(const char *name) {
    char lower[512];
    size_t i = 0;
    for (; name && name[i] && i < sizeof lower - 1; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    lower[i] = 0;
    for (i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strstr(lower, makers[i]))
            return true;
    return !lower[0];
}

size_t off_find(const struct level *level, struct edits *families, size_t most) {
    struct parts found = delays_find(level);
    size_t kept = 0;
    for (size_t i = 0; i < found.count; i++) {
        struct edits *family = &found.all[i];
        if (i >= most || may_make_indices(delays_name(level, family))) {
            free(family->edits);
            continue;
        }
        for (size_t k = 0; k < family->count; k++)
            family->edits[k].kind = CHANGE_OFF;
        families[kept++] = *family;
    }
    free(found.all);
    return kept;
}

/* -- what waits for what then --------------------------------------------------------------------- */

/* A node that another waits for. */
struct wait {
    size_t from;
    bool made; /* the dependency is not there yet */
};
struct waits {
    struct wait *all;
    size_t count, room;
};
struct removal {
    const struct level *level;
    const struct arc *arcs;
    size_t arc_count;
    struct order order;
    struct waits *of;  /* of each node */
    CUgraphNode *made; /* in place of each, or NULL */
    bool *leaves;      /* the node is not there any more */
    bool failed;       /* no memory */
};

static void add_wait(struct removal *removal, size_t of, struct wait wait) {
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
    waits->all[waits->count++] = wait;
}

static void drop_wait(struct waits *waits, size_t from) {
    size_t kept = 0;
    for (size_t i = 0; i < waits->count; i++)
        if (waits->all[i].from != from)
            waits->all[kept++] = waits->all[i];
    waits->count = kept;
}

/* Whether a node waits for another, but for one that leaves: itself, or by what else it waits for. */
static bool waits_anyway(const struct removal *removal, size_t of, size_t from, size_t leaving) {
    const struct waits *waits = &removal->of[of];
    for (size_t i = 0; i < waits->count; i++) {
        size_t other = waits->all[i].from;
        if (other != leaving && (other == from || order_has(&removal->order, from, other)))
            return true;
    }
    return false;
}

/* A node waits for no other that these imply, where it is gviz's to say. */
static void leave_last_ones(struct removal *removal, size_t of) {
    struct waits *waits = &removal->of[of];
    for (size_t i = 0; i < waits->count;) {
        size_t from = waits->all[i].from;
        bool implied = false;
        for (size_t k = 0; k < waits->count && !implied; k++)
            implied = order_has(&removal->order, from, waits->all[k].from);
        if (implied)
            drop_wait(waits, from);
        else
            i++;
    }
}

/* How many dependencies there are with nothing, or with an empty node, in a node's place. */
static void count_arcs(const struct removal *removal, size_t at, size_t *direct, size_t *through) {
    const struct waits *waits = &removal->of[at];
    *direct = 0;
    *through = waits->count;
    for (size_t i = 0; i < removal->arc_count; i++) {
        size_t to = removal->arcs[i].to;
        if (removal->arcs[i].from != at)
            continue;
        *through += !waits_anyway(removal, to, at, at);
        for (size_t k = 0; k < waits->count; k++)
            *direct += !waits_anyway(removal, to, waits->all[k].from, at);
    }
}

/* What waited for the node waits for what it waited for, unless it does so anyway. */
static void hand_on(struct removal *removal, size_t at) {
    const struct waits *waits = &removal->of[at];
    for (size_t i = 0; i < removal->arc_count; i++) {
        size_t to = removal->arcs[i].to;
        if (removal->arcs[i].from != at)
            continue;
        drop_wait(&removal->of[to], at);
        for (size_t k = 0; k < waits->count; k++)
            if (!waits_anyway(removal, to, waits->all[k].from, at))
                add_wait(removal, to, (struct wait){waits->all[k].from, true});
    }
}

/* Another node has its place, with the same dependencies. */
static void stand_in(struct removal *removal, size_t at, bool implied_too) {
    for (size_t i = 0; i < removal->of[at].count; i++)
        removal->of[at].all[i].made = true;
    for (size_t i = 0; i < removal->arc_count; i++) {
        size_t to = removal->arcs[i].to;
        if (removal->arcs[i].from != at)
            continue;
        bool implied = waits_anyway(removal, to, at, at);
        drop_wait(&removal->of[to], at);
        if (implied_too || !implied)
            add_wait(removal, to, (struct wait){at, true});
    }
}

/* -- in a copy ------------------------------------------------------------------------------------ */

static bool replace(struct removal *removal, const struct delays *delays, size_t at, const struct trial_edit *edit) {
    const struct level *level = removal->level;
    removal->leaves[at] = true;
    if (edit->kind == CHANGE_SPIN) {
        stand_in(removal, at, true);
        removal->made[at] = delays_pause(level, delays, NULL, edit->value_ns);
        return removal->made[at];
    }
    size_t direct, through;
    leave_last_ones(removal, at);
    count_arcs(removal, at, &direct, &through);
    if (direct <= through) {
        hand_on(removal, at);
        return true;
    }
    stand_in(removal, at, false);
    return cuda.GraphAddEmptyNode(&removal->made[at], level->graph, NULL, 0) == 0;
}

static bool removal_make(struct removal *removal, const struct level *level) {
    *removal = (struct removal){.level = level};
    struct arc *arcs = arcs_of(level, &removal->arc_count);
    removal->arcs = arcs;
    removal->of = calloc(level->count + 1, sizeof *removal->of);
    removal->made = calloc(level->count + 1, sizeof *removal->made);
    removal->leaves = calloc(level->count + 1, sizeof *removal->leaves);
    if (!arcs || !removal->of || !removal->made || !removal->leaves ||
        !order_make(&removal->order, arcs, removal->arc_count, level->count))
        return false;
    for (size_t i = 0; i < removal->arc_count; i++)
        add_wait(removal, arcs[i].to, (struct wait){arcs[i].from, false});
    return !removal->failed;
}

static void removal_free(struct removal *removal) {
    for (size_t i = 0; removal->of && i < removal->level->count; i++)
        free(removal->of[i].all);
    free((void *)removal->arcs);
    free(removal->of);
    free(removal->made);
    free(removal->leaves);
    order_free(&removal->order);
}

/* Nodes go with their dependencies; then come those that were not there. */
static bool rewire(const struct removal *removal) {
    const struct level *level = removal->level;
    bool good = true;
    for (size_t i = 0; good && i < level->count; i++) {
        good = !removal->leaves[i] || cuda.GraphDestroyNode(level->nodes[i]) == 0;
        if (good && removal->leaves[i])
            level->nodes[i] = removal->made[i];
    }
    for (size_t i = 0; good && i < level->count; i++)
        for (size_t k = 0; good && level->nodes[i] && k < removal->of[i].count; k++) {
            const struct wait *wait = &removal->of[i].all[k];
            good = !wait->made || arc_add(level, level->nodes[wait->from], level->nodes[i]);
        }
    return good;
}

bool off_apply(const struct level *level, const void *data) {
    const struct delays *delays = data;
    struct removal removal;
    bool good = removal_make(&removal, level) && cuda.GraphDestroyNode && cuda.GraphAddEmptyNode;
    for (size_t i = 0; good && i < level->count; i++) {
        size_t at = removal.order.nodes[i];
        const struct trial_edit *edit = edit_of(delays->edits, level->graph_id, level->ids[at]);
        good = (!edit || replace(&removal, delays, at, edit)) && !removal.failed;
    }
    good = good && rewire(&removal);
    removal_free(&removal);
    for (size_t i = 0; good && i < level->count; i++)
        good = !level->children[i] || off_apply(level->children[i], data);
    return good;
}
