/* CUPTI in windows: it comes for a moment, behind the gate, and goes again.
 *
 * A subscription to CUPTI slows every launch of the process down until cuptiFinalize, which is safe
 * only while no other thread is inside the driver and nothing is in flight. So a thread of gviz's own
 * closes the gate, attaches, opens it; lets a few launches pass through the window; closes the gate,
 * finalizes and opens it. The gate tells of launches meanwhile as ever: CUPTI's one callback pairs its
 * numbers with those.
 *
 * What is instantiated, uploaded or first launched while CUPTI records nodes is made for its records:
 * launched after cuptiFinalize it is slower, or fails ("unspecified launch failure", driver 580 on an
 * H200). So these calls, and captures, which would keep a window open, wait until CUPTI has left. And a
 * later launch that is to be recorded waits for its window, if that can come soon.
 *
 * A call of the driver on a thread without a mark is one that the gate does not see: from then on gviz
 * never finalizes in this process. Nor where attaching or finalizing held the program too long.
 */
#include "calls/calls.h"
#include "spool/spool.h"
#include "window/parts.h"

#include "gate/gate.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MILLISECOND_NS 1000000ull
/* How long a window stays open at most, how long it waits for a launch, and how many that are not
 * wanted end it. */
#define WINDOW_NS (200 * MILLISECOND_NS)
#define IDLE_NS (50 * MILLISECOND_NS)
#define OTHERS 16
#define POLL_NS (1 * MILLISECOND_NS)
#define PAUSE_NS (10 * MILLISECOND_NS)
/* How long a launch that is to be recorded waits for its window at most. */
#define AWAITED_NS (60 * MILLISECOND_NS)
/* How long leaving is tried before CUPTI stays; at the end of the program. */
#define LEAVING_NS (10000 * MILLISECOND_NS)
#define LEAVING_LATE_NS (1000 * MILLISECOND_NS)
#define LEAVING_AWAITED_NS (2000 * MILLISECOND_NS) /* while a call waits for it */
/* A thread that answers no call for so long, or does not end, is in a function of CUPTI's that does not
 * return. */
#define STUCK_AWAITED_NS (LEAVING_AWAITED_NS + 1000 * MILLISECOND_NS)
#define STUCK_NS (5000 * MILLISECOND_NS)
/* What windows hold the program: so much at the start, and then one hundredth of the time. */
#define FREE_HOLDS_NS (250 * MILLISECOND_NS)
#define HOLDS_SHARE 100
/* Ranks of a job open windows at the same multiples of the wall clock: held apart, each would hold up
 * all others in turn. */
#define JOB_NS (250 * MILLISECOND_NS)
#define SHOWN_HOLES 4

/* Pairs of driver and CUPTI with which attaching and finalizing were tried on a GPU: 2,400 windows. */
static const struct {
    int driver;
    uint32_t cupti;
} proven[] = {{13000, 130001}};

static const struct gate_api *gate;
static struct cupti_functions real, stand_ins;
static CUptiResult (*finalize)(void);
static CUpti_SubscriberHandle subscriber;
static bool is_launch[CALL_ID_LIMIT];
static pthread_t thread;
GVIZ_LOCK(lock);
static _Atomic bool on GVIZ_HOT, wanted GVIZ_HOT;
static bool stopping, attached, copies_follow;
static _Atomic bool over; /* the thread has ended */
static _Atomic uint32_t holes, launched, others;
static _Atomic bool present;     /* CUPTI is there */
static _Atomic uint64_t asked_ns; /* since when a call waits for it to go, 0: none does */
static uint64_t windows, held_ns, longest_ns, begun_ns;
static _Atomic uint64_t all_held_ns;
static _Atomic uint32_t tries; /* of opening a window */
static pthread_cond_t awaited;
static pthread_once_t awaited_once = PTHREAD_ONCE_INIT;
static __thread struct {
    uint64_t until_ns;
    uint32_t tries;
} awaits;
static int failure; /* of attaching */

GVIZ_HOT_CODE bool visits_on(void) { return atomic_load_explicit(&on, memory_order_relaxed); }

