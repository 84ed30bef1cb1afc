/* Numbers of streams.
 *
 * cuStreamGetId breaks the capture of the stream that it is asked about, and of the legacy stream those
 * of all blocking ones, in every mode (measured on an H100, driver 580). So a stream is asked about
 * when it is made or first met, and never while it may be captured.
 */
#include "state/state.h"
#include "told/parts.h"

#include <stdlib.h>

#define INVALID 1 /* CUPTI_ERROR_INVALID_PARAMETER */
#define LEGACY 1u /* CU_STREAM_LEGACY */

struct entry {
    const void *key; /* the stream; the context of a legacy stream */
    uint32_t id;     /* 0: not known */
};

GVIZ_LOCK(lock);
static struct entry *entries; /* open addressing, a power of two */
static size_t count, room;
static __thread struct entry own; /* the per-thread stream of a context */

void streams_reset(void) {
    pthread_mutex_lock(&lock);
    free(entries);
    entries = NULL;
    count = room = 0;
    pthread_mutex_unlock(&lock);
}

/* -- with the lock held ------------------------------------------------------------------------ */

static struct entry *slot_of(struct entry *table, size_t size, const void *key) {
    size_t at = handle_place(key, size);
    while (table[at].key && table[at].key != key)
        at = (at + 1) & (size - 1);
    return &table[at];
}

static void store(const void *key, uint32_t id) {
    if ((count + 1) * 2 > room) {
        size_t size = room ? room * 2 : 64;
        struct entry *table = calloc(size, sizeof *table);
        if (!table)
            return;
        for (size_t i = 0; i < room; i++)
            if (entries[i].key)
                *slot_of(table, size, entries[i].key) = entries[i];
        free(entries);
        entries = table;
        room = size;
    }
    struct entry *entry = slot_of(entries, room, key);
    count += !entry->key;
    *entry = (struct entry){key, id};
}

/* -- */

static void keep(const void *key, uint32_t id) {
    pthread_mutex_lock(&lock);
    store(key, id);
    pthread_mutex_unlock(&lock);
}

static uint32_t known(const void *key) {
    pthread_mutex_lock(&lock);
    uint32_t id = room ? slot_of(entries, room, key)->id : 0;
    pthread_mutex_unlock(&lock);
    return id;
}

/* Of a stream that is not being captured; 0: it has no number. */
static uint32_t request(CUstream stream) {
    unsigned long long found = 0;
    return cuda.StreamGetId && cuda.StreamGetId(stream, &found) == 0 ? (uint32_t)found : 0;
}

static uint32_t request_safely(CUstream stream) {
    int status = 0;
    bool free = cuda.StreamIsCapturing && cuda.StreamIsCapturing(stream, &status) == 0 && status == 0;
    return free ? request(stream) : 0;
}

void stream_made(CUstream stream) {
    if (stream)
        keep(stream, request(stream));
}

void stream_ends(CUstream stream) {
    if (known(stream))
        keep(stream, 0);
}

CUptiResult stream_number(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id) {
    if (stream == CU_STREAM_PER_THREAD || (!stream && per_thread)) {
        if (own.key != context || !own.id)
            own = (struct entry){context, request_safely(CU_STREAM_PER_THREAD)};
        *id = own.id;
        return own.id ? 0 : INVALID;
    }
    const void *key = (uintptr_t)stream > LEGACY ? (const void *)stream : (const void *)context;
    uint32_t found = known(key);
    if (!found && (found = request_safely(stream)))
        keep(key, found);
    *id = found;
    return found ? 0 : INVALID;
}
