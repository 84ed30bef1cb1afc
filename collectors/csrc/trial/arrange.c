/* Copies whose nodes stand otherwise: all in one chain, created in another order, by priority.
 *
 * Every node runs, and every order that is needed is kept. Of the outermost graph alone: what child
 * graphs hold stays as it is.
 */
#include "trial/parts.h"

#include <stdlib.h>
#include <string.h>

/* A search per node: of larger graphs neither is tried. */
#define MOST_NODES 8192
#define NOWHERE SIZE_MAX

/* -- orders ------------------------------------------------------------------------------------------- */

/* Orders of a level: `order` is one that dependencies allow, `height` the nodes of the longest way on. */
struct orders {
    size_t *order, *height, *waits;
};

static void orders_free(struct orders *orders) {
    free(orders->order);
    free(orders->height);
    free(orders->waits);
}

static bool orders_make(struct orders *orders, size_t nodes) {
    orders->order = calloc(nodes + 1, sizeof *orders->order);
    orders->height = calloc(nodes + 1, sizeof *orders->height);
    orders->waits = calloc(nodes + 1, sizeof *orders->waits);
    return orders->order && orders->height && orders->waits;
}

/* Of those that wait for nothing the highest, or else the first created. NOWHERE: there is none. */
static size_t next_node(const struct orders *orders, size_t nodes, bool by_height) {
    size_t best = NOWHERE;
    for (size_t i = 0; i < nodes; i++)
        if (!orders->waits[i] && (best == NOWHERE || (by_height && orders->height[i] > orders->height[best])))
            best = i;
    return best;
}

/* Put nodes in an order. Returns whether all have a place: dependencies form no cycle. */
static bool sort(struct orders *orders, size_t nodes, const struct arc *arcs, size_t count, bool by_height) {
    memset(orders->waits, 0, nodes * sizeof *orders->waits);
    for (size_t i = 0; i < count; i++)
        orders->waits[arcs[i].to]++;
    for (size_t done = 0; done < nodes; done++) {
        size_t node = next_node(orders, nodes, by_height);
        if (node == NOWHERE)
            return false;
        orders->order[done] = node;
        orders->waits[node] = NOWHERE; /* it has its place */
        for (size_t i = 0; i < count; i++)
            if (arcs[i].from == node)
                orders->waits[arcs[i].to]--;
    }
    return true;
}

/* From the last node of an order back. */
static void find_heights(struct orders *orders, size_t nodes, const struct arc *arcs, size_t count) {
    for (size_t at = nodes; at-- > 0;) {
        size_t node = orders->order[at];
        for (size_t i = 0; i < count; i++)
            if (arcs[i].from == node && orders->height[arcs[i].to] >= orders->height[node])
                orders->height[node] = orders->height[arcs[i].to] + 1;
    }
}

static bool all_plain(const struct arc *arcs, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!arcs[i].plain)
            return false;
    return true;
}

static bool is_arc(const struct arc *arcs, size_t count, size_t from, size_t to) {
    for (size_t i = 0; i < count; i++)
        if (arcs[i].from == from && arcs[i].to == to)
            return true;
    return false;
}

/* -- one chain ------------------------------------------------------------------------------------------ */

static void find_chain(const struct level *level, const struct orders *orders, const struct arc *arcs, size_t count,
                       struct edits *edits) {
    for (size_t at = 1; at < level->count; at++) {
        size_t from = orders->order[at - 1], to = orders->order[at];
        if (!is_arc(arcs, count, from, to))
            edits_add(edits, (struct trial_edit){.kind = CHANGE_JOIN, .graph_id = level->graph_id,
                                                 .node_id = level->ids[from], .to_node_id = level->ids[to]});
    }
}

/* -- another order of creation ----------------------------------------------------------------------------- */

static bool can_be_created(int type) {
    return type == NODE_KERNEL || type == NODE_MEMCPY || type == NODE_MEMSET || type == NODE_EMPTY;
}

/* Nodes on the longest ways first; an edit names a node, and the one that is created next. */
static void find_order(const struct level *level, const struct orders *orders, struct edits *edits) {
    for (size_t i = 0; i < level->count; i++)
        if (!can_be_created(level->types[i]))
            return;
    bool moved = false;
    for (size_t at = 0; at < level->count; at++)
        moved = moved || orders->order[at] != at;
    for (size_t at = 1; moved && at < level->count; at++)
        edits_add(edits, (struct trial_edit){.kind = CHANGE_MOVE, .graph_id = level->graph_id,
                                             .node_id = level->ids[orders->order[at - 1]],
                                             .to_node_id = level->ids[orders->order[at]]});
}

/* -- what there is to try ------------------------------------------------------------------------------------ */

/* Fill in the edits of both kinds; none where the level is a chain, too large, or has other than whole
 * dependencies. */
void arrange_find(const struct level *level, struct edits *chain, struct edits *order) {
    size_t count = 0;
    struct orders orders = {NULL, NULL, NULL};
    struct arc *arcs = level->count <= MOST_NODES ? arcs_of(level, &count) : NULL;
    bool good = arcs && all_plain(arcs, count) && orders_make(&orders, level->count) &&
                sort(&orders, level->count, arcs, count, false);
    if (good) {
        find_chain(level, &orders, arcs, count, chain);
        find_heights(&orders, level->count, arcs, count);
    }
    if (good && chain->count && sort(&orders, level->count, arcs, count, true))
        find_order(level, &orders, order);
    orders_free(&orders);
    free(arcs);
}

