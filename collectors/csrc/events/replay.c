/* Launches of watched graphs: by the executable, or by an instrumented copy in its place. */
#include "calls/calls.h"
#include "events/parts.h"
#include "ids/ids.h"
#include "launch/launch.h"
#include "life/life.h"
#include "spool/spool.h"
#include "told/told.h"
#include "window/window.h"

#include <stdlib.h>
#include <string.h>

/* Plain launches of an executable that are timed whatever the rate: its copies are held against
 * them (gviz/spool/folding/event_bias.py). */
#define COMPARED_LAUNCHES 8
/* Until then no more copies than these follow each other: a short program has plain launches, too. */
#define COPIES_IN_A_ROW 3
#define UNKNOWN_STREAM UINT64_MAX

static __thread struct {
    struct watch *watch;
    struct launch_record record;
    void *event_pair;
    CUstream stream;
    bool last;       /* of the launches that a period may have */
    bool unrecorded; /* outside a period */
} slot;

/* -- reading ------------------------------------------------------------------------------------------- */

static void write_times(struct watch *watch, const struct node_time *times, uint32_t count,
                        uint64_t extent_ns) {
    struct node_times_record record = {
        .correlation = watch->correlation, .exec_id = watch->exec_id,
        .nodes = count, .slices = (uint32_t)watch->slices,
        .device_id = watch->device, .extent_ns = extent_ns,
        .position_ns = calibrate_position(watch->context, watch->device, watch->copy->start)};
    struct slice slices[] = {{&record, sizeof record}, {times, record.nodes * sizeof *times}};
    spool_append(RECORD_NODE_TIMES, slices, 2);
}

bool watch_read(struct watch *watch) {
    pthread_mutex_lock(&watch->lock);
    bool in_flight = watch->in_flight && !watch->copy->lost;
    pthread_mutex_unlock(&watch->lock);
    if (!in_flight)
        return true;
    if (!copy_finished(watch->copy))
        return false;
    struct node_time *times = calloc(watch->copy->timed_count + 1, sizeof *times);
    uint64_t extent_ns = 0;
    uint32_t count = 0;
    if (times && copy_read(watch->copy, times, &count, &extent_ns))
        write_times(watch, times, count, extent_ns);
    else
        atomic_fetch_add(&watch_counts.unread, 1);
    free(times);
    pthread_mutex_lock(&watch->lock);
    watch->in_flight = false;
    watch->extent_ns = extent_ns ? extent_ns : watch->extent_ns;
    pthread_mutex_unlock(&watch->lock);
    return true;
}

bool watch_is_done(const struct watch *watch) {
    return options.policy == POLICY_FIRST && watch->copies && watch->plain_timed > COMPARED_LAUNCHES &&
           watch->recorded >= options.policy_count * watch->slices;
}

/* At the end, when nothing launches any more: read what is in flight. */
void watch_finish(void) {
    int at = 0;
    if (!copier_stop())
        return;
    for (struct watch *watch; (watch = watch_next(&at));) {
        CUcontext popped;
        if (!watch->in_flight || cuda.CtxPushCurrent(watch->context) != 0)
            continue;
        watch_read(watch);
        cuda.CtxPopCurrent(&popped);
    }
}

/* -- launching ------------------------------------------------------------------------------------------- */

/* The first launch uploads the graph; the following ones are held against its copies. */
static bool is_compared(const struct watch *watch) {
    return watch->copies && watch->plain_timed <= COMPARED_LAUNCHES && !visits_on();
}

static bool due(struct watch *watch, uint32_t earlier) {
    if (visits_on())
        return false;
    if (options.policy == POLICY_ALL)
        return !launch_left_plain(earlier);
    if (options.policy == POLICY_PERIOD)
        return launch_period_over(watch->copied_ns, now_ns());
    if (options.policy == POLICY_EVERY) {
        watch->due = watch->due || earlier % options.policy_count == 0;
        return watch->due;
    }
    if (watch->in_a_row >= COPIES_IN_A_ROW && is_compared(watch))
        return false;
    /* Each node is to be timed so often. */
    return watch->recorded < options.policy_count * watch->slices;
}

/* Whether there is the copy that is launched next; if not, it is requested. */
static bool has_copy(struct watch *watch) {
    bool there = watch->copy && watch->copy_slice == watch->next_slice;
    if (!there && !watch->wanted) {
        watch->wanted = true;
        copier_call(watch);
    }
    return there;
}

/* Launch the copy, if it may take this launch's place. With the watch's lock and its context.
 * The first launch is always the original's: it is what the copy is compared with. */
