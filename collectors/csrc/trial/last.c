/* The process's last moment: what may break a context is tried when nobody needs it any more.
 *
 * The program's own handlers and destructors have run, its output is flushed, its exit code is fixed. A
 * thread tries, the exiting one watches it: where the GPU does not come back, the process ends with that
 * code. Until then kernels stay loaded, whoever unloads them at the end. Nothing is tried where the program
 * gave back its context.
 */
#include "calls/calls.h"
#include "spool/spool.h"
#include "trial/parts.h"

#include "gate/gate.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000ull
#define LAST_NS (10 * SECOND_NS) /* for all graphs together */
/* A slice takes milliseconds, loading gviz's kernels a few more. */
#define HANG_NS (5 * SECOND_NS)
#define FLUSH_NS (1 * SECOND_NS)
#define POLL_NS 1000000l

enum { FLUSHING, TRYING, DONE };

static const char lost[] = "what was tried before it lost the GPU's context";
static _Atomic bool stays;
static _Atomic int state;
static _Atomic uint64_t beats, begun_ns;
static _Atomic(const char *) given_back; /* the call by which */
static int exit_status;

bool trial_stays(void) { return atomic_load(&stays); }

void last_abandon(void) { atomic_store(&stays, false); }

/* -- what the program gives back at its end -------------------------------------------------------------- */

static bool begins_with(const char *name, const char *const *prefixes) {
    for (; name && *prefixes; prefixes++)
        if (strncmp(name, *prefixes, strlen(*prefixes)) == 0)
            return true;
    return false;
}

static const char *const of_code[] = {"cuModuleUnload", "cuLibraryUnload", NULL};
static const char *const of_context[] = {"cuCtxDestroy", "cuCtxDetach", "cuDevicePrimaryCtxReset", NULL};
static const char *const releases[] = {"cuDevicePrimaryCtxRelease", NULL};

/* A library that retained the primary context for itself releases it: it stays while others retain it. */
static bool releases_last(const struct gate_call *call) {
    unsigned flags;
    int active = 0;
    return call->result && !(cuda.DevicePrimaryCtxGetState &&
                             cuda.DevicePrimaryCtxGetState((CUdevice)call->words[0], &flags, &active) == 0 && active);
}

static void on_call(const struct gate_call *call) {
    const CUpti_CallbackData data = {.site = call->result != NULL, .function_name = call->name,
                                     .params = call->words, .return_value = call->result};
    if (this_thread()->inside)
        return;
    if (begins_with(call->name, of_code))
        *call->made = true;
    else if (begins_with(call->name, of_context) || (begins_with(call->name, releases) && releases_last(call)))
        atomic_store(&given_back, call->name);
    else
        blocks_call(&data, call->id);
}

void trial_watch_end(void) {
    const struct gate_api *gate = bench_gate();
    if (!trial_stays())
        return;
    gate->listen(on_call);
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++)
        if (begins_with(gate->name_of(id), of_code) || begins_with(gate->name_of(id), of_context) ||
            begins_with(gate->name_of(id), releases) || blocks_follow(id))
            gate->tell(id, true);
}

/* -- a driver that breaks down -------------------------------------------------------------------------------- */

static const int breakdowns[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

static void leave(int signal) {
    (void)signal;
    _exit(exit_status);
}

/* It ends the process as it would have ended. Its own fault ends a thread's process at once where the thread
 * blocks the signal. */
static void catch_breakdowns(void) {
    struct sigaction action;
    sigset_t caught;
    memset(&action, 0, sizeof action);
    action.sa_handler = leave;
    sigemptyset(&caught);
    for (size_t i = 0; i < sizeof breakdowns / sizeof *breakdowns; i++) {
        sigaction(breakdowns[i], &action, NULL);
        sigaddset(&caught, breakdowns[i]);
    }
    pthread_sigmask(SIG_UNBLOCK, &caught, NULL);
}

/* -- the thread that tries ----------------------------------------------------------------------------------- */

static bool go_on(void) {
    atomic_fetch_add(&beats, 1);
    return now_ns() - atomic_load(&begun_ns) < LAST_NS;
}

static void try_all(void) { tries_make(go_on); }

static void describe_obstacle(char *why, size_t size) {
    struct gate_counts counts = {.busy_with = ""};
    bench_gate()->read_counts(&counts);
    snprintf(why, size, "the process was not quiet at its end: %s", counts.busy_with[0] ? counts.busy_with : "it exits");
}

static void *flush_and_try(void *unused) {
    int flushing = FLUSHING;
    char why[160];
    (void)unused;
    catch_breakdowns();
    this_thread()->inside = true;
    fflush(NULL);
    if (!atomic_compare_exchange_strong(&state, &flushing, TRYING))
        return NULL;
    atomic_store(&begun_ns, now_ns());
    const char *call = atomic_load(&given_back);
    if (call)
        snprintf(why, sizeof why, "the program gave back its context at its end (%s)", call);
    else if (bench_close_once(try_all))
        snprintf(why, sizeof why, "the last moment of the process takes 10 s at most");
    else
        describe_obstacle(why, sizeof why);
    tries_refuse(tries_lost_context() ? lost : why);
    atomic_store(&state, DONE);
    return NULL;
}

/* -- the thread that exits -------------------------------------------------------------------------------------- */

/* Returns whether the thread came to its end. */
static bool watch(void) {
    const struct timespec rest = {0, POLL_NS};
    uint64_t beat = 0, since_ns = now_ns();
    while (atomic_load(&state) != DONE) {
        nanosleep(&rest, NULL);
        int flushing = FLUSHING;
        uint64_t seen = atomic_load(&beats), waited_ns = now_ns() - since_ns;
        if (seen != beat) {
            beat = seen;
            since_ns = now_ns();
        } else if (waited_ns > FLUSH_NS && atomic_compare_exchange_strong(&state, &flushing, DONE)) {
            break; /* a file is locked: exit() passes over it */
        } else if (waited_ns > HANG_NS && atomic_load(&state) == TRYING) {
            return false;
        }
    }
    return true;
}

static bool at_last(int status) {
    pthread_t thread;
    sigset_t every, before;
    if (!atomic_exchange(&stays, false))
        return true;
    exit_status = status;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    bool begun = pthread_create(&thread, NULL, flush_and_try, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (begun)
        pthread_detach(thread); /* to join it could take for ever: others' destructors run in it */
    bool ended = !begun || watch();
    if (!ended) {
        tries_hang();
        tries_refuse(lost);
    }
    spool_close();
    if (!ended)
        _exit(status);
    return !tries_lost_context();
}

bool last_begin(void) {
    const struct gate_api *gate = bench_gate();
    atomic_store(&given_back, NULL);
    atomic_store(&state, FLUSHING);
    bool can = gate && gate->stay(at_last);
    atomic_store(&stays, can);
    return can;
}
