/* The copier: a thread of gviz's own that makes instrumented copies, reads the events of their
 * launches and destroys them. A launching thread only takes a copy that is there.
 *
 * One copy is made at a time, none while a capture is open or the device has little free memory, and
 * all together take a hundredth of the time, beyond what a program's start may have. A copy goes when
 * its graph has its times, or is not launched for a while.
 */
#include "calls/calls.h"
#include "events/parts.h"
#include "life/life.h"
#include "spool/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define NEVER UINT64_MAX
#define MILLISECOND_NS 1000000ull
/* How often the events of a launch are queried: at first, and at last. */
#define FIRST_LOOK_NS 50000ull
#define LAST_LOOK_NS (20 * MILLISECOND_NS)
/* When what cannot be made now is tried again: an open capture, a spent budget; no memory. */
#define AGAIN_NS (10 * MILLISECOND_NS)
#define CRAMPED_NS (500 * MILLISECOND_NS)
/* How long a copy is kept for its next launch: where each may be the last, and where one in a while is. */
#define KEPT_NS (10000 * MILLISECOND_NS)
#define KEPT_SAMPLING_NS (1000 * MILLISECOND_NS)
/* Making may take this at once, and a hundredth of the time that follows. */
#define AT_ONCE_NS (250 * MILLISECOND_NS)
#define BUDGET 100
/* Copies that updates overtook, before no more are made. */
#define MOST_OUTDATED 5
/* Device memory of a copy: about 1 KB a node on an H100, and it has three for each. */
#define COPY_BYTES (8u << 20)
#define NODE_BYTES 3072u
#define STOP_SECONDS 10
/* How long launches wait for their copy: each, and all together. */
#define AWAITED_NS (20 * MILLISECOND_NS)
#define AWAITED_BY_ALL_NS (200 * MILLISECOND_NS)

GVIZ_LOCK(lock);
static pthread_cond_t called, looked;
static bool has_conditions;
static pthread_t thread;
static bool running, stopping, has_calls, ended;
static struct watch *first, **end = &first; /* to be looked at */
static const struct watch *current;
static uint64_t began_ns, awaited_ns;

/* -- making ----------------------------------------------------------------------------------------- */

static uint64_t kept_ns(void) {
    bool sampling = options.policy == POLICY_EVERY || options.policy == POLICY_PERIOD;
    return sampling ? KEPT_SAMPLING_NS : KEPT_NS;
}

static bool within_budget(uint64_t time_ns) {
    return atomic_load(&watch_counts.made_ns) <= AT_ONCE_NS + (time_ns - began_ns) / BUDGET;
}

/* Twice what a copy may take: the driver takes memory in pieces, and the program wants some, too. */
bool copier_has_room(const struct watch *watch) {
    size_t available = 0, total = 0;
    return !cuda.MemGetInfo || cuda.MemGetInfo(&available, &total) != 0 ||
           available / 2 > COPY_BYTES + watch->node_count * NODE_BYTES;
}

static uint64_t refuse(struct watch *watch, const char *why) {
    pthread_mutex_lock(&watch->lock);
    watch_refuse(watch, why);
    copier_call(watch); /* to be released */
    pthread_mutex_unlock(&watch->lock);
    return NEVER;
}

/* Clone the clone, and instrument that. `*updates`: those that are in it. */
static struct copy *make_of(struct watch *watch, size_t slice, uint32_t *updates) {
    CUgraph graph = NULL;
    struct level *level = NULL;
    pthread_mutex_lock(&watch->clone_lock);
    *updates = watch->updates;
    if (watch->clone && cuda.GraphClone(&graph, watch->clone) == 0)
        level = level_in_clone(watch->level, graph, false);
    pthread_mutex_unlock(&watch->clone_lock);
    if (!level) {
        if (graph)
            cuda.GraphDestroy(graph);
        return NULL;
    }
    size_t from = slice * watch->slice_nodes, to = from + watch->slice_nodes;
    to = to < watch->timeable_count ? to : watch->timeable_count;
    struct copy *copy = copy_make(graph, level, watch->flags, from, to);
    level_free(level);
    return copy;
}

/* Whether the copy is what the executable is by now, and may be launched; else it is destroyed. */
static bool hand_over(struct watch *watch, struct copy *copy, size_t slice, uint32_t updates) {
    pthread_mutex_lock(&watch->lock);
    pthread_mutex_lock(&watch->clone_lock);
    bool good = watch->copies && (!watch->followed || followed_apply(watch, copy, updates));
    pthread_mutex_unlock(&watch->clone_lock);
    if (good) {
        watch->copy = copy;
        watch->copy_slice = slice;
        watch->used_ns = now_ns();
        watch->wanted = watch->cramped = false;
    } else if (watch->copies && ++watch->outdated >= MOST_OUTDATED) {
        watch_refuse(watch, "the program updates its executable while copies of it are made");
    }
    pthread_mutex_unlock(&watch->lock);
    if (!good)
        copy_free(copy);
    return good;
}

