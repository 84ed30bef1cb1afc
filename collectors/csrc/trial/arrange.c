/* Copies whose nodes stand otherwise: all in one chain, created in another order, by priority.
 *
 * Every node runs, and every order that is needed is kept. Of the outermost graph alone: what child
 * graphs hold stays as it is.
 */
#include "trial/parts.h"

#include <stdlib.h>
#include <string.h>

/* -- orders ------------------------------------------------------------------------------------------- */

/* Orders of a level: `order` is one that dependencies allow, `height` the nodes of the longest way on. */
struct orders {
    const struct arc *arcs;
    size_t nodes, arc_count;
    struct index index; /* of the arcs */
    size_t *order, *height, *waits;
    size_t *ready, ready_count; /* wait for nothing, and have no place yet: a heap, the next one first */
    bool by_height;
};

static void orders_free(struct orders *orders) {
    index_free(&orders->index);
    free(orders->order);
    free(orders->height);
    free(orders->waits);
    free(orders->ready);
}

static bool orders_make(struct orders *orders, size_t nodes, const struct arc *arcs, size_t count) {
    *orders = (struct orders){.arcs = arcs, .nodes = nodes, .arc_count = count};
    orders->order = calloc(nodes + 1, sizeof *orders->order);
    orders->height = calloc(nodes + 1, sizeof *orders->height);
    orders->waits = calloc(nodes + 1, sizeof *orders->waits);
    orders->ready = calloc(nodes + 1, sizeof *orders->ready);
    return orders->order && orders->height && orders->waits && orders->ready &&
           index_make(&orders->index, arcs, count, nodes);
}

/* The highest first, or else the first created. */
static bool comes_first(const struct orders *orders, size_t one, size_t other) {
    size_t x = orders->by_height ? orders->height[one] : 0, y = orders->by_height ? orders->height[other] : 0;
    return x != y ? x > y : one < other;
}

static void put(struct orders *orders, size_t node) {
    size_t at = orders->ready_count++;
    for (; at && comes_first(orders, node, orders->ready[(at - 1) / 2]); at = (at - 1) / 2)
        orders->ready[at] = orders->ready[(at - 1) / 2];
    orders->ready[at] = node;
}

static size_t take(struct orders *orders) {
    size_t taken = orders->ready[0], last = orders->ready[--orders->ready_count], at = 0, next;
    while ((next = 2 * at + 1) < orders->ready_count) {
        if (next + 1 < orders->ready_count && comes_first(orders, orders->ready[next + 1], orders->ready[next]))
            next++;
        if (!comes_first(orders, orders->ready[next], last))
            break;
        orders->ready[at] = orders->ready[next];
        at = next;
    }
    orders->ready[at] = last;
    return taken;
}

/* Put nodes in an order. Returns whether all have a place: dependencies form no cycle. */
static bool sort(struct orders *orders, bool by_height) {
    size_t done = 0;
    orders->by_height = by_height;
    memset(orders->waits, 0, orders->nodes * sizeof *orders->waits);
    for (size_t i = 0; i < orders->arc_count; i++)
        orders->waits[orders->arcs[i].to]++;
    for (size_t i = 0; i < orders->nodes; i++)
        if (!orders->waits[i])
            put(orders, i);
    while (orders->ready_count) {
        size_t node = orders->order[done++] = take(orders);
        for (size_t k = orders->index.first[node]; k < orders->index.first[node + 1]; k++) {
            size_t to = orders->arcs[orders->index.by[k]].to;
            if (--orders->waits[to] == 0)
                put(orders, to);
        }
    }
    return done == orders->nodes;
}

/* From the last node of an order back. */
static void find_heights(struct orders *orders) {
    for (size_t at = orders->nodes; at-- > 0;) {
        size_t node = orders->order[at];
        for (size_t k = orders->index.first[node]; k < orders->index.first[node + 1]; k++) {
            size_t height = orders->height[orders->arcs[orders->index.by[k]].to];
            if (height >= orders->height[node])
                orders->height[node] = height + 1;
        }
    }
}

static bool all_plain(const struct arc *arcs, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!arcs[i].plain)
            return false;
    return true;
}

static bool is_arc(const struct orders *orders, size_t from, size_t to) {
    for (size_t k = orders->index.first[from]; k < orders->index.first[from + 1]; k++)
        if (orders->arcs[orders->index.by[k]].to == to)
            return true;
    return false;
}

/* -- one chain ------------------------------------------------------------------------------------------ */

static void find_chain(const struct level *level, const struct orders *orders, struct edits *edits) {
    for (size_t at = 1; at < level->count; at++) {
        size_t from = orders->order[at - 1], to = orders->order[at];
        if (!is_arc(orders, from, to))
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

/* Fill in the edits of both kinds; none where the level is a chain, or has other than whole dependencies. */
void arrange_find(const struct level *level, struct edits *chain, struct edits *order) {
    size_t count = 0;
    struct arc *arcs = arcs_of(level, &count);
    struct orders orders = {.nodes = 0};
    bool good = arcs && all_plain(arcs, count) && orders_make(&orders, level->count, arcs, count) &&
                sort(&orders, false);
    if (good) {
        find_chain(level, &orders, chain);
        find_heights(&orders);
    }
    if (good && chain->count && sort(&orders, true))
        find_order(level, &orders, order);
    orders_free(&orders);
    free(arcs);
}

/* -- in a copy -------------------------------------------------------------------------------------------------- */

/* What a chain implies is left out, as capture from one stream would. */
static bool leave_implied(const struct level *level, const struct orders *orders) {
    bool good = true;
    for (size_t at = 0; at < level->count; at++)
        orders->waits[orders->order[at]] = at;
    for (size_t i = 0; good && i < orders->arc_count; i++) {
        const struct arc *arc = &orders->arcs[i];
        if (orders->waits[arc->to] != orders->waits[arc->from] + 1)
            good = arc_remove(level, level->nodes[arc->from], level->nodes[arc->to]);
    }
    return good;
}

/* By the graph as it is and not by the edits: a join that is not among them would leave two nodes without order. */
bool chain_apply(const struct level *level, const void *data) {
    size_t count = 0;
    struct arc *arcs = arcs_of(level, &count);
    struct orders orders = {.nodes = 0};
    bool good = arcs && orders_make(&orders, level->count, arcs, count) && sort(&orders, false) &&
                leave_implied(level, &orders);
    (void)data;
    for (size_t at = 1; good && at < level->count; at++) {
        size_t from = orders.order[at - 1], to = orders.order[at];
        good = is_arc(&orders, from, to) || arc_add(level, level->nodes[from], level->nodes[to]);
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
    struct place *places = places_of(level);
    bool good = places && edits->count + 1 == level->count;
    for (size_t i = 0; good && i <= edits->count; i++) {
        size_t at = node_place(places, level->count, i ? edits->edits[i - 1].to_node_id : edits->edits[0].node_id);
        good = at != NOWHERE && !made[at] && (made[at] = create(level, at));
    }
    free(places);
    return good;
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
