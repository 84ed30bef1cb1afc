/* Copies of graphs, and the bodies of child-graph and conditional nodes. */
#include "fake.h"

static struct node *node_at(const struct graph *graph, const struct node *original) {
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i]->original == original)
            return graph->nodes[i];
    return NULL;
}

static void set_body(struct node *node, size_t index, struct graph *body) {
    body->parent = node;
    node->bodies[index] = body;
}

static void clone_bodies(struct node *node, const struct node *original, bool tell_clones) {
    node->body_count = original->body_count;
    node->bodies = fake_allocate(original->body_count, sizeof *node->bodies);
    for (size_t i = 0; i < original->body_count; i++)
        set_body(node, i, clone_graph(original->bodies[i], next_graph_id(), tell_clones));
    if (node->work.type == NODE_CONDITIONAL)
        node->work.conditional.phGraph_out = node->bodies;
}

/* The copy keeps the id: destroyed nodes leave holes in both. */
static struct node *clone_node(struct graph *graph, struct node *original, bool tell_clones) {
    graph->next_node_id = original->id;
    struct node *node = add_node(graph, NULL, NULL, 0, &original->work);
    node->original = original;
    if (tell_clones) {
        struct graph_data data = {.graph = graph,
                                  .original_graph = original->graph,
                                  .node = node,
                                  .original_node = original,
                                  .node_type = node->work.type};
        notify_graph(RESOURCE_GRAPHNODE_CLONED, &data);
    }
    return node;
}

struct graph *clone_graph(struct graph *original, uint32_t id, bool tell_clones) {
    struct graph *graph = new_graph(id);
    graph->original = original;
    if (tell_clones) {
        struct graph_data data = {.graph = graph, .original_graph = original};
        notify_graph(RESOURCE_GRAPH_CLONED, &data);
    }
    struct node **copies = fake_allocate(original->next_node_id, sizeof *copies); /* by id */
    for (size_t i = 0; i < original->node_count; i++)
        copies[original->nodes[i]->id] = clone_node(graph, original->nodes[i], tell_clones);
    for (size_t i = 0; i < original->edge_count; i++) {
        const struct edge *edge = &original->edges[i];
        add_edge(graph, copies[edge->from->id], copies[edge->to->id], edge->data);
    }
    for (size_t i = 0; i < original->node_count; i++)
        if (original->nodes[i]->body_count)
            clone_bodies(graph->nodes[i], original->nodes[i], tell_clones);
    graph->next_node_id = original->next_node_id;
    free(copies);
    return graph;
}

void add_child(struct node *node, struct graph *child) {
    node->bodies = fake_allocate(1, sizeof *node->bodies);
    node->body_count = 1;
    set_body(node, 0, clone_graph(child, next_graph_id(), true));
}

void add_bodies(struct node *node) {
    size_t count = node->work.conditional.size;
    node->bodies = fake_allocate(count, sizeof *node->bodies);
    node->body_count = count;
    for (size_t i = 0; i < count; i++)
        set_body(node, i, new_graph(next_graph_id()));
    node->work.conditional.phGraph_out = node->bodies;
}

static CUresult clone(CUgraph *out, CUgraph original) {
    if (!out || !fake_is(original, OBJECT_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    if (has_type(original, NODE_MEM_ALLOC) || has_type(original, NODE_MEM_FREE) ||
        has_type(original, NODE_CONDITIONAL))
        return CUDA_ERROR_NOT_SUPPORTED;
    *out = clone_graph(original, next_graph_id(), true);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphClone(CUgraph *graph, CUgraph original) {
    TRACED(cuGraphClone, { CUgraph *a; CUgraph b; }, clone(graph, original), graph, original);
}

static CUresult find(CUgraphNode *out, CUgraphNode original, CUgraph graph) {
    if (!out || !fake_is(original, OBJECT_NODE) || !fake_is(graph, OBJECT_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    *out = node_at(graph, original);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph graph) {
    TRACED(cuGraphNodeFindInClone, { CUgraphNode *a; CUgraphNode b; CUgraph c; }, find(node, original, graph),
           node, original, graph);
}
