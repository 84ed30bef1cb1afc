/* Which driver calls are watched, and where their parameters hold the stream.
 *
 * The numbers of the calls come from cuptiGetCallbackName, never from a table: they
 * differ between releases.
 */
#include "calls/calls.h"
#include "spool/spool.h"

#include <string.h>

struct call_info calls[CALL_ID_LIMIT];

struct pattern {
    const char *name;       /* as the driver exports it, without _ptsz */
    uint8_t kind;
    int8_t stream_offset;   /* offsetof(<name>_params, hStream), generated_cuda_meta.h, CUDA 13.0 */
};

enum { NO_STREAM = -1, IN_LAUNCH_CONFIG = -2 };

static const struct pattern patterns[] = {
    {"cuLaunchKernel", CALL_OPERATION, 40},
    {"cuLaunchKernelEx", CALL_OPERATION, IN_LAUNCH_CONFIG},
    {"cuLaunchCooperativeKernel", CALL_OPERATION, 40},
    {"cuLaunchHostFunc", CALL_OPERATION, 0},
    {"cuMemcpy", CALL_OPERATION, NO_STREAM},
    {"cuMemcpyAsync", CALL_OPERATION, 24},
    {"cuMemcpyHtoD_v2", CALL_OPERATION, NO_STREAM},
    {"cuMemcpyDtoH_v2", CALL_OPERATION, NO_STREAM},
    {"cuMemcpyDtoD_v2", CALL_OPERATION, NO_STREAM},
    {"cuMemcpyHtoDAsync_v2", CALL_OPERATION, 24},
    {"cuMemcpyDtoHAsync_v2", CALL_OPERATION, 24},
    {"cuMemcpyDtoDAsync_v2", CALL_OPERATION, 24},
    {"cuMemcpy2D_v2", CALL_OPERATION, NO_STREAM},
    {"cuMemcpy2DUnaligned_v2", CALL_OPERATION, NO_STREAM},
    {"cuMemcpy2DAsync_v2", CALL_OPERATION, 8},
    {"cuMemcpy3D_v2", CALL_OPERATION, NO_STREAM},
    {"cuMemcpy3DAsync_v2", CALL_OPERATION, 8},
    {"cuMemcpyPeer", CALL_OPERATION, NO_STREAM},
    {"cuMemcpyPeerAsync", CALL_OPERATION, 40},
    {"cuMemcpy3DPeerAsync", CALL_OPERATION, 8},
    {"cuMemsetD8_v2", CALL_OPERATION, NO_STREAM},
    {"cuMemsetD16_v2", CALL_OPERATION, NO_STREAM},
    {"cuMemsetD32_v2", CALL_OPERATION, NO_STREAM},
    {"cuMemsetD8Async", CALL_OPERATION, 24},
    {"cuMemsetD16Async", CALL_OPERATION, 24},
    {"cuMemsetD32Async", CALL_OPERATION, 24},
    {"cuMemsetD2D8Async", CALL_OPERATION, 40},
    {"cuMemsetD2D16Async", CALL_OPERATION, 40},
    {"cuMemsetD2D32Async", CALL_OPERATION, 40},
    {"cuGraphLaunch", CALL_GRAPH_LAUNCH, 8},
    {"cuStreamBeginCapture", CALL_BEGIN_CAPTURE, 0},
    {"cuStreamBeginCapture_v2", CALL_BEGIN_CAPTURE, 0},
    {"cuStreamBeginCaptureToGraph", CALL_BEGIN_CAPTURE, 0},
    {"cuStreamEndCapture", CALL_END_CAPTURE, 0},
    {"cuGraphInstantiate", CALL_INSTANTIATE, NO_STREAM},
    {"cuGraphInstantiate_v2", CALL_INSTANTIATE, NO_STREAM},
    {"cuGraphInstantiateWithFlags", CALL_INSTANTIATE, NO_STREAM},
    {"cuGraphInstantiateWithParams", CALL_INSTANTIATE, NO_STREAM},
    {"cuGraphUpload", CALL_UPLOAD, 8},
    {"cuGraphExecUpdate", CALL_EXEC_UPDATE, NO_STREAM},
    {"cuGraphExecUpdate_v2", CALL_EXEC_UPDATE, NO_STREAM},
    {"cuGraphExecDestroy", CALL_EXEC_DESTROY, NO_STREAM},
    {"cuMemFree_v2", CALL_FREE, NO_STREAM},
    {"cuMemFreeAsync", CALL_FREE, 8},
    {"cuGraphAddNode", CALL_ADD_NODE, NO_STREAM},
    {"cuGraphAddNode_v2", CALL_ADD_NODE, NO_STREAM},
    {"cuGraphAddNode_v3", CALL_ADD_NODE, NO_STREAM},
    {"cuGraphDestroy", CALL_GRAPH_DESTROY, NO_STREAM},
    {"cuGraphClone", CALL_GRAPH_CLONE, NO_STREAM},
    {"cuProfilerStart", CALL_PROFILER_START, NO_STREAM},
    {"cuProfilerStop", CALL_PROFILER_STOP, NO_STREAM},
    {"cuGraphNodeSetEnabled", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecNodeSetParams", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecKernelNodeSetParams", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecKernelNodeSetParams_v2", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecMemcpyNodeSetParams", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecMemsetNodeSetParams", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecHostNodeSetParams", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecChildGraphNodeSetParams", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecEventRecordNodeSetEvent", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecEventWaitNodeSetEvent", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecExternalSemaphoresSignalNodeSetParams", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecExternalSemaphoresWaitNodeSetParams", CALL_NODE_UPDATE, NO_STREAM},
    {"cuGraphExecBatchMemOpNodeSetParams", CALL_NODE_UPDATE, NO_STREAM},
};

static void match(uint32_t id, const char *name) {
    size_t length = strlen(name);
    bool per_thread = length > 5 && (strcmp(name + length - 5, "_ptsz") == 0 ||
                                     strcmp(name + length - 5, "_ptds") == 0);
    if (per_thread)
        length -= 5;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const struct pattern *p = &patterns[i];
        if (strlen(p->name) == length && memcmp(p->name, name, length) == 0) {
            calls[id] = (struct call_info){p->kind, p->stream_offset, per_thread, true, false};
            return;
        }
    }
}

