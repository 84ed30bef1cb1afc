/* NVTX ranges: a stack a thread, written out as paths and as host-side intervals.
 *
 * Ranges arrive from NVTX itself (entry/nvtx_injection.c) or from Python's hooks through
 * gviz_nvtx_push and _pop.
 */
#include "life/parts.h"
#include "spool/spool.h"
#include "window/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPEN 256
#define MAX_TEXT 512
/* Kept while there is no spool yet: a process that never uses CUDA must not pile them up. */
#define MAX_WAITING_PATHS 10000

/* Texts that name a step or a request are new every time: their table must not grow for ever. */
#define MAX_PATHS 65536
/* A server opens ranges for days: those after the first are on the stack of ranges, and written no more. */
#define MAX_WRITTEN 100000

/* Texts that a thread finds again without the lock: XLA pushes one a kernel, at each step. */
#define KNOWN 32
#define KNOWN_TEXT 224

struct path {
    uint32_t parent;
    char *key; /* domain, newline, text */
};

struct known {
    uint32_t generation, parent, path;
    uint32_t length;
    const char *domain;
    char text[KNOWN_TEXT];
};

struct open_range {
    uint32_t path;
    uint64_t start_ns;
    const char *domain;
    bool wanted; /* a period lasts as long */
};

GVIZ_LOCK(lock);
static struct path *paths; /* index = path id - 1 */
static uint32_t path_count, path_room;
static uint32_t *slots, slot_room;
static _Atomic uint32_t generation = 1;
static bool full_reported;
static char wanted_name[MAX_TEXT]; /* "": none */
static _Atomic int wanted_open;     /* ranges of that name, on all threads */
static _Atomic uint64_t written, left_out; /* ranges */
static __thread struct known known[KNOWN];
static __thread struct open_range open_ranges[MAX_OPEN];
static __thread uint32_t thread_generation;

/* -- paths ------------------------------------------------------------------------------ */

static uint64_t hash(uint32_t parent, const char *key) {
    uint64_t h = 0xCBF29CE484222325ull ^ parent;
    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 0x100000001B3ull;
    return h;
}

static uint32_t slot_of(uint32_t parent, const char *key) {
    uint32_t at = (uint32_t)hash(parent, key) & (slot_room - 1);
    while (slots[at] && (paths[slots[at] - 1].parent != parent ||
                         strcmp(paths[slots[at] - 1].key, key) != 0))
        at = (at + 1) & (slot_room - 1);
    return at;
}

static bool grow(void) {
    uint32_t room = path_room ? path_room * 2 : 256;
    struct path *more = realloc(paths, room * sizeof *more);
    if (!more)
        return false;
    paths = more;
    path_room = room;
    uint32_t *table = calloc(room * 2, sizeof *table);
    if (!table)
        return false;
    free(slots);
    slots = table;
    slot_room = room * 2;
    for (uint32_t id = 1; id <= path_count; id++)
        slots[slot_of(paths[id - 1].parent, paths[id - 1].key)] = id;
    return true;
}

static void write_path(uint32_t id, const struct path *path) {
    struct nvtx_path_record record = {id, path->parent};
    struct slice slices[] = {{&record, sizeof record}, {path->key, strlen(path->key)}};
    spool_append(RECORD_NVTX_PATH, slices, 2);
}

static uint32_t path_of(uint32_t parent, const char *domain, const char *text) {
    char key[MAX_TEXT + 128];
    snprintf(key, sizeof key, "%.100s\n%.*s", domain ? domain : "", MAX_TEXT, text);
    pthread_mutex_lock(&lock);
    uint32_t id = 0;
    bool room = spool_is_open() || path_count < MAX_WAITING_PATHS;
    if (path_count == MAX_PATHS) {
        id = slots[slot_of(parent, key)];
        if (!id && !full_reported)
            note("limit", "%d different NVTX texts were seen: further ones are not recorded",
                 MAX_PATHS);
        full_reported = full_reported || !id;
    } else if (room && (path_count < path_room || grow())) {
        uint32_t at = slot_of(parent, key);
        id = slots[at];
        char *copy = id ? NULL : strdup(key);
        if (copy) {
            paths[path_count] = (struct path){parent, copy};
            id = slots[at] = ++path_count;
            write_path(id, &paths[id - 1]);
        }
    }
    pthread_mutex_unlock(&lock);
    return id;
}

