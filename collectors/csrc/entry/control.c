/* Starting, stopping, forking, failing: the life of the collectors in one process.
 *
 * IDLE -> RECORDING -> IDLE (stopped in order) | DETACHED (inner failure, or a forked child)
 */
#include "blackbox/blackbox.h"
#include "blocks/blocks.h"
#include "calls/calls.h"
#include "entry/entry.h"
#include "events/events.h"
#include "subscriber/subscriber.h"
#include "graph/graph.h"
#include "launch/launch.h"
#include "life/life.h"
#include "spool/spool.h"
#include "told/told.h"
#include "trial/trial.h"
#include "values/values.h"
#include "window/window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long the end of a program without Python waits for outstanding GPU work. */
#define EXIT_SECONDS 20.0
/* Nothing else slows these programs: events around launches may take this share of wall time. */
#define TOLD_EVENT_COST_FRACTION 0.001

GVIZ_LOCK(control_lock);
static char cupti_path[3000];
static bool prepared; /* by Python, or by gviz_start: the environment is not read */
static bool from_environment; /* no Python part */
static bool left_before_attaching;
static bool visits_started;

GVIZ_EXPORT int gviz_stop(double seconds);

/* -- fork ----------------------------------------------------------------------------- */

extern pthread_mutex_t *const __start_gviz_locks[] __attribute__((visibility("hidden")));
extern pthread_mutex_t *const __stop_gviz_locks[] __attribute__((visibility("hidden")));

static void in_forked_child(void) {
    for (pthread_mutex_t *const *lock = __start_gviz_locks; lock < __stop_gviz_locks; lock++)
        pthread_mutex_init(*lock, NULL);
    *this_thread() = (struct thread_state){0}; /* this thread has another id here */
    /* The spool, CUPTI and the flush thread belong to the parent. */
    bool again = injection_wanted && process_follows_children();
    injection_wanted = again; /* without CUDA so far: the child may use it and be recorded itself */
    visits_started = false;
    visits_abandon();
    atomic_store(&run_state, again ? STATE_IDLE : STATE_DETACHED);
    flush_forked();
    pause_forked();
    capturing_forked();
    watch_abandon();
    outside_abandon();
    trial_abandon();
    blackbox_abandon();
    values_abandon();
    spool_abandon();
    process_forked();
    nvtx_forked();
}

static void add_fork_handler(void) { pthread_atfork(NULL, NULL, in_forked_child); }

static void register_fork_handler(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, add_fork_handler);
}

/* -- contexts ----------------------------------------------------------------------------- */

static void context_met(CUcontext context) {
    walk_device(context);
    if (recording())
        flush_start();
}

static void context_leaves(CUcontext context) {
    timing_forget(context);
    outside_forget(context);
    pairs_forget(context);
    trial_context_ends(context);
    values_context_ends(context);
    watch_context_ends(context);
}

static const struct context_listener listener = {context_met, context_leaves};

/* -- start and stop --------------------------------------------------------------------- */

/* What launches copies behind the gate. */
static void start_slices(void) {
    if (told_in_place())
        trial_watch_memory();
    if (options.trial_ns && told_in_place())
        trial_start();
    else if (options.trial_ns)
        note("limit", "nothing was tried: trials need the gate, which is not in this process (gviz run --trials)");
    if (options.values_ns && told_in_place())
        values_start();
    else if (options.values_ns)
        note("limit", "no values were read: that needs the gate, which is not in this process (gviz run --values)");
}

/* With CUPTI's functions in place, or the gate's. `again`: in the same recording, after CUPTI was
 * left. */
