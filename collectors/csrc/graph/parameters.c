/* Parameters of nodes whose kinds have no columns of their own: as text, by name. */
#include "graph/parts.h"
#include "spool/spool.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_OPERATIONS 256 /* the driver's own limit on a batch is below this */

struct batch_operation { /* CUstreamBatchMemOpParams, 48 bytes */
    unsigned operation, pad;
    uint64_t address, value;
    unsigned flags, pad2;
    uint64_t rest[2];
};

struct host_params { /* CUDA_HOST_NODE_PARAMS */
    void (*function)(void *);
    void *data;
};

struct semaphore_params { /* CUDA_EXT_SEM_SIGNAL_NODE_PARAMS and _WAIT_ */
    void **semaphores;
    const void *params;
    unsigned count;
};

struct batch_params { /* CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 */
    CUcontext context;
    unsigned count;
    const struct batch_operation *operations;
    unsigned flags;
};

static void __attribute__((format(printf, 3, 4)))
parameter(struct parameter_record owner, const char *name, const char *format, ...) {
    char text[700];
    int at = snprintf(text, sizeof text, "%s\n", name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + at, sizeof text - (size_t)at, format, arguments);
    va_end(arguments);
    struct slice slices[] = {{&owner, sizeof owner}, {text, strlen(text)}};
    spool_append(RECORD_PARAMETER, slices, 2);
}

static void host(CUgraphNode node, struct parameter_record owner) {
    struct host_params params = {0};
    if (!cuda.GraphHostNodeGetParams || cuda.GraphHostNodeGetParams(node, &params) != 0)
        return;
    uintptr_t address = (uintptr_t)params.function;
    parameter(owner, "function", "0x%" PRIxPTR, address);
    Dl_info info;
    if (dladdr((void *)address, &info) && info.dli_fname) {
        const char *file = strrchr(info.dli_fname, '/');
        if (info.dli_sname && (uintptr_t)info.dli_saddr == address)
            parameter(owner, "symbol", "%s", info.dli_sname);
        parameter(owner, "library", "%s", file ? file + 1 : info.dli_fname);
    }
    parameter(owner, "user data", "0x%" PRIxPTR, (uintptr_t)params.data);
}

static void event(CUgraphNode node, struct parameter_record owner, int type) {
    CUevent found = NULL;
    CUresult (*get)(CUgraphNode, CUevent *) =
        type == NODE_EVENT_RECORD ? cuda.GraphEventRecordNodeGetEvent : cuda.GraphEventWaitNodeGetEvent;
    if (get && get(node, &found) == 0)
        parameter(owner, "event", "0x%" PRIxPTR, (uintptr_t)found);
}

static void semaphores(CUgraphNode node, struct parameter_record owner, int type) {
    struct semaphore_params params = {0};
    CUresult (*get)(CUgraphNode, void *) = type == NODE_EXT_SEMAS_SIGNAL
                                               ? cuda.GraphExternalSemaphoresSignalNodeGetParams
                                               : cuda.GraphExternalSemaphoresWaitNodeGetParams;
    if (get && get(node, &params) == 0)
        parameter(owner, "semaphores", "%u", params.count);
}

static void operation(struct parameter_record owner, unsigned index, const struct batch_operation *op) {
    char name[32];
    snprintf(name, sizeof name, "operation %u", index);
    switch (op->operation) { /* CUstreamBatchMemOpType */
    case 1:
    case 4: {
        static const char *const compares[] = {">=", "==", "AND", "NOR"};
        parameter(owner, name, "%s 0x%" PRIx64 " %s 0x%" PRIx64,
                  op->operation == 1 ? "WAIT_VALUE_32" : "WAIT_VALUE_64", op->address,
                  compares[op->flags & 3], op->operation == 1 ? op->value & UINT32_MAX : op->value);
        break;
    }
    case 2:
    case 5:
        parameter(owner, name, "%s 0x%" PRIx64 " = 0x%" PRIx64,
                  op->operation == 2 ? "WRITE_VALUE_32" : "WRITE_VALUE_64", op->address,
                  op->operation == 2 ? op->value & UINT32_MAX : op->value);
        break;
    case 3:
        parameter(owner, name, "FLUSH_REMOTE_WRITES");
        break;
    case 6:
        parameter(owner, name, "BARRIER");
        break;
    default:
        parameter(owner, name, "type %u", op->operation);
    }
}

static void batch(CUgraphNode node, struct parameter_record owner) {
    struct batch_params params = {0};
    if (!cuda.GraphBatchMemOpNodeGetParams || cuda.GraphBatchMemOpNodeGetParams(node, &params) != 0)
        return;
    parameter(owner, "operations", "%u", params.count);
    for (unsigned i = 0; params.operations && i < params.count && i < MAX_OPERATIONS; i++)
        operation(owner, i, &params.operations[i]);
}

void parameters_of(CUgraphNode node, uint32_t graph_id, uint32_t node_id, int type) {
    struct parameter_record owner = {graph_id, node_id};
    switch (type) {
    case NODE_HOST:
        host(node, owner);
        break;
    case NODE_WAIT_EVENT:
    case NODE_EVENT_RECORD:
        event(node, owner, type);
        break;
    case NODE_EXT_SEMAS_SIGNAL:
    case NODE_EXT_SEMAS_WAIT:
        semaphores(node, owner, type);
        break;
    case NODE_BATCH_MEM_OP:
        batch(node, owner);
        break;
    default:
        break;
    }
}