static uint64_t make_copy(struct watch *watch) {
    uint64_t again_ns;
    if (captures_known() || !within_budget(now_ns()))
        return AGAIN_NS;
    if (!watch_calibrated(watch, &again_ns))
        return again_ns ? again_ns
                        : refuse(watch, "the bias of events could not be measured (are GPU or machine busy?)");
    if (!copier_has_room(watch)) {
        watch->cramped = true;
        return CRAMPED_NS;
    }
    uint64_t begin_ns = now_ns();
    size_t slice = watch->next_slice; /* without a copy it stays what it is */
    uint32_t updates;
    struct copy *copy = make_of(watch, slice, &updates);
    atomic_fetch_add(&watch_counts.made_ns, now_ns() - begin_ns);
    if (!copy)
        return refuse(watch, copy_error()[0] ? copy_error() : "its copy could not be made");
    atomic_fetch_add(&watch_counts.made, 1);
    return hand_over(watch, copy, slice, updates) ? kept_ns() : AGAIN_NS;
}

/* -- looking after a watch ----------------------------------------------------------------------------- */

/* A lasting copy stays to the end: launches of the executable itself wait for its last one. */
static bool is_over(const struct watch *watch) { return watch->ended || (watch->refused && !watch->lasting); }

static uint64_t release(struct watch *watch) {
    pthread_mutex_lock(&watch->lock);
    if (watch->for_gate && watch->exec)
        executable_watch(watch->exec, 0); /* launches from here on are as without copies */
    watch->exec = NULL;
    pthread_mutex_unlock(&watch->lock);
    watch_release(watch);
    return NEVER;
}

/* With the watch's lock. It has its times of this period: launches are as without copies. */
static void rest(const struct watch *watch) {
    if (watch->for_gate && watch->exec)
        executable_rest(watch->exec);
}

/* Take out the copy if it is not needed in this period, times another slice than the next, or was not
 * launched for a while. */
static struct copy *take_unused(struct watch *watch, bool done, uint64_t time_ns) {
    struct copy *copy = watch->copy;
    if (watch->lasting)
        return NULL;
    bool is_next = !done && watch->copy_slice == watch->next_slice && time_ns - watch->used_ns < kept_ns();
    if (!copy || is_next)
        return NULL;
    watch->copy = NULL;
    return copy;
}

/* With the context current. Returns when to look again. */
static uint64_t look_after(struct watch *watch) {
    if (!watch_read(watch)) {
        uint64_t again_ns = watch->look_ns;
        watch->look_ns = again_ns < LAST_LOOK_NS / 2 ? 2 * again_ns : LAST_LOOK_NS;
        return again_ns;
    }
    pthread_mutex_lock(&watch->lock);
    bool lost = watch->in_flight, over = !lost && is_over(watch);
    bool done = !lost && !over && watch_is_done(watch);
    struct copy *unused = lost || over ? NULL : take_unused(watch, done, now_ns());
    bool make = !lost && !over && !done && watch->copies && watch->wanted && !watch->copy;
    if (done)
        rest(watch);
    pthread_mutex_unlock(&watch->lock);
    copy_free(unused);
    if (over)
        return release(watch);
    if (make)
        return make_copy(watch);
    return !lost && watch->copy ? kept_ns() : NEVER;
}

/* -- the thread ------------------------------------------------------------------------------------------ */

static void append(struct watch *watch) {
    watch->queued = true;
    watch->next = NULL;
    *end = watch;
    end = &watch->next;
}

/* With the lock, which is given up meanwhile. */
static uint64_t look_after_one(struct watch *watch) {
    uint64_t again_ns = NEVER;
    CUcontext popped;
    current = watch;
    pthread_mutex_unlock(&lock);
    if (watch->context && cuda.CtxPushCurrent(watch->context) == 0) {
        again_ns = look_after(watch);
        cuda.CtxPopCurrent(&popped);
    }
    pthread_mutex_lock(&lock);
    current = NULL;
    pthread_cond_broadcast(&looked);
    if (again_ns != NEVER && !watch->queued)
        append(watch);
    return again_ns;
}

static uint64_t look_after_all(void) {
    struct watch *batch = first;
    uint64_t rest_ns = NEVER;
    first = NULL;
    end = &first;
    while (batch) {
        struct watch *watch = batch;
        batch = watch->next;
        watch->queued = false;
        uint64_t again_ns = stopping ? NEVER : look_after_one(watch);
        rest_ns = again_ns < rest_ns ? again_ns : rest_ns;
    }
    return rest_ns;
}

