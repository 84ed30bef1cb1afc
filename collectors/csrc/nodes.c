/* When, where and from which code a node was created. */
#include "native.h"

#include <dlfcn.h>

/* Why a node has no Python stack; the sentences are in gviz/spool/records/format.py. */
enum { STACK_NOT_ASKED = 0, STACK_NO_PYTHON_THREAD = -1 };

struct created_record {
    uint64_t node_id, time_ns;
    uint32_t thread_id, stream_id, nvtx_path;
    int32_t stack; /* id > 0, else a reason */
    int32_t type;
    uint32_t reserved;
};

struct cloned_record {
    uint64_t node_id, original_id;
};

static _Atomic(stack_callback) take_stack;

/* Python's stack taker; NULL takes it away. It must not raise and returns an id or a reason. */
GVIZ_EXPORT void gviz_set_stack_callback(stack_callback callback) {
    atomic_store(&take_stack, callback);
}

static _Atomic int32_t missing_reason = STACK_NOT_ASKED;

/* Say why nodes have no stack as long as there is no taker. */
void nodes_without_stacks(int32_t reason) { atomic_store(&missing_reason, reason); }

int32_t nodes_python_stack(void) {
    static void *(*thread_state)(void);
    static _Atomic int looked;
    stack_callback callback = atomic_load(&take_stack);
    if (!callback)
        return atomic_load(&missing_reason);
    if (!atomic_load(&looked)) {
        *(void **)&thread_state = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
        atomic_store(&looked, 1);
    }
    /* A thread that Python does not know has no frames: do not make it wait for the GIL. */
    if (!thread_state || !thread_state())
        return STACK_NO_PYTHON_THREAD;
    return callback();
}

void nodes_created(const CUpti_GraphData *data, CUcontext context) {
    struct thread_state *thread = this_thread();
    struct created_record record = {
        .time_ns = now_ns(), .thread_id = thread->thread_id, .stream_id = UINT32_MAX,
        .nvtx_path = thread->nvtx_path, .type = data->node_type};
    thread->created_node = true;
    if (cupti.cuptiGetGraphNodeId(data->node, &record.node_id) != 0)
        return;
    if (thread->call_has_stream)
        record.stream_id = stream_id_of(context, thread->call_stream, false);
    record.stack = nodes_python_stack();
    spool_append_one(RECORD_CREATED, &record, sizeof record);
}

void nodes_cloned(const CUpti_GraphData *data) {
    struct cloned_record record = {0, 0};
    if (cupti.cuptiGetGraphNodeId(data->node, &record.node_id) == 0 &&
        cupti.cuptiGetGraphNodeId(data->original_node, &record.original_id) == 0)
        spool_append_one(RECORD_CLONED, &record, sizeof record);
}
