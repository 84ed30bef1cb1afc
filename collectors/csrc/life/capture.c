/* Stream captures in progress, and the calls that break them.
 *
 * While a capture goes on, every driver and runtime call of the process is watched, on all
 * threads: a call that the driver refuses for the capture's sake invalidates it, and the program
 * often learns of that much later. The driver itself is queried for the captures that a refused call
 * broke, so that no call is blamed for a capture of another thread that it left alone.
 */
#include "calls/calls.h"
#include "graph/graph.h"
#include "life/parts.h"
#include "spool/spool.h"
#include "told/told.h"

#include <string.h>

#define MAX_CAPTURES 256
/* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED to CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, in both APIs. */
#define FIRST_CAPTURE_ERROR 900
#define LAST_CAPTURE_ERROR 908
#define WRONG_THREAD 908
#define NOT_CAPTURING 401 /* CUDA_ERROR_ILLEGAL_STATE */
#define CAPTURE_INVALIDATED 2 /* CU_STREAM_CAPTURE_STATUS_INVALIDATED */
/* Watching all calls takes 1,300 switches in CUPTI, so it goes on this long after the last
 * capture: a program that captures in a loop pays for it once. The gate's switches cost next to nothing,
 * and what is told of in front of every launch costs more. */
#define KEEP_WATCHING_NS 400000000ull

enum { FAILED_GRAPH_READ = 1 };

struct capture {
    uint32_t sequence, graph_id, thread_id, stream_id, mode;
    uint64_t start_ns;
    CUcontext context;
    CUstream stream;
    CUgraph graph; /* NULL once it is destroyed, or where it could not be queried */
    bool broken;
};

GVIZ_LOCK(lock);
static struct capture captures[MAX_CAPTURES];
static int capture_count, untracked; /* untracked: begun when the table was full */
static uint32_t last_sequence;
static atomic_bool runtime_named[CALL_ID_LIMIT];

enum { WATCH_OFF, WATCH_TURNING, WATCH_ON };
static _Atomic int watch_state;
static _Atomic uint64_t last_end_ns;
static _Atomic uint32_t watch_generation; /* counts the times it was switched on */
static __thread uint32_t runtime_call;    /* the CUDA runtime call that this thread is in */
static __thread uint32_t runtime_call_generation;
static __thread bool error_reported;       /* a driver call in it failed, and that was written */
static __thread bool graph_read;       /* the graph of the capture being ended was walked */

void capture_reset(void) {
    pthread_mutex_lock(&lock);
    capture_count = untracked = 0;
    last_sequence = 0;
    pthread_mutex_unlock(&lock);
    memset(runtime_named, 0, sizeof runtime_named);
    capturing_reset();
    atomic_store(&watch_state, WATCH_OFF);
}

/* -- watching every call --------------------------------------------------------------------- */

static void watch_all(bool on) {
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++)
        if (calls[id].known && (calls[id].kind == CALL_OTHER || calls[id].kind == CALL_FREE) &&
            (on || (!calls[id].kept && (calls[id].kind == CALL_OTHER || !calls_frees_watched()))))
            callback_enable(on, DOMAIN_DRIVER_API, id);
    if (!on && calls_frees_watched()) /* a graph that allocates came meanwhile */
        calls_watch_frees();
    domain_enable(on, DOMAIN_RUNTIME_API);
}

/* No lock is held while CUPTI is called: it may be waiting for a callback on another thread. */
static void watch_on(void) {
    int off = WATCH_OFF;
    if (!atomic_compare_exchange_strong(&watch_state, &off, WATCH_TURNING))
        return;
    atomic_fetch_add(&watch_generation, 1);
    watch_all(true);
    atomic_store(&watch_state, WATCH_ON);
}

static bool goes_on(void) {
    return !told_in_place() && now_ns() - atomic_load(&last_end_ns) < KEEP_WATCHING_NS;
}