static void wait_for(pthread_cond_t *condition, uint64_t ns) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t at = (uint64_t)until.tv_nsec + ns;
    until.tv_sec += (time_t)(at / 1000000000ull);
    until.tv_nsec = (long)(at % 1000000000ull);
    pthread_cond_timedwait(condition, &lock, &until);
}

static void *copier_main(void *unused) {
    (void)unused;
    this_thread()->inside = 1;
    exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    pthread_mutex_lock(&lock);
    uint64_t rest_ns = NEVER;
    while (!stopping) {
        if (!has_calls && rest_ns == NEVER)
            pthread_cond_wait(&called, &lock);
        else if (!has_calls)
            wait_for(&called, rest_ns);
        has_calls = false;
        rest_ns = look_after_all();
    }
    ended = true;
    pthread_cond_broadcast(&looked);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void make_conditions(void) {
    make_steady_condition(&called);
    make_steady_condition(&looked);
    has_conditions = true;
}

/* With the lock. */
static void start(void) {
    if (!has_conditions)
        make_conditions();
    stopping = ended = false;
    running = pthread_create(&thread, NULL, copier_main, NULL) == 0;
    if (running)
        pthread_setname_np(thread, "gviz-copies");
}

/* -- */

void copier_call(struct watch *watch) {
    pthread_mutex_lock(&lock);
    if (!watch->queued)
        append(watch);
    watch->look_ns = FIRST_LOOK_NS;
    has_calls = true;
    if (!running)
        start();
    if (running)
        pthread_cond_signal(&called);
    pthread_mutex_unlock(&lock);
}

/* Whether the copy that it wants is not there yet, or not to be launched yet. */
static bool is_awaited(struct watch *watch) {
    pthread_mutex_lock(&watch->lock);
    bool missing = watch->wanted && !watch->copy && !watch->cramped;
    bool awaited = watch->copies && (missing || watch->in_flight);
    pthread_mutex_unlock(&watch->lock);
    return awaited;
}

void copier_await(struct watch *watch) {
    uint64_t begin_ns = now_ns();
    while (is_awaited(watch) && !captures_known() && now_ns() - begin_ns < AWAITED_NS) {
        pthread_mutex_lock(&lock);
        bool goes_on = running && !stopping && awaited_ns + now_ns() - begin_ns < AWAITED_BY_ALL_NS;
        if (goes_on)
            wait_for(&looked, MILLISECOND_NS);
        pthread_mutex_unlock(&lock);
        if (!goes_on)
            break;
    }
    pthread_mutex_lock(&lock);
    awaited_ns += now_ns() - begin_ns;
    pthread_mutex_unlock(&lock);
}

void copier_leaves(const struct watch *watch) {
    pthread_mutex_lock(&lock);
    while (current == watch)
        pthread_cond_wait(&looked, &lock);
    pthread_mutex_unlock(&lock);
}

void copier_reset(void) {
    began_ns = now_ns();
    awaited_ns = 0;
}

bool copier_stop(void) {
    pthread_mutex_lock(&lock);
    bool was_running = running;
    uint64_t until_ns = (uint64_t)monotonic_ns() + STOP_SECONDS * 1000 * MILLISECOND_NS;
    stopping = true;
    pthread_cond_signal(&called);
    while (was_running && !ended && (uint64_t)monotonic_ns() < until_ns)
        wait_for(&looked, AGAIN_NS);
    bool done = !was_running || ended;
    running = false;
    for (struct watch *watch = first; watch; watch = watch->next)
        watch->queued = false;
    first = NULL;
    end = &first;
    pthread_mutex_unlock(&lock);
    if (was_running && done)
        pthread_join(thread, NULL);
    else if (was_running)
        pthread_detach(thread);
    return done;
}

/* In a forked child, which has not the thread. */
void copier_forked(void) {
    running = has_conditions = false;
    current = NULL;
    first = NULL;
    end = &first;
}

/* For tests: wait until every copy that is wanted was made, and each launch of one was read. Returns
 * whether that is so, and not the time over. */
GVIZ_EXPORT int gviz_await_copies(double seconds) {
    int64_t until_ns = monotonic_ns() + (int64_t)(seconds * 1e9);
    for (;;) {
        bool waits = false;
        int at = 0;
        for (struct watch *watch; (watch = watch_next(&at));) {
            pthread_mutex_lock(&watch->lock);
            bool there = watch->copy && watch->copy_slice == watch->next_slice;
            waits = waits || watch->in_flight || (watch->copies && watch->wanted && !there);
            pthread_mutex_unlock(&watch->lock);
        }
        if (!waits || monotonic_ns() > until_ns)
            return !waits;
        struct timespec pause = {0, (long)FIRST_LOOK_NS};
        nanosleep(&pause, NULL);
    }
}
