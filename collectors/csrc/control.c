/* Starting, stopping, forking, failing: the life of the collectors in one process.
 *
 * IDLE -> RECORDING -> IDLE (stopped in order) | DETACHED (inner failure, or a forked child)
 */
#include "native.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_INTERVAL_NS 500000000ull

struct options options = {POLICY_FIRST, 20, 20000, 512, 5000000000ull, 0.003};
_Atomic int run_state = STATE_IDLE;

static pthread_mutex_t control_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t flush_signal;
static pthread_mutex_t flush_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t flush_thread;
static bool flush_stop, flush_final_done, flush_running;
static char cupti_path[3000];
static char last_error[512];
static bool injection_wanted; /* start when the driver initialises */
static _Atomic int said_failure;

struct thread_state *this_thread(void) {
    static __thread struct thread_state state;
    if (!state.thread_id)
        state.thread_id = (uint32_t)syscall(SYS_gettid);
    return &state;
}

uint64_t now_ns(void) {
    uint64_t time = 0;
    cupti.cuptiGetTimestamp(&time);
    return time;
}

void note(const char *kind, const char *format, ...) {
    char text[1200];
    int at = snprintf(text, sizeof text, "%s\n", kind);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + at, sizeof text - (size_t)at, format, arguments);
    va_end(arguments);
    spool_append_one(RECORD_NOTE, text, strlen(text));
}

void counter(const char *name, double value, const char *unit, const char *method) {
    char text[600];
    snprintf(text, sizeof text, "%s\n%.17g\n%s\n%s", name, value, unit, method);
    spool_append_one(RECORD_COUNTER, text, strlen(text));
}

void give_up(const char *why) {
    int recording_now = STATE_RECORDING;
    if (!atomic_compare_exchange_strong(&run_state, &recording_now, STATE_DETACHED))
        return;
    if (!atomic_exchange(&said_failure, 1))
        fprintf(stderr, "gviz: collecting stopped: %s; the program goes on, "
                        "what was recorded is kept\n", why);
}

/* -- the flush thread --------------------------------------------------------------- */

static void set_relaxed_capture(void) {
    /* A global-mode capture elsewhere must not be broken by this thread's event queries. */
    int mode = CU_CAPTURE_MODE_RELAXED;
    cuda.ThreadExchangeStreamCaptureMode(&mode);
}

static void synchronize_contexts(void) {
    CUcontext context;
    /* Waiting for a context breaks its captures, in whatever mode (measured, driver 580). */
    for (int i = 0; !captures_known() && (context = context_at(i)); i++) {
        if (cuda.CtxPushCurrent(context) != 0)
            continue;
        cuda.CtxSynchronize();
        cuda.CtxPopCurrent(&context);
    }
}

static void *flush_main(void *unused) {
    (void)unused;
    this_thread()->inside = 1;
    bool relaxed = false;
    pthread_mutex_lock(&flush_lock);
    while (!flush_stop) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        uint64_t at = (uint64_t)until.tv_nsec + FLUSH_INTERVAL_NS;
        until.tv_sec += (time_t)(at / 1000000000ull);
        until.tv_nsec = (long)(at % 1000000000ull);
        pthread_cond_timedwait(&flush_signal, &flush_lock, &until);
        if (flush_stop || !recording())
            continue;
        pthread_mutex_unlock(&flush_lock);
        updates_flush();
        capture_poll();
        if (!relaxed && context_at(0)) {
            set_relaxed_capture();
            relaxed = true;
        }
        if (context_at(0)) {
            activity_flush();
            events_poll();
        }
        pthread_mutex_lock(&flush_lock);
    }
    pthread_mutex_unlock(&flush_lock);
    if (context_at(0)) {
        set_relaxed_capture();
        synchronize_contexts();
        activity_flush();
        events_poll();
    }
    pthread_mutex_lock(&flush_lock);
    flush_final_done = true;
    pthread_cond_broadcast(&flush_signal);
    pthread_mutex_unlock(&flush_lock);
    return NULL;
}

/* Start the flush thread, once; called when the first context is seen. Before that there is
 * nothing to flush, and a program that forks is better off with a single thread. */
void flush_start(void) {
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&once);
    if (flush_running) {
        pthread_mutex_unlock(&once);
        return;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&flush_signal, &attributes);
    pthread_condattr_destroy(&attributes);
    flush_stop = flush_final_done = false;
    flush_running = pthread_create(&flush_thread, NULL, flush_main, NULL) == 0;
    pthread_mutex_unlock(&once);
    if (flush_running)
        pthread_setname_np(flush_thread, "gviz-flush");
    else
        give_up("the flush thread could not be started");
}

/* Wait for the GPU's outstanding work to be recorded, but not for ever. */
static bool flush_finish(double seconds) {
    if (!flush_running)
        return true;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    pthread_mutex_lock(&flush_lock);
    flush_stop = true;
    pthread_cond_broadcast(&flush_signal);
    int result = 0;
    while (!flush_final_done && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&flush_signal, &flush_lock, &until);
    bool done = flush_final_done;
    pthread_mutex_unlock(&flush_lock);
    if (done)
        pthread_join(flush_thread, NULL);
    else
        pthread_detach(flush_thread);
    flush_running = false;
    return done;
}