void visits_launched(bool is_wanted) {
    if (is_wanted)
        atomic_store(&others, 0);
    else
        atomic_fetch_add(&others, 1);
    atomic_fetch_add(&launched, 1);
}

/* -- calls that wait, outside the driver ----------------------------------------------------------- */

static void rest(uint64_t ns) {
    struct timespec pause = {0, (long)ns};
    nanosleep(&pause, NULL);
}

static void wait_a_moment(void) { rest(POLL_NS / 10); }

static bool may_hold(void) {
    return atomic_load(&all_held_ns) <= FREE_HOLDS_NS + (now_ns() - begun_ns) / HOLDS_SHARE;
}

static bool is_awaited(void) {
    return visits_on() && !atomic_load(&present) && !activity_given_up() && atomic_load(&tries) == awaits.tries &&
           now_ns() < awaits.until_ns;
}

void visits_await(void) {
    atomic_store(&wanted, true);
    if (!may_hold() || activity_given_up())
        return;
    uint64_t begin_ns = now_ns();
    awaits.until_ns = begin_ns + AWAITED_NS;
    awaits.tries = atomic_load(&tries);
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&awaited);
    pthread_mutex_unlock(&lock);
    gate->step_aside(is_awaited, wait_a_moment);
    if (!atomic_load(&present)) /* in vain: the more seldom it is tried */
        atomic_fetch_add(&all_held_ns, now_ns() - begin_ns);
}

static uint64_t asked_for_ns(void) {
    uint64_t since_ns = atomic_load(&asked_ns);
    return since_ns ? now_ns() - since_ns : 0;
}

/* Whether CUPTI is there, and may leave. */
static bool is_present(void) {
    if (atomic_load(&present) && asked_for_ns() > STUCK_AWAITED_NS)
        activity_give_up();
    return atomic_load(&present) && !activity_given_up();
}

static bool is_in_the_way(void) { return !this_thread()->inside && is_present(); }

static void make_way(void) {
    uint64_t none = 0;
    atomic_compare_exchange_strong(&asked_ns, &none, now_ns());
    wait_a_moment();
}

/* Whether a call has waited as long as one may. */
static bool is_overdue(void) { return atomic_load(&present) && asked_for_ns() > LEAVING_AWAITED_NS; }

void visits_keep_out(void) { gate->step_aside(is_present, make_way); }

