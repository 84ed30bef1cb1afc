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

struct path {
    uint32_t parent;
    char *key; /* domain, newline, text */
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
static uint32_t generation;
static bool full_reported;
static char wanted_name[MAX_TEXT]; /* "": none */
static _Atomic int wanted_open;     /* ranges of that name, on all threads */
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
    generation++;
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
    generation++;
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
    if (thread_generation != generation) { /* ranges of an earlier recording are over */
        thread_generation = generation;
        thread->nvtx_depth = 0;
        thread->nvtx_path = 0;
    }
    return thread;
}

/* Recording, or waiting for the driver to initialise: clocks may not be there yet. */
static bool listening(void) { return spool_bytes() > 0 || awaiting_injection(); }

static uint64_t range_time(void) { return recording() ? now_ns() : 0; }

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
        uint32_t path = path_of(thread->nvtx_path, domain, text ? text : "");
        uint64_t time = path ? range_time() : 0; /* 0: the range is not recorded */
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
    if (recording() && range.start_ns && !paused()) {
        struct nvtx_range_record record = {range.path, thread->thread_id, range.start_ns, now_ns()};
        spool_append_one(RECORD_NVTX_RANGE, &record, sizeof record);
    }
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
