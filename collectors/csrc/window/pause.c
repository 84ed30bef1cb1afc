/* When the user wants a recording: from the start, after a delay, on a call, a signal or a request,
 * and for how long.
 *
 * A period is an interval in which gviz records. Outside periods no window is open and launches
 * are not watched, so that they cost what they cost without gviz; the callbacks of topology stay,
 * so that the graphs made meanwhile are known. A period may end on any thread, also inside a
 * callback, by changing one flag; what the flag means for CUPTI is put into effect by settle(),
 * on the flush thread or on the thread that called gviz_pause or gviz_resume.
 */
#include "calls/calls.h"
#include "spool/spool.h"
#include "window/parts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* How long a call waits for another thread that is putting a change into effect. The flush thread
 * does what is left to do. */
#define LOCK_SECONDS 2
#define LEAST_WAIT_NS 1000000
/* Of other processes; what more there is waits for the next time. */
#define REQUESTS_AT_ONCE 16

/* Also written outside periods (`on` 0): attached and waiting, CUPTI left, CUPTI taken again. */
GVIZ_LOCK(lock);
static _Atomic uint32_t number GVIZ_HOT;           /* of the period, from 1 */
static _Atomic uint32_t launches_admitted GVIZ_HOT; /* in this period */
static _Atomic int launches_under_way GVIZ_HOT;     /* entered, and not returned */
static _Atomic uint64_t starts_at_ns, ends_at_ns; /* CLOCK_MONOTONIC, 0: never */
static _Atomic uint32_t signals;           /* arrived and not yet seen to */
static bool launches_watched, closing_watched;
static bool interrupted; /* CUPTI was left during a period */
static int signal_taken; /* 0: none */
static bool signal_kept; /* to the end of the process */
static bool was_paused; /* until gviz.start() came before CUDA */

GVIZ_HOT_CODE uint32_t period_number(void) { return atomic_load_explicit(&number, memory_order_relaxed); }

static void write_period(uint64_t time_ns, bool begins, enum period_reason reason,
                         const char *detail) {
    struct period_record record = {time_ns, begins, reason};
    struct slice slices[] = {{&record, sizeof record}, {detail, strlen(detail)}};
    spool_append(RECORD_PERIOD, slices, 2);
}

static void begin(enum period_reason reason) {
    uint64_t time = now_ns();
    atomic_store(&starts_at_ns, 0);
    if (!paused())
        return;
    atomic_store(&ends_at_ns, options.duration_ns ? monotonic_ns() + options.duration_ns : 0);
    atomic_store(&launches_admitted, 0);
    atomic_fetch_add(&number, 1);
    atomic_store(&period_on, true);
    passing_end_all();
    write_period(time, true, reason, "");
    window_resume();
}

static void end(enum period_reason reason, const char *detail) {
    atomic_store(&starts_at_ns, 0);
    if (!atomic_exchange(&period_on, false))
        return;
    passing_end_all();
    atomic_store(&ends_at_ns, 0);
    write_period(now_ns(), false, reason, detail);
    window_pause();
}

/* Put the flag into effect; with the lock held. A window that is still open is closed by the next
 * operation or launch of the program, which are watched until then: to know when the work in
 * flight has finished, an event goes into its streams, and only the program's own threads know
 * that a stream is neither being captured nor destroyed at this moment. */
static void settle(void) {
    bool open = activity_is_open(), wanted = !paused();
    bool watched = wanted || open || atomic_load(&launches_under_way) > 0;
    if (launches_watched != watched) {
        launches_watched = watched;
        calls_watch_launches(watched);
    }
    if (closing_watched != (open && !wanted)) {
        closing_watched = open && !wanted;
        calls_watch_operations(closing_watched);
    }
}

/* -- launches --------------------------------------------------------------------------------- */

