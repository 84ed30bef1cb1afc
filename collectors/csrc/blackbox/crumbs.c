/* Crumbs: nodes of a copy that write a word each, once the node before them has ended.
 *
 * They are leaves: nothing waits for them. A node in front of all others clears the words, so that
 * those of a launch that runs are its own; one behind all others writes that it has ended. With memory
 * barriers, which nobody needs: the driver takes no write without one in a graph (580: invalid value).
 */
#include "blackbox/parts.h"
#include "calls/calls.h"
#include "graph/graph.h"
#include "spool/spool.h"

#include <stdlib.h>
#include <string.h>

#define WRITE_VALUE_32 2      /* CU_STREAM_MEM_OP_WRITE_VALUE_32 */
/* At the level of layers: nodes from one crumb to the next, where the range changes, and at most. */
#define FEWEST_NODES 4
#define MOST_NODES 12

GVIZ_LOCK(lock);
static struct crumbs *all;

/* -- which nodes leave one -------------------------------------------------------------------------- */

static bool range_ends(const struct level *level, size_t i) {
    uint64_t graph = (uint64_t)level->graph_id << 32;
    return i + 1 < level->count &&
           ranges_of(graph | level->ids[i]) != ranges_of(graph | level->ids[i + 1]);
}

/* Call for each node that leaves a crumb, in the same order for a graph and its clones. */
static bool choose(const struct level *level, bool (*chosen)(const struct level *level, size_t i, void *to),
                   void *to) {
    size_t since = 0;
    for (size_t i = 0; i < level->count; i++) {
        since++;
        bool due = options.black_box == BLACK_BOX_NODE || since >= MOST_NODES ||
                   (since >= FEWEST_NODES && range_ends(level, i));
        if (due && level->timeable[i]) {
            if (!chosen(level, i, to))
                return false;
            since = 0;
        }
    }
    for (size_t i = 0; i < level->count; i++)
        if (level->children[i] && !choose(level->children[i], chosen, to))
            return false;
    return true;
}

static bool count_one(const struct level *level, size_t i, void *to) {
    (void)level;
    (void)i;
    ++*(uint32_t *)to;
    return true;
}

static bool list_one(const struct level *level, size_t i, void *to) {
    struct crumbs *crumbs = to;
    crumbs->nodes[crumbs->count++] = (struct crumb){level->graph_id, level->ids[i]};
    return true;
}

/* -- in a copy ------------------------------------------------------------------------------------------ */

static bool good_or_noted(const char *call, int result) {
    if (result != 0)
        note("warning", "a copy could not be given crumbs: %s returned %d", call, result);
    return result == 0;
}

static bool add_write(CUgraph graph, const CUgraphNode *after, size_t count, uint32_t place) {
    MemoryWrite write = {.operation = WRITE_VALUE_32, .address = words_on_device(place), .value = 1};
    BatchMemOpParams params = {.count = 1, .operations = &write};
    CUgraphNode node;
    return cuda.CtxGetCurrent(&params.ctx) == 0 &&
           good_or_noted("cuGraphAddBatchMemOpNode",
                         cuda.GraphAddBatchMemOpNode(&node, graph, after, count, &params));
}

struct placing {
    uint32_t place;
};

static bool add_one(const struct level *level, size_t i, void *to) {
    struct placing *placing = to;
    return add_write(level->graph, &level->nodes[i], 1, ++placing->place);
}