/* Texts of one program begin alike, and end with what tells them apart. */
static struct known *known_place(uint32_t parent, const char *domain, const char *text, size_t length) {
    uint64_t begin = 0, end = 0;
    size_t some = length < sizeof end ? length : sizeof end;
    memcpy(&begin, text, some);
    memcpy(&end, text + length - some, some);
    uint64_t mixed = (begin * 0x9E3779B97F4A7C15ull ^ end) * 0xC2B2AE3D27D4EB4Full ^ (uintptr_t)domain;
    mixed = (mixed ^ length << 32 ^ parent) * 0x9E3779B97F4A7C15ull;
    return &known[mixed >> 32 & (KNOWN - 1)];
}

static uint32_t known_path(uint32_t parent, const char *domain, const char *text) {
    size_t length = strnlen(text, KNOWN_TEXT);
    if (length == KNOWN_TEXT)
        return path_of(parent, domain, text);
    struct known *place = known_place(parent, domain, text, length);
    uint32_t now = atomic_load(&generation);
    if (place->generation == now && place->parent == parent && place->length == length &&
        place->domain == domain && memcmp(place->text, text, length) == 0)
        return place->path;
    uint32_t path = path_of(parent, domain, text);
    if (path) {
        *place = (struct known){now, parent, path, (uint32_t)length, domain, {0}};
        memcpy(place->text, text, length);
    }
    return path;
}

void nvtx_reset(void) {
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < path_count; i++)
        free(paths[i].key);
    free(paths);
    free(slots);
    paths = NULL;
    slots = NULL;
    path_count = path_room = slot_room = 0;
    full_reported = false;
    atomic_store(&wanted_open, 0);
    atomic_store(&written, 0);
    atomic_store(&left_out, 0);
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&lock);
}

/* After fork(): the ranges are the parent's. Another thread may have been at the tables, so they
 * are left where they are. */
void nvtx_forked(void) {
    atomic_store(&wanted_open, 0);
    pthread_mutex_init(&lock, NULL);
    paths = NULL;
    slots = NULL;
    path_count = path_room = slot_room = 0;
    atomic_store(&written, 0);
    atomic_store(&left_out, 0);
    atomic_fetch_add(&generation, 1);
}

/* The spool was made after the first ranges were opened. */
void nvtx_write_paths(void) {
    pthread_mutex_lock(&lock);
    for (uint32_t id = 1; id <= path_count; id++) {
        write_path(id, &paths[id - 1]);
    }
    pthread_mutex_unlock(&lock);
}

/* -- push and pop --------------------------------------------------------------------------- */

static struct thread_state *current(void) {
    struct thread_state *thread = this_thread();
    uint32_t now = atomic_load(&generation);
    if (thread_generation != now) { /* ranges of an earlier recording are over */
        thread_generation = now;
        thread->nvtx_depth = 0;
        thread->nvtx_path = 0;
    }
    return thread;
}

/* Recording, or waiting for the driver to initialise: clocks may not be there yet. */
static bool listening(void) { return spool_bytes() > 0 || awaiting_injection(); }

/* 0: the range will not be written. */
static uint64_t range_time(void) {
    if (!recording())
        return 0;
    if (atomic_load_explicit(&written, memory_order_relaxed) < MAX_WRITTEN)
        return now_ns();
    if (!paused())
        atomic_fetch_add_explicit(&left_out, 1, memory_order_relaxed);
    return 0;
}

