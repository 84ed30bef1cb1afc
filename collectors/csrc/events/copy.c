/* The instrumented copy: a clone of a graph with an event before and one after each node.
 *
 *   P -> N            becomes            P -> after P -> before N -> N -> after N
 *
 * so that a node runs between its two events and nothing else does on its path. Two events a
 * node and not one: the time between events then holds the node and a constant, which
 * calibrate.c measures, and not the wait for the node's dependencies. Nodes outside the slice
 * [first, last) of the timeable nodes, in order, stay as they are.
 */
#include "calls/calls.h"
#include "events/parts.h"
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>

static __thread char error[160];

const char *copy_error(void) { return error; }

static bool failed(const char *call, CUresult result) {
    snprintf(error, sizeof error, "%s returned %d for the instrumented copy", call, result);
    return false;
}

/* -- edges, in one call a direction -------------------------------------------------------------- */

struct edges {
    CUgraphNode *from, *to;
    EdgeData *data;
    size_t count, room;
};

static void edges_free(struct edges *edges) {
    free(edges->from);
    free(edges->to);
    free(edges->data);
}

static bool edges_make(struct edges *edges, size_t room) {
    room = room ? room : 1;
    *edges = (struct edges){calloc(room, sizeof *edges->from), calloc(room, sizeof *edges->to),
                            calloc(room, sizeof *edges->data), 0, room};
    return edges->from && edges->to && edges->data;
}

static void edge(struct edges *edges, CUgraphNode from, CUgraphNode to, EdgeData data) {
    edges->from[edges->count] = from;
    edges->to[edges->count] = to;
    edges->data[edges->count++] = data;
}

static bool edges_change(const struct edges *edges, CUgraph graph, bool add) {
    if (!edges->count)
        return true;
    CUresult result;
    if (add)
        result = cuda.GraphAddDependencies
                     ? cuda.GraphAddDependencies(graph, edges->from, edges->to, edges->data,
                                                 edges->count)
                     : cuda.GraphAddDependenciesOld(graph, edges->from, edges->to, edges->count);
    else
        result = cuda.GraphRemoveDependencies
                     ? cuda.GraphRemoveDependencies(graph, edges->from, edges->to, edges->data,
                                                    edges->count)
                     : cuda.GraphRemoveDependenciesOld(graph, edges->from, edges->to,
                                                       edges->count);
    return result == 0 ||
           failed(add ? "cuGraphAddDependencies" : "cuGraphRemoveDependencies", result);
}

/* -- one level ------------------------------------------------------------------------------------- */

/* A node's event nodes, found by its handle. */
struct around {
    CUgraphNode node, before, after;
};

static int compare_nodes(const void *a, const void *b) {
    const uintptr_t x = (uintptr_t)((const struct around *)a)->node;
    const uintptr_t y = (uintptr_t)((const struct around *)b)->node;
    return (x > y) - (x < y);
}

static const struct around *look_up(const struct around *all, size_t count, CUgraphNode node) {
    struct around key = {.node = node};
    return bsearch(&key, all, count, sizeof key, compare_nodes);
}

static bool add_event(CUgraph graph, CUgraphNode *out, const CUgraphNode *after, size_t count,
                      CUevent *event) {
    CUresult result = cuda.EventCreate(event, 0);
    if (result != 0) {
        *event = NULL;
        return failed("cuEventCreate", result);
    }
    result = cuda.GraphAddEventRecordNode(out, graph, after, count, *event);
    return result == 0 || failed("cuGraphAddEventRecordNode", result);
}

static bool surround(struct copy *copy, const struct level *level, size_t i, struct around *around,
                     struct edges *added) {
    struct timed_node *timed = &copy->timed[copy->timed_count++];
    *timed = (struct timed_node){level->graph_id, level->ids[i], level->types[i], level->first + i,
                                 NULL, NULL};
    around->node = level->nodes[i];
    if (!add_event(level->graph, &around->before, NULL, 0, &timed->before) ||
        !add_event(level->graph, &around->after, &around->node, 1, &timed->after))
        return false;
    edge(added, around->before, around->node, (EdgeData){0});
    return true;
}

/* Take the old edges away and let them run from event to event. `around` is sorted. */
static bool rewire(const struct level *level, const struct around *around, size_t count,
                   struct edges *old, struct edges *added) {
    struct edges removed;
    bool good = edges_make(&removed, old->count);
    for (size_t i = 0; good && i < old->count; i++) {
        const struct around *from = look_up(around, count, old->from[i]);
        const struct around *to = look_up(around, count, old->to[i]);
        if (!from && !to)
            continue;
        edge(&removed, old->from[i], old->to[i], old->data[i]);
        edge(added, from ? from->after : old->from[i], to ? to->before : old->to[i],
             (EdgeData){0});
    }
    good = good && edges_change(&removed, level->graph, false) &&
           edges_change(added, level->graph, true);
    edges_free(&removed);
    return good;
}

