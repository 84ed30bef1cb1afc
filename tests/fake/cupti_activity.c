/* Activity records on their way: a queue filled by the driver, a worker thread that packs it into
 * the subscriber's buffers and hands these back when every record in them has ended. */
#include "cupti.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum {
    WORKER_PERIOD_NS = 5000000,
    RECORD_BYTES = 216, /* the largest */
    FLUSH_FORCED = 1,
};

struct queued {
    unsigned char record[RECORD_BYTES];
    size_t bytes;
    uint64_t end_ns;
};

struct buffer {
    uint8_t *bytes;
    size_t size, valid;
    uint64_t end_ns; /* when the last record in it ends */
    bool full;
    struct buffer *next;
};

typedef void (*request_function)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*complete_function)(CUcontext context, uint32_t stream_id, uint8_t *buffer, size_t size,
                                  size_t valid);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct queued *queue;
static size_t queue_count;
static struct buffer *buffers; /* oldest first; only the worker touches them */
static request_function requested;
static complete_function completed;
static bool enabled[KIND_COUNT];
static size_t dropped, seen;
static uint64_t flushes_asked, flushes_done;
static bool forced, worker_started;
static pthread_t worker;

/* -- the driver's side ---------------------------------------------------------------------------- */

/* FAKE_DROP_RECORDS, FAKE_INVALID_RECORDS and FAKE_BACKWARD_RECORDS: that many of the first records
 * are lost, carry no times, or end before they start. */
void take_activity(const struct activity *activity) {
    int kind = kind_of(activity);
    pthread_mutex_lock(&lock);
    if (enabled[kind]) {
        struct queued item = {.end_ns = activity->end_ns};
        item.bytes = write_record(item.record, activity);
        seen++;
        if (seen <= (size_t)fake_setting("FAKE_INVALID_RECORDS"))
            clear_times(item.record);
        else if (seen <= (size_t)fake_setting("FAKE_BACKWARD_RECORDS"))
            turn_times(item.record);
        if (seen <= (size_t)fake_setting("FAKE_DROP_RECORDS"))
            dropped++;
        else
            queue = fake_append(queue, queue_count++, sizeof item, &item);
    }
    pthread_mutex_unlock(&lock);
}

/* -- the worker ------------------------------------------------------------------------------------- */

static struct buffer *request_buffer(void) {
    struct buffer *buffer = fake_allocate(1, sizeof *buffer);
    size_t max_records = 0;
    requested(&buffer->bytes, &buffer->size, &max_records);
    if (!buffer->bytes || buffer->size < RECORD_BYTES) {
        free(buffer);
        return NULL;
    }
    struct buffer **at = &buffers;
    while (*at)
        at = &(*at)->next;
    *at = buffer;
    return buffer;
}

static struct buffer *open_buffer(size_t bytes) {
    for (struct buffer *buffer = buffers; buffer; buffer = buffer->next) {
        if (!buffer->full && buffer->size - buffer->valid >= bytes)
            return buffer;
        buffer->full = true;
    }
    return request_buffer();
}

/* Pack the queue; return how many records found no buffer. */
static size_t pack(const struct queued *items, size_t count) {
    size_t lost = 0;
    for (size_t i = 0; i < count; i++) {
        struct buffer *buffer = open_buffer(items[i].bytes);
        if (!buffer) {
            lost++;
            continue;
        }
        memcpy(buffer->bytes + buffer->valid, items[i].record, items[i].bytes);
        buffer->valid += items[i].bytes;
        if (items[i].end_ns > buffer->end_ns)
            buffer->end_ns = items[i].end_ns;
    }
    return lost;
}

/* Hand back the buffers that may go: full ones, all of them on a flush, none that still holds work
 * in flight unless the flush is forced. */
