/* The lock, the set of living objects, the clock, and the way to the tool. */
#include "fake.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static const struct tool *tool;
static __thread uint32_t correlation_id;

static void make_lock(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
}

void fake_lock(void) {
    pthread_once(&lock_once, make_lock);
    pthread_mutex_lock(&lock);
}

void fake_unlock(void) { pthread_mutex_unlock(&lock); }

uint64_t fake_now_ns(void) {
    struct timespec now;
    uint64_t planned;
    if (plan_clock(&planned))
        return planned;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

long fake_setting(const char *name) {
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

static uint32_t departures;

void fake_set_tool(const struct tool *new_tool) {
    if (!new_tool)
        __atomic_add_fetch(&departures, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&tool, new_tool, __ATOMIC_SEQ_CST);
}

uint32_t tool_departures(void) { return __atomic_load_n(&departures, __ATOMIC_SEQ_CST); }

static const struct tool *current_tool(void) { return __atomic_load_n(&tool, __ATOMIC_SEQ_CST); }

/* -- living objects: an open-addressing table, never shrunk ---------------------------------- */

struct slot {
    const void *object;
    enum object_kind kind;
};

static const char tombstone;
static struct slot *slots;
static size_t slot_count, used_count;

static size_t slot_of(const void *object) {
    return (size_t)(((uintptr_t)object >> 4) * 0x9E3779B97F4A7C15ull) & (slot_count - 1);
}

static struct slot *find(const void *object) {
    if (slot_count == 0)
        return NULL;
    for (size_t i = slot_of(object);; i = (i + 1) & (slot_count - 1)) {
        if (slots[i].object == object)
            return &slots[i];
        if (slots[i].object == NULL)
            return NULL;
    }
}

static void put(const void *object, enum object_kind kind) {
    size_t i = slot_of(object);
    while (slots[i].object != NULL)
        i = (i + 1) & (slot_count - 1);
    slots[i] = (struct slot){object, kind};
    used_count++;
}

void add_object(const void *object, enum object_kind kind) {
    fake_lock();
    if (2 * (used_count + 1) > slot_count) {
        struct slot *old = slots;
        size_t old_count = slot_count;
        slot_count = slot_count ? 2 * slot_count : 1024;
        slots = fake_allocate(slot_count, sizeof *slots);
        used_count = 0;
        for (size_t i = 0; i < old_count; i++)
            if (old[i].object && old[i].object != &tombstone)
                put(old[i].object, old[i].kind);
        free(old);
    }
    put(object, kind);
    fake_unlock();
}

void remove_object(const void *object) {
    fake_lock();
    struct slot *slot = find(object);
    if (slot)
        slot->object = &tombstone;
    fake_unlock();
}

bool fake_is(const void *object, enum object_kind kind) {
    if (object == NULL)
        return false;
    fake_lock();
    struct slot *slot = find(object);
    bool found = slot && slot->kind == kind;
    fake_unlock();
    return found;
}

/* For tests: how many of a kind there are. */
EXPORT int fake_objects(int kind) {
    int found = 0;
    fake_lock();
    for (size_t i = 0; i < slot_count; i++)
        found += slots[i].object && slots[i].object != &tombstone && slots[i].kind == (enum object_kind)kind;
    fake_unlock();
    return found;
}

/* -- the end: by a handler that was left when the driver was loaded, and by a destructor, as libcuda's -- */

static int ended;

static void end(void) { __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST); }

/* FAKE_CALLS: a file that gets the name of each call, a line each. */
static int calls_file = -1;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAKE_CALLS");
    calls_file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    atexit(end);
}

__attribute__((destructor)) static void end_library(void) { end(); }

/* -- calls and the tool ------------------------------------------------------------------------ */

static int calls_inside;

int fake_calls_inside(void) { return __atomic_load_n(&calls_inside, __ATOMIC_SEQ_CST); }

void call_enter(struct call *call, int cbid, const char *name, const void *params) {
    static uint32_t last;
    __atomic_add_fetch(&calls_inside, 1, __ATOMIC_SEQ_CST);
    if (calls_file >= 0)
        dprintf(calls_file, "%s\n", name);
    *call = (struct call){.cbid = cbid, .name = name, .params = params, .outer = correlation_id};
    call->correlation_id = __atomic_add_fetch(&last, 1, __ATOMIC_SEQ_CST);
    correlation_id = call->correlation_id;
    const struct tool *t = current_tool();
    if (t)
        t->api(0, cbid, name, params, NULL, &call->correlation_data, call->correlation_id);
    plan_call(cbid, t != NULL);
}

CUresult call_exit(struct call *call, CUresult result) {
    const struct tool *t = current_tool();
    result = with_fault(call->name, __atomic_load_n(&ended, __ATOMIC_SEQ_CST) ? CUDA_ERROR_DEINITIALIZED : result);
    if (t)
        t->api(1, call->cbid, call->name, call->params, &result, &call->correlation_data,
               call->correlation_id);
    correlation_id = call->outer;
    __atomic_sub_fetch(&calls_inside, 1, __ATOMIC_SEQ_CST);
    return result;
}

void fake_runtime_call(int cbid, const char *name, const void *params, int *result) {
    const struct tool *t = current_tool();
    if (t)
        t->runtime(result != NULL, cbid, name, params, result);
}

uint32_t current_correlation_id(void) { return correlation_id; }

void notify(int cbid, struct stream *stream, void *descriptor) {
    const struct tool *t = current_tool();
    if (t)
        t->resource(cbid, stream, descriptor);
}

void notify_graph(int cbid, const struct graph_data *data) {
    struct graph_data copy = *data;
    notify(cbid, NULL, &copy);
}

void report_activity(const struct activity *activity) {
    const struct tool *t = current_tool();
    if (t)
        t->activity(activity);
}

/* -- small things -------------------------------------------------------------------------------- */

void *fake_allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        abort();
    return memory;
}

void *fake_append(void *array, size_t count, size_t size, const void *item) {
    /* Room doubles whenever the count is a power of two, so none needs to be stored. */
    if ((count & (count - 1)) == 0) {
        array = realloc(array, (count ? 2 * count : 1) * size);
        if (!array)
            abort();
    }
    memcpy((char *)array + count * size, item, size);
    return array;
}

uint32_t next_graph_id(void) {
    static uint32_t last; /* graphs and executables share one counter */
    return ++last;
}

uint32_t next_stream_id(void) {
    static uint32_t last = 12;
    return ++last;
}