static int attach_calls(bool again) {
    calls_find();
    if (told_in_place() && options.eager_operations)
        outside_start();
    if (!again)
        walk_reset();
    executables_reset();
    origin_reset();
    life_reset();
    window_reset(again);
    bodies_reset(); /* which of them were destroyed meanwhile is not known */
    graph_memory_reset(again);
    if (callbacks_start() != 0)
        return -1;
    if (activity_start(again) != 0) {
        subscription_stop();
        return -1;
    }
    if (options.trial_ns || options.values_ns || options.black_box)
        blocks_start(options.black_box != BLACK_BOX_OFF);
    blackbox_start(told_in_place(), true);
    if (options.trial_ns || options.values_ns)
        start_slices();
    uint32_t version = 0;
    int driver = 0;
    cupti.cuptiGetVersion(&version);
    cuda.DriverGetVersion(&driver);
    if (version)
        counter("cupti_version", version, "number", "measured: cuptiGetVersion");
    counter("driver_version", driver, "number", "measured: cuDriverGetVersion");
    counter("attached_ns", (double)now_ns(), "ns", "measured: cuptiGetTimestamp");
    pause_take_signal(false);
    pause_attached(again ? PERIOD_RETURNED : PERIOD_ATTACHED);
    atomic_store_explicit(&run_state, STATE_RECORDING, memory_order_release);
    if (context_at(0)) /* attached late */
        flush_start();
    return 0;
}

static int attach_cupti(bool again) {
    char why[400];
    if (cupti_load(cupti_path, why, sizeof why) != 0)
        return error_keep("%s", why);
    return attach_calls(again);
}

/* Without CUPTI in the process, where the gate tells of the driver's calls; node times are those of
 * copies. */
static int attach_told(const char *why) {
    static const char told[] = "; the gate tells of the driver's calls";
    if (options.event_cost_fraction > TOLD_EVENT_COST_FRACTION)
        options.event_cost_fraction = TOLD_EVENT_COST_FRACTION;
    told_take_over();
    bool crumbs = options.black_box >= BLACK_BOX_LAYER;
    bool copies = (crumbs || !watch_without_times()) && watch_can_copy();
    bool windows = visits_started = options.cupti_windows && visits_start(cupti_path, copies);
    if (copies)
        watch_stand_in(windows);
    if (!copies || crumbs)
        options.eager_operations = 0;
    const char *name = windows ? "cupti-windows\n" : copies && !crumbs ? "events\n" : "topology\n";
    struct slice slices[] = {{name, strlen(name)}, {why, strlen(why)}, {told, sizeof told - 1}};
    spool_append(RECORD_COLLECTOR, slices, 3);
    return attach_calls(false);
}

static void start_watching(const char *why, bool fresh) {
    watch_start(why, fresh);
    if (fresh)
        blackbox_start(false, false);
    if (context_at(0))
        flush_start();
}

static int attach_locked(bool again) {
    char why[1200];
    if (cuda_load(why, sizeof why) != 0)
        return error_keep("%s", why);
    in_job = process_rank() != NULL;
    contexts_listen(&listener);
    if (again)
        return attach_cupti(true);
    if (watch_wanted() && told_available())
        return attach_told("requested");
    if (watch_may_follow() && told_available())
        return attach_told("a CUPTI in the process would slow its launches");
    if (watch_wanted()) {
        start_watching("requested", true);
        return 0;
    }
    if (attach_cupti(false) == 0)
        return 0;
    if (!watch_may_follow())
        return -1;
    snprintf(why, sizeof why, "CUPTI cannot be used (%s)", gviz_error());
    start_watching(why, true);
    fprintf(stderr, "gviz: %s; graphs of PyTorch and CuPy, and those given to gviz.watch, are "
                    "recorded without it\n", why);
    return 0;
}

/* Open the spool. `at_init`: attach when the driver initialises (through InitializeInjection)
 * instead of now. Returns 0 or -1 (gviz_error says why). */
GVIZ_EXPORT int gviz_start(const char *spool, const char *cupti_library,
                           const struct options *wanted, int at_init) {
    register_fork_handler();
    pthread_mutex_lock(&control_lock);
    int result;
    error_forget();
    give_up_reset();
    if (atomic_load(&run_state) == STATE_RECORDING || injection_wanted) {
        result = error_keep("a profile is active in this process already");
    } else if (spool_open(spool) != 0) {
        result = error_keep("cannot write the spool %s: %s", spool, strerror(errno));
    } else {
        options = *wanted;
        snprintf(cupti_path, sizeof cupti_path, "%s", cupti_library ? cupti_library : "");
        nvtx_reset();
        prepared = true;
        injection_wanted = at_init != 0;
        pause_take_signal(at_init != 0);
        result = at_init ? 0 : attach_locked(false);
    }
    pthread_mutex_unlock(&control_lock);
    return result;
}