static bool waits_for_cupti(const char *name) {
    static const char *const names[] = {"cuGraphInstantiate", "cuGraphUpload", "cuStreamBeginCapture"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void defer_calls(bool defers) {
    const char *name;
    gate->set_wait(defers ? is_in_the_way : NULL, defers ? make_way : NULL);
    for (uint32_t id = 1; (name = gate->name_of(id)); id++)
        if (waits_for_cupti(name))
            gate->defer(id, defers);
}

/* -- CUPTI's callback, within the program's calls ------------------------------------------------- */

static void on_hole(const char *name) {
    if (atomic_fetch_add(&holes, 1) < SHOWN_HOLES)
        note("limit", "the gate does not see calls of %s on one of the program's threads: CUPTI stays in the "
                      "process after this window", name ? name : "an unnamed function");
}

static void on_callback(void *unused, int domain, uint32_t cbid, const void *data) {
    (void)unused;
    const CUpti_CallbackData *call = data;
    const struct thread_state *own = this_thread();
    if (domain != DOMAIN_DRIVER_API || call->site != 0 || cbid >= CALL_ID_LIMIT)
        return;
    if (!gate->is_inside() && !own->inside)
        on_hole(call->function_name);
    if (!is_launch[cbid] || !own->launch_exec_id)
        return;
    struct visited_record record = {own->launch_exec_id, own->launch_correlation, 0, call->correlation_id};
    if (real.cuptiGetGraphExecId(*(CUgraphExec const *)call->params, &record.cupti_exec_id) == 0)
        spool_append_one(RECORD_VISITED, &record, sizeof record);
}

/* -- behind the closed gate ------------------------------------------------------------------------- */

/* The functions of activity records are CUPTI's while it is there. */
static void use(const struct cupti_functions *functions) {
    cupti.cuptiGetVersion = functions->cuptiGetVersion;
    cupti.cuptiActivityRegisterCallbacks = functions->cuptiActivityRegisterCallbacks;
    cupti.cuptiActivityEnable = functions->cuptiActivityEnable;
    cupti.cuptiActivityDisable = functions->cuptiActivityDisable;
    cupti.cuptiActivityFlushAll = functions->cuptiActivityFlushAll;
    cupti.cuptiActivityGetNextRecord = functions->cuptiActivityGetNextRecord;
    cupti.cuptiActivityGetNumDroppedRecords = functions->cuptiActivityGetNumDroppedRecords;
}

static void attach(void *unused) {
    (void)unused;
    uint64_t begin_ns = now_ns();
    failure = real.cuptiSubscribe(&subscriber, on_callback, NULL);
    if (failure != 0)
        return;
    use(&real);
    real.cuptiEnableDomain(1, subscriber, DOMAIN_DRIVER_API);
    failure = activity_start(true) != 0 || activity_open(WINDOW_LAUNCHES) != 0 ? -1 : 0;
    attached = true;
    atomic_store(&asked_ns, 0);
    atomic_store(&present, true);
    passing_end_all();
    held_ns = now_ns() - begin_ns;
}

static void stop_recording(void) {
    activity_stop(); /* names are CUPTI's, and go with it */
    activity_give_back();
    real.cuptiEnableDomain(0, subscriber, DOMAIN_DRIVER_API);
}

static void leave(void *unused) {
    (void)unused;
    uint64_t begin_ns = now_ns();
    stop_recording();
    if (atomic_load(&holes) == 0 && !activity_given_up()) {
        real.cuptiUnsubscribe(subscriber);
        finalize();
        use(&stand_ins);
        attached = false;
        atomic_store(&present, false);
    }
    held_ns += now_ns() - begin_ns;
}

/* -- the thread ---------------------------------------------------------------------------------------- */

static bool is_stopping(void) {
    pthread_mutex_lock(&lock);
    bool stops = stopping;
    pthread_mutex_unlock(&lock);
    return stops;
}

/* Windows are over: copies take the times of nodes from now on. */
static void end_visits(const char *why) {
    static const char name[] = "events\n", reason[] = "windows of CUPTI ended";
    if (!atomic_exchange(&on, false))
        return;
    activity_end();
    passing_end_all(); /* launches are told of again: copies want some */
    note("limit", "%s: %s", reason, why);
    if (copies_follow) {
        struct slice slices[] = {{name, sizeof name - 1}, {reason, sizeof reason - 1}};
        spool_append(RECORD_COLLECTOR, slices, 2);
    }
}

/* And what is attached stays. */
static void give_up_visits(const char *why) {
    static const char stays[] = "cupti\nit came for a window and could not leave";
    if (attached) {
        spool_append_one(RECORD_COLLECTOR, stays, sizeof stays - 1);
        subscription_stays();
    }
    end_visits(why);
    atomic_store(&present, false); /* what waits goes on, and nothing is finalized any more */
}

/* Close the gate for some work, trying until then. */
static enum gate_answer run_closed(void (*work)(void *data), uint64_t until_ns, bool until_stop) {
    for (;;) {
        enum gate_answer answer = gate->run_closed(work, NULL);
        bool may_come = answer == GATE_BUSY || answer == GATE_BACKING_OFF || answer == GATE_TAKEN;
        if (!may_come || now_ns() > until_ns || is_overdue() || (until_stop && is_stopping()))
            return answer;
        rest(POLL_NS);
    }
}

static bool ran(enum gate_answer answer) { return answer == GATE_RAN || answer == GATE_OVERRAN; }

/* Whether enough launches have come through, or none comes any more, or a call waits for the end. */
static bool is_served(uint64_t begin_ns, uint64_t last_ns) {
    uint64_t time_ns = now_ns();
    if (atomic_load(&asked_ns) || atomic_load(&others) >= OTHERS || (paused() && recording()))
        return true;
    return time_ns - begin_ns >= WINDOW_NS || time_ns - last_ns >= IDLE_NS;
}

/* The program goes on in the window. */
static void serve(void) {
    uint64_t begin_ns = now_ns(), last_ns = begin_ns;
    uint32_t before = atomic_load(&launched);
    atomic_store(&others, 0);
    while (!is_stopping() && !is_served(begin_ns, last_ns)) {
        rest(POLL_NS);
        uint32_t now = atomic_load(&launched);
        last_ns = now != before ? now_ns() : last_ns;
        before = now;
    }
}

/* Behind the closed gate. Returns whether CUPTI came. */
static bool come(enum gate_answer *came) {
    *came = run_closed(attach, now_ns() + IDLE_NS, true);
    if (!ran(*came) && *came != GATE_UNKNOWN)
        return false; /* later */
    if (!ran(*came))
        give_up_visits("nobody knows which threads are inside the driver");
    else if (!attached)
        give_up_visits("CUPTI could not be subscribed to");
    return attached;
}

/* The window is over. */
static void go(enum gate_answer came) {
    activity_flush(); /* the less is left for when calls are held */
    enum gate_answer left = run_closed(leave, now_ns() + LEAVING_NS, true);
    if (!ran(left) && is_stopping())
        left = run_closed(leave, now_ns() + LEAVING_LATE_NS, false);
    if (!ran(left)) {
        stop_recording();
        give_up_visits("the process was never quiet again, and CUPTI stays");
    } else if (attached) {
        give_up_visits(activity_given_up() ? "CUPTI answered too late, and stays"
                                           : "a call was made past the gate, and CUPTI stays");
    } else if (came == GATE_OVERRAN || left == GATE_OVERRAN) {
        give_up_visits("attaching or finalizing held the program for more than 250 ms");
    }
    longest_ns = held_ns > longest_ns ? held_ns : longest_ns;
    atomic_fetch_add(&all_held_ns, held_ns);
}

static void visit(void) {
    enum gate_answer came;
    if (!come(&came))
        return;
    atomic_store(&wanted, false);
    windows++;
    serve();
    go(came);
}

static void make_condition(void) { make_steady_condition(&awaited); }

/* Until a launch awaits a window, or a while is over. */
static void wait_for_work(void) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t at = (uint64_t)until.tv_nsec + PAUSE_NS;
    until.tv_sec += (time_t)(at / 1000000000ull);
    until.tv_nsec = (long)(at % 1000000000ull);
    pthread_mutex_lock(&lock);
    if (!stopping)
        pthread_cond_timedwait(&awaited, &lock, &until);
    pthread_mutex_unlock(&lock);
}

static uint64_t next_start(uint64_t time_ns) {
    return in_job ? (time_ns + JOB_NS - 1) / JOB_NS * JOB_NS : time_ns;
}

static void *visit_main(void *unused) {
    (void)unused;
    uint64_t not_before_ns = next_start(now_ns());
    this_thread()->inside = 1;
    while (!is_stopping() && visits_on()) {
        bool is_time = may_hold() && now_ns() >= not_before_ns;
        if (is_time && atomic_load(&wanted) && recording() && !paused()) {
            visit();
            atomic_fetch_add(&tries, 1);
            not_before_ns = next_start(now_ns());
        }
        wait_for_work();
    }
    atomic_store(&over, true);
    return NULL;
}

static void stop_visits(void) {
    pthread_mutex_lock(&lock);
    stopping = true;
    pthread_cond_signal(&awaited);
    pthread_mutex_unlock(&lock);
}

/* Returns whether the thread has ended. */
static bool await_thread(void) {
    uint64_t until_ns = now_ns() + STUCK_NS;
    while (!atomic_load(&over) && !activity_given_up() && now_ns() < until_ns)
        rest(POLL_NS);
    if (!atomic_load(&over))
        activity_give_up();
    return atomic_load(&over);
}

static void finish(void) {
    stop_visits();
    if (await_thread()) {
        pthread_join(thread, NULL);
    } else {
        pthread_detach(thread);
        note("limit", "a function of CUPTI does not return: node times end with its last window");
    }
    if (windows == 0 && atomic_load(&wanted)) {
        struct gate_counts counts;
        gate->read_counts(&counts);
        note("limit", "no window of CUPTI was opened: the process was never quiet (last: %s)",
             counts.busy_with[0] ? counts.busy_with : "nobody tried");
    }
    counter("cupti_windows", (double)windows, "number", "measured: windows that CUPTI came for");
    counter("cupti_window_longest_ns", (double)longest_ns, "ns",
            "measured: host time of attaching and finalizing, the longest of a window");
    counter("cupti_window_holes", (double)atomic_load(&holes), "number",
            "measured: calls of the driver in windows that the gate did not see");
}

/* -- another profiler ------------------------------------------------------------------------------------ */

/* The gate tells of one, on its own thread, which may hold any lock but gviz's. */
static void profiler_arrives(const char *function, const char *caller) {
    char why[200];
    if (!visits_on())
        return;
    stop_visits();
    await_thread();
    snprintf(why, sizeof why, "%s calls %s", caller, function);
    end_visits(why);
}

void visits_leave_to(const char *profiler) {
    char why[200];
    snprintf(why, sizeof why, "%s started", profiler);
    finish();
    end_visits(why);
}

void visits_finish(bool started) {
    if (started) {
        finish();
        defer_calls(false);
    }
    atomic_store(&present, false);
    atomic_store(&on, false);
}

/* -- on and off ----------------------------------------------------------------------------------------- */

static const char *obstacle(const char *path) {
    char why[400];
    int driver = 0;
    uint32_t version = 0;
    struct cupti_functions kept = cupti;
    int result = cupti_load(path, why, sizeof why);
    real = cupti;
    cupti = kept;
    if (result != 0)
        return "CUPTI was not found";
    Dl_info info;
    void *library = dladdr((void *)real.cuptiSubscribe, &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                                                               : NULL;
    *(void **)&finalize = library ? dlsym(library, "cuptiFinalize") : NULL;
    if (!finalize)
        return "this CUPTI has no cuptiFinalize";
    cuda.DriverGetVersion(&driver);
    real.cuptiGetVersion(&version);
    for (size_t i = 0; i < sizeof proven / sizeof *proven; i++)
        if (proven[i].driver == driver && proven[i].cupti == version) {
            counter("cupti_version", version, "number", "measured: cuptiGetVersion");
            return NULL;
        }
    return "this pair of driver and CUPTI was not tried on a GPU";
}

/* In a forked child, which has not the thread. */
void visits_abandon(void) {
    atomic_store(&on, false);
    atomic_store(&present, false);
    attached = false;
}

bool visits_start(const char *path, bool copies) {
    pthread_once(&awaited_once, make_condition);
    copies_follow = copies;
    gate = dlsym(RTLD_DEFAULT, "gviz_gate");
    stand_ins = cupti;
    if (gate)
        gate->mind_profilers(profiler_arrives);
    const char *why = gate ? NULL : "the gate is not in this process";
    if (!why)
        why = activity_given_up() ? "a function of CUPTI has not returned" : obstacle(path);
    for (uint32_t id = 1; !why && id < CALL_ID_LIMIT; id++) {
        const char *name = NULL;
        is_launch[id] = real.cuptiGetCallbackName(DOMAIN_DRIVER_API, id, &name) == 0 && name &&
                        strncmp(name, "cuGraphLaunch", 13) == 0;
    }
    stopping = attached = false;
    atomic_store(&over, false);
    atomic_store(&holes, 0);
    windows = held_ns = longest_ns = 0;
    begun_ns = now_ns();
    atomic_store(&all_held_ns, 0);
    atomic_store(&wanted, false);
    atomic_store(&on, !why);
    if (!why && pthread_create(&thread, NULL, visit_main, NULL) != 0) {
        why = "a thread could not be started";
        atomic_store(&on, false);
    }
    if (why)
        note("limit", "there are no windows of CUPTI: %s", why);
    else
        defer_calls(true);
    return !why;
}
