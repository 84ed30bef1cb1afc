/* Adding nodes by hand, a function a kind. */
#include "fake.h"

static CUresult check(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count) {
    if (!out || !fake_is(graph, OBJECT_GRAPH) || (count && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!fake_is(dependencies[i], OBJECT_NODE) || dependencies[i]->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult add_with_data(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                              const CUgraphEdgeData *data, size_t count, const struct work *work) {
    CUresult result = check(out, graph, dependencies, count);
    if (result == CUDA_SUCCESS)
        *out = add_node(graph, dependencies, data, count, work);
    return result;
}

static CUresult add(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                    const struct work *work) {
    return add_with_data(out, graph, dependencies, NULL, count, work);
}

static CUresult kernel_from(struct work *work, const CUDA_KERNEL_NODE_PARAMS *params) {
    CUfunction function = params->func ? params->func : (CUfunction)params->kern;
    if (!fake_is(function, OBJECT_FUNCTION))
        return CUDA_ERROR_INVALID_VALUE;
    *work = kernel_work(function, params->grid, params->block, params->sharedMemBytes);
    if (params->ctx)
        work->context = params->ctx;
    return set_kernel_arguments(work, params->kernelParams, params->extra);
}

static CUresult add_kernel(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *data, size_t count, const CUDA_KERNEL_NODE_PARAMS *params) {
    struct work work = {0};
    CUresult result = params ? kernel_from(&work, params) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = add_with_data(out, graph, dependencies, data, count, &work);
    free_work(&work);
    return result;
}

EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                        size_t count, const CUDA_KERNEL_NODE_PARAMS *params) {
    TRACED(cuGraphAddKernelNode_v2,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; const void *e; },
           add_kernel(node, graph, dependencies, NULL, count, params), node, graph, dependencies, count, params);
}

EXPORT CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                     size_t count, const CUDA_MEMCPY3D *params, CUcontext context) {
    struct work work = {.type = NODE_MEMCPY, .context = context, .copy_by_hand = true};
    if (params)
        work.copy = *params;
    TRACED(cuGraphAddMemcpyNode,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; const void *e; CUcontext f; },
           params && copied_bytes(params) ? add(node, graph, dependencies, count, &work)
                                          : CUDA_ERROR_INVALID_VALUE,
           node, graph, dependencies, count, params, context);
}

static bool is_memset(const CUDA_MEMSET_NODE_PARAMS *set) {
    return set && set->dst && set->height &&
           (set->elementSize == 1 || set->elementSize == 2 || set->elementSize == 4);
}

EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                     size_t count, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context) {
    struct work work = {.type = NODE_MEMSET, .context = context};
    if (params)
        work.memset = *params;
    TRACED(cuGraphAddMemsetNode,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; const void *e; CUcontext f; },
           is_memset(params) ? add(node, graph, dependencies, count, &work) : CUDA_ERROR_INVALID_VALUE, node,
           graph, dependencies, count, params, context);
}

EXPORT CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                   size_t count, const CUDA_HOST_NODE_PARAMS *params) {
    struct work work = {.type = NODE_HOST};
    if (params)
        work.host = *params;
    TRACED(cuGraphAddHostNode,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; const void *e; },
           params && params->fn ? add(node, graph, dependencies, count, &work) : CUDA_ERROR_INVALID_VALUE, node,
           graph, dependencies, count, params);
}

EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                    size_t count) {
    struct work work = {.type = NODE_EMPTY};
    TRACED(cuGraphAddEmptyNode, { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; },
           add(node, graph, dependencies, count, &work), node, graph, dependencies, count);
}

EXPORT CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                          size_t count, CUevent event) {
    struct work work = {.type = NODE_EVENT_RECORD, .event = event};
    TRACED(cuGraphAddEventRecordNode,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; CUevent e; },
           fake_is(event, OBJECT_EVENT) ? add(node, graph, dependencies, count, &work)
                                        : CUDA_ERROR_INVALID_VALUE,
           node, graph, dependencies, count, event);
}

EXPORT CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                        size_t count, CUevent event) {
    struct work work = {.type = NODE_WAIT_EVENT, .event = event};
    TRACED(cuGraphAddEventWaitNode,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; CUevent e; },
           fake_is(event, OBJECT_EVENT) ? add(node, graph, dependencies, count, &work)
                                        : CUDA_ERROR_INVALID_VALUE,
           node, graph, dependencies, count, event);
}

static CUresult add_child_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                               CUgraph child) {
    struct work work = {.type = NODE_GRAPH};
    if (!fake_is(child, OBJECT_GRAPH) || child == graph)
        return CUDA_ERROR_INVALID_VALUE;
    if (has_type(child, NODE_MEM_ALLOC) || has_type(child, NODE_MEM_FREE) || has_type(child, NODE_CONDITIONAL))
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = add(node, graph, dependencies, count, &work);
    if (result == CUDA_SUCCESS)
        add_child(*node, child);
    return result;
}

EXPORT CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                         size_t count, CUgraph child) {
    TRACED(cuGraphAddChildGraphNode,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; CUgraph e; },
           add_child_node(node, graph, dependencies, count, child), node, graph, dependencies, count, child);
}

static CUresult add_alloc(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                          CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    struct work work = {.type = NODE_MEM_ALLOC};
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = allocate_device(&params->dptr, params->bytesize);
    work.alloc = *params;
    return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, &work) : result;
}

EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                       size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    TRACED(cuGraphAddMemAllocNode,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; void *e; },
           add_alloc(node, graph, dependencies, count, params), node, graph, dependencies, count, params);
}