/* Under gviz run: have this process record into a spool of its own from the driver's
 * initialisation on. `first`: make the spool now, for a run is to be seen also without CUDA.
 * Returns 0; 1 when this process records already (a program that embeds Python); or -1. */
GVIZ_EXPORT int gviz_prepare(const char *job, const char *cupti_library,
                             const struct options *wanted, int parent, int follow, int first) {
    register_fork_handler();
    pthread_mutex_lock(&control_lock);
    int result = 0;
    error_forget();
    give_up_reset();
    if (from_environment && recording()) {
        result = 1;
    } else if (recording() || (prepared && injection_wanted)) {
        result = error_keep("a profile is active in this process already");
    } else {
        options = *wanted;
        snprintf(cupti_path, sizeof cupti_path, "%s", cupti_library ? cupti_library : "");
        process_set_job(job, parent, follow != 0);
        prepared = true;
        from_environment = false;
        pause_take_signal(true);
        injection_wanted = true;
        if (first && process_open(false, true) != 0 && errno) {
            result = error_keep("cannot write the spool %s: %s", job, strerror(errno));
            injection_wanted = false;
        }
    }
    pthread_mutex_unlock(&control_lock);
    return result;
}

/* Go on without CUPTI in the recording in hand, after CUPTI was left. Returns 0 or -1. */
GVIZ_EXPORT int gviz_start_events(const char *why) {
    pthread_mutex_lock(&control_lock);
    int result = 0;
    char missing[400];
    if (atomic_load(&run_state) == STATE_RECORDING)
        result = error_keep("another collector measures");
    else if (!spool_is_open())
        result = error_keep("no recording is open");
    else if (cuda_load(missing, sizeof missing) != 0)
        result = error_keep("%s", missing);
    else
        start_watching(why, false);
    pthread_mutex_unlock(&control_lock);
    return result;
}

/* With the lock held. */
static void read_environment(void) {
    if (prepared || injection_wanted || atomic_load(&run_state) != STATE_IDLE)
        return;
    if (!process_from_environment(&options, cupti_path, sizeof cupti_path))
        return;
    register_fork_handler();
    prepared = from_environment = true;
    pause_take_signal(true);
    injection_wanted = true;
}

/* NVTX came before CUDA, in a process without Python: keep its ranges for the spool to come. */
void await_injection(void) {
    /* A library that CUPTI loads while we attach may use NVTX: then nothing is left to check. */
    if (pthread_mutex_trylock(&control_lock) != 0)
        return;
    read_environment();
    pthread_mutex_unlock(&control_lock);
}

GVIZ_EXPORT int gviz_is_awaiting(void) { return awaiting_injection(); }

/* Runs after what the program gave to atexit() once CUDA was in use. Python's part, where there
 * is one, has closed the spool before, unless C code ended the process. */
static void at_exit(void) {
    if (spool_is_open() && !trial_stays())
        gviz_stop(EXIT_SECONDS);
}

/* Stop measuring without CUPTI; the spool stays open, for CUPTI to be taken again. */
GVIZ_EXPORT void gviz_end_events(void) {
    pthread_mutex_lock(&control_lock);
    if (watching()) {
        watch_finish();
        watch_stop();
        atomic_store(&run_state, STATE_LEFT);
    }
    pthread_mutex_unlock(&control_lock);
}

/* The driver calls this while it initialises, when CUDA_INJECTION64_PATH names this library. */
GVIZ_EXPORT int InitializeInjection(void) {
    pthread_mutex_lock(&control_lock);
    read_environment();
    if (injection_wanted) {
        injection_wanted = false;
        if (!spool_is_open() && process_has_job() && process_open(from_environment, false) != 0) {
            if (errno)
                fprintf(stderr, "gviz: nothing is recorded: cannot write a spool: %s\n",
                        strerror(errno));
        } else {
            if (from_environment)
                stacks_missing(process_stack_reason());
            if (attach_locked(false) != 0) {
                note("warning", "nothing was recorded: %s", gviz_error());
                fprintf(stderr, "gviz: nothing is recorded: %s\n", gviz_error());
            }
            if (process_has_job()) {
                if (recording() && options.paused && process_start_waits())
                    pause_requested(); /* a later request finds the socket */
                process_note_gate();
                atexit(at_exit);
            }
        }
    }
    pthread_mutex_unlock(&control_lock);
    return 1;
}

