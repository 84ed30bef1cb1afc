/* Several host threads launching at once, and a host that has other things to do. */
#include "launchcost.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define MAX_THREADS 64

/* Threads wait for all to be there; one that cannot be had must not leave the others waiting. */
enum signal { WAIT = 0, GO = 1, GIVE_UP = 2 };

struct launcher {
    pthread_t thread;
    _Atomic int *go; /* enum signal */
    const struct lab_program *program; /* of one stream */
    CUgraphExec exec;                  /* NULL: the program is sent */
    CUstream stream;
    int launches;
    CUresult result;
    struct lab_reading *readings;
};

static pthread_t busy[MAX_THREADS];
static int busy_count;
static _Atomic bool busy_wanted;

static CUresult launch_once(const struct launcher *launcher, struct lab_reading *reading) {
    int64_t start = monotonic_ns();
    CUresult result = launcher->exec ? cuda.GraphLaunch(launcher->exec, launcher->stream)
                                     : lab_send(launcher->program, launcher->stream);
    int64_t launched = monotonic_ns();
    if (result == 0)
        result = lab_cuda.StreamSynchronize(launcher->stream);
    *reading = (struct lab_reading){launched - start, monotonic_ns() - start, -1};
    return result;
}

static void *run_launcher(void *data) {
    struct launcher *launcher = data;
    launcher->result = lab_cuda.CtxSetCurrent(lab.context);
    int signal = WAIT;
    while ((signal = atomic_load(launcher->go)) == WAIT)
        sched_yield();
    for (int i = 0; signal == GO && i < launcher->launches && launcher->result == 0; i++)
        launcher->result = launch_once(launcher, &launcher->readings[i]);
    return NULL;
}

/* Give every thread an executable of its own: one executable's launches wait for each other. */
static int prepare(struct launcher *launchers, int threads, CUgraph graph) {
    for (int i = 0; i < threads && graph; i++)
        if (lab_check(cuda.GraphInstantiate(&launchers[i].exec, graph, 0),
                      "cuGraphInstantiateWithFlags") != 0)
            return -1;
    return 0;
}

static int run_all(struct launcher *launchers, int threads) {
    _Atomic int go = 0;
    CUresult result = 0;
    int started = 0;
    for (; started < threads; started++) {
        launchers[started].go = &go;
        if (pthread_create(&launchers[started].thread, NULL, run_launcher, &launchers[started]))
            break;
    }
    atomic_store(&go, started == threads ? GO : GIVE_UP);
    for (int i = 0; i < started; i++) {
        pthread_join(launchers[i].thread, NULL);
        if (launchers[i].result != 0)
            result = launchers[i].result;
    }
    if (started < threads)
        return lab_fail("cannot start %d threads", threads);
    return lab_check(result, "launching from several threads");
}

/* `threads` threads, each with a stream of its own, launch the graph (or send the program, of
 * stream 0 only, where graph is NULL) `launches` times and wait for each. `readings`: those of
 * the first thread, then of the second... */
GVIZ_EXPORT int gviz_lab_contend(const struct lab_program *program, CUgraph graph, int threads,
                                 int launches, struct lab_reading *readings) {
    struct launcher launchers[MAX_THREADS] = {0};
    if (threads < 1 || threads > MAX_THREADS)
        return lab_fail("%d threads; at most %d are possible", threads, MAX_THREADS);
    for (int i = 0; i < threads; i++) {
        launchers[i].program = program;
        launchers[i].stream = lab.streams[i];
        launchers[i].launches = launches;
        launchers[i].readings = readings + (size_t)i * (size_t)launches;
    }
    int result = prepare(launchers, threads, graph);
    if (result == 0)
        result = run_all(launchers, threads);
    for (int i = 0; i < threads; i++)
        if (launchers[i].exec)
            cuda.GraphExecDestroy(launchers[i].exec);
    return result;
}

/* -- a host that has other things to do ------------------------------------------------------------ */

static void *be_busy(void *unused) {
    (void)unused;
    while (atomic_load_explicit(&busy_wanted, memory_order_relaxed)) {
    }
    return NULL;
}

GVIZ_EXPORT void gviz_lab_leave_host(void) {
    atomic_store(&busy_wanted, false);
    while (busy_count > 0)
        pthread_join(busy[--busy_count], NULL);
}

/* Keep `threads` threads computing until gviz_lab_leave_host. */
GVIZ_EXPORT int gviz_lab_load_host(int threads) {
    atomic_store(&busy_wanted, true);
    while (busy_count < threads && busy_count < MAX_THREADS) {
        if (pthread_create(&busy[busy_count], NULL, be_busy, NULL) != 0) {
            gviz_lab_leave_host();
            return lab_fail("cannot start %d threads", threads);
        }
        busy_count++;
    }
    return 0;
}

/* -- launches back to back ------------------------------------------------------------------------- */

/* Launch for `limit_ns`, at most `ahead` launches in the queue; how many there were. */
GVIZ_EXPORT int64_t gviz_lab_launch_for(const struct lab_program *program, CUgraphExec exec,
                                        int64_t limit_ns, int ahead) {
    int64_t count = 0, start = monotonic_ns();
    CUstream stream = lab.streams[0];
    CUresult result = lab_cuda.CtxSetCurrent(lab.context);
    while (result == 0 && monotonic_ns() - start < limit_ns) {
        for (int i = 0; i < ahead && result == 0; i++)
            result = exec ? cuda.GraphLaunch(exec, stream) : lab_send(program, stream);
        if (result == 0)
            result = lab_cuda.StreamSynchronize(stream);
        count += ahead;
    }
    return lab_check(result, "launching") == 0 ? count : -1;
}
