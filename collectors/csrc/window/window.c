/* When node times and stream operations are recorded.
 *
 * Activity kinds are switched for the whole process, in windows. A window opens in the entry of
 * a graph launch, or of another operation, that is to be recorded. It closes in the entry of a
 * launch that is not, once everything launched inside it has finished: records of work that is
 * still in flight when the kinds are disabled carry the time of some later moment as their end
 * (measured on an H100, driver 580, CUPTI 13.0: the last launch before closing ended, by its
 * records, with the last of 40 launches made after it).
 */
#include "calls/calls.h"
#include "spool/spool.h"
#include "window/parts.h"

#include <string.h>
#include <time.h>

/* A pause between eager calls counts this much at most against the eager budget, so that
 * loading a model for a minute does not use up the budget of the warm-up after it. */
#define EAGER_PAUSE_NS 100000000ull
/* Opening a window takes 17 us and closing it 10 us and a wait (measured on an H100). A program
 * that alternates launches and eager calls would pay that at every switch: each opening for eager
 * work counts as this many operations. */
#define EAGER_OPENING_OPERATIONS 100
#define PLAIN_LAUNCH_OPERATIONS 50
/* While there is eager budget, the window stays open over this many launches in a row that are
 * not wanted: more eager work is likely to come between them. */
#define LAUNCHES_UNTIL_CLOSING 4
/* How long closing waits for work in flight. The program may be what that work waits for, so the
 * wait is bounded; when it fails, the window stays open and is tried again after the pause. */
#define CLOSING_WAIT_NS 2000000000ull
#define CLOSING_PAUSE_NS 1000000000ull
#define POLL_NS 20000
#define MAX_STREAMS 64

struct touched {
    CUcontext context;
    CUstream stream;
};

GVIZ_LOCK(lock);
static struct touched streams[MAX_STREAMS]; /* on which work was launched in this window */
static int stream_count;
static uint32_t stream_changes;             /* a stream was used or destroyed */
static bool closing, over; /* over: no window opens any more */
static uint64_t closing_not_before_ns;
static int wanted_in_flight, unwanted_launches;
static _Atomic bool eager_left; /* budget for work outside graphs */
static uint32_t eager_seen, eager_charged;
static uint64_t eager_spent_ns, eager_last_ns;
static uint64_t closings, closing_wait_ns;

void window_reset(bool again) {
    pthread_mutex_lock(&lock);
    stream_count = wanted_in_flight = unwanted_launches = 0;
    eager_left = false;
    closing_not_before_ns = 0;
    closing = over = false;
    if (!again) {
        eager_seen = 0;
        closings = closing_wait_ns = 0;
    }
    pthread_mutex_unlock(&lock);
}

/* -- the streams of a window ------------------------------------------------------------- */

/* With the lock held. */
static void touch(CUcontext context, CUstream stream) {
    stream_changes++;
    for (int i = 0; i < stream_count; i++)
        if (streams[i].context == context && streams[i].stream == stream)
            return;
    if (stream_count < MAX_STREAMS)
        streams[stream_count++] = (struct touched){context, stream};
    else
        closing_not_before_ns = UINT64_MAX; /* cannot know when all have finished: stays open */
}