GVIZ_HOT_CODE void pause_launch_begins(void) { atomic_fetch_add(&launches_under_way, 1); }
GVIZ_HOT_CODE void pause_launch_ended(void) { atomic_fetch_sub(&launches_under_way, 1); }

GVIZ_HOT_CODE bool pause_admits(bool *last) {
    if (!atomic_load(&period_on))
        return false;
    if (!options.max_launches)
        return true;
    uint32_t before = atomic_fetch_add(&launches_admitted, 1);
    *last = before + 1 == options.max_launches;
    return before < options.max_launches;
}

void pause_after_last(void) { end(PERIOD_LAUNCHES, ""); }

/* -- the flush thread's part --------------------------------------------------------------------- */

static void see_to_requests(void) {
    struct request request;
    for (int i = 0; i < REQUESTS_AT_ONCE && request_take(&request); i++) {
        bool was_on = !paused();
        if (request.kind == REQUEST_START) {
            begin(PERIOD_REQUEST);
            request_answer(&request, was_on ? "recording" : "started");
        } else if (request.kind == REQUEST_STOP) {
            end(PERIOD_REQUEST, "");
            request_answer(&request, was_on ? "stopped" : "paused");
        }
    }
}

void pause_tick(void) {
    if (!recording() || pthread_mutex_trylock(&lock) != 0)
        return;
    if (!recording()) { /* left while another thread held the lock */
        pthread_mutex_unlock(&lock);
        return;
    }
    uint64_t time = monotonic_ns(), starts = atomic_load(&starts_at_ns);
    if (atomic_exchange(&signals, 0) & 1) {
        if (paused())
            begin(PERIOD_SIGNAL);
        else
            end(PERIOD_SIGNAL, "");
    } else if (starts && time >= starts) {
        begin(PERIOD_DELAY);
    }
    see_to_requests();
    uint64_t ends = atomic_load(&ends_at_ns);
    if (ends && time >= ends)
        end(PERIOD_DURATION, "");
    settle();
    pthread_mutex_unlock(&lock);
}

/* Nanoseconds until a timer is due, at most `most`; never none, for a timer that is due may have
 * to wait for another thread. */
uint64_t pause_due_ns(uint64_t most) {
    if (!recording())
        return most;
    uint64_t time = monotonic_ns();
    uint64_t timers[] = {atomic_load(&starts_at_ns), atomic_load(&ends_at_ns)};
    for (int i = 0; i < 2; i++) {
        uint64_t left = timers[i] > time ? timers[i] - time : 0;
        if (timers[i] && left < most)
            most = left > LEAST_WAIT_NS ? left : LEAST_WAIT_NS;
    }
    return most;
}

/* -- the signal -------------------------------------------------------------------------------------- */

/* Async-signal-safe, and leaves errno alone. */
static void on_signal(int signal) {
    (void)signal;
    atomic_fetch_add_explicit(&signals, 1, memory_order_relaxed);
}