/* `counter` numbers the timeable nodes of all levels, for the slice. */
static bool instrument(struct copy *copy, const struct level *level, size_t first, size_t last,
                       size_t *counter) {
    struct edges old, added;
    struct around *around = calloc(level->count + 1, sizeof *around);
    bool good = edges_make(&old, level->edge_count) && around;
    good = edges_make(&added, level->edge_count + level->count) && good;
    size_t count = 0;
    if (good)
        old.count = graph_edges(level->graph, old.from, old.to, old.data, level->edge_count);
    for (size_t i = 0; good && i < level->count; i++) {
        if (!level->timeable[i])
            continue;
        size_t number = (*counter)++;
        if (number >= first && number < last)
            good = surround(copy, level, i, &around[count++], &added);
    }
    if (around)
        qsort(around, count, sizeof *around, compare_nodes);
    good = good && rewire(level, around, count, &old, &added);
    for (size_t i = 0; good && i < level->count; i++)
        if (level->children[i])
            good = instrument(copy, level->children[i], first, last, counter);
    edges_free(&old);
    edges_free(&added);
    free(around);
    return good;
}

/* -- the whole -------------------------------------------------------------------------------------- */

static void event_free(CUevent event) {
    if (event)
        cuda.EventDestroy(event);
}

/* The driver frees an executable that still runs once it has finished. */
void copy_free(struct copy *copy) {
    if (!copy)
        return;
    if (copy->exec)
        cuda.GraphExecDestroy(copy->exec);
    if (copy->graph)
        cuda.GraphDestroy(copy->graph);
    for (size_t i = 0; i < copy->timed_count; i++) {
        event_free(copy->timed[i].before);
        event_free(copy->timed[i].after);
    }
    event_free(copy->start);
    event_free(copy->end);
    free(copy->nodes);
    free(copy->left_out);
    free(copy->timed);
    free(copy);
}

/* Put events into `graph`, whose nodes are `level`, and instantiate it as the original was.
 * The graph belongs to the copy from here on, also when NULL is returned. */
struct copy *copy_make(CUgraph graph, struct level *level, uint64_t flags, size_t first,
                       size_t last) {
    struct copy *copy = calloc(1, sizeof *copy);
    size_t counter = 0, nodes = level_nodes(level);
    error[0] = 0;
    if (!copy) {
        cuda.GraphDestroy(graph);
        return NULL;
    }
    copy->graph = graph;
    copy->timed = calloc(last - first + 1, sizeof *copy->timed);
    copy->nodes = calloc(nodes + 1, sizeof *copy->nodes);
    copy->left_out = calloc(nodes + 1, sizeof *copy->left_out);
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    bool good = copy->timed && copy->nodes && copy->left_out &&
                instrument(copy, level, first, last, &counter);
    if (good)
        level_list(level, copy->nodes);
    CUresult result = good ? cuda.GraphInstantiate(&copy->exec, graph, flags) : 0;
    if (result != 0) {
        copy->exec = NULL;
        good = failed("cuGraphInstantiate", result);
    }
    if (good && (result = cuda.EventCreate(&copy->start, 0)) == 0)
        result = cuda.EventCreate(&copy->end, 0);
    if (good && result != 0)
        good = failed("cuEventCreate", result);
    if (!good) {
        copy_free(copy);
        copy = NULL;
    }
    exchange_capture_mode(mode);
    return copy;
}

/* Launch in the original's place. Nothing was launched unless this returns 0. */
int copy_launch(struct copy *copy, CUstream stream) {
    CUresult result = copy->timed_count ? cuda.EventRecord(copy->start, stream) : 0;
    if (result != 0) {
        failed("cuEventRecord", result);
        return result;
    }
    result = cuda.GraphLaunch(copy->exec, stream);
    if (result != 0) {
        failed("cuGraphLaunch", result);
        return result;
    }
    if ((result = cuda.EventRecord(copy->end, stream)) != 0) {
        failed("cuEventRecord", result);
        copy->lost = true;
    }
    return 0;
}

bool copy_finished(struct copy *copy) {
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    bool done = cuda.EventQuery(copy->end) == 0;
    exchange_capture_mode(mode);
    return done;
}

static bool elapsed_ns(CUevent from, CUevent to, uint64_t *out) {
    int64_t ns;
    if (!event_distance(from, to, &ns) || ns < 0)
        return false;
    *out = (uint64_t)ns;
    return true;
}

/* Read the events of the finished launch; `times` has room for timed_count. */
bool copy_read(struct copy *copy, struct node_time *times, uint32_t *count, uint64_t *extent_ns) {
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    bool good = elapsed_ns(copy->start, copy->end, extent_ns);
    *count = 0;
    for (size_t i = 0; good && i < copy->timed_count; i++) {
        const struct timed_node *node = &copy->timed[i];
        if (atomic_fetch_and(&copy->left_out[node->place], LEFT_OUT)) /* by then, or meanwhile */
            continue;
        struct node_time *time = &times[(*count)++];
        time->graph_id = node->graph_id;
        time->node_id = node->node_id;
        good = elapsed_ns(copy->start, node->before, &time->start_ns) &&
               elapsed_ns(node->before, node->after, &time->between_ns);
    }
    exchange_capture_mode(mode);
    return good;
}
