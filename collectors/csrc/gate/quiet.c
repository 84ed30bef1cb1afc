/* Quiet: no work of any stream in flight, no capture open. Streams and contexts are known from the
 * calls that make and end them; what is in them is asked when the gate is wanted or closed.
 *
 * Whoever asks holds the lock meanwhile, and a call that ends a stream or context or begins a capture
 * takes it first: no stream is asked that is gone, or that would lose its capture for being asked.
 */
#define _GNU_SOURCE
#include "gate/parts.h"

#include <pthread.h>
#include <stdio.h>

#define CONTEXTS 64
#define STREAMS 4096
#define EVENTS 256
#define NOT_FOUND 500
#define NOT_READY 600
#define LEGACY_STREAM 1
#define DISABLE_TIMING 2

typedef uintptr_t word;

const char quiet_in_flight[] = "work in flight";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context {
    word handle; /* 0: free */
    word event;  /* in the legacy stream, which every blocking one waits for; 0: not made */
    bool recorded;
    bool primary;
    int device, retained;
} contexts[CONTEXTS];
static struct stream {
    word handle, context;
    bool capturing; /* a capture began in it */
} streams[STREAMS];
static struct {
    word event, context;
} leftovers[EVENTS]; /* the work of streams that were destroyed before its end */
static size_t context_count, stream_count, leftover_count;
static int captures;
static bool lost; /* more than there is room for, or what cannot be followed: never quiet again */

/* A function of the driver itself, with arguments that fit into registers of integers. */
static int ask(const char *name, word a, word b, word c) {
    const struct entry *entry = entry_named(name);
    int (*real)(word, word, word) = entry ? (int (*)(word, word, word))atomic_load(&entry->real) : NULL;
    return real ? real(a, b, c) : NOT_FOUND;
}

/* -- contexts -------------------------------------------------------------------------------------- */

static struct context *context_of(word handle) {
    for (size_t i = 0; i < context_count; i++)
        if (contexts[i].handle == handle)
            return &contexts[i];
    return NULL;
}

static struct context *context_add(word handle) {
    struct context *found = context_of(handle);
    if (!found && !(found = context_of(0))) {
        lost = lost || context_count == CONTEXTS;
        found = lost ? NULL : &contexts[context_count++];
    }
    if (found && !found->handle)
        *found = (struct context){.handle = handle};
    return found;
}

static void capture_gone(struct stream *stream) {
    captures -= stream->capturing;
    stream->capturing = false;
}

static void context_remove(struct context *context) {
    for (size_t i = 0; i < stream_count; i++)
        if (streams[i].context == context->handle) {
            capture_gone(&streams[i]);
            streams[i--] = streams[--stream_count];
        }
    for (size_t i = 0; i < leftover_count; i++)
        if (leftovers[i].context == context->handle)
            leftovers[i--] = leftovers[--leftover_count];
    context->handle = 0;
}

void quiet_context_created(struct call *call) {
    pthread_mutex_lock(&lock);
    if ((int)call->result == 0 && call->words[0])
        context_add(*(const word *)call->words[0]);
    pthread_mutex_unlock(&lock);
}

void quiet_context_ends(struct call *call) {
    pthread_mutex_lock(&lock);
    struct context *context = call->words[0] ? context_of(call->words[0]) : NULL;
    if (context)
        context_remove(context);
    pthread_mutex_unlock(&lock);
}

void quiet_primary_retained(struct call *call) {
    pthread_mutex_lock(&lock);
    struct context *context = NULL;
    if ((int)call->result == 0 && call->words[0])
        context = context_add(*(const word *)call->words[0]);
    if (context) {
        context->primary = true;
        context->device = (int)call->words[1];
        context->retained++;
    }
    pthread_mutex_unlock(&lock);
}

static struct context *primary_of(int device) {
    for (size_t i = 0; i < context_count; i++)
        if (contexts[i].handle && contexts[i].primary && contexts[i].device == device)
            return &contexts[i];
    return NULL;
}

