/* The flush thread: twice a second it takes what CUPTI, the events and the driver have ready. */
#include "blackbox/blackbox.h"
#include "calls/calls.h"
#include "entry/entry.h"
#include "events/events.h"
#include "graph/graph.h"
#include "launch/launch.h"
#include "life/life.h"
#include "spool/spool.h"
#include "window/window.h"

#include <errno.h>
#include <time.h>

#define FLUSH_INTERVAL_NS 500000000ull
/* While work outside graphs is timed by events: so long they are kept at most. */
#define EVENTS_INTERVAL_NS 50000000ull

static pthread_cond_t flush_signal;
GVIZ_LOCK(flush_lock);
static pthread_t flush_thread;
static bool flush_stop, flush_final_done, flush_running;

static void set_relaxed_capture(void) {
    /* A global-mode capture elsewhere must not be broken by this thread's event queries. */
    exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
}

static void synchronize_contexts(void) {
    CUcontext context;
    /* Waiting for a context breaks its captures, in whatever mode (measured, driver 580). */
    for (int i = 0; !captures_known() && (context = context_at(i)); i++) {
        if (cuda.CtxPushCurrent(context) != 0)
            continue;
        blackbox_waited(cuda.CtxSynchronize());
        cuda.CtxPopCurrent(&context);
    }
}

/* give_up only says that nothing is recorded any more, for it is called with locks held. Here
 * the program gets rid of what it would go on paying for. */
static void detach_after_failure(void) {
    if (!subscription_active())
        return;
    window_finish();
    activity_stop();
    subscription_stop();
}

static void *flush_main(void *unused) {
    (void)unused;
    this_thread()->inside = 1;
    bool relaxed = false, outstanding = false;
    pthread_mutex_lock(&flush_lock);
    while (!flush_stop) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        uint64_t at = (uint64_t)until.tv_nsec + pause_due_ns(outstanding ? EVENTS_INTERVAL_NS : FLUSH_INTERVAL_NS);
        until.tv_sec += (time_t)(at / 1000000000ull);
        until.tv_nsec = (long)(at % 1000000000ull);
        pthread_cond_timedwait(&flush_signal, &flush_lock, &until);
        if (flush_stop)
            continue;
        pthread_mutex_unlock(&flush_lock);
        if (!recording()) {
            detach_after_failure();
            pthread_mutex_lock(&flush_lock);
            continue;
        }
        if (!watching()) {
            updates_flush();
            capture_poll();
            passing_look_after();
        }
        if (!relaxed && context_at(0)) {
            set_relaxed_capture();
            relaxed = true;
        }
        if (context_at(0)) {
            if (!watching() && !visits_on())
                activity_flush();
            timing_poll();
            outstanding = outside_poll();
            blackbox_poll();
            graph_memory_sample();
        }
        pause_tick();
        pthread_mutex_lock(&flush_lock);
    }
    pthread_mutex_unlock(&flush_lock);
    if (context_at(0)) {
        set_relaxed_capture();
        synchronize_contexts();
        if (!watching())
            activity_flush();
        timing_poll();
        outside_poll();
        graph_memory_sample();
        watch_finish();
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
    GVIZ_LOCK(once);
    pthread_mutex_lock(&once);
    if (flush_running) {
        pthread_mutex_unlock(&once);
        return;
    }
    make_steady_condition(&flush_signal);
    flush_stop = flush_final_done = false;
    flush_running = pthread_create(&flush_thread, NULL, flush_main, NULL) == 0;
    pthread_mutex_unlock(&once);
    pause_tick(); /* what was due before there was a thread */
    if (flush_running)
        pthread_setname_np(flush_thread, "gviz-flush");
    else
        give_up("the flush thread could not be started");
}

/* Wait for the GPU's outstanding work to be recorded, but not for ever. */
bool flush_finish(double seconds) {
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

/* In a forked child: the thread is the parent's. */
void flush_forked(void) { flush_running = false; }