static bool signal_is_ours(int number_of) {
    struct sigaction now;
    return sigaction(number_of, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
           now.sa_handler == on_signal;
}

/* Take the signal that toggles, if the program has no use of its own for it. `keep`: until the
 * process ends, for a signal that comes too late must not end it in another way. */
void pause_take_signal(bool keep) {
    int wanted = options.toggle_signal;
    if (!wanted || signal_taken)
        return;
    struct sigaction now, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    bool free = sigaction(wanted, NULL, &now) == 0 &&
                (signal_is_ours(wanted) ||
                 (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL));
    if (free && sigaction(wanted, &ours, NULL) == 0) {
        signal_taken = wanted;
        signal_kept = keep;
        return;
    }
    options.toggle_signal = 0;
    note("warning", "the program handles signal %d (%s) itself: it did not start or stop the "
                    "recording", wanted, strsignal(wanted));
    fprintf(stderr, "gviz: the program handles signal %d (%s) itself, so it does not start or stop "
                    "the recording; choose another one\n", wanted, strsignal(wanted));
}

static void release_signal(void) {
    if (!signal_taken)
        return;
    if (!signal_is_ours(signal_taken))
        note("limit", "the program took signal %d (%s) over: from then on it did not start or "
                      "stop the recording", signal_taken, strsignal(signal_taken));
    else if (!signal_kept)
        signal(signal_taken, SIG_DFL);
    signal_taken = 0;
}

/* -- the life of a recording ----------------------------------------------------------------------------- */

/* A collector is attached: decide whether a period begins. */
void pause_attached(enum period_reason reason) {
    launches_watched = true; /* with the other calls */
    atomic_store(&launches_under_way, 0);
    closing_watched = false;
    if (reason != PERIOD_ATTACHED) {
        if (interrupted)
            begin(reason);
        else
            write_period(now_ns(), false, reason, "");
    } else {
        atomic_store(&period_on, false);
        atomic_store(&number, 0);
        atomic_store(&ends_at_ns, 0);
        atomic_store(&starts_at_ns,
                     options.delay_ns && !options.paused ? monotonic_ns() + options.delay_ns : 0);
        if (options.paused || was_paused)
            requests_open();
        was_paused = false;
        if (!options.delay_ns && !options.paused)
            begin(PERIOD_ATTACHED);
        else
            write_period(now_ns(), false, PERIOD_ATTACHED, "");
    }
    interrupted = false;
    settle();
}

/* CUPTI is about to be left to another profiler. */
void pause_leave(const char *profiler) {
    interrupted = !paused();
    if (interrupted)
        end(PERIOD_LEFT, profiler);
    else
        write_period(now_ns(), false, PERIOD_LEFT, profiler);
}

void pause_finish(void) {
    end(PERIOD_END, "");
    requests_close();
    release_signal();
}

/* A forked child does not record, and a signal means to it what it meant without gviz. */
void pause_forked(void) {
    pthread_mutex_init(&lock, NULL);
    atomic_store(&period_on, false);
    requests_forked();
    if (signal_taken && signal_is_ours(signal_taken))
        signal(signal_taken, SIG_DFL);
    signal_taken = 0;
}

/* -- calls from outside ------------------------------------------------------------------------------------ */

static bool lock_in_time(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOCK_SECONDS;
    return pthread_mutex_timedlock(&lock, &until) == 0;
}

/* Have no period begin and nothing be put into effect until pause_release. Returns whether that is
 * so: a thread may be long in it, and then is not waited for. */
bool pause_hold(void) { return lock_in_time(); }

void pause_release(bool held) {
    if (held)
        pthread_mutex_unlock(&lock);
}

static int change(bool start, enum period_reason reason) {
    int state = atomic_load(&run_state);
    if (state != STATE_RECORDING) {
        if (state == STATE_LEFT)
            interrupted = start; /* for the time after the other profiler */
        else if (start) /* when the driver is initialised */
            was_paused |= options.paused, options.paused = 0, options.delay_ns = 0;
        else
            options.paused = 1;
        return state;
    }
    struct thread_state *thread = this_thread();
    bool locked = lock_in_time();
    if (start)
        begin(reason);
    else
        end(reason, "");
    thread->inside++;
    if (!start)
        window_close();
    if (locked)
        settle();
    thread->inside--;
    if (locked)
        pthread_mutex_unlock(&lock);
    return state;
}

/* Begin a period now, or end it; nothing happens if that is so already. Return the run state. */
GVIZ_EXPORT int gviz_resume(void) { return change(true, PERIOD_CALL); }
GVIZ_EXPORT int gviz_pause(void) { return change(false, PERIOD_CALL); }

void pause_range(bool begins) { change(begins, PERIOD_RANGE); }
void pause_requested(void) { change(true, PERIOD_REQUEST); }

/* Whether a period is going on. */
GVIZ_EXPORT int gviz_is_on(void) { return recording() && !paused(); }
