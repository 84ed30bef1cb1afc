/* Changing an executable in place: whole-graph update and new parameters of one node. */
#include "fake.h"

enum {
    UPDATE_SUCCESS = 0,
    UPDATE_ERROR = 1,
    TOPOLOGY_CHANGED = 2,
    TYPE_CHANGED = 3,
    PARAMETERS_CHANGED = 5,
    NOT_SUPPORTED = 6,
};

static CUresult fail(CUgraphExecUpdateResultInfo *info, int result, struct node *node, struct node *from) {
    *info = (CUgraphExecUpdateResultInfo){result, node, from};
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

/* Compare one level; nodes are partners by order of creation. */
static CUresult compare(struct graph *mine, struct graph *other, CUgraphExecUpdateResultInfo *info) {
    if (mine->node_count != other->node_count || mine->edge_count != other->edge_count)
        return fail(info, TOPOLOGY_CHANGED, NULL, NULL);
    for (size_t i = 0; i < mine->edge_count; i++) {
        const struct edge *a = &mine->edges[i], *b = &other->edges[i];
        if (a->from->id != b->from->id || a->to->id != b->to->id)
            return fail(info, TOPOLOGY_CHANGED, b->to, b->from);
    }
    for (size_t i = 0; i < mine->node_count; i++) {
        struct node *a = mine->nodes[i], *b = other->nodes[i];
        if (a->work.type != b->work.type)
            return fail(info, TYPE_CHANGED, b, NULL);
        if (a->work.type == NODE_MEMCPY && (a->work.copy.srcMemoryType != b->work.copy.srcMemoryType ||
                                            a->work.copy.dstMemoryType != b->work.copy.dstMemoryType))
            return fail(info, PARAMETERS_CHANGED, b, NULL);
        if (a->work.type == NODE_CONDITIONAL)
            return fail(info, NOT_SUPPORTED, b, NULL);
        if (a->body_count != b->body_count)
            return fail(info, TOPOLOGY_CHANGED, b, NULL);
        for (size_t body = 0; body < a->body_count; body++) {
            CUresult result = compare(a->bodies[body], b->bodies[body], info);
            if (result != CUDA_SUCCESS)
                return result;
        }
    }
    return CUDA_SUCCESS;
}

static void take(struct exec *exec, struct graph *mine, const struct graph *other) {
    for (size_t i = 0; i < mine->node_count; i++) {
        struct node *a = mine->nodes[i], *b = other->nodes[i];
        free_work(&a->work);
        copy_work(&a->work, &b->work);
        struct graph_data data = {.graph = mine, .node = a, .original_node = b, .node_type = a->work.type,
                                  .exec = exec};
        notify_graph(RESOURCE_GRAPH_NODE_UPDATED, &data);
        for (size_t body = 0; body < a->body_count; body++)
            take(exec, a->bodies[body], b->bodies[body]);
    }
}

static CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    if (!fake_is(exec, OBJECT_EXEC) || !fake_is(graph, OBJECT_GRAPH) || !info)
        return CUDA_ERROR_INVALID_VALUE;
    *info = (CUgraphExecUpdateResultInfo){UPDATE_SUCCESS, NULL, NULL};
    CUresult result = compare(exec->clone, graph, info);
    if (result == CUDA_SUCCESS)
        take(exec, exec->clone, graph);
    return result;
}

EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    TRACED(cuGraphExecUpdate_v2, { CUgraphExec a; CUgraph b; void *c; }, update(exec, graph, info), exec, graph,
           info);
}

static CUresult set_params(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params) {
    struct node *mine = fake_is(exec, OBJECT_EXEC) && node ? exec_node(exec, node) : NULL;
    if (!mine || mine->work.type != NODE_KERNEL || !params || !fake_is(params->func, OBJECT_FUNCTION))
        return CUDA_ERROR_INVALID_VALUE;
    struct work work = kernel_work(params->func, params->grid, params->block, params->sharedMemBytes);
    CUresult result = set_kernel_arguments(&work, params->kernelParams, params->extra);
    if (result != CUDA_SUCCESS)
        return result;
    free_work(&mine->work);
    mine->work = work;
    struct graph_data data = {
        .graph = exec->clone, .node = mine, .original_node = node, .node_type = NODE_KERNEL, .exec = exec};
    /* Twice, as driver 580 does. */
    notify_graph(RESOURCE_GRAPH_NODE_SET_PARAMS, &data);
    notify_graph(RESOURCE_GRAPH_NODE_SET_PARAMS, &data);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS *params) {
    TRACED(cuGraphExecKernelNodeSetParams_v2, { CUgraphExec a; CUgraphNode b; const void *c; },
           set_params(exec, node, params), exec, node, params);
}

/* -- other kinds of nodes: what they hold is copied --------------------------------------------------- */

static struct node *partner(CUgraphExec exec, CUgraphNode node, int type) {
    struct node *mine = fake_is(exec, OBJECT_EXEC) && fake_is(node, OBJECT_NODE) ? exec_node(exec, node) : NULL;
    return mine && mine->work.type == type ? mine : NULL;
}

