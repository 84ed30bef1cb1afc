/* Ids, names, times and versions. */
#include "cupti.h"
#include "runtime_cbids.h"

enum { API_VERSION = 130001 };

uint32_t cupti_version(void) {
    long asked = fake_setting("FAKE_CUPTI_VERSION");
    return asked ? (uint32_t)asked : API_VERSION;
}

EXPORT CUptiResult cuptiGetVersion(uint32_t *version) {
    if (!version)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *version = cupti_version();
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetTimestamp(uint64_t *timestamp) {
    if (!timestamp)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *timestamp = fake_now_ns();
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *id) {
    if (!id || !fake_is(graph, OBJECT_GRAPH))
        return CUPTI_ERROR_INVALID_PARAMETER;
    *id = graph->id;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t *id) {
    if (!id || !fake_is(exec, OBJECT_EXEC))
        return CUPTI_ERROR_INVALID_PARAMETER;
    *id = exec->id;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id) {
    if (!id || !fake_is(node, OBJECT_NODE))
        return CUPTI_ERROR_INVALID_PARAMETER;
    *id = (uint64_t)node->graph->id << 32 | node->id;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetCallbackName(int domain, uint32_t cbid, const char **name) {
    static const struct {
        uint32_t cbid;
        const char *name;
    } names[] = {
#define CBID_NAME(number, name) {number, #name},
        CBIDS(CBID_NAME)
#undef CBID_NAME
    };
    static const struct {
        uint32_t cbid;
        const char *name;
    } runtime_names[] = {
#define RUNTIME_NAME(number, name, told) {number, told},
        RUNTIME_CBIDS(RUNTIME_NAME)
#undef RUNTIME_NAME
    };
    if (!name || (domain != DOMAIN_DRIVER_API && domain != DOMAIN_RUNTIME_API))
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t i = 0; domain == DOMAIN_RUNTIME_API && i < sizeof runtime_names / sizeof *runtime_names; i++)
        if (runtime_names[i].cbid == cbid) {
            *name = runtime_names[i].name;
            return CUPTI_SUCCESS;
        }
    if (domain == DOMAIN_RUNTIME_API)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].cbid == cbid) {
            *name = names[i].name;
            return CUPTI_SUCCESS;
        }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id) {
    /* NULL is the legacy stream, or this thread's (handle 2) on request. */
    CUstream handle = stream == NULL && per_thread ? (CUstream)2 : stream;
    uint32_t found = fake_stream_id(handle);
    (void)context;
    if (!id || found == 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *id = found;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id) {
    return cuptiGetStreamIdEx(context, stream, 0, id);
}

EXPORT CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id) {
    if (!id || !fake_is(context, OBJECT_CONTEXT))
        return CUPTI_ERROR_INVALID_CONTEXT;
    *id = context->id;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id) {
    if (!id || (context && !fake_is(context, OBJECT_CONTEXT)))
        return CUPTI_ERROR_INVALID_CONTEXT;
    *id = (uint32_t)(context ? context->device : 0);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text) {
    if (!text)
        return CUPTI_ERROR_INVALID_PARAMETER;
    switch (result) {
    case CUPTI_SUCCESS:
        *text = "CUPTI_SUCCESS";
        break;
    case CUPTI_ERROR_INVALID_PARAMETER:
        *text = "CUPTI_ERROR_INVALID_PARAMETER";
        break;
    case CUPTI_ERROR_NOT_INITIALIZED:
        *text = "CUPTI_ERROR_NOT_INITIALIZED";
        break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
        break;
    default:
        *text = "CUPTI_ERROR_UNKNOWN";
    }
    return CUPTI_SUCCESS;
}