static bool launch_copy(struct watch *watch, CUstream stream, uint64_t stream_id,
                        uint32_t earlier, struct launch_record *record) {
    if (!watch->copies || !due(watch, earlier) || watch->in_flight || !has_copy(watch))
        return false;
    if (earlier == 0 || watch->under_way || stream_id != watch->last_stream)
        return false;
    /* One that passed may still be on its way, and is not announced. */
    if (captures_known() || (watch->passes && told_launches_elsewhere()))
        return false;
    record->start_ns = now_ns();
    if (copy_launch(watch->copy, stream) != 0) {
        watch_refuse(watch, copy_error());
        copier_call(watch); /* to be released */
        return false;
    }
    record->end_ns = now_ns();
    record->flags |= LAUNCH_NODE_LEVEL | LAUNCH_COPY;
    watch->in_flight = true;
    watch->correlation = record->correlation;
    watch->recorded++;
    watch->due = false;
    watch->copied_ns = watch->used_ns = record->end_ns;
    watch->next_slice = (watch->next_slice + 1) % watch->slices;
    watch->wanted = watch->slices > 1 && options.policy != POLICY_PERIOD; /* that of the next one */
    atomic_fetch_add(&watch_counts.launches, 1);
    if (watch->copy->lost)
        watch_refuse(watch, copy_error());
    copier_call(watch);
    return true;
}

/* Which stream this is: handles are used again, and CU_STREAM_PER_THREAD is one a thread. */
static bool identify(CUstream stream, uint64_t *id) {
    unsigned long long found = 0;
    int status = 0;
    /* No event of ours may slip into a capture; a launch into one is the program's affair. */
    if (cuda.StreamIsCapturing(stream, &status) != 0 || status != 0)
        return false;
    if (!cuda.StreamGetId || cuda.StreamGetId(stream, &found) != 0)
        found = (uint64_t)(uintptr_t)stream ^ (uint64_t)this_thread()->thread_id << 48;
    *id = found;
    return true;
}

/* The first launches wait for their copy to be made, and to be read: a short program has no others, and
 * one that queues its launches would have queued them all before the first was read. */
static bool awaits_copy(struct watch *watch) {
    bool wanted = options.policy == POLICY_FIRST && watch->copies && due(watch, watch->launches);
    return wanted && watch->launches >= 1 && (watch->in_flight || (watch->wanted && !watch->copy));
}

/* Make the launch by a copy, or announce it. With the watch's context. Outside a period only the
 * order of launches is seen to. */
static bool begin(struct watch *watch, const struct launch_beginning *launch, uint64_t stream_id,
                  struct launch_record *record, bool *compared) {
    CUstream stream = launch->stream;
    bool copied = false;
    pthread_mutex_lock(&watch->lock);
    if (launch->admitted && watch->period != period_number()) {
        watch->period = period_number();
        watch->recorded = 0;
    }
    if (launch->admitted && awaits_copy(watch)) {
        pthread_mutex_unlock(&watch->lock);
        copier_await(watch);
        pthread_mutex_lock(&watch->lock);
    }
    watch->launches += launch->passed.count;
    if (launch->passed.any)
        watch->last_stream = UNKNOWN_STREAM;
    if (lasting_on()) {
        copied = lasting_launch(watch, stream, record);
    } else if (launch->admitted) {
        uint32_t earlier = watch->launches++;
        copied = launch_copy(watch, stream, stream_id, earlier, record);
        *compared = earlier < ALWAYS_TIMED_LAUNCHES || is_compared(watch);
    }
    if (!copied && watch->in_flight && stream_id != watch->last_stream)
        cuda.StreamWaitEvent(stream, watch->copy->end, 0);
    watch->last_stream = stream_id;
    watch->in_a_row = copied ? watch->in_a_row + 1 : 0;
    watch->under_way += !copied;
    pthread_mutex_unlock(&watch->lock);
    return copied;
}

static void end(struct watch *watch, bool timed) {
    pthread_mutex_lock(&watch->lock);
    watch->under_way--;
    watch->plain_timed += timed;
    if (timed && watch_is_done(watch))
        copier_call(watch); /* from here on launches are as without copies */
    pthread_mutex_unlock(&watch->lock);
}