void quiet_primary_released(struct call *call) {
    pthread_mutex_lock(&lock);
    struct context *context = primary_of((int)call->words[0]);
    if (context && --context->retained <= 0)
        context_remove(context);
    pthread_mutex_unlock(&lock);
}

/* One of CUDA's libraries has retained it too, past the stubs. */
void quiet_primary_stays(struct call *call) {
    unsigned flags = 0;
    int active = 0;
    pthread_mutex_lock(&lock);
    if (!primary_of((int)call->words[0]) &&
        ask("cuDevicePrimaryCtxGetState", call->words[0], (word)&flags, (word)&active) == 0 && active)
        lost = true;
    pthread_mutex_unlock(&lock);
}

void quiet_primary_reset(struct call *call) {
    pthread_mutex_lock(&lock);
    struct context *context = primary_of((int)call->words[0]);
    if (context)
        context_remove(context);
    pthread_mutex_unlock(&lock);
}

/* -- streams ---------------------------------------------------------------------------------------- */

static struct stream *stream_of(word handle) {
    for (size_t i = 0; i < stream_count; i++)
        if (streams[i].handle == handle)
            return &streams[i];
    return NULL;
}

void quiet_stream_created(struct call *call) {
    word context = 0;
    if ((int)call->result != 0 || !call->words[0])
        return;
    word handle = *(const word *)call->words[0];
    pthread_mutex_lock(&lock);
    if (stream_count == STREAMS || ask("cuStreamGetCtx", handle, (word)&context, 0) != 0 ||
        !context_add(context))
        lost = true;
    else
        streams[stream_count++] = (struct stream){handle, context, false};
    pthread_mutex_unlock(&lock);
}

int quiet_exchange_mode(int mode) {
    ask("cuThreadExchangeStreamCaptureMode", (word)&mode, 0, 0);
    return mode;
}

/* Put an event at the end of what a stream still has to do. Another stream may be capturing. */
static void leave_over(const struct stream *stream) {
    word event = 0, popped;
    int status = 0;
    if (ask("cuStreamIsCapturing", stream->handle, (word)&status, 0) != 0 || status != 0 ||
        ask("cuCtxPushCurrent_v2", stream->context, 0, 0) != 0)
        return;
    int mode = quiet_exchange_mode(RELAXED_CAPTURE);
    if (ask("cuStreamQuery", stream->handle, 0, 0) == NOT_READY) {
        if (leftover_count < EVENTS && ask("cuEventCreate", (word)&event, DISABLE_TIMING, 0) == 0 &&
            ask("cuEventRecord", event, stream->handle, 0) == 0) {
            leftovers[leftover_count].event = event;
            leftovers[leftover_count++].context = stream->context;
        } else {
            lost = true;
        }
    }
    quiet_exchange_mode(mode);
    ask("cuCtxPopCurrent_v2", (word)&popped, 0, 0);
}

void quiet_stream_ends(struct call *call) {
    pthread_mutex_lock(&lock);
    struct stream *stream = stream_of(call->words[0]);
    if (stream) {
        capture_gone(stream);
        leave_over(stream);
        *stream = streams[--stream_count];
    }
    pthread_mutex_unlock(&lock);
}

/* -- captures --------------------------------------------------------------------------------------- */

void quiet_capture_begins(struct call *call) {
    (void)call;
    pthread_mutex_lock(&lock);
    captures++;
    pthread_mutex_unlock(&lock);
}

void quiet_capture_begun(struct call *call) {
    pthread_mutex_lock(&lock);
    struct stream *stream = stream_of(call->words[0]);
    if ((int)call->result != 0)
        captures--;
    else if (stream)
        stream->capturing = true;
    pthread_mutex_unlock(&lock);
}

/* Whether a capture is open as before: the value, context, handle or state was wrong, or the stream
 * was not the one that it began in. A wrong thread ends it (driver 580). */