static int compare(const void *a, const void *b) {
    const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

/* The nodes of a level that are not among `others`, which is sorted here. */
static size_t without(const struct level *level, CUgraphNode *others, size_t count, CUgraphNode *found) {
    size_t n = 0;
    qsort(others, count, sizeof *others, compare);
    for (size_t i = 0; i < level->count; i++)
        if (!bsearch(&level->nodes[i], others, count, sizeof *others, compare))
            found[n++] = level->nodes[i];
    return n;
}

static bool clear_before(const struct level *level, const struct crumbs *crumbs, const CUgraphNode *roots,
                         size_t count) {
    MemsetParams params = {.dst = words_on_device(crumbs->first), .element_size = 4,
                           .width = crumbs->count + 1, .height = 1};
    CUgraphNode clear, *from = calloc(count + 1, sizeof *from);
    EdgeData *plain = calloc(count + 1, sizeof *plain);
    CUcontext context = NULL;
    bool good = from && plain && cuda.CtxGetCurrent(&context) == 0 &&
                good_or_noted("cuGraphAddMemsetNode",
                              cuda.GraphAddMemsetNode(&clear, level->graph, NULL, 0, &params, context));
    for (size_t i = 0; good && i < count; i++)
        from[i] = clear;
    if (good)
        good = good_or_noted("cuGraphAddDependencies",
                             cuda.GraphAddDependencies
                                 ? cuda.GraphAddDependencies(level->graph, from, roots, plain, count)
                                 : cuda.GraphAddDependenciesOld(level->graph, from, roots, count));
    free(from);
    free(plain);
    return good;
}

static bool edits(const struct level *level, const void *what) {
    const struct crumbs *crumbs = what;
    size_t count = level->edge_count, room = count + level->count + 1;
    CUgraphNode *from = calloc(room, sizeof *from), *to = calloc(room, sizeof *to);
    CUgraphNode *roots = calloc(room, sizeof *roots), *last = calloc(room, sizeof *last);
    EdgeData *data = calloc(room, sizeof *data);
    struct placing placing = {crumbs->first};
    bool good = from && to && roots && last && data;
    if (good && count)
        count = graph_edges(level->graph, from, to, data, count);
    if (good) {
        size_t root_count = without(level, to, count, roots), last_count = without(level, from, count, last);
        good = choose(level, add_one, &placing) && add_write(level->graph, last, last_count, crumbs->first) &&
               clear_before(level, crumbs, roots, root_count);
    }
    free(from);
    free(to);
    free(roots);
    free(last);
    free(data);
    return good;
}

/* -- life ------------------------------------------------------------------------------------------------ */

static void drop(struct crumbs *crumbs) {
    free(crumbs->nodes);
    free(crumbs);
}

static void *begins(const struct level *level, uint32_t exec_id, const char **why) {
    uint32_t count = 0;
    if ((*why = words_open()))
        return NULL;
    choose(level, count_one, &count);
    struct crumbs *crumbs = calloc(1, sizeof *crumbs);
    if (crumbs)
        *crumbs = (struct crumbs){.graph_id = level->graph_id, .exec_id = exec_id, .first = UINT32_MAX,
                                  .nodes = calloc(count + 1, sizeof *crumbs->nodes)};
    if (crumbs && crumbs->nodes)
        crumbs->first = words_take(count + 1);
    if (!crumbs || crumbs->first == UINT32_MAX) {
        *why = "the file of crumbs is full: it has 262,144";
        if (crumbs)
            drop(crumbs);
        return NULL;
    }
    choose(level, list_one, crumbs);
    return crumbs;
}

static void made(void *what, CUcontext context, CUevent end) {
    struct crumbs *crumbs = what;
    struct crumbs_record record = {crumbs->graph_id, crumbs->exec_id, crumbs->first, crumbs->count};
    struct slice slices[] = {{&record, sizeof record}, {crumbs->nodes, crumbs->count * sizeof *crumbs->nodes}};
    for (uint32_t i = 0; i <= crumbs->count; i++)
        atomic_store(words_at(crumbs->first + i), 1);
    spool_append(RECORD_CRUMBS, slices, 2);
    crumbs->end = end;
    crumbs->context = context;
    crumbs->since_ns = now_ns();
    pthread_mutex_lock(&lock);
    crumbs->made = true;
    crumbs->next = all;
    all = crumbs;
    pthread_mutex_unlock(&lock);
}

static void launched(void *what) {
    struct crumbs *crumbs = what;
    atomic_fetch_add_explicit(&crumbs->launches, 1, memory_order_relaxed);
}

static void over(void *what) {
    struct crumbs *crumbs = what;
    pthread_mutex_lock(&lock);
    for (struct crumbs **at = &all; *at; at = &(*at)->next)
        if (*at == crumbs) {
            *at = crumbs->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    /* What is in flight still may write: its words are not used again. */
    if (!crumbs->made || atomic_load(words_at(crumbs->first)) == 1)
        words_give_back(crumbs->first, crumbs->count + 1);
    drop(crumbs);
}

static void refused(uint32_t graph_id, uint32_t exec_id, const char *why) {
    struct crumbs_refused_record record = {graph_id, exec_id};
    struct slice slices[] = {{&record, sizeof record}, {why, strlen(why)}};
    spool_append(RECORD_CRUMBS_REFUSED, slices, 2);
}

const struct lasting_maker crumbs_maker = {begins, edits, made, launched, is_fault, over, refused};

void crumbs_each(void (*look)(struct crumbs *crumbs)) {
    pthread_mutex_lock(&lock);
    for (struct crumbs *crumbs = all; crumbs; crumbs = crumbs->next)
        look(crumbs);
    pthread_mutex_unlock(&lock);
}

void crumbs_abandon(void) { all = NULL; }
