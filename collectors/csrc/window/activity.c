/* CUPTI's activity records: buffers in, raw buffers out to the spool.
 *
 * The two buffer callbacks run on CUPTI's own thread: C only, no lock of the program's.
 */
#include "spool/spool.h"
#include "window/parts.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (128u << 10)
/* The smallest record, that of a host node, is 56 bytes long. */
#define MAX_RECORDS (BUFFER_BYTES / 56 + 1)
/* offsetof(CUpti_ActivityKernel*, name), the same in CUPTI 12 and 13. */
#define KERNEL_NAME_OFFSET 104

/* The last one only where CUPTI has it. */
static const int kinds[] = {ACTIVITY_CONCURRENT_KERNEL, ACTIVITY_MEMCPY, ACTIVITY_MEMCPY2,
                            ACTIVITY_MEMSET, ACTIVITY_GRAPH_HOST_NODE};
#define VERSION_OF_HOST_NODES 130100 /* CUPTI_API_VERSION of CUDA 13.1 */
static atomic_int kind_count GVIZ_HOT;

static _Atomic bool is_open GVIZ_HOT;
GVIZ_LOCK(name_lock);
static const char **names; /* open addressing, power of two */
static size_t name_count, name_room;
static _Atomic uint64_t record_count, dropped_count, buffer_count;

/* A flush that takes longer does not return. */
#define STUCK_NS 5000000000ull
static _Atomic bool given_up; /* a function of CUPTI's has not returned, and is awaited no more */
static _Atomic int flushing;  /* threads that flush */
static _Atomic uint64_t flushing_since_ns; /* when the first of them began */

/* -- kernel names: pointers that belong to CUPTI, each written out once ------------------ */

static size_t name_slot(const char **table, size_t room, const char *name) {
    size_t at = handle_place(name, room);
    while (table[at] && table[at] != name)
        at = (at + 1) & (room - 1);
    return at;
}

static void name_grow(void) {
    size_t room = name_room ? name_room * 2 : 1024;
    const char **table = calloc(room, sizeof *table);
    if (!table)
        return;
    for (size_t i = 0; i < name_room; i++)
        if (names[i])
            table[name_slot(table, room, names[i])] = names[i];
    free(names);
    names = table;
    name_room = room;
}

static void name_intern(const char *name) {
    pthread_mutex_lock(&name_lock);
    if (name_count * 2 >= name_room)
        name_grow();
    bool known = true;
    if (name_room) {
        size_t at = name_slot(names, name_room, name);
        known = names[at] != NULL;
        if (!known) {
            names[at] = name;
            name_count++;
        }
    }
    pthread_mutex_unlock(&name_lock);
    if (known)
        return;
    struct string_record record = {(uint64_t)(uintptr_t)name};
    struct slice slices[] = {{&record, sizeof record}, {name, strlen(name)}};
    spool_append(RECORD_STRING, slices, 2);
}

static void names_forget(void) {
    pthread_mutex_lock(&name_lock);
    free(names);
    names = NULL;
    name_count = name_room = 0;
    pthread_mutex_unlock(&name_lock);
}

/* -- buffers --------------------------------------------------------------------------- */

static void buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records) {
    *max_records = 0;
    *size = BUFFER_BYTES;
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    if (!*buffer)
        *size = 0; /* CUPTI counts the records as dropped */
}

static void buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                             size_t valid) {
    (void)size;
    if (valid && atomic_load(&run_state) == STATE_RECORDING) {
        uint32_t offsets[MAX_RECORDS + 1];
        uint32_t count = 0;
        uint8_t *record = NULL;
        while (count < MAX_RECORDS &&
               cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == 0) {
            offsets[count++] = (uint32_t)(record - buffer);
            if (*(uint32_t *)record == ACTIVITY_CONCURRENT_KERNEL) {
                const char *name;
                memcpy(&name, record + KERNEL_NAME_OFFSET, sizeof name);
                if (name)
                    name_intern(name);
            }
        }
        struct buffer_record header = {count, (uint32_t)valid};
        uint32_t padded = count + (count & 1); /* the raw bytes start at a multiple of 8 */
        if (count & 1)
            offsets[count] = 0;
        struct slice slices[] = {
            {&header, sizeof header}, {offsets, padded * sizeof *offsets}, {buffer, valid}};
        spool_append(RECORD_BUFFER, slices, 3);
        atomic_fetch_add(&record_count, count);
        atomic_fetch_add(&buffer_count, 1);
        size_t dropped = 0;
        if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == 0)
            atomic_fetch_add(&dropped_count, dropped);
    }
    free(buffer);
}