static bool is_refused(int result) {
    return result == 1 || result == 201 || result == 400 || result == 401 || result == 902;
}

void quiet_capture_ended(struct call *call) {
    pthread_mutex_lock(&lock);
    struct stream *stream = stream_of(call->words[0]);
    if (!is_refused((int)call->result)) {
        captures -= stream ? stream->capturing : captures > 0;
        if (stream)
            stream->capturing = false;
    }
    pthread_mutex_unlock(&lock);
}

/* -- what is in them --------------------------------------------------------------------------------- */

/* With the lock: an answer that is neither yes nor no, when it was last looked. */
static char refusal[64];

static bool answered(const char *call, int answer) {
    if (answer != 0 && answer != NOT_READY)
        snprintf(refusal, sizeof refusal, "%s, which the driver answers with %d", call, answer);
    return answer == 0;
}

static bool is_over(const char *query, word handle) { return answered(query, ask(query, handle, 0, 0)); }

/* Needs the context to be current. */
static bool streams_are_over(const struct context *context) {
    for (size_t i = 0; i < stream_count; i++)
        if (streams[i].context == context->handle && !is_over("cuStreamQuery", streams[i].handle))
            return false;
    for (size_t i = 0; i < leftover_count; i++) {
        if (leftovers[i].context != context->handle)
            continue;
        if (!is_over("cuEventQuery", leftovers[i].event))
            return false;
        ask("cuEventDestroy_v2", leftovers[i].event, 0, 0);
        leftovers[i--] = leftovers[--leftover_count];
    }
    return is_over("cuStreamQuery", LEGACY_STREAM);
}

/* Other threads' per-thread streams cannot be named: the legacy stream waits for all of them. */
static bool blocking_streams_are_over(struct context *context) {
    if (!context->event && !answered("cuEventCreate", ask("cuEventCreate", (word)&context->event, DISABLE_TIMING, 0)))
        return false;
    if (!context->recorded && !answered("cuEventRecord", ask("cuEventRecord", context->event, LEGACY_STREAM, 0)))
        return false;
    context->recorded = true;
    return is_over("cuEventQuery", context->event);
}

static bool is_idle(struct context *context, bool surely) {
    word popped;
    if (!answered("cuCtxPushCurrent", ask("cuCtxPushCurrent_v2", context->handle, 0, 0)))
        return false;
    bool idle = streams_are_over(context) && (!surely || blocking_streams_are_over(context));
    ask("cuCtxPopCurrent_v2", (word)&popped, 0, 0);
    return idle;
}

const char *quiet_obstacle(bool surely) {
    const char *obstacle = NULL;
    pthread_mutex_lock(&lock);
    refusal[0] = 0;
    if (lost)
        obstacle = "streams that are not followed";
    else if (captures > 0)
        obstacle = "an open capture";
    for (size_t i = 0; i < context_count && !obstacle; i++)
        if (contexts[i].handle && !is_idle(&contexts[i], surely))
            obstacle = refusal[0] ? refusal : quiet_in_flight;
    pthread_mutex_unlock(&lock);
    return obstacle;
}

/* The calling thread's current context; true also where asking would break a capture. */
bool quiet_current_is_over(void) {
    word current = 0;
    bool over = true;
    pthread_mutex_lock(&lock);
    if (captures == 0 && ask("cuCtxGetCurrent", (word)&current, 0, 0) == 0 && current) {
        const struct context *context = context_of(current);
        over = !context || streams_are_over(context);
    }
    pthread_mutex_unlock(&lock);
    return over;
}

void quiet_begin(void) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < context_count; i++)
        contexts[i].recorded = false;
    pthread_mutex_unlock(&lock);
}

/* In a forked child, which has none of its parent's contexts. */
void quiet_forked(void) {
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    context_count = stream_count = leftover_count = 0;
    captures = 0;
    lost = false;
}