static void write_range(const struct open_range *range, uint32_t thread_id) {
    struct nvtx_range_record record = {range->path, thread_id, range->start_ns, now_ns()};
    atomic_fetch_add_explicit(&written, 1, memory_order_relaxed);
    spool_append_one(RECORD_NVTX_RANGE, &record, sizeof record);
}

void nvtx_counters(void) {
    if (atomic_load(&left_out))
        counter("nvtx_ranges_left_out", (double)atomic_load(&left_out), "ranges",
                "rule: the first 100,000 ranges of the host are kept");
}

GVIZ_EXPORT void gviz_set_range(const char *name) {
    snprintf(wanted_name, sizeof wanted_name, "%s", name ? name : "");
}

/* Nested ones, and those of other threads, are one period. */
static bool wanted_begins(const char *text) {
    if (options.capture_range != RANGE_NVTX || !text || strcmp(text, wanted_name) != 0)
        return false;
    if (atomic_fetch_add(&wanted_open, 1) == 0)
        pause_range(true);
    return true;
}

static void wanted_ends(void) {
    if (atomic_fetch_sub(&wanted_open, 1) == 1)
        pause_range(false);
}

uint32_t nvtx_push(const char *domain, const char *text) {
    if (!listening())
        return 0;
    struct thread_state *thread = current();
    uint32_t depth = thread->nvtx_depth++;
    if (depth < MAX_OPEN) {
        bool wanted = wanted_begins(text);
        uint32_t path = known_path(thread->nvtx_path, domain, text ? text : "");
        uint64_t time = path ? range_time() : 0;
        path = path ? path : thread->nvtx_path;
        open_ranges[depth] = (struct open_range){path, time, domain, wanted};
        thread->nvtx_path = path;
    }
    return depth;
}

void nvtx_pop(const char *domain) {
    struct thread_state *thread = current();
    if (!listening() || !thread->nvtx_depth)
        return;
    /* Domains have stacks of their own; close the innermost range of this one. */
    uint32_t depth = thread->nvtx_depth, at = depth;
    while (at > 0 && (at > MAX_OPEN || open_ranges[at - 1].domain != domain))
        at--;
    if (!at)
        return;
    struct open_range range = open_ranges[at - 1];
    for (uint32_t i = at; i < depth && i < MAX_OPEN; i++)
        open_ranges[i - 1] = open_ranges[i];
    thread->nvtx_depth = depth - 1;
    uint32_t top = thread->nvtx_depth < MAX_OPEN ? thread->nvtx_depth : MAX_OPEN;
    thread->nvtx_path = top ? open_ranges[top - 1].path : 0;
    if (range.start_ns && recording() && !paused())
        write_range(&range, thread->thread_id);
    if (range.wanted)
        wanted_ends();
}

uint32_t nvtx_open_path(void) { return current()->nvtx_path; }

void nvtx_path_text(uint32_t path, char *out, size_t size) {
    uint32_t chain[MAX_OPEN];
    int depth = 0;
    size_t used = 0;
    pthread_mutex_lock(&lock);
    for (; path && path <= path_count && depth < MAX_OPEN; path = paths[path - 1].parent)
        chain[depth++] = path;
    out[0] = 0;
    while (depth-- && used < size - 1) {
        const char *text = strchr(paths[chain[depth] - 1].key, '\n') + 1;
        int wrote = snprintf(out + used, size - used, "%s%s", used ? "/" : "", text);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    pthread_mutex_unlock(&lock);
}

GVIZ_EXPORT void gviz_nvtx_push(const char *text) { nvtx_push(NULL, text); }
GVIZ_EXPORT void gviz_nvtx_pop(void) { nvtx_pop(NULL); }
/* Open ranges of the calling thread: shows Python whether NVTX itself reaches us. */
GVIZ_EXPORT uint32_t gviz_nvtx_depth(void) { return current()->nvtx_depth; }
