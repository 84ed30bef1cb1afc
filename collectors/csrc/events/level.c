/* A graph and its child graphs as lists of nodes, and the same nodes found again in a clone. */
#include "events/parts.h"
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 16

void level_free(struct level *level) {
    if (!level)
        return;
    for (size_t i = 0; level->children && i < level->count; i++)
        level_free(level->children[i]);
    free(level->nodes);
    free(level->ids);
    free(level->types);
    free(level->timeable);
    free(level->children);
    free(level);
}

static struct level *level_new(CUgraph graph, uint32_t graph_id, size_t count) {
    struct level *level = calloc(1, sizeof *level);
    if (!level)
        return NULL;
    size_t room = count ? count : 1;
    *level = (struct level){.graph = graph, .graph_id = graph_id, .count = count,
                            .nodes = calloc(room, sizeof *level->nodes),
                            .ids = calloc(room, sizeof *level->ids),
                            .types = calloc(room, sizeof *level->types),
                            .timeable = calloc(room, sizeof *level->timeable),
                            .children = calloc(room, sizeof *level->children)};
    if (level->nodes && level->ids && level->types && level->timeable && level->children)
        return level;
    level_free(level);
    return NULL;
}

static bool may_be_timed(int type) {
    return type != NODE_GRAPH && type != NODE_EMPTY && type != NODE_WAIT_EVENT &&
           type != NODE_EVENT_RECORD && type != NODE_MEM_ALLOC && type != NODE_MEM_FREE &&
           type != NODE_CONDITIONAL;
}

static int compare_handles(const void *a, const void *b) {
    const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

/* An event on a programmatic edge would turn it into a full one: its ends are left alone. */
static void leave_programmatic_alone(struct level *level) {
    size_t count = level->edge_count, ends = 0;
    CUgraphNode *from = calloc(count + 1, sizeof *from), *to = calloc(count + 1, sizeof *to);
    CUgraphNode *special = calloc(2 * count + 1, sizeof *special);
    EdgeData *data = calloc(count + 1, sizeof *data);
    if (count && from && to && special && data) {
        count = graph_edges(level->graph, from, to, data, count);
        for (size_t i = 0; i < count; i++)
            if (data[i].type || data[i].from_port || data[i].to_port) {
                special[ends++] = from[i];
                special[ends++] = to[i];
            }
        qsort(special, ends, sizeof *special, compare_handles);
        for (size_t i = 0; ends && i < level->count; i++)
            if (bsearch(&level->nodes[i], special, ends, sizeof *special, compare_handles))
                level->timeable[i] = false;
    }
    free(from);
    free(to);
    free(special);
    free(data);
}

/* Give the nodes of all levels their places, a level's own before those of child graphs. */
static size_t number(struct level *level, size_t first) {
    level->first = first;
    first += level->count;
    for (size_t i = 0; i < level->count; i++)
        if (level->children[i])
            first = number(level->children[i], first);
    return first;
}

void level_list(const struct level *level, CUgraphNode *nodes) {
    memcpy(nodes + level->first, level->nodes, level->count * sizeof *nodes);
    for (size_t i = 0; i < level->count; i++)
        if (level->children[i])
            level_list(level->children[i], nodes);
}

/* Read a graph and its child graphs. */
struct level *level_read(CUgraph graph, int depth) {
    size_t count = 0;
    uint32_t graph_id = 0;
    if (cuda.GraphGetNodes(graph, NULL, &count) != 0 || cupti.cuptiGetGraphId(graph, &graph_id) != 0)
        return NULL;
    struct level *level = level_new(graph, graph_id, count);
    if (!level)
        return NULL;
    if (cuda.GraphGetNodes(graph, level->nodes, &count) != 0) {
        level_free(level);
        return NULL;
    }
    level->edge_count = graph_edges(graph, NULL, NULL, NULL, 0);
    for (size_t i = 0; i < level->count; i++) {
        CUgraph child = NULL;
        uint64_t id = 0;
        cupti.cuptiGetGraphNodeId(level->nodes[i], &id);
        level->ids[i] = (uint32_t)id;
        level->types[i] = -1;
        cuda.GraphNodeGetType(level->nodes[i], &level->types[i]);
        level->timeable[i] = may_be_timed(level->types[i]);
        if (level->types[i] == NODE_GRAPH && depth < MAX_DEPTH &&
            cuda.GraphChildGraphNodeGetGraph(level->nodes[i], &child) == 0 && child)
            level->children[i] = level_read(child, depth + 1);
    }
    leave_programmatic_alone(level);
    if (depth == 0)
        number(level, 0);
    return level;
}

/* -- clones ---------------------------------------------------------------------------------- */

static bool attributes_equal(CUgraphNode a, CUgraphNode b) {
    static const struct {
        int number;
        size_t bytes;
    } attributes[] = {{LAUNCH_ATTRIBUTE_COOPERATIVE, 4},
                      {LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 12},
                      {LAUNCH_ATTRIBUTE_PRIORITY, 4}};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        LaunchAttributeValue mine, other;
        memset(&mine, 0, sizeof mine);
        memset(&other, 0, sizeof other);
        if (!cuda.GraphKernelNodeGetAttribute ||
            cuda.GraphKernelNodeGetAttribute(a, attributes[i].number, &mine) !=
                cuda.GraphKernelNodeGetAttribute(b, attributes[i].number, &other) ||
            memcmp(&mine, &other, attributes[i].bytes) != 0)
            return false;
    }
    return true;
}