/* -- fork ----------------------------------------------------------------------------- */

static void in_forked_child(void) {
    /* The spool, CUPTI and the flush thread belong to the parent. */
    injection_wanted = false;
    atomic_store(&run_state, STATE_DETACHED);
    flush_running = false;
    spool_abandon();
}

static void register_fork_handler(void) { pthread_atfork(NULL, NULL, in_forked_child); }

/* -- start and stop --------------------------------------------------------------------- */

static int fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return -1;
}

static int attach_locked(void) {
    char why[400];
    if (cuda_load(why, sizeof why) != 0 || cupti_load(cupti_path, why, sizeof why) != 0)
        return fail("%s", why);
    calls_find();
    walk_reset();
    launch_reset();
    life_reset();
    window_reset();
    if (callbacks_start() != 0)
        return -1;
    if (activity_start() != 0) {
        callbacks_stop();
        return -1;
    }
    uint32_t version = 0;
    int driver = 0;
    cupti.cuptiGetVersion(&version);
    cuda.DriverGetVersion(&driver);
    counter("cupti_version", version, "number", "measured: cuptiGetVersion");
    counter("driver_version", driver, "number", "measured: cuDriverGetVersion");
    counter("attached_ns", (double)now_ns(), "ns", "measured: cuptiGetTimestamp");
    atomic_store_explicit(&run_state, STATE_RECORDING, memory_order_release);
    if (context_at(0)) /* attached late */
        flush_start();
    window_start();
    return 0;
}

int cupti_failed(const char *call, CUptiResult result) {
    const char *text = NULL;
    cupti.cuptiGetResultString(result, &text);
    if (result == 39)
        return fail("another profiler holds CUPTI in this process (%s: %s); "
                    "run without it", call, text ? text : "?");
    return fail("%s failed: %s (%d)", call, text ? text : "?", result);
}

GVIZ_EXPORT const char *gviz_error(void) { return last_error; }

/* Open the spool. `at_init`: attach when the driver initialises (through InitializeInjection)
 * instead of now. Returns 0 or -1 (gviz_error says why). */
GVIZ_EXPORT int gviz_start(const char *spool, const char *cupti_library,
                           const struct options *wanted, int at_init) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork_handler);
    pthread_mutex_lock(&control_lock);
    int result;
    last_error[0] = 0;
    atomic_store(&said_failure, 0);
    if (atomic_load(&run_state) == STATE_RECORDING || injection_wanted) {
        result = fail("a profile is active in this process already");
    } else if (spool_open(spool) != 0) {
        result = fail("cannot write the spool %s: %s", spool, strerror(errno));
    } else {
        options = *wanted;
        snprintf(cupti_path, sizeof cupti_path, "%s", cupti_library ? cupti_library : "");
        nvtx_reset();
        injection_wanted = at_init != 0;
        result = at_init ? 0 : attach_locked();
    }
    pthread_mutex_unlock(&control_lock);
    return result;
}

/* The driver calls this while it initialises, when CUDA_INJECTION64_PATH names this library. */
GVIZ_EXPORT int InitializeInjection(void) {
    pthread_mutex_lock(&control_lock);
    if (injection_wanted) {
        injection_wanted = false;
        if (attach_locked() != 0) {
            note("warning", "nothing was recorded: %s", last_error);
            fprintf(stderr, "gviz: nothing is recorded: %s\n", last_error);
        }
    }
    pthread_mutex_unlock(&control_lock);
    return 1;
}

/* Stop recording: wait up to `seconds` for outstanding GPU work, detach, close the spool. */
GVIZ_EXPORT int gviz_stop(double seconds) {
    pthread_mutex_lock(&control_lock);
    injection_wanted = false;
    int state = atomic_load(&run_state);
    if (state == STATE_RECORDING) {
        window_finish();
        if (!flush_finish(seconds))
            note("warning", "the GPU was still busy %.0f s after the end: the last launches "
                            "are missing or incomplete", seconds);
        activity_counters();
        memory_counters();
        activity_stop();
        callbacks_stop();
        updates_flush();
        events_stop();
        counter("ended_ns", (double)now_ns(), "ns", "measured: cuptiGetTimestamp");
        counter("spool_bytes", (double)spool_bytes(), "bytes", "measured: bytes appended");
        atomic_store(&run_state, STATE_IDLE);
    } else if (state == STATE_DETACHED) {
        flush_finish(seconds);
        callbacks_stop();
        atomic_store(&run_state, STATE_IDLE);
    }
    spool_append_one(RECORD_END, "", 0);
    spool_close();
    pthread_mutex_unlock(&control_lock);
    return state;
}

GVIZ_EXPORT int gviz_state(void) { return atomic_load(&run_state); }

/* Python's records: metadata, stacks, notes. Returns 0 or -1. */
GVIZ_EXPORT int gviz_append(uint32_t type, const void *data, uint64_t size) {
    return spool_append_one(type, data, (size_t)size);
}