static void deliver(bool flush, bool force) {
    uint64_t now = fake_now_ns();
    for (struct buffer **at = &buffers; *at;) {
        struct buffer *buffer = *at;
        bool ended = buffer->end_ns <= now;
        if (buffer->valid == 0 || !((buffer->full && ended) || (flush && ended) || force)) {
            at = &buffer->next;
            continue;
        }
        *at = buffer->next;
        completed(NULL, 0, buffer->bytes, buffer->size, buffer->valid);
        free(buffer);
    }
}

static void wait_a_period(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WORKER_PERIOD_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&changed, &lock, &until);
}

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        if (flushes_asked == flushes_done)
            wait_a_period();
        uint64_t asked = flushes_asked;
        bool flush = asked != flushes_done, force = forced;
        struct queued *items = queue;
        size_t count = queue_count;
        queue = NULL;
        queue_count = 0;
        forced = false;
        pthread_mutex_unlock(&lock);
        size_t lost = pack(items, count);
        free(items);
        deliver(flush, force);
        pthread_mutex_lock(&lock);
        dropped += lost;
        flushes_done = asked;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

/* -- the subscriber's side ---------------------------------------------------------------------------- */

EXPORT CUptiResult cuptiActivityRegisterCallbacks(request_function on_request, complete_function on_complete) {
    if (!on_request || !on_complete)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    requested = on_request;
    completed = on_complete;
    if (!worker_started)
        worker_started = pthread_create(&worker, NULL, work, NULL) == 0;
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

static CUptiResult enable(int kind, bool on) {
    if (kind <= 0 || kind >= KIND_COUNT ||
        (kind == KIND_GRAPH_HOST_NODE && cupti_version() < VERSION_OF_HOST_NODES))
        return CUPTI_ERROR_INVALID_KIND;
    if (kind == KIND_GRAPH_TRACE) {
        fprintf(stderr, "fake CUPTI: GRAPH_TRACE crashes the process on driver r580 with CUPTI 13.0.85\n");
        abort();
    }
    attach();
    pthread_mutex_lock(&lock);
    enabled[kind] = on;
    fake_keeps_records(enabled[KIND_CONCURRENT_KERNEL]);
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

/* For tests: how many activity kinds are enabled. */
EXPORT int fake_enabled_kinds(void) {
    int count = 0;
    pthread_mutex_lock(&lock);
    for (int kind = 1; kind < KIND_COUNT; kind++)
        count += enabled[kind];
    pthread_mutex_unlock(&lock);
    return count;
}

EXPORT CUptiResult cuptiActivityEnable(int kind) { return enable(kind, true); }

EXPORT CUptiResult cuptiActivityDisable(int kind) { return enable(kind, false); }

/* FAKE_CUPTI_FLUSH_HANGS: it never returns. */
EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag) {
    hang("FAKE_CUPTI_FLUSH_HANGS");
    pthread_mutex_lock(&lock);
    if (!worker_started) {
        pthread_mutex_unlock(&lock);
        return CUPTI_ERROR_INVALID_OPERATION;
    }
    /* A buffer callback that flushes would wait for itself. */
    if (!pthread_equal(pthread_self(), worker)) {
        uint64_t ticket = ++flushes_asked;
        forced = forced || (flag & FLUSH_FORCED);
        pthread_cond_broadcast(&changed);
        while (flushes_done < ticket)
            pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record) {
    if (!buffer || !record)
        return CUPTI_ERROR_INVALID_PARAMETER;
    uint8_t *next = *record ? *record + record_bytes(*(uint32_t *)*record) : buffer;
    if (next >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    if (record_bytes(*(uint32_t *)next) == 0)
        return CUPTI_ERROR_INVALID_KIND;
    *record = next;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream_id, size_t *count) {
    (void)context, (void)stream_id;
    if (!count)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    *count = dropped;
    dropped = 0; /* each loss is told once */
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivitySetAttribute(int attribute, size_t *bytes, const void *value) {
    return attribute >= 0 && bytes && value ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