/* The call on an executable, after the same on a node of a graph. */
#define SET(graph_call, exec_call, type_, params_type, valid, field)                                       \
    EXPORT CUresult graph_call(CUgraphNode node, params_type params) {                                       \
        TRACED(graph_call, { CUgraphNode a; params_type b; },                                                \
               fake_is(node, OBJECT_NODE) && node->work.type == (type_) && (valid)                           \
                   ? (node->work.field, CUDA_SUCCESS)                                                        \
                   : CUDA_ERROR_INVALID_VALUE,                                                               \
               node, params);                                                                                \
    }                                                                                                        \
    EXPORT CUresult exec_call(CUgraphExec exec, CUgraphNode node, params_type params) {                      \
        struct node *mine = partner(exec, node, type_);                                                      \
        TRACED(exec_call, { CUgraphExec a; CUgraphNode b; params_type c; },                                  \
               mine && (valid) ? (mine->work.field, CUDA_SUCCESS) : CUDA_ERROR_INVALID_VALUE, exec, node,    \
               params);                                                                                      \
    }

SET(cuGraphHostNodeSetParams, cuGraphExecHostNodeSetParams, NODE_HOST, const CUDA_HOST_NODE_PARAMS *, params,
    host = *params)
SET(cuGraphEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, NODE_EVENT_RECORD, CUevent,
    fake_is(params, OBJECT_EVENT), event = params)
SET(cuGraphEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent, NODE_WAIT_EVENT, CUevent,
    fake_is(params, OBJECT_EVENT), event = params)
SET(cuGraphExternalSemaphoresSignalNodeSetParams, cuGraphExecExternalSemaphoresSignalNodeSetParams,
    NODE_EXT_SEMAS_SIGNAL, const CUDA_EXT_SEM_NODE_PARAMS *, params, semaphores = *params)
SET(cuGraphExternalSemaphoresWaitNodeSetParams, cuGraphExecExternalSemaphoresWaitNodeSetParams,
    NODE_EXT_SEMAS_WAIT, const CUDA_EXT_SEM_NODE_PARAMS *, params, semaphores = *params)
SET(cuGraphBatchMemOpNodeSetParams, cuGraphExecBatchMemOpNodeSetParams, NODE_BATCH_MEM_OP,
    const CUDA_BATCH_MEM_OP_NODE_PARAMS *, params, memory_operations = *params)
/* Of the calls that take any kind, memsets are made. */
SET(cuGraphNodeSetParams, cuGraphExecNodeSetParams, NODE_MEMSET, CUgraphNodeParams *,
    params && params->type == NODE_MEMSET, memset = params->memset)

/* Those of an executable have a context besides. */
#define SET_WITH_CONTEXT(graph_call, exec_call, type_, params_type, field)                                 \
    EXPORT CUresult graph_call(CUgraphNode node, const params_type *params) {                                \
        TRACED(graph_call, { CUgraphNode a; const void *b; },                                                \
               fake_is(node, OBJECT_NODE) && node->work.type == (type_) && params                            \
                   ? (node->work.field = *params, CUDA_SUCCESS)                                              \
                   : CUDA_ERROR_INVALID_VALUE,                                                               \
               node, params);                                                                                \
    }                                                                                                        \
    EXPORT CUresult exec_call(CUgraphExec exec, CUgraphNode node, const params_type *params,                 \
                              CUcontext context) {                                                           \
        struct node *mine = partner(exec, node, type_);                                                      \
        TRACED(exec_call, { CUgraphExec a; CUgraphNode b; const void *c; CUcontext d; },                     \
               mine && params && fake_is(context, OBJECT_CONTEXT)                                            \
                   ? (mine->work.field = *params, CUDA_SUCCESS)                                              \
                   : CUDA_ERROR_INVALID_VALUE,                                                               \
               exec, node, params, context);                                                                 \
    }

SET_WITH_CONTEXT(cuGraphMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, NODE_MEMCPY, CUDA_MEMCPY3D, copy)
SET_WITH_CONTEXT(cuGraphMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, NODE_MEMSET,
                 CUDA_MEMSET_NODE_PARAMS, memset)

static CUresult set_child(CUgraphExec exec, CUgraphNode node, CUgraph child) {
    struct node *mine = partner(exec, node, NODE_GRAPH);
    CUgraphExecUpdateResultInfo info = {0};
    if (!mine || !fake_is(child, OBJECT_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = compare(mine->bodies[0], child, &info);
    if (result == CUDA_SUCCESS)
        take(exec, mine->bodies[0], child);
    return result;
}

EXPORT CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
    TRACED(cuGraphExecChildGraphNodeSetParams, { CUgraphExec a; CUgraphNode b; CUgraph c; },
           set_child(exec, node, child), exec, node, child);
}

static CUresult set_enabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled) {
    struct node *mine = fake_is(exec, OBJECT_EXEC) && fake_is(node, OBJECT_NODE) ? exec_node(exec, node) : NULL;
    if (!mine || mine->work.type > NODE_MEMSET)
        return CUDA_ERROR_INVALID_VALUE;
    mine->disabled = !enabled;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled) {
    TRACED(cuGraphNodeSetEnabled, { CUgraphExec a; CUgraphNode b; unsigned int c; },
           set_enabled(exec, node, enabled), exec, node, enabled);
}