void capture_poll(void) {
    int on = WATCH_ON;
    if (captures_known() || goes_on() ||
        !atomic_compare_exchange_strong(&watch_state, &on, WATCH_TURNING))
        return;
    watch_all(false);
    atomic_store(&watch_state, WATCH_OFF);
    if (captures_known()) /* one began meanwhile and left the switching to this thread */
        watch_on();
}

static void begin_watching(void) {
    if (capturing_begins() == 0)
        calls_watch_operations(true);
    watch_on();
}

static void end_watching(void) {
    atomic_store(&last_end_ns, now_ns());
    if (capturing_ended() == 1)
        calls_watch_operations(false);
    capture_poll();
}

/* -- the table of captures -------------------------------------------------------------------- */

/* With the lock held. The handle of the per-thread stream means another stream on each thread. */
static struct capture *find(CUcontext context, CUstream stream) {
    uint32_t thread = this_thread()->thread_id;
    for (int i = 0; i < capture_count; i++) {
        struct capture *at = &captures[i];
        if (at->stream == stream && at->context == context &&
            (stream != CU_STREAM_PER_THREAD || at->thread_id == thread))
            return at;
    }
    return NULL;
}

static bool take_out(CUcontext context, CUstream stream, struct capture *out) {
    pthread_mutex_lock(&lock);
    struct capture *found = find(context, stream);
    if (found) {
        *out = *found;
        *found = captures[--capture_count];
    }
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

static bool look_up(CUcontext context, CUstream stream, struct capture *out) {
    pthread_mutex_lock(&lock);
    struct capture *found = find(context, stream);
    if (found)
        *out = *found;
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

/* Mark a capture as broken; false when it was already. */
static bool mark_broken(uint32_t sequence) {
    bool first = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < capture_count; i++)
        if (captures[i].sequence == sequence) {
            first = !captures[i].broken;
            captures[i].broken = true;
        }
    pthread_mutex_unlock(&lock);
    return first;
}

static int status_of(const struct capture *capture) {
    if (capture->stream == CU_STREAM_PER_THREAD && capture->thread_id != this_thread()->thread_id)
        return -1;
    int status = 0;
    return cuda.StreamIsCapturing(capture->stream, &status) == 0 ? status : -1;
}

/* -- errors -------------------------------------------------------------------------------------- */

struct failure { /* a call that failed, as far as it is known */
    uint32_t call;
    int32_t result;
    uint32_t flags, stream_id;
};

/* The return of a call is not seen when watching ended meanwhile. */
static uint32_t current_runtime_call(void) {
    return runtime_call_generation == atomic_load(&watch_generation) ? runtime_call : 0;
}

static void name_runtime_call(uint32_t id) {
    if (id >= CALL_ID_LIMIT || !is_first_use(&runtime_named[id]))
        return;
    const char *name = NULL;
    if (cupti.cuptiGetCallbackName(DOMAIN_RUNTIME_API, id, &name) != 0 || !name)
        return;
    struct runtime_call_name_record record = {id};
    struct slice slices[] = {{&record, sizeof record}, {name, strlen(name)}};
    spool_append(RECORD_RUNTIME_CALL_NAME, slices, 2);
}

static void write_error(const struct capture *capture, const struct failure *failure) {
    struct thread_state *thread = this_thread();
    struct capture_error_record record = {
        .sequence = capture->sequence, .graph_id = capture->graph_id,
        .thread_id = capture->thread_id, .stream_id = capture->stream_id, .mode = capture->mode,
        .flags = failure->flags, .start_ns = capture->start_ns, .time_ns = now_ns(),
        .call = failure->call, .runtime_call = current_runtime_call(), .result = failure->result,
        .error_thread = thread->thread_id, .error_stream = failure->stream_id,
        .stack = python_stack(), .nvtx_path = thread->nvtx_path};
    if (failure->call)
        call_name(failure->call);
    if (record.runtime_call)
        name_runtime_call(record.runtime_call);
    spool_append_one(RECORD_CAPTURE_ERROR, &record, sizeof record);
    error_reported = true;
}

/* Write the failure for each capture that it broke: those that the driver calls invalid now and
 * that were not before. */
static void blame(const struct failure *failure) {
    struct capture now[MAX_CAPTURES];
    pthread_mutex_lock(&lock);
    int count = capture_count;
    memcpy(now, captures, (size_t)count * sizeof *now);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < count; i++)
        if (!now[i].broken && status_of(&now[i]) == CAPTURE_INVALIDATED &&
            mark_broken(now[i].sequence))
            write_error(&now[i], failure);
}