/* Stop recording: wait up to `seconds` for outstanding GPU work, detach, close the spool. */
GVIZ_EXPORT int gviz_stop(double seconds) {
    pthread_mutex_lock(&control_lock);
    injection_wanted = left_before_attaching = false;
    int state = atomic_load(&run_state);
    pause_finish();
    trial_stop(process_has_job());
    values_stop();
    visits_finish(visits_started);
    visits_started = false;
    if (state == STATE_RECORDING || state == STATE_LEFT) {
        if (!watching())
            window_finish();
        if (!flush_finish(seconds))
            note("warning", "the GPU was still busy %.0f s after the end: the last launches "
                            "are missing or incomplete", seconds);
        if (!watching())
            activity_counters();
        memory_counters();
        own_time_counters();
        told_counters();
        nvtx_counters();
        if (state == STATE_RECORDING && !watching() && !activity_given_up()) {
            activity_stop();
            subscription_stop();
        }
        updates_flush();
        outside_stop();
        blackbox_stop();
        watch_stop();
        timing_stop(true);
        pairs_stop();
        counter("ended_ns", (double)now_ns(), "ns", "measured: cuptiGetTimestamp");
        counter("spool_bytes", (double)spool_bytes(), "bytes", "measured: bytes appended");
        atomic_store(&run_state, STATE_IDLE);
    } else if (state == STATE_DETACHED) {
        flush_finish(seconds);
        subscription_stop();
        watch_stop();
        atomic_store(&run_state, STATE_IDLE);
    }
    spool_append_one(RECORD_END, "last", trial_stays() ? strlen("last") : 0);
    if (trial_stays())
        trial_watch_end();
    else
        spool_close();
    process_forget();
    pthread_mutex_unlock(&control_lock);
    return state;
}

/* Leave CUPTI to a profiler that is about to start, waiting up to `seconds` for work in flight;
 * the spool stays open. Returns 1 if CUPTI was gviz's, or would have been. */
GVIZ_EXPORT int gviz_leave(const char *profiler, double seconds) {
    pthread_mutex_lock(&control_lock);
    bool has_cupti = recording() && !watching() && !told_in_place();
    int left = injection_wanted || has_cupti;
    if (has_cupti)
        leave(profiler, seconds);
    left_before_attaching = injection_wanted;
    injection_wanted = false;
    if (visits_started)
        visits_leave_to(profiler);
    visits_started = false;
    pthread_mutex_unlock(&control_lock);
    return left;
}

/* Take CUPTI again after it was left. Returns 0, or -1: gviz_error says why it cannot be had. */
GVIZ_EXPORT int gviz_return(void) {
    pthread_mutex_lock(&control_lock);
    int result = -1;
    error_forget();
    if (atomic_load(&run_state) == STATE_LEFT)
        result = attach_locked(true);
    else if (left_before_attaching)
        result = attach_locked(false);
    else
        error_keep("CUPTI was not left");
    left_before_attaching = left_before_attaching && result != 0;
    pthread_mutex_unlock(&control_lock);
    return result;
}

GVIZ_EXPORT int gviz_state(void) { return atomic_load(&run_state); }

/* Python's records: metadata, stacks, notes. Returns 0 or -1. */
GVIZ_EXPORT int gviz_append(uint32_t type, const void *data, uint64_t size) {
    if (awaiting_injection() && !spool_is_open())
        return process_keep(type, data, (size_t)size);
    return spool_append_one(type, data, (size_t)size);
}

/* Whether there is a spool: a process that does not use CUDA has none to describe itself in. */
GVIZ_EXPORT int gviz_is_open(void) { return spool_is_open(); }
