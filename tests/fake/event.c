/* Events: they take the time at which the work before them ends. */
#include "fake.h"

enum { EVENT_DISABLE_TIMING = 2, EXTERNAL = 1 };

static CUresult create(CUevent *out, unsigned int flags) {
    CUresult result = require_context();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags > 7)
        return CUDA_ERROR_INVALID_VALUE;
    struct event *event = fake_allocate(1, sizeof *event);
    event->flags = flags;
    add_object(event, OBJECT_EVENT);
    *out = event;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned int flags) {
    TRACED(cuEventCreate, { CUevent *a; unsigned int b; }, create(event, flags), event, flags);
}

/* The memory stays: event nodes of a graph may still name it. */
static CUresult destroy(CUevent event) {
    if (!fake_is(event, OBJECT_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    remove_object(event);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventDestroy_v2(CUevent event) {
    TRACED(cuEventDestroy_v2, { CUevent a; }, destroy(event), event);
}

/* In the legacy stream an event waits for every blocking stream. */
static uint64_t event_time_ns(struct stream *stream) {
    uint64_t time = fake_now_ns();
    struct stream *other;
    if (stream->tail_ns > time)
        time = stream->tail_ns;
    for (size_t i = 0; stream == legacy_stream() && (other = stream_at(i)) != NULL; i++)
        if (!(other->flags & 1) && other->tail_ns > time) /* CU_STREAM_NON_BLOCKING */
            time = other->tail_ns;
    return time;
}

static CUresult record(CUevent event, CUstream handle, unsigned int flags) {
    struct stream *stream = resolve_stream(handle);
    if (!stream || !fake_is(event, OBJECT_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags > EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture) {
        if (!(flags & EXTERNAL))
            return capture_event(stream, event);
        struct work work = {.type = NODE_EVENT_RECORD, .event = event};
        return capture_work(stream, &work);
    }
    CUresult result = check_legacy_stream(stream);
    if (result != CUDA_SUCCESS)
        return result;
    event->capture_id = 0;
    event->recorded = true;
    event->time_ns = event_time_ns(stream);
    speed_event(stream);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
    TRACED(cuEventRecord, { CUevent a; CUstream b; }, record(event, stream, 0), event, stream);
}

EXPORT CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
    TRACED(cuEventRecordWithFlags, { CUevent a; CUstream b; unsigned int c; }, record(event, stream, flags),
           event, stream, flags);
}

static CUresult wait(CUstream handle, CUevent event, unsigned int flags) {
    struct stream *stream = resolve_stream(handle);
    if (!stream || !fake_is(event, OBJECT_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags > EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture && (flags & EXTERNAL)) {
        struct work work = {.type = NODE_WAIT_EVENT, .event = event};
        return capture_work(stream, &work);
    }
    if (stream->capture || event->capture_id)
        return capture_wait(stream, event);
    if (event->recorded && event->time_ns > stream->tail_ns)
        stream->tail_ns = event->time_ns;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
    TRACED(cuStreamWaitEvent, { CUstream a; CUevent b; unsigned int c; }, wait(stream, event, flags), stream,
           event, flags);
}

static CUresult check(CUevent event) {
    if (!fake_is(event, OBJECT_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = check_captured_event(event);
    return result == CUDA_SUCCESS ? check_unsafe_call() : result;
}

/* Whether events are late, as to a thread that a loaded machine runs seldom: for FAKE_EVENTS_LATE_MS from
 * the first query on. */
static bool are_late(void) {
    static uint64_t until_ns;
    if (!until_ns)
        until_ns = fake_now_ns() + 1000000u * (uint64_t)fake_setting("FAKE_EVENTS_LATE_MS");
    return fake_now_ns() < until_ns;
}

static CUresult query(CUevent event) {
    CUresult result = check(event);
    if (result != CUDA_SUCCESS)
        return result;
    bool pending = event->recorded && (event->time_ns > fake_now_ns() || are_late());
    return pending ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

EXPORT CUresult cuEventQuery(CUevent event) { TRACED(cuEventQuery, { CUevent a; }, query(event), event); }

static CUresult synchronize(CUevent event) {
    fake_lock();
    CUresult result = check(event);
    struct stream until = {.tail_ns = result == CUDA_SUCCESS && event->recorded ? event->time_ns : 0};
    fake_unlock();
    wait_for_stream(&until);
    return result;
}

EXPORT CUresult cuEventSynchronize(CUevent event) {
    TRACED_UNLOCKED(cuEventSynchronize, { CUevent a; }, synchronize(event), event);
}

static CUresult elapsed(float *milliseconds, CUevent start, CUevent end) {
    if (!milliseconds)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fake_is(start, OBJECT_EVENT) || !fake_is(end, OBJECT_EVENT) || !start->recorded || !end->recorded)
        return CUDA_ERROR_INVALID_HANDLE;
    if ((start->flags | end->flags) & EVENT_DISABLE_TIMING)
        return CUDA_ERROR_INVALID_HANDLE;
    uint64_t now = fake_now_ns();
    if (start->time_ns > now || end->time_ns > now)
        return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)((double)((int64_t)end->time_ns - (int64_t)start->time_ns) / 1e6);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    TRACED(cuEventElapsedTime, { float *a; CUevent b; CUevent c; }, elapsed(milliseconds, start, end),
           milliseconds, start, end);
}

EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
    TRACED(cuEventElapsedTime_v2, { float *a; CUevent b; CUevent c; }, elapsed(milliseconds, start, end),
           milliseconds, start, end);
}