static bool is_capture_error(int result) {
    return result >= FIRST_CAPTURE_ERROR && result <= LAST_CAPTURE_ERROR;
}

/* Where calls that are not watched otherwise hold their stream (generated_cuda_meta.h). */
static const struct {
    const char *name;
    int8_t offset;
} other_streams[] = {
    {"cuStreamSynchronize", 0}, {"cuStreamQuery", 0},          {"cuStreamWaitEvent", 0},
    {"cuEventRecord", 8},       {"cuEventRecordWithFlags", 8}, {"cuMemAllocAsync", 16},
    {"cuMemFreeAsync", 8},      {"cuStreamIsCapturing", 0},    {"cuStreamAddCallback", 0},
};

static bool stream_of(uint32_t cbid, const CUpti_CallbackData *data, CUstream *stream) {
    bool has_stream;
    *stream = call_stream(cbid, data->params, &has_stream);
    if (has_stream || !data->function_name || !data->params)
        return has_stream;
    size_t length = strlen(data->function_name);
    bool per_thread = length > 5 && strcmp(data->function_name + length - 5, "_ptsz") == 0;
    for (size_t i = 0; i < sizeof other_streams / sizeof *other_streams; i++) {
        const char *name = other_streams[i].name;
        if (strncmp(data->function_name, name, strlen(name)) != 0 ||
            strlen(name) != length - (per_thread ? 5 : 0))
            continue;
        memcpy(stream, (const char *)data->params + other_streams[i].offset, sizeof *stream);
        if (!*stream && per_thread)
            *stream = CU_STREAM_PER_THREAD;
        return true;
    }
    return false;
}

/* A driver call has returned while a capture is in progress. */
void capture_call_done(uint32_t cbid, const CUpti_CallbackData *data) {
    int result = data->return_value ? *(const int *)data->return_value : 0;
    uint8_t kind = calls[cbid].kind;
    if (!is_capture_error(result) || kind == CALL_BEGIN_CAPTURE || kind == CALL_END_CAPTURE)
        return;
    struct failure failure = {.call = cbid, .result = result, .stream_id = UINT32_MAX};
    CUstream stream;
    if (stream_of(cbid, data, &stream)) {
        failure.stream_id = stream_id_of(data->context, stream, false);
        if ((uintptr_t)stream <= 1) /* NULL and CU_STREAM_LEGACY */
            failure.flags |= CAPTURE_LEGACY_STREAM;
    }
    blame(&failure);
}

/* The runtime call names what the user wrote. One that fails without a failing driver call is
 * taken as the failure itself, unless it only repeats the last error. */
void capture_runtime_call(uint32_t cbid, const CUpti_CallbackData *data) {
    if (data->site == 0) {
        runtime_call = cbid;
        runtime_call_generation = atomic_load(&watch_generation);
        error_reported = false;
        return;
    }
    int result = data->return_value ? *(const int *)data->return_value : 0;
    bool repeats = data->function_name && strstr(data->function_name, "LastError");
    if (runtime_call == cbid && !repeats && captures_known() && !error_reported &&
        is_capture_error(result)) {
        struct failure failure = {.result = result, .stream_id = UINT32_MAX};
        blame(&failure);
    }
    runtime_call = 0;
}

/* -- begin and end ----------------------------------------------------------------------------- */

void capture_begin_enter(void) {
    begin_watching();
    capturing_bars_events();
}