/* -- windows ------------------------------------------------------------------------------ */

GVIZ_HOT_CODE bool activity_is_open(void) { return atomic_load_explicit(&is_open, memory_order_relaxed); }

GVIZ_HOT_CODE bool activity_can_open(void) {
    return atomic_load_explicit(&kind_count, memory_order_relaxed) > 0;
}

/* On any thread, beside launches: those that begin by now may have been wanted still. */
void activity_end(void) { atomic_store_explicit(&kind_count, 0, memory_order_relaxed); }

int activity_open(enum window_reason reason) {
    int count = atomic_load(&kind_count);
    for (int i = 0; i < count; i++) {
        CUptiResult result = cupti.cuptiActivityEnable(kinds[i]);
        if (result != 0) {
            while (i-- > 0)
                cupti.cuptiActivityDisable(kinds[i]);
            return cupti_failed("cuptiActivityEnable", result);
        }
    }
    atomic_store(&is_open, true);
    struct window_record record = {now_ns(), 1, reason};
    spool_append_one(RECORD_WINDOW, &record, sizeof record);
    return 0;
}

void activity_close(void) {
    int count = atomic_load(&kind_count);
    for (int i = 0; i < count; i++)
        cupti.cuptiActivityDisable(kinds[i]);
    atomic_store(&is_open, false);
    struct window_record record = {now_ns(), 0, 0};
    spool_append_one(RECORD_WINDOW, &record, sizeof record);
}

int activity_start(bool again) {
    atomic_store(&is_open, false);
    uint32_t version = 0;
    cupti.cuptiGetVersion(&version);
    if (version && activity_given_up())
        return error_keep("a function of CUPTI has not returned in this process; start it anew");
    int all = (int)(sizeof kinds / sizeof *kinds) - (version < VERSION_OF_HOST_NODES);
    atomic_store(&kind_count, version ? all : 0);
    if (!again) {
        atomic_store(&record_count, 0);
        atomic_store(&dropped_count, 0);
        atomic_store(&buffer_count, 0);
        atomic_store(&flushing, 0); /* those of the process that forked this one */
    }
    CUptiResult result = cupti.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
    return result == 0 ? 0 : cupti_failed("cuptiActivityRegisterCallbacks", result);
}

/* -- functions that do not return ----------------------------------------------------------- */

void activity_give_up(void) { atomic_store(&given_up, true); }

bool activity_given_up(void) {
    if (atomic_load(&flushing) && now_ns() - atomic_load(&flushing_since_ns) > STUCK_NS)
        activity_give_up();
    return atomic_load(&given_up);
}

void activity_flush(void) {
    if (activity_given_up())
        return;
    if (atomic_fetch_add(&flushing, 1) == 0)
        atomic_store(&flushing_since_ns, now_ns());
    cupti.cuptiActivityFlushAll(0);
    atomic_fetch_sub(&flushing, 1);
}

void activity_counters(void) {
    if (!activity_can_open() && !atomic_load(&record_count))
        return;
    counter("activity_records", (double)atomic_load(&record_count), "records",
            "measured: records in completed buffers");
    counter("activity_records_dropped", (double)atomic_load(&dropped_count), "records",
            "measured: cuptiActivityGetNumDroppedRecords");
    counter("activity_buffers", (double)atomic_load(&buffer_count), "number",
            "measured: completed buffers");
}

void activity_stop(void) {
    if (activity_is_open())
        activity_close();
    activity_flush();
    names_forget();
}

void activity_give_back(void) { cupti.cuptiActivityFlushAll(1 /* FLUSH_FORCED */); }