/* -- in a copy -------------------------------------------------------------------------------------------------- */

static size_t place_of(const struct level *level, uint32_t node_id) {
    for (size_t i = 0; i < level->count; i++)
        if (level->ids[i] == node_id)
            return i;
    return NOWHERE;
}

/* What a chain implies is left out, as capture from one stream would. */
static bool leave_implied(const struct level *level, const struct arc *arcs, size_t count, const struct orders *orders) {
    bool good = true;
    for (size_t at = 0; at < level->count; at++)
        orders->waits[orders->order[at]] = at;
    for (size_t i = 0; good && i < count; i++)
        if (orders->waits[arcs[i].to] != orders->waits[arcs[i].from] + 1)
            good = arc_remove(level, level->nodes[arcs[i].from], level->nodes[arcs[i].to]);
    return good;
}

bool chain_apply(const struct level *level, const void *data) {
    const struct edits *edits = data;
    size_t count = 0;
    struct orders orders = {NULL, NULL, NULL};
    struct arc *arcs = arcs_of(level, &count);
    bool good = arcs && orders_make(&orders, level->count) && sort(&orders, level->count, arcs, count, false) &&
                leave_implied(level, arcs, count, &orders);
    for (size_t i = 0; good && i < edits->count; i++) {
        size_t from = place_of(level, edits->edits[i].node_id), to = place_of(level, edits->edits[i].to_node_id);
        good = from != NOWHERE && to != NOWHERE && arc_add(level, level->nodes[from], level->nodes[to]);
    }
    orders_free(&orders);
    free(arcs);
    return good;
}

static CUgraphNode create_kernel(const struct level *level, CUgraphNode original) {
    CUgraphNode made = NULL;
    KernelParams params;
    memset(&params, 0, sizeof params);
    bool good = cuda.GraphAddKernelNode && cuda.GraphKernelNodeCopyAttributes &&
                cuda.GraphKernelNodeGetParams(original, &params) == 0 &&
                cuda.GraphAddKernelNode(&made, level->graph, NULL, 0, &params) == 0 &&
                cuda.GraphKernelNodeCopyAttributes(made, original) == 0;
    return good ? made : NULL;
}

/* The same node once more, without dependencies; NULL: it cannot be made. */
static CUgraphNode create(const struct level *level, size_t at) {
    CUgraphNode made = NULL, original = level->nodes[at];
    CUcontext context = NULL;
    MemcpyParams copy;
    MemsetParams set;
    memset(&copy, 0, sizeof copy);
    memset(&set, 0, sizeof set);
    bool good = cuda.CtxGetCurrent(&context) == 0;
    switch (level->types[at]) {
    case NODE_KERNEL:
        return create_kernel(level, original);
    case NODE_MEMCPY:
        good = good && cuda.GraphAddMemcpyNode && cuda.GraphMemcpyNodeGetParams(original, &copy) == 0 &&
               cuda.GraphAddMemcpyNode(&made, level->graph, NULL, 0, &copy, context) == 0;
        break;
    case NODE_MEMSET:
        good = good && cuda.GraphAddMemsetNode && cuda.GraphMemsetNodeGetParams(original, &set) == 0 &&
               cuda.GraphAddMemsetNode(&made, level->graph, NULL, 0, &set, context) == 0;
        break;
    default:
        good = cuda.GraphAddEmptyNode && cuda.GraphAddEmptyNode(&made, level->graph, NULL, 0) == 0;
    }
    return good ? made : NULL;
}

/* Nodes in the order of the edits, made anew: the first one of all begins it. */
static bool create_all(const struct level *level, const struct edits *edits, CUgraphNode *made) {
    for (size_t i = 0; i <= edits->count; i++) {
        size_t at = place_of(level, i ? edits->edits[i - 1].to_node_id : edits->edits[0].node_id);
        if (at == NOWHERE || made[at] || !(made[at] = create(level, at)))
            return false;
    }
    return edits->count + 1 == level->count;
}

bool order_apply(const struct level *level, const void *data) {
    size_t count = 0;
    struct arc *arcs = arcs_of(level, &count);
    CUgraphNode *made = calloc(level->count + 1, sizeof *made);
    bool good = arcs && made && cuda.GraphDestroyNode && create_all(level, data, made);
    for (size_t i = 0; good && i < count; i++)
        good = arc_add(level, made[arcs[i].from], made[arcs[i].to]);
    for (size_t i = 0; good && i < level->count; i++) {
        good = cuda.GraphDestroyNode(level->nodes[i]) == 0;
        level->nodes[i] = made[i]; /* updates that follow find it here */
    }
    free(made);
    free(arcs);
    return good;
}

/* -- priorities --------------------------------------------------------------------------------------------- */

struct edits edits_prioritized(const struct level *level) {
    struct edits edits = {0};
    for (size_t i = 0; i < level->count && cuda.GraphKernelNodeGetAttribute; i++) {
        LaunchAttributeValue value;
        memset(&value, 0, sizeof value);
        if (level->types[i] == NODE_KERNEL &&
            cuda.GraphKernelNodeGetAttribute(level->nodes[i], LAUNCH_ATTRIBUTE_PRIORITY, &value) == 0 && value.value)
            edits_add(&edits, (struct trial_edit){.kind = CHANGE_PRIORITY, .graph_id = level->graph_id,
                                                  .node_id = level->ids[i]});
    }
    return edits;
}
