/* The Python stack of the calling thread, or why it has none. */
#include "graph/graph.h"
#include "records/records.h"

#include <dlfcn.h>

static _Atomic(stack_callback) take_stack;
static _Atomic int32_t missing_reason = STACK_NOT_REQUESTED;

/* Python's stack taker; NULL takes it away. It must not raise and returns an id or a reason. */
GVIZ_EXPORT void gviz_set_stack_callback(stack_callback callback) {
    atomic_store(&take_stack, callback);
}

void stacks_missing(int32_t reason) { atomic_store(&missing_reason, reason); }

int32_t python_stack(void) {
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
