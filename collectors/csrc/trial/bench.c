/* What a slice launches with: gviz's kernels, a stream and two events of a context, and the gate
 * closed for it. */
#include "launch/launch.h"
#include "trial/parts.h"

#include "gate/gate.h"

#include <dlfcn.h>
#include <string.h>
#include <time.h>

#define MILLISECOND_NS 1000000ull
/* How long a launch waits until nothing is in flight. */
#define QUIET_NS (100 * MILLISECOND_NS)
#define POLL_NS (200000l)
#define TRIES_OF_ALL 10
/* Held calls go on after this: a GPU that takes so long for a slice has failed. */
#define HELD_NS (20000 * MILLISECOND_NS)

static const struct gate_api *gate;
static __thread bool closed; /* for more than one slice */

bool bench_find_gate(void) {
    gate = dlsym(RTLD_DEFAULT, "gviz_gate");
    gate = gate && gate->size >= sizeof *gate ? gate : NULL;
    return gate;
}

const struct gate_api *bench_gate(void) { return gate; }

/* What of it was made. */
static void release(struct bench *bench) {
    if (bench->end)
        cuda.EventDestroy(bench->end);
    if (bench->start)
        cuda.EventDestroy(bench->start);
    if (bench->stream)
        cuda.StreamDestroy(bench->stream);
    if (bench->kernels.module)
        cuda.ModuleUnload(bench->kernels.module);
    memset(bench, 0, sizeof *bench);
}

static bool make(struct bench *bench, CUcontext context) {
    if (bench->context || !cuda.StreamCreate)
        return false;
    bool good = kernels_load(&bench->kernels) &&
                cuda.StreamCreate(&bench->stream, 1 /* CU_STREAM_NON_BLOCKING */) == 0 &&
                cuda.EventCreate(&bench->start, 0) == 0 && cuda.EventCreate(&bench->end, 0) == 0;
    if (good)
        bench->context = context;
    else
        release(bench);
    return good;
}

bool bench_ready(struct bench *bench, CUcontext context) {
    if (bench->context == context)
        return true;
    growth_open();
    bool made = make(bench, context);
    growth_close();
    return made;
}

void bench_end(struct bench *bench) {
    if (bench->context)
        release(bench);
}

uint64_t bench_launch(const struct bench *bench, CUgraphExec exec) {
    int64_t ns = 0;
    bool good = cuda.EventRecord(bench->start, bench->stream) == 0 && cuda.GraphLaunch(exec, bench->stream) == 0 &&
                cuda.EventRecord(bench->end, bench->stream) == 0 && cuda.StreamSynchronize(bench->stream) == 0 &&
                event_distance(bench->start, bench->end, &ns);
    return good && ns > 0 ? (uint64_t)ns : 0;
}

enum closing bench_close(void (*slice)(void *data), void *data, bool waits) {
    const struct timespec rest = {0, POLL_NS};
    uint64_t begin_ns = now_ns();
    bool busy = false;
    if (closed) {
        slice(data);
        return CLOSING_DONE;
    }
    do {
        enum gate_answer answer = gate->run_closed_for(slice, data, HELD_NS);
        if (answer == GATE_RAN || answer == GATE_OVERRAN)
            return CLOSING_DONE;
        if (answer == GATE_FORBIDDEN || answer == GATE_UNKNOWN)
            return CLOSING_NEVER;
        busy = busy || answer == GATE_BUSY;
        if (!busy && !waits)
            return CLOSING_LATER;
        nanosleep(&rest, NULL);
    } while (now_ns() - begin_ns <= QUIET_NS);
    return busy ? CLOSING_IN_VAIN : CLOSING_LATER;
}

static void work_within(void *work) {
    closed = true;
    (*(void (**)(void))work)();
    closed = false;
}

bool bench_close_once(void (*work)(void)) {
    enum closing closing = CLOSING_LATER;
    for (int i = 0; i < TRIES_OF_ALL && closing != CLOSING_DONE && closing != CLOSING_NEVER; i++)
        closing = bench_close(work_within, &work, true);
    return closing == CLOSING_DONE;
}
