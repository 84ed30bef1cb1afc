/* The way into Python: its taker of stacks, called inside driver calls of the program.
 *
 * Python runs the program's signal handlers wherever bytecode runs, so also inside the taker.
 * What they raise (KeyboardInterrupt on Ctrl-C) is the program's: it is handed to the main thread,
 * which raises it as soon as the driver call is over. No symbol of Python is linked.
 */
#include "graph/graph.h"
#include "records/records.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

/* How long taking the taker away waits for calls of it on other threads. They wait for the GIL at
 * most, but the thread that removes it may be one that they wait for. */
#define DRAIN_NS 2000000000ull
#define DRAIN_PAUSE_NS 100000

struct python {
    int (*GILState_Ensure)(void);
    void (*GILState_Release)(int);
    void *(*Object_CallObject)(void *callable, void *arguments);
    long (*Long_AsLong)(void *number);
    void (*Err_Fetch)(void **type, void **value, void **trace);
    void (*Err_Restore)(void *type, void *value, void *trace);
    int (*AddPendingCall)(int (*function)(void *), void *argument);
    void (*DecRef)(void *object);
};

struct raised {
    void *type, *value, *trace;
};

static struct python python;
static bool found; /* written before the first taker is, and never again */
static _Atomic(void *) taker;
static _Atomic int calls_under_way;
static __thread int own_calls;

static bool find_python(void) {
    const struct {
        void **place;
        const char *name;
    } symbols[] = {
        {(void **)&python.GILState_Ensure, "PyGILState_Ensure"},
        {(void **)&python.GILState_Release, "PyGILState_Release"},
        {(void **)&python.Object_CallObject, "PyObject_CallObject"},
        {(void **)&python.Long_AsLong, "PyLong_AsLong"},
        {(void **)&python.Err_Fetch, "PyErr_Fetch"},
        {(void **)&python.Err_Restore, "PyErr_Restore"},
        {(void **)&python.AddPendingCall, "Py_AddPendingCall"},
        {(void **)&python.DecRef, "Py_DecRef"},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (!(*symbols[i].place = dlsym(RTLD_DEFAULT, symbols[i].name)))
            return false;
    return true;
}

/* Python calls this on the main thread, between two instructions of the program. */
static int raise_now(void *opaque) {
    struct raised *raised = opaque;
    python.Err_Restore(raised->type, raised->value, raised->trace);
    free(raised);
    return -1;
}

static void raise_later(void) {
    struct raised *raised = malloc(sizeof *raised);
    if (!raised)
        return;
    python.Err_Fetch(&raised->type, &raised->value, &raised->trace);
    /* The queue holds 32; it is full only if the main thread does not get to run at all. */
    if (raised->type && python.AddPendingCall(raise_now, raised) == 0)
        return;
    void *references[] = {raised->type, raised->value, raised->trace};
    for (int i = 0; i < 3; i++)
        python.DecRef(references[i]);
    free(raised);
}

static int32_t call_taker(void *callable) {
    int gil = python.GILState_Ensure();
    int32_t stack = STACK_FAILED;
    void *result = python.Object_CallObject(callable, NULL);
    if (result) {
        stack = (int32_t)python.Long_AsLong(result);
        python.DecRef(result);
    } else {
        raise_later();
    }
    python.GILState_Release(gil);
    return stack;
}

static int32_t take_stack(void) {
    int32_t stack = STACK_NOT_REQUESTED;
    atomic_fetch_add(&calls_under_way, 1);
    own_calls++;
    void *callable = atomic_load(&taker);
    if (callable)
        stack = call_taker(callable);
    own_calls--;
    atomic_fetch_sub(&calls_under_way, 1);
    return stack;
}

/* Set Python's taker of stacks, or take it away with NULL; call it without the GIL held. The
 * taker returns an id or a reason. Returns whether no thread is inside the last one any more:
 * until then its owner must keep it alive. */
GVIZ_EXPORT int gviz_set_stack_taker(void *callable) {
    if (callable && !found && !(found = find_python()))
        return 0;
    gviz_set_stack_callback(callable ? take_stack : NULL);
    atomic_store(&taker, callable);
    struct timespec pause = {0, DRAIN_PAUSE_NS};
    for (uint64_t waited = 0; waited < DRAIN_NS; waited += DRAIN_PAUSE_NS) {
        if (atomic_load(&calls_under_way) <= own_calls)
            return 1;
        nanosleep(&pause, NULL);
    }
    return 0;
}
