/* Whole-launch GPU time: an event before and one after a launch, on its stream.
 *
 * The two events take host time (about 2.4 us each, measured on an H100), which a 10 us
 * launch would feel; so events are thinned until their share of wall time is below
 * options.event_cost_fraction.
 */
#include "calls/calls.h"
#include "launch/launch.h"
#include "spool/spool.h"

#define MAX_PENDING 4096
/* How long before the end of another thread's a launch may have begun. */
#define SLACK_NS 1000000000ull

GVIZ_LOCK(lock);
static struct event_pair *pending_first, *pending_last;
static int pending_count;
static uint64_t allowed_from_ns GVIZ_HOT, rest_ns GVIZ_HOT, thinned_count GVIZ_HOT;
static uint64_t next_token = 1, cost_count, lost_count;
static uint64_t cost_least_ns = UINT64_MAX;
static double cost_typical_ns;
static uint64_t first_launch_ns GVIZ_HOT, cost_total_ns;

/* Whether a launch now may be timed without its events costing more than their share. */
GVIZ_HOT_CODE bool timing_wanted(uint64_t time_ns) {
    uint64_t none = 0;
    __atomic_compare_exchange_n(&first_launch_ns, &none, time_ns, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    uint64_t from_ns = __atomic_load_n(&allowed_from_ns, __ATOMIC_RELAXED);
    /* A rest that is longer than the one that was due: the clock was set back. */
    if (time_ns >= from_ns || from_ns - time_ns > __atomic_load_n(&rest_ns, __ATOMIC_RELAXED))
        return true;
    __atomic_fetch_add(&thinned_count, 1, __ATOMIC_RELAXED);
    return false;
}

/* Return a pair whose start event is recorded, or NULL: this launch is not timed. */
void *timing_begin(CUcontext context, CUstream stream, uint64_t *token) {
    pthread_mutex_lock(&lock);
    bool full = pending_count >= MAX_PENDING;
    pthread_mutex_unlock(&lock);
    struct event_pair *pair = full ? NULL : pair_take(context);
    if (!pair)
        return NULL;
    uint64_t begin = now_ns(); /* making the events is paid once, and not counted */
    if (cuda.EventRecord(pair->start, stream) != 0) {
        pair_return(pair);
        return NULL;
    }
    pair->token = __atomic_fetch_add(&next_token, 1, __ATOMIC_RELAXED);
    pair->cost_ns = now_ns() - begin;
    *token = pair->token;
    return pair;
}

void timing_end(void *opaque, CUstream stream, bool launched) {
    struct event_pair *pair = opaque;
    uint64_t begin = now_ns();
    if (!launched || cuda.EventRecord(pair->end, stream) != 0) {
        pair_return(pair);
        return;
    }
    uint64_t end = now_ns();
    pair->cost_ns += end - begin;
    pair->next = NULL;
    pthread_mutex_lock(&lock);
    if (pending_last)
        pending_last->next = pair;
    else
        pending_first = pair;
    pending_last = pair;
    pending_count++;
    cost_count++;
    if (pair->cost_ns < cost_least_ns)
        cost_least_ns = pair->cost_ns;
    /* A record that waits for room in a full queue costs nothing: the launch would have waited.
     * So what is far above the least seen does not count. */
    uint64_t limit = 3 * cost_least_ns;
    double counted = (double)(pair->cost_ns < limit ? pair->cost_ns : limit);
    cost_total_ns += (uint64_t)counted;
    cost_typical_ns = cost_count == 1 ? counted : cost_typical_ns + (counted - cost_typical_ns) / 16;
    uint64_t due_ns = (uint64_t)(cost_typical_ns / options.event_cost_fraction);
    __atomic_store_n(&rest_ns, due_ns + SLACK_NS, __ATOMIC_RELAXED);
    __atomic_store_n(&allowed_from_ns, end + due_ns, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

static void pair_read(struct event_pair *pair) {
    int64_t taken_ns;
    if (event_distance(pair->start, pair->end, &taken_ns)) {
        struct launch_time_record record = {pair->token, (uint64_t)taken_ns};
        spool_append_one(RECORD_LAUNCH_TIME, &record, sizeof record);
    }
}

/* Take the oldest pending pair. The driver is called without the lock held: a callback of the
 * program may wait for the lock while it holds one of the driver's. */
static struct event_pair *pending_take(void) {
    pthread_mutex_lock(&lock);
    struct event_pair *pair = pending_first;
    if (pair) {
        pending_first = pair->next;
        if (!pending_first)
            pending_last = NULL;
        pending_count--;
    }
    pthread_mutex_unlock(&lock);
    return pair;
}

static void pending_put_back(struct event_pair *pair) {
    pthread_mutex_lock(&lock);
    pair->next = pending_first;
    pending_first = pair;
    if (!pending_last)
        pending_last = pair;
    pending_count++;
    pthread_mutex_unlock(&lock);
}

/* Read the pairs whose launches have finished; called on the flush thread. A launch on a slow
 * stream holds back those after it until the next poll. */
void timing_poll(void) {
    struct event_pair *pair;
    while ((pair = pending_take())) {
        CUcontext popped;
        bool ready = false;
        if (cuda.CtxPushCurrent(pair->context) == 0) {
            ready = cuda.EventQuery(pair->end) == 0;
            if (ready)
                pair_read(pair);
            cuda.CtxPopCurrent(&popped);
        }
        if (!ready) {
            pending_put_back(pair);
            return;
        }
        pair_return(pair);
    }
}

int timing_pending(void) {
    pthread_mutex_lock(&lock);
    int count = pending_count;
    pthread_mutex_unlock(&lock);
    return count;
}

/* The context is about to be destroyed, and its events with it. */
void timing_forget(CUcontext context) {
    pthread_mutex_lock(&lock);
    pairs_drop(&pending_first, context);
    pending_last = NULL;
    pending_count = 0;
    for (struct event_pair *pair = pending_first; pair; pair = pair->next) {
        pending_last = pair;
        pending_count++;
    }
    pthread_mutex_unlock(&lock);
}

static void write_counters(void) {
    if (cost_count)
        counter("launch_event_cost_ns", cost_typical_ns, "ns",
                "measured: host time of the two event records around a launch, typical");
    counter("launches_timed_by_events", (double)cost_count, "number", "measured");
    counter("launches_thinned", (double)__atomic_load_n(&thinned_count, __ATOMIC_RELAXED), "number",
            "measured: launches left without events to keep their cost below the limit");
    counter("launch_event_share_limit", options.event_cost_fraction, "fraction",
            "rule: a launch has no events while their host time would be above this share of wall "
            "time; the first launches of each executable have them whatever they cost");
    uint64_t wall_ns = first_launch_ns ? now_ns() - first_launch_ns : 0;
    if (wall_ns && cost_count)
        counter("launch_event_share", (double)cost_total_ns / (double)wall_ns, "fraction",
                "measured: host time of the event records, of the wall time from the first launch "
                "that could go without to the end");
    if (lost_count)
        counter("launch_times_lost", (double)lost_count, "number",
                "measured: launches whose events had not finished at the end");
}

/* `at_end`: of the recording; else CUPTI is left, and the counts go on. */
void timing_stop(bool at_end) {
    pthread_mutex_lock(&lock);
    lost_count += (uint64_t)pending_count;
    if (at_end)
        write_counters();
    pairs_drop(&pending_first, NULL);
    pending_last = NULL;
    pending_count = 0;
    if (at_end) {
        __atomic_store_n(&allowed_from_ns, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&thinned_count, 0, __ATOMIC_RELAXED);
        cost_count = lost_count = first_launch_ns = cost_total_ns = 0;
        cost_least_ns = UINT64_MAX;
    }
    pthread_mutex_unlock(&lock);
}
