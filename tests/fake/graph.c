/* Graphs: nodes, edges, and asking for them. */
#include "fake.h"

struct graph *new_graph(uint32_t id) {
    struct graph *graph = fake_allocate(1, sizeof *graph);
    graph->id = id;
    add_object(graph, OBJECT_GRAPH);
    struct graph_data data = {.graph = graph};
    notify_graph(RESOURCE_GRAPH_CREATED, &data);
    return graph;
}

static void destroy_node(struct node *node) {
    for (size_t i = 0; i < node->body_count; i++)
        destroy_graph(node->bodies[i]);
    struct graph_data data = {.graph = node->graph, .node = node, .node_type = node->work.type};
    notify_graph(RESOURCE_GRAPHNODE_DESTROY_STARTING, &data);
    free_work(&node->work);
    free(node->bodies);
    remove_object(node);
    free(node);
}

void destroy_graph(struct graph *graph) {
    struct graph_data data = {.graph = graph};
    notify_graph(RESOURCE_GRAPH_DESTROY_STARTING, &data);
    for (size_t i = 0; i < graph->node_count; i++)
        destroy_node(graph->nodes[i]);
    free(graph->nodes);
    free(graph->edges);
    remove_object(graph);
    free(graph);
}

static bool depends(const struct graph *graph, const struct node *from, const struct node *to) {
    for (size_t i = 0; to->edges_in && i < graph->edge_count; i++)
        if (graph->edges[i].from == from && graph->edges[i].to == to)
            return true;
    return false;
}

struct edge_index index_edges(const struct graph *graph) {
    struct edge_index index = {fake_allocate(graph->next_node_id + 2, sizeof(size_t)),
                               fake_allocate(graph->edge_count, sizeof(struct edge *))};
    size_t *next = index.first + 1; /* where the next edge to a node goes; at the end, its last */
    for (size_t i = 0; i < graph->edge_count; i++)
        next[graph->edges[i].to->id + 1]++;
    for (uint32_t id = 1; id <= graph->next_node_id; id++)
        next[id] += next[id - 1];
    for (size_t i = 0; i < graph->edge_count; i++)
        index.edges[next[graph->edges[i].to->id]++] = &graph->edges[i];
    return index;
}

void free_index(struct edge_index index) {
    free(index.first);
    free(index.edges);
}

CUresult add_edge(struct graph *graph, struct node *from, struct node *to, CUgraphEdgeData data) {
    if (!fake_is(from, OBJECT_NODE) || !fake_is(to, OBJECT_NODE) || from == to || from->graph != graph ||
        to->graph != graph || depends(graph, from, to))
        return CUDA_ERROR_INVALID_VALUE;
    struct edge edge = {from, to, data};
    to->edges_in++;
    graph->edges = fake_append(graph->edges, graph->edge_count++, sizeof edge, &edge);
    struct graph_data told = {.graph = graph, .node = to, .node_type = to->work.type, .dependency = from};
    notify_graph(RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, &told);
    return CUDA_SUCCESS;
}

struct node *add_node(struct graph *graph, struct node *const *dependencies, const CUgraphEdgeData *data,
                      size_t dependency_count, const struct work *work) {
    struct graph_data told = {.graph = graph, .node_type = work->type};
    notify_graph(RESOURCE_GRAPHNODE_CREATE_STARTING, &told);
    struct node *node = fake_allocate(1, sizeof *node);
    node->graph = graph;
    node->id = graph->next_node_id++;
    copy_work(&node->work, work);
    graph->nodes = fake_append(graph->nodes, graph->node_count++, sizeof node, &node);
    add_object(node, OBJECT_NODE);
    told.node = node;
    notify_graph(RESOURCE_GRAPHNODE_CREATED, &told);
    for (size_t i = 0; i < dependency_count; i++)
        add_edge(graph, dependencies[i], node, data ? data[i] : (CUgraphEdgeData){0});
    return node;
}

bool has_type(const struct graph *graph, int type) {
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct node *node = graph->nodes[i];
        if (node->work.type == type)
            return true;
        for (size_t b = 0; b < node->body_count; b++)
            if (has_type(node->bodies[b], type))
                return true;
    }
    return false;
}

/* -- the driver's functions -------------------------------------------------------------------------- */

EXPORT CUresult cuGraphCreate(CUgraph *graph, unsigned int flags) {
    TRACED(cuGraphCreate, { CUgraph *a; unsigned int b; },
           graph && !flags ? (*graph = new_graph(next_graph_id()), CUDA_SUCCESS) : CUDA_ERROR_INVALID_VALUE,
           graph, flags);
}

static CUresult destroy(CUgraph graph) {
    if (!fake_is(graph, OBJECT_GRAPH) || graph->parent)
        return CUDA_ERROR_INVALID_VALUE;
    destroy_graph(graph);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphDestroy(CUgraph graph) { TRACED(cuGraphDestroy, { CUgraph a; }, destroy(graph), graph); }

/* Whether the graph itself forbids it: memory nodes make its shape final. */
static bool is_final(const struct graph *graph) {
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i]->work.type == NODE_MEM_ALLOC || graph->nodes[i]->work.type == NODE_MEM_FREE)
            return true;
    return false;
}

