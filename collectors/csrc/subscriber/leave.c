/* Leaving CUPTI to another profiler while the recording goes on, and coming back.
 *
 * CUPTI serves one subscriber a process (CUDA 13.0). What was launched is waited for, within
 * bounds; then every callback and activity kind is off and the subscription given back.
 */
#include "calls/calls.h"
#include "subscriber/subscriber.h"
#include "launch/launch.h"
#include "spool/spool.h"
#include "window/window.h"

#include <time.h>

#define POLL_NS 1000000

/* Wait until the windows are closed and the events around launches are read. Returns whether they
 * are. */
static bool drain(double seconds) {
    uint64_t until_ns = now_ns() + (uint64_t)(seconds * 1e9);
    struct timespec pause = {0, POLL_NS};
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    window_close();
    timing_poll();
    /* While a capture is under way no window closes, and this thread may be the one that captures. */
    while ((activity_is_open() || timing_pending()) && !captures_known() && now_ns() < until_ns) {
        nanosleep(&pause, NULL);
        window_close();
        timing_poll();
    }
    exchange_capture_mode(mode);
    return !activity_is_open() && !timing_pending();
}

/* With the control lock held, while recording. */
void leave(const char *profiler, double seconds) {
    struct thread_state *thread = this_thread();
    thread->inside++;
    bool held = pause_hold();
    pause_leave(profiler);
    if (!drain(seconds))
        note("warning", "CUPTI was left to %s while the GPU was busy or a capture under way: the "
                        "last launches before are missing or incomplete", profiler);
    activity_stop();
    activity_give_back();
    subscription_stop();
    timing_stop(false);
    pairs_stop();
    contexts_forget();
    atomic_store(&run_state, STATE_LEFT);
    pause_release(held);
    thread->inside--;
}