/* The partner of a node in a clone: looked up, or, in an embedded child graph, for which the
 * driver need not answer, the node at the same place. */
static CUgraphNode partner(CUgraphNode node, CUgraph clone, const CUgraphNode *in_order, size_t at) {
    CUgraphNode found = NULL;
    if (cuda.GraphNodeFindInClone(&found, node, clone) == 0 && found)
        return found;
    return in_order[at];
}

/* Return the same nodes in a clone of the graph; NULL where they cannot be distinguished. `check`:
 * also that the clone kept the launch attributes. */
struct level *level_in_clone(const struct level *original, CUgraph clone, bool check) {
    size_t count = 0;
    if (cuda.GraphGetNodes(clone, NULL, &count) != 0 || count != original->count)
        return NULL;
    struct level *level = level_new(clone, original->graph_id, count);
    CUgraphNode *in_order = calloc(count + 1, sizeof *in_order);
    bool good = level && in_order && cuda.GraphGetNodes(clone, in_order, &count) == 0;
    if (good) {
        level->first = original->first;
        level->edge_count = original->edge_count;
    }
    for (size_t i = 0; good && i < original->count; i++) {
        int type = -1;
        level->nodes[i] = partner(original->nodes[i], clone, in_order, i);
        good = cuda.GraphNodeGetType(level->nodes[i], &type) == 0 && type == original->types[i];
        level->types[i] = type;
        level->ids[i] = original->ids[i];
        level->timeable[i] = original->timeable[i];
        if (good && check && type == NODE_KERNEL)
            good = attributes_equal(original->nodes[i], level->nodes[i]);
        CUgraph child = NULL;
        if (good && original->children[i]) {
            good = cuda.GraphChildGraphNodeGetGraph(level->nodes[i], &child) == 0 && child;
            level->children[i] =
                good ? level_in_clone(original->children[i], child, check) : NULL;
            good = level->children[i] != NULL;
        }
    }
    free(in_order);
    if (good)
        return level;
    level_free(level);
    return NULL;
}

size_t level_nodes(const struct level *level) {
    size_t count = level->count;
    for (size_t i = 0; i < level->count; i++)
        if (level->children[i])
            count += level_nodes(level->children[i]);
    return count;
}

/* -- what may not be copied --------------------------------------------------------------------- */

static bool on_device(CUcontext context, int device) {
    CUdevice found = -1;
    CUcontext popped;
    if (!context || cuda.CtxPushCurrent(context) != 0)
        return true; /* not named: the graph's own */
    bool same = cuda.CtxGetDevice(&found) != 0 || found == device;
    cuda.CtxPopCurrent(&popped);
    return same;
}

static const char *kernel_obstacle(CUgraphNode node, int device) {
    KernelParams params;
    LaunchAttributeValue value;
    memset(&params, 0, sizeof params);
    memset(&value, 0, sizeof value);
    if (cuda.GraphKernelNodeGetParams(node, &params) != 0)
        return "the parameters of a kernel node cannot be read";
    if (!on_device(params.ctx, device))
        return "it spans several devices, whose events cannot be compared";
    if (cuda.GraphKernelNodeGetAttribute &&
        cuda.GraphKernelNodeGetAttribute(node, LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE, &value) == 0 &&
        value.value)
        return "it has kernel nodes that the device updates, which a copy would not follow";
    return NULL;
}

const char *level_obstacle(const struct level *level, int device) {
    const char *why = NULL;
    for (size_t i = 0; i < level->count && !why; i++) {
        if (level->types[i] == NODE_MEM_ALLOC || level->types[i] == NODE_MEM_FREE)
            why = "it allocates or frees memory, and the driver does not clone such graphs";
        else if (level->types[i] == NODE_CONDITIONAL)
            why = "it has conditional nodes, and the driver does not clone such graphs";
        else if (level->types[i] == NODE_KERNEL)
            why = kernel_obstacle(level->nodes[i], device);
        else if (level->types[i] == NODE_GRAPH && !level->children[i])
            why = "a child graph in it cannot be read";
        else if (level->children[i])
            why = level_obstacle(level->children[i], device);
    }
    return why;
}