/* The id of a destroyed node is not given again. */
static CUresult destroy_one(CUgraphNode node) {
    if (!fake_is(node, OBJECT_NODE) || is_final(node->graph))
        return CUDA_ERROR_INVALID_VALUE;
    struct graph *graph = node->graph;
    size_t kept = 0;
    for (size_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].from != node && graph->edges[i].to != node)
            graph->edges[kept++] = graph->edges[i];
    graph->edge_count = kept;
    kept = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i] != node)
            graph->nodes[kept++] = graph->nodes[i];
    graph->node_count = kept;
    destroy_node(node);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphDestroyNode(CUgraphNode node) {
    TRACED(cuGraphDestroyNode, { CUgraphNode a; }, destroy_one(node), node);
}

/* Hand out at most *count handles; without an array only say how many there are. */
static CUresult give_nodes(struct node *const *found, size_t found_count, CUgraphNode *nodes, size_t *count) {
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = i < found_count ? found[i] : NULL;
    if (!nodes || *count > found_count)
        *count = found_count;
    return CUDA_SUCCESS;
}

static CUresult get_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    if (!fake_is(graph, OBJECT_GRAPH) || !count)
        return CUDA_ERROR_INVALID_VALUE;
    return give_nodes(graph->nodes, graph->node_count, nodes, count);
}

EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    TRACED(cuGraphGetNodes, { CUgraph a; CUgraphNode *b; size_t *c; }, get_nodes(graph, nodes, count), graph,
           nodes, count);
}

static CUresult get_roots(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    if (!fake_is(graph, OBJECT_GRAPH) || !count)
        return CUDA_ERROR_INVALID_VALUE;
    struct node **roots = fake_allocate(graph->node_count, sizeof *roots);
    size_t root_count = 0;
    struct edge_index index = index_edges(graph);
    for (size_t i = 0; i < graph->node_count; i++)
        if (index.first[graph->nodes[i]->id] == index.first[graph->nodes[i]->id + 1])
            roots[root_count++] = graph->nodes[i];
    free_index(index);
    CUresult result = give_nodes(roots, root_count, nodes, count);
    free(roots);
    return result;
}

EXPORT CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    TRACED(cuGraphGetRootNodes, { CUgraph a; CUgraphNode *b; size_t *c; }, get_roots(graph, nodes, count),
           graph, nodes, count);
}

static bool is_plain(CUgraphEdgeData data) {
    return data.type == 0 && data.from_port == 0 && data.to_port == 0;
}

static CUresult get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                          size_t *count) {
    if (!fake_is(graph, OBJECT_GRAPH) || !count || (!from != !to))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; from && i < *count; i++) {
        const struct edge none = {0};
        const struct edge *edge = i < graph->edge_count ? &graph->edges[i] : &none;
        if (!data && !is_plain(edge->data))
            return CUDA_ERROR_LOSSY_QUERY;
        from[i] = edge->from;
        to[i] = edge->to;
        if (data)
            data[i] = edge->data;
    }
    if (!from || *count > graph->edge_count)
        *count = graph->edge_count;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                                   size_t *count) {
    TRACED(cuGraphGetEdges_v2,
           {
               CUgraph a;
               CUgraphNode *b;
               CUgraphNode *c;
               CUgraphEdgeData *d;
               size_t *e;
           },
           get_edges(graph, from, to, data, count), graph, from, to, data, count);
}

static CUresult add_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                          const CUgraphEdgeData *data, size_t count) {
    if (!fake_is(graph, OBJECT_GRAPH) || (count && (!from || !to)))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        CUresult result = add_edge(graph, from[i], to[i], data ? data[i] : (CUgraphEdgeData){0});
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                          const CUgraphEdgeData *data, size_t count) {
    TRACED(cuGraphAddDependencies_v2,
           {
               CUgraph a;
               const CUgraphNode *b;
               const CUgraphNode *c;
               const CUgraphEdgeData *d;
               size_t e;
           },
           add_edges(graph, from, to, data, count), graph, from, to, data, count);
}

static CUresult remove_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                             const CUgraphEdgeData *data, size_t count) {
    if (!fake_is(graph, OBJECT_GRAPH) || (count && (!from || !to)))
        return CUDA_ERROR_INVALID_VALUE;
    if (has_type(graph, NODE_MEM_ALLOC) || has_type(graph, NODE_MEM_FREE))
        return CUDA_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < graph->edge_count && (graph->edges[at].from != from[i] || graph->edges[at].to != to[i]))
            at++;
        if (at == graph->edge_count ||
            (data && memcmp(&data[i], &graph->edges[at].data, sizeof *data) != 0))
            return CUDA_ERROR_INVALID_VALUE;
        memmove(&graph->edges[at], &graph->edges[at + 1],
                (--graph->edge_count - at) * sizeof *graph->edges);
    }
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                             const CUgraphEdgeData *data, size_t count) {
    TRACED(cuGraphRemoveDependencies_v2,
           {
               CUgraph a;
               const CUgraphNode *b;
               const CUgraphNode *c;
               const CUgraphEdgeData *d;
               size_t e;
           },
           remove_edges(graph, from, to, data, count), graph, from, to, data, count);
}

EXPORT CUresult cuGraphNodeGetType(CUgraphNode node, int *type) {
    TRACED(cuGraphNodeGetType, { CUgraphNode a; int *b; },
           fake_is(node, OBJECT_NODE) && type ? (*type = node->work.type, CUDA_SUCCESS)
                                              : CUDA_ERROR_INVALID_VALUE,
           node, type);
}