static void write_failed(const struct capture *capture, const struct capture_call *end,
                         uint32_t flags) {
    struct capture_failed_record record = {
        .sequence = capture->sequence, .graph_id = capture->graph_id,
        .thread_id = capture->thread_id, .stream_id = capture->stream_id, .mode = capture->mode,
        .flags = flags, .start_ns = capture->start_ns, .end_ns = end->end_ns,
        .result = end->result, .end_thread = this_thread()->thread_id};
    spool_append_one(RECORD_CAPTURE_FAILED, &record, sizeof record);
}

void capture_begin_exit(const struct capture_call *begin) {
    struct capture capture = {
        .thread_id = this_thread()->thread_id, .stream_id = begin->stream_id, .mode = begin->mode,
        .start_ns = begin->start_ns, .context = begin->context, .stream = begin->stream};
    pthread_mutex_lock(&lock);
    capture.sequence = ++last_sequence;
    pthread_mutex_unlock(&lock);
    if (begin->result != 0) {
        end_watching();
        bool legacy = (uintptr_t)begin->stream <= 1;
        struct failure failure = {begin->call, begin->result, legacy ? CAPTURE_LEGACY_STREAM : 0,
                                  begin->stream_id};
        write_error(&capture, &failure);
        write_failed(&capture, begin, 0);
        return;
    }
    int status = 0;
    if (!cuda.StreamGetCaptureInfo || cuda.StreamGetCaptureInfo(begin->stream, &status, NULL,
                                                                &capture.graph, NULL, NULL, NULL) != 0)
        capture.graph = NULL;
    if (capture.graph)
        cupti.cuptiGetGraphId(capture.graph, &capture.graph_id);
    pthread_mutex_lock(&lock);
    if (capture_count < MAX_CAPTURES)
        captures[capture_count++] = capture;
    else
        untracked++;
    pthread_mutex_unlock(&lock);
}

/* A broken capture's graph lives until the capture is ended: read it while it is there. */
void capture_end_enter(CUcontext context, CUstream stream) {
    struct capture capture;
    graph_read = false;
    if (look_up(context, stream, &capture) && capture.broken && capture.graph) {
        walk_graph(capture.graph, WALK_FAILED);
        graph_read = true;
    }
}

void capture_end_exit(const struct capture_call *end) {
    struct capture capture;
    struct failure failure = {.call = end->call, .result = end->result,
                              .stream_id = end->stream_id};
    if (is_capture_error(end->result)) /* ended on another stream than it began on */
        blame(&failure);
    if (!look_up(end->context, end->stream, &capture)) {
        /* Begun when the table was full, before gviz attached, or no capture at all. */
        pthread_mutex_lock(&lock);
        bool counted = untracked > 0 && end->result != NOT_CAPTURING;
        untracked -= counted;
        pthread_mutex_unlock(&lock);
        if (counted)
            end_watching();
        return;
    }
    if (end->result == WRONG_THREAD && status_of(&capture) > 0) {
        failure.flags = CAPTURE_KEPT_GOING;
        write_error(&capture, &failure);
        return;
    }
    if (!take_out(end->context, end->stream, &capture))
        return;
    end_watching();
    if (end->result == 0)
        return;
    if (!capture.broken)
        write_error(&capture, &failure);
    write_failed(&capture, end, graph_read ? FAILED_GRAPH_READ : 0);
}

/* -- what must not be used any more --------------------------------------------------------------- */

void capture_graph_destroyed(CUgraph graph) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < capture_count; i++)
        if (captures[i].graph == graph)
            captures[i].graph = NULL;
    pthread_mutex_unlock(&lock);
}

void capture_stream_destroyed(CUcontext context, CUstream stream) {
    struct capture capture;
    if (!captures_known() || !take_out(context, stream, &capture))
        return;
    end_watching();
    struct failure failure = {.flags = CAPTURE_STREAM_DESTROYED, .stream_id = capture.stream_id};
    if (!capture.broken)
        write_error(&capture, &failure);
}