EXPORT CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                      size_t count, CUdeviceptr address) {
    struct work work = {.type = NODE_MEM_FREE, .freed = address};
    TRACED(cuGraphAddMemFreeNode,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; CUdeviceptr e; },
           address ? add(node, graph, dependencies, count, &work) : CUDA_ERROR_INVALID_VALUE, node, graph,
           dependencies, count, address);
}

EXPORT CUresult cuGraphAddExternalSemaphoresSignalNode(CUgraphNode *node, CUgraph graph,
                                                       const CUgraphNode *dependencies, size_t count,
                                                       const CUDA_EXT_SEM_NODE_PARAMS *params) {
    struct work work = {.type = NODE_EXT_SEMAS_SIGNAL};
    if (params)
        work.semaphores = *params;
    TRACED(cuGraphAddExternalSemaphoresSignalNode,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; const void *e; },
           params ? add(node, graph, dependencies, count, &work) : CUDA_ERROR_INVALID_VALUE, node, graph,
           dependencies, count, params);
}

EXPORT CUresult cuGraphAddExternalSemaphoresWaitNode(CUgraphNode *node, CUgraph graph,
                                                     const CUgraphNode *dependencies, size_t count,
                                                     const CUDA_EXT_SEM_NODE_PARAMS *params) {
    struct work work = {.type = NODE_EXT_SEMAS_WAIT};
    if (params)
        work.semaphores = *params;
    TRACED(cuGraphAddExternalSemaphoresWaitNode,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; const void *e; },
           params ? add(node, graph, dependencies, count, &work) : CUDA_ERROR_INVALID_VALUE, node, graph,
           dependencies, count, params);
}

EXPORT CUresult cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                         size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    struct work work = {.type = NODE_BATCH_MEM_OP};
    if (params && params->count && params->paramArray) { /* never freed: clones share it */
        work.memory_operations = *params;
        work.memory_operations.paramArray = fake_allocate(params->count, sizeof(CUstreamBatchMemOpParams));
        memcpy(work.memory_operations.paramArray, params->paramArray,
               params->count * sizeof(CUstreamBatchMemOpParams));
    }
    /* As driver 580: no flag, such as that of a write without a barrier. */
    bool refused = fake_setting("FAKE_NO_WRITE_NODES") ||
                   (params && params->count && params->paramArray && ((const CUstreamBatchMemOpParams *)params->paramArray)->flags);
    TRACED(cuGraphAddBatchMemOpNode,
           { CUgraphNode *a; CUgraph b; const CUgraphNode *c; size_t d; const void *e; },
           !refused && params && params->count && params->paramArray ? add(node, graph, dependencies, count, &work)
                                                         : CUDA_ERROR_INVALID_VALUE,
           node, graph, dependencies, count, params);
}

/* -- conditional nodes, and the one function that adds any kind ----------------------------------- */

static CUresult add_conditional(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                const CUgraphEdgeData *data, size_t count,
                                CUDA_CONDITIONAL_NODE_PARAMS *params) {
    unsigned int most = params->type == CONDITIONAL_IF ? 2 : params->type == CONDITIONAL_WHILE ? 1 : ~0u;
    if (!handle_is_of(params->handle, graph) || params->size == 0 || params->size > most)
        return CUDA_ERROR_INVALID_VALUE;
    struct work work = {.type = NODE_CONDITIONAL, .conditional = *params};
    CUresult result = add_with_data(node, graph, dependencies, data, count, &work);
    if (result == CUDA_SUCCESS) {
        add_bodies(*node);
        params->phGraph_out = (*node)->bodies;
    }
    return result;
}

static CUresult add_any(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                        const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *params) {
    if (!fake_is(graph, OBJECT_GRAPH) || !params)
        return CUDA_ERROR_INVALID_VALUE;
    struct work work = {.type = params->type};
    switch (params->type) {
    case NODE_KERNEL:
        return add_kernel(node, graph, dependencies, data, count, &params->kernel);
    case NODE_CONDITIONAL:
        return add_conditional(node, graph, dependencies, data, count, &params->conditional);
    case NODE_GRAPH:
        return add_child_node(node, graph, dependencies, count, params->graph.graph);
    case NODE_MEM_ALLOC:
        return add_alloc(node, graph, dependencies, count, &params->alloc);
    case NODE_MEMCPY:
        work.copy = params->memcpy.copyParams;
        work.copy_by_hand = true;
        break;
    case NODE_MEMSET:
        work.memset = params->memset;
        break;
    case NODE_HOST:
        work.host = params->host;
        break;
    case NODE_WAIT_EVENT:
    case NODE_EVENT_RECORD:
        work.event = params->event.event;
        break;
    case NODE_MEM_FREE:
        work.freed = params->free.dptr;
        break;
    case NODE_BATCH_MEM_OP:
        work.memory_operations = params->memOp;
        break;
    case NODE_EMPTY:
    case NODE_OF_TOMORROW: /* a kind that this gviz does not know */
        break;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return add_with_data(node, graph, dependencies, data, count, &work);
}

EXPORT CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *params) {
    TRACED(cuGraphAddNode_v2,
           {
               CUgraphNode *a;
               CUgraph b;
               const CUgraphNode *c;
               const CUgraphEdgeData *d;
               size_t e;
               CUgraphNodeParams *f;
           },
           add_any(node, graph, dependencies, data, count, params), node, graph, dependencies, data, count,
           params);
}