/* Called just before a launch; with 1 the launch has been made, with 0 it is the caller's. */
GVIZ_EXPORT int gviz_launch_begin(int id, CUstream stream) {
    memset(&slot, 0, sizeof slot);
    struct watch *watch = watching() ? watch_find(id) : NULL;
    CUcontext popped;
    uint64_t stream_id;
    if (!watch || cuda.CtxPushCurrent(watch->context) != 0)
        return 0;
    if (!identify(stream, &stream_id)) {
        cuda.CtxPopCurrent(&popped);
        return 0;
    }
    bool admitted = pause_admits(&slot.last), compared = false;
    struct launch_record record = {
        .exec_id = watch->exec_id, .correlation = ids_next_correlation(),
        .thread_id = this_thread()->thread_id, .stream_id = (uint32_t)stream_id,
        .flags = watch->late ? LAUNCH_LATE : 0};
    const struct launch_beginning launch = {.stream = stream, .admitted = admitted};
    bool copied = begin(watch, &launch, stream_id, &record, &compared);
    if (copied) {
        spool_append_one(RECORD_LAUNCH, &record, sizeof record);
        if (slot.last)
            pause_after_last();
    } else {
        if (admitted && (compared || timing_wanted(now_ns())))
            slot.event_pair = timing_begin(watch->context, stream, &record.token);
        slot.watch = watch;
        slot.unrecorded = !admitted;
        slot.stream = stream;
        record.flags |= slot.event_pair ? LAUNCH_EVENTS : 0;
        record.start_ns = now_ns();
        slot.record = record;
    }
    cuda.CtxPopCurrent(&popped);
    return copied;
}

/* Called after the caller's own launch, with its CUresult. */
GVIZ_EXPORT void gviz_launch_end(int result) {
    CUcontext popped;
    struct watch *watch = slot.watch;
    if (!watch)
        return;
    uint64_t end_ns = now_ns();
    slot.watch = NULL;
    end(watch, slot.event_pair != NULL);
    if (slot.unrecorded)
        return;
    if (slot.event_pair && cuda.CtxPushCurrent(watch->context) == 0) {
        timing_end(slot.event_pair, slot.stream, result == 0);
        cuda.CtxPopCurrent(&popped);
    }
    slot.record.end_ns = end_ns;
    slot.record.result = result;
    spool_append_one(RECORD_LAUNCH, &slot.record, sizeof slot.record);
    if (slot.last)
        pause_after_last();
}

/* -- launches that the gate tells of ------------------------------------------------------------------ */

static enum launch_by told_begins(int id, const struct launch_beginning *launch,
                                  struct launch_record *record, bool *compared) {
    struct watch *watch = watch_find(id);
    CUcontext popped;
    uint64_t stream_id;
    if (!watch || cuda.CtxPushCurrent(watch->context) != 0)
        return BY_PROGRAM;
    bool known = identify(launch->stream, &stream_id), copied = false;
    if (known)
        copied = begin(watch, launch, stream_id, record, compared);
    cuda.CtxPopCurrent(&popped);
    return !known ? BY_PROGRAM : copied ? BY_COPY : BY_PROGRAM_ANNOUNCED;
}

static void told_ends(int id, bool timed) {
    struct watch *watch = watch_find(id);
    if (watch)
        end(watch, timed);
}

/* With the watch's lock: how many launches may pass until a copy is due. The one before a copy is told
 * of, so that its stream is known. */
static uint32_t until_due(const struct watch *watch) {
    uint32_t every = options.policy_count, rest;
    if (visits_on())
        return UINT32_MAX;
    switch (options.policy) {
    case POLICY_PERIOD:
        return launch_period_over(watch->copied_ns, now_ns()) ? 0 : UINT32_MAX;
    case POLICY_EVERY:
        rest = watch->launches % every;
        return watch->due || !rest ? 0 : every - rest - 1;
    default:
        return 0;
    }
}

static uint32_t told_spares(int id, bool admitted) {
    struct watch *watch = watch_find(id);
    uint32_t most = UINT32_MAX;
    if (!watch)
        return most;
    pthread_mutex_lock(&watch->lock);
    if (watch->in_flight || watch->lasting)
        most = 0;
    else if (admitted && watch->copies)
        most = is_compared(watch) ? 0 : until_due(watch);
    watch->passes = watch->passes || most;
    pthread_mutex_unlock(&watch->lock);
    return most;
}

const struct launch_maker launch_by_copies = {told_begins, told_ends, told_spares};

static void find_driver(void) {
    char why[400];
    if (!cuda.GraphLaunch)
        cuda_load(why, sizeof why);
}

/* Launch an executable whose launches nobody else makes; returns the CUresult. */
GVIZ_EXPORT int gviz_launch(int id, CUgraphExec exec, CUstream stream) {
    /* Threads launch at once: none is to see the driver's functions found in part. */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_driver);
    if (!cuda.GraphLaunch)
        return 999; /* CUDA_ERROR_UNKNOWN */
    if (gviz_launch_begin(id, stream))
        return 0;
    int result = cuda.GraphLaunch(exec, stream);
    gviz_launch_end(result);
    return result;
}