/* A stream's handle must not be used once it is destroyed. */
void window_stream_destroyed(CUcontext context, CUstream stream) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < stream_count; i++)
        if (streams[i].context == context && streams[i].stream == stream) {
            streams[i] = streams[--stream_count];
            stream_changes++;
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* -- closing -------------------------------------------------------------------------------- */

static void pause_ns(long nanoseconds) {
    struct timespec pause = {0, nanoseconds};
    nanosleep(&pause, NULL);
}

/* Wait until a stream has finished what it has now; false when it cannot be known in time. */
static bool finished(struct touched at, uint64_t until_ns) {
    CUcontext popped;
    CUevent event;
    if (cuda.CtxPushCurrent(at.context) != 0)
        return false;
    bool done = false;
    if (cuda.EventCreate(&event, 2 /* CU_EVENT_DISABLE_TIMING */) == 0) {
        if (record_outside_captures(event, at.stream)) {
            CUresult result;
            while ((result = cuda.EventQuery(event)) == 600 /* CUDA_ERROR_NOT_READY */ &&
                   now_ns() < until_ns)
                pause_ns(POLL_NS);
            done = result == 0;
        }
        cuda.EventDestroy(event);
    }
    cuda.CtxPopCurrent(&popped);
    return done;
}

static bool quiet(const struct touched *all, int count) {
    uint64_t until_ns = now_ns() + CLOSING_WAIT_NS;
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    bool done = true;
    for (int i = 0; i < count && done; i++)
        done = finished(all[i], until_ns);
    exchange_capture_mode(mode);
    return done;
}

/* Close the window, unless something is wanted or in flight. Called without the lock. */
static void close_when_quiet(void) {
    struct touched all[MAX_STREAMS];
    uint64_t begin_ns = now_ns();
    pthread_mutex_lock(&lock);
    /* An event in a stream that is being captured would become part of the capture. */
    bool go = activity_is_open() && !closing && wanted_in_flight == 0 && !captures_known() &&
              begin_ns >= closing_not_before_ns;
    int count = stream_count;
    uint32_t changes = stream_changes;
    memcpy(all, streams, sizeof all);
    closing = closing || go;
    pthread_mutex_unlock(&lock);
    if (!go)
        return;
    bool done = quiet(all, count);
    if (done)
        activity_flush();
    pthread_mutex_lock(&lock);
    closing = false;
    closings++;
    closing_wait_ns += now_ns() - begin_ns;
    if (!done)
        closing_not_before_ns = now_ns() + CLOSING_PAUSE_NS;
    else if (changes == stream_changes && wanted_in_flight == 0) {
        activity_close();
        stream_count = 0;
    }
    pthread_mutex_unlock(&lock);
}

/* -- graph launches ---------------------------------------------------------------------------- */

/* With the lock held. */
static void open_window(enum window_reason reason) {
    if (!activity_is_open() && !over && activity_open(reason) != 0) {
        note("warning", "node times could not be switched on; launches are timed as a whole");
        options.policy = POLICY_FIRST;
        options.policy_count = 0;
        eager_left = false;
    }
}

/* Let the next launch that is not wanted close the window, eager budget or not. */
void window_close_soon(void) {
    pthread_mutex_lock(&lock);
    unwanted_launches = LAUNCHES_UNTIL_CLOSING;
    pthread_mutex_unlock(&lock);
}

/* A launch is about to be made. */
GVIZ_HOT_CODE void window_launch(bool wanted, CUcontext context, CUstream stream) {
    if (!wanted && !activity_is_open())
        return;
    pthread_mutex_lock(&lock);
    bool close = false;
    if (wanted) {
        wanted_in_flight++;
        unwanted_launches = 0;
        open_window(WINDOW_LAUNCHES);
    } else {
        close = ++unwanted_launches > LAUNCHES_UNTIL_CLOSING || !eager_left;
    }
    pthread_mutex_unlock(&lock);
    if (close)
        close_when_quiet();
    if (!activity_is_open())
        return;
    pthread_mutex_lock(&lock);
    touch(context, stream);
    pthread_mutex_unlock(&lock);
}

GVIZ_HOT_CODE void window_launched(bool wanted) {
    if (!wanted)
        return;
    pthread_mutex_lock(&lock);
    wanted_in_flight--;
    pthread_mutex_unlock(&lock);
}

/* -- work outside graphs -------------------------------------------------------------------------- */

void window_resume(void) {
    pthread_mutex_lock(&lock);
    bool begins = options.eager_operations && !eager_left;
    eager_left = options.eager_operations != 0;
    eager_charged = 0;
    eager_spent_ns = eager_last_ns = 0;
    pthread_mutex_unlock(&lock);
    if (begins)
        calls_watch_operations(true); /* the first eager call opens the window */
}

void window_pause(void) {
    pthread_mutex_lock(&lock);
    bool ends = eager_left;
    eager_left = false;
    pthread_mutex_unlock(&lock);
    if (ends)
        calls_watch_operations(false);
}

void window_close(void) { close_when_quiet(); }

bool window_eager_left(void) { return atomic_load_explicit(&eager_left, memory_order_relaxed); }

/* A launch, copy or memset outside graphs is about to be made. */
void window_operation(CUcontext context, CUstream stream, bool has_stream) {
    if (has_stream && captures_known() && stream_is_capturing(stream))
        return;
    if (paused())
        close_when_quiet();
    if (!activity_is_open() && !eager_left)
        return;
    pthread_mutex_lock(&lock);
    if (!activity_is_open() && eager_left) {
        eager_charged += EAGER_OPENING_OPERATIONS;
        open_window(WINDOW_EAGER);
    }
    unwanted_launches = 0;
    touch(context, has_stream ? stream : NULL);
    pthread_mutex_unlock(&lock);
}

/* Where events time work outside graphs, each launch that is left plain takes from the budget, too: a
 * server is past its warm-up, and every call between its launches would go on taking longer. */
void window_launched_plain(uint32_t launches) {
    bool spent = false;
    pthread_mutex_lock(&lock);
    if (eager_left) {
        uint64_t charged = eager_charged + (uint64_t)launches * PLAIN_LAUNCH_OPERATIONS;
        spent = charged >= options.eager_operations;
        eager_charged = spent ? options.eager_operations : (uint32_t)charged;
        eager_left = !spent;
    }
    pthread_mutex_unlock(&lock);
    if (spent)
        calls_watch_operations(false);
}

/* It was made. */
void window_operation_done(uint64_t start_ns) {
    bool spent = false;
    pthread_mutex_lock(&lock);
    eager_seen++;
    if (eager_left) {
        uint64_t pause = start_ns > eager_last_ns ? start_ns - eager_last_ns : 0;
        if (eager_last_ns)
            eager_spent_ns += pause < EAGER_PAUSE_NS ? pause : EAGER_PAUSE_NS;
        eager_last_ns = start_ns;
        spent = ++eager_charged >= options.eager_operations || eager_spent_ns >= options.eager_ns;
        if (spent)
            eager_left = false;
    }
    pthread_mutex_unlock(&lock);
    if (spent) {
        calls_watch_operations(false);
        close_when_quiet();
    }
}

void window_finish(void) {
    window_pause();
    pthread_mutex_lock(&lock);
    over = true; /* or a launch on another thread would open one that nobody closes */
    counter("window_closings", (double)closings, "number", "measured: attempts to close a window");
    counter("window_closing_wait_ns", (double)closing_wait_ns, "ns",
            "measured: host time spent waiting for work in flight before closing, total");
    counter("eager_operations_seen", eager_seen, "number", "measured: driver calls in windows");
    pthread_mutex_unlock(&lock);
}
