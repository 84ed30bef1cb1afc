/* Asking a node for its parameters. */
#include "fake.h"

/* Run `copy` if the node is alive and of the type. */
#define GET(function, node_, type_, out_type, out, copy)                                                \
    TRACED(function, { CUgraphNode a; out_type *b; },                                                   \
           fake_is(node_, OBJECT_NODE) && (node_)->work.type == (type_) && (out) ? (copy, CUDA_SUCCESS)  \
                                                                                 : CUDA_ERROR_INVALID_VALUE, \
           node_, out)

static void get_kernel(const struct work *work, CUDA_KERNEL_NODE_PARAMS *params) {
    *params = (CUDA_KERNEL_NODE_PARAMS){.func = work->function,
                                        .sharedMemBytes = work->shared_mem_bytes,
                                        .kernelParams = work->packed[0] ? NULL : work->argument_pointers,
                                        .extra = work->packed[0] ? (void **)work->packed : NULL,
                                        .ctx = work->context};
    memcpy(params->grid, work->grid, sizeof work->grid);
    memcpy(params->block, work->block, sizeof work->block);
}

EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params) {
    GET(cuGraphKernelNodeGetParams_v2, node, NODE_KERNEL, void, params, get_kernel(&node->work, params));
}

EXPORT CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params) {
    GET(cuGraphMemcpyNodeGetParams, node, NODE_MEMCPY, void, params, *params = node->work.copy);
}

EXPORT CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params) {
    GET(cuGraphMemsetNodeGetParams, node, NODE_MEMSET, void, params, *params = node->work.memset);
}

EXPORT CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params) {
    GET(cuGraphHostNodeGetParams, node, NODE_HOST, void, params, *params = node->work.host);
}

EXPORT CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event) {
    GET(cuGraphEventRecordNodeGetEvent, node, NODE_EVENT_RECORD, CUevent, event, *event = node->work.event);
}

EXPORT CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event) {
    GET(cuGraphEventWaitNodeGetEvent, node, NODE_WAIT_EVENT, CUevent, event, *event = node->work.event);
}

EXPORT CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph) {
    GET(cuGraphChildGraphNodeGetGraph, node, NODE_GRAPH, CUgraph, graph, *graph = node->bodies[0]);
}

EXPORT CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    GET(cuGraphMemAllocNodeGetParams, node, NODE_MEM_ALLOC, void, params, *params = node->work.alloc);
}

EXPORT CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address) {
    GET(cuGraphMemFreeNodeGetParams, node, NODE_MEM_FREE, CUdeviceptr, address, *address = node->work.freed);
}

EXPORT CUresult cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode node, CUDA_EXT_SEM_NODE_PARAMS *params) {
    GET(cuGraphExternalSemaphoresSignalNodeGetParams, node, NODE_EXT_SEMAS_SIGNAL, void, params,
        *params = node->work.semaphores);
}

EXPORT CUresult cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode node, CUDA_EXT_SEM_NODE_PARAMS *params) {
    GET(cuGraphExternalSemaphoresWaitNodeGetParams, node, NODE_EXT_SEMAS_WAIT, void, params,
        *params = node->work.semaphores);
}

EXPORT CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    GET(cuGraphBatchMemOpNodeGetParams, node, NODE_BATCH_MEM_OP, void, params,
        *params = node->work.memory_operations);
}

static CUresult get_attribute(CUgraphNode node, int attribute, CUlaunchAttributeValue *value) {
    if (!fake_is(node, OBJECT_NODE) || node->work.type != NODE_KERNEL || !value)
        return CUDA_ERROR_INVALID_VALUE;
    memset(value, 0, sizeof *value);
    if (attribute == ATTRIBUTE_PRIORITY)
        value->value = node->work.priority;
    else if (attribute == ATTRIBUTE_COOPERATIVE)
        value->value = node->work.cooperative;
    else if (attribute < 1 || attribute > 16)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, int attribute, CUlaunchAttributeValue *value) {
    TRACED(cuGraphKernelNodeGetAttribute, { CUgraphNode a; int b; void *c; },
           get_attribute(node, attribute, value), node, attribute, value);
}

static CUresult set_attribute(CUgraphNode node, int attribute, const CUlaunchAttributeValue *value) {
    if (!fake_is(node, OBJECT_NODE) || node->work.type != NODE_KERNEL || !value)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == ATTRIBUTE_PRIORITY)
        node->work.priority = value->value;
    else if (attribute == ATTRIBUTE_COOPERATIVE)
        node->work.cooperative = value->value;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, int attribute,
                                              const CUlaunchAttributeValue *value) {
    TRACED(cuGraphKernelNodeSetAttribute, { CUgraphNode a; int b; const void *c; },
           set_attribute(node, attribute, value), node, attribute, value);
}

static CUresult copy_attributes(CUgraphNode to, CUgraphNode from) {
    if (!fake_is(to, OBJECT_NODE) || !fake_is(from, OBJECT_NODE) || to->work.type != NODE_KERNEL ||
        from->work.type != NODE_KERNEL)
        return CUDA_ERROR_INVALID_VALUE;
    to->work.priority = from->work.priority;
    to->work.cooperative = from->work.cooperative;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
    TRACED(cuGraphKernelNodeCopyAttributes, { CUgraphNode a; CUgraphNode b; }, copy_attributes(to, from), to, from);
}

static CUresult set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params) {
    if (!fake_is(node, OBJECT_NODE) || node->work.type != NODE_KERNEL || !params ||
        !fake_is(params->func, OBJECT_FUNCTION))
        return CUDA_ERROR_INVALID_VALUE;
    struct work work = kernel_work(params->func, params->grid, params->block, params->sharedMemBytes);
    work.priority = node->work.priority;
    work.cooperative = node->work.cooperative;
    CUresult result = set_kernel_arguments(&work, params->kernelParams, params->extra);
    if (result == CUDA_SUCCESS) {
        free_work(&node->work);
        node->work = work;
    }
    return result;
}

EXPORT CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params) {
    TRACED(cuGraphKernelNodeSetParams_v2, { CUgraphNode a; const void *b; }, set_kernel(node, params), node,
           params);
}
