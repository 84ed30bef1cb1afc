/* The driver's functions on executables: instantiate, upload, launch, destroy. */
#include "fake.h"

static bool may_stand_in_body(int type) {
    return type == NODE_KERNEL || type == NODE_EMPTY || type == NODE_GRAPH || type == NODE_MEMSET ||
           type == NODE_MEMCPY || type == NODE_CONDITIONAL;
}

static bool is_valid(const struct graph *graph, bool in_conditional) {
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct node *node = graph->nodes[i];
        if (in_conditional && !may_stand_in_body(node->work.type))
            return false;
        for (size_t b = 0; b < node->body_count; b++)
            if (!is_valid(node->bodies[b], in_conditional || node->work.type == NODE_CONDITIONAL))
                return false;
    }
    return true;
}

static bool has_cycle(const struct graph *graph) {
    size_t done = 0;
    bool *finished = fake_allocate(graph->next_node_id, sizeof *finished);
    struct edge_index index = index_edges(graph);
    for (bool progress = true; progress;) {
        progress = false;
        for (size_t i = 0; i < graph->node_count; i++) {
            uint32_t id = graph->nodes[i]->id;
            bool ready = !finished[id];
            for (size_t e = index.first[id]; ready && e < index.first[id + 1]; e++)
                ready = finished[index.edges[e]->from->id];
            if (ready) {
                finished[graph->nodes[i]->id] = progress = true;
                done++;
            }
        }
    }
    free(finished);
    free_index(index);
    return done < graph->node_count;
}

/* Graphs with conditional or memory nodes allow one executable at a time. */
static bool allows_one(const struct graph *graph) {
    return has_type(graph, NODE_CONDITIONAL) || has_type(graph, NODE_MEM_ALLOC) ||
           has_type(graph, NODE_MEM_FREE);
}

/* What is instantiated, uploaded or first launched while CUPTI keeps records is made for them: after
 * cuptiFinalize it fails (driver 580, graphs of PyTorch). */
static void make_for_tool(struct exec *exec) {
    if (!exec->launched && records_are_kept())
        exec->made_for = tool_departures() + 1;
}

static CUresult instantiate(CUgraphExec *out, CUgraph graph, unsigned long long flags) {
    if (!out || !fake_is(graph, OBJECT_GRAPH) || graph->parent)
        return CUDA_ERROR_INVALID_VALUE;
    if (has_cycle(graph) || !is_valid(graph, false) || (graph->exec_count && allows_one(graph)))
        return CUDA_ERROR_INVALID_VALUE;
    struct exec *exec = fake_allocate(1, sizeof *exec);
    exec->id = next_graph_id();
    exec->flags = flags;
    exec->template_graph = graph;
    make_for_tool(exec);
    add_object(exec, OBJECT_EXEC);
    struct graph_data data = {.graph = graph, .exec = exec};
    notify_graph(RESOURCE_GRAPHEXEC_CREATE_STARTING, &data);
    exec->clone = clone_graph(graph, exec->id, true);
    /* The real driver makes one more copy, of which only the creation of its nodes is told. */
    destroy_graph(clone_graph(graph, next_graph_id(), false));
    plan_exec(exec);
    take_graph_memory();
    graph->exec_count++;
    notify_graph(RESOURCE_GRAPHEXEC_CREATED, &data);
    *out = exec;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    TRACED(cuGraphInstantiateWithFlags, { CUgraphExec *a; CUgraph b; unsigned long long c; },
           instantiate(exec, graph, flags), exec, graph, flags);
}

static CUresult instantiate_with_params(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = instantiate(exec, graph, params->flags);
    params->hErrNode_out = NULL;
    params->result_out = result == CUDA_SUCCESS ? 0 : fake_is(graph, OBJECT_GRAPH) && has_cycle(graph) ? 2 : 1;
    return result;
}

EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                             CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    TRACED(cuGraphInstantiateWithParams, { CUgraphExec *a; CUgraph b; void *c; },
           instantiate_with_params(exec, graph, params), exec, graph, params);
}

EXPORT CUresult cuGraphExecGetFlags(CUgraphExec exec, uint64_t *flags) {
    /* Not in the table of callbacks: nothing watches it. */
    return fake_is(exec, OBJECT_EXEC) && flags ? (*flags = exec->flags, CUDA_SUCCESS)
                                               : CUDA_ERROR_INVALID_VALUE;
}

static CUresult upload(CUgraphExec exec, CUstream stream) {
    if (!fake_is(exec, OBJECT_EXEC))
        return CUDA_ERROR_INVALID_VALUE;
    make_for_tool(exec);
    return resolve_stream(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

EXPORT CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
    TRACED(cuGraphUpload, { CUgraphExec a; CUstream b; }, upload(exec, stream), exec, stream);
}

/* A launch into a capturing stream is refused, and breaks the capture (driver 580). */
static CUresult launch(CUgraphExec exec, CUstream handle) {
    struct stream *stream = resolve_stream(handle);
    if (!fake_is(exec, OBJECT_EXEC))
        return CUDA_ERROR_INVALID_VALUE;
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) {
        invalidate(stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    make_for_tool(exec);
    exec->launched = true;
    if (exec->made_for && exec->made_for <= tool_departures())
        return CUDA_ERROR_LAUNCH_FAILED;
    CUresult result = check_legacy_stream(stream);
    if (result == CUDA_SUCCESS)
        launch_exec(exec, stream);
    return result;
}

EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    TRACED(cuGraphLaunch, { CUgraphExec a; CUstream b; }, launch(exec, stream), exec, stream);
}

static CUresult destroy(CUgraphExec exec) {
    if (!fake_is(exec, OBJECT_EXEC))
        return CUDA_ERROR_INVALID_VALUE;
    struct graph_data data = {.exec = exec};
    notify_graph(RESOURCE_GRAPHEXEC_DESTROY_STARTING, &data);
    if (fake_is(exec->template_graph, OBJECT_GRAPH) && exec->template_graph->exec_count)
        exec->template_graph->exec_count--;
    destroy_graph(exec->clone);
    for (size_t i = 0; i < exec->step_count; i++) {
        free(exec->steps[i].after);
        free(exec->steps[i].bodies);
    }
    free(exec->steps);
    free(exec->queue_stream_ids);
    remove_object(exec);
    free(exec);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
    TRACED(cuGraphExecDestroy, { CUgraphExec a; }, destroy(exec), exec);
}