void calls_find(void) {
    memset(calls, 0, sizeof calls);
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++) {
        const char *name = NULL;
        if (cupti.cuptiGetCallbackName(DOMAIN_DRIVER_API, id, &name) != 0 || !name)
            continue;
        calls[id] = (struct call_info){.stream_offset = NO_STREAM, .known = true};
        match(id, name);
    }
}

CUstream call_stream(uint32_t cbid, const void *params, bool *has_stream) {
    int offset = calls[cbid].stream_offset;
    *has_stream = offset != NO_STREAM && params;
    if (!*has_stream)
        return NULL;
    const char *from = params;
    if (offset == IN_LAUNCH_CONFIG) {
        from = *(const char *const *)params; /* const CUlaunchConfig *config */
        offset = 32;                         /* offsetof(CUlaunchConfig, hStream) */
    }
    CUstream stream;
    memcpy(&stream, from + offset, sizeof stream);
    if (!stream && calls[cbid].per_thread)
        stream = CU_STREAM_PER_THREAD;
    return stream;
}

/* Nothing is read on the strength of the answer, so no order is needed. */
bool is_first_use(atomic_bool *used) {
    return !atomic_load_explicit(used, memory_order_relaxed) &&
           !atomic_exchange_explicit(used, true, memory_order_relaxed);
}

/* Put the call's name into the spool, when its number is first used there. */
void call_name(uint32_t cbid) {
    if (!is_first_use(&calls[cbid].named))
        return;
    const char *name = NULL;
    if (cupti.cuptiGetCallbackName(DOMAIN_DRIVER_API, cbid, &name) != 0 || !name)
        name = "?";
    struct call_name_record record = {cbid};
    struct slice slices[] = {{&record, sizeof record}, {name, strlen(name)}};
    spool_append(RECORD_CALL_NAME, slices, 2);
}
