/* NVTX ranges: a stack a thread, written out as paths and as host-side intervals.
 *
 * Ranges arrive from NVTX itself (NVTX_INJECTION64_PATH names this library before the
 * program's first NVTX call) or from Python's hooks through gviz_nvtx_push and _pop.
 */
#include "native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

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
};

struct range_record {
    uint32_t path, thread_id;
    uint64_t start_ns, end_ns;
};

GVIZ_LOCK(lock);
static struct path *paths; /* index = path id - 1 */
static uint32_t path_count, path_room;
static uint32_t *slots, slot_room;
static uint32_t generation;
static bool said_full;
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

static uint32_t path_of(uint32_t parent, const char *domain, const char *text) {
    char key[MAX_TEXT + 128];
    snprintf(key, sizeof key, "%.100s\n%.*s", domain ? domain : "", MAX_TEXT, text);
    pthread_mutex_lock(&lock);
    uint32_t id = 0;
    bool room = spool_is_open() || path_count < MAX_WAITING_PATHS;
    if (path_count == MAX_PATHS) {
        id = slots[slot_of(parent, key)];
        if (!id && !said_full)
            note("limit", "%d different NVTX texts were seen: further ones are not recorded",
                 MAX_PATHS);
        said_full = said_full || !id;
    } else if (room && (path_count < path_room || grow())) {
        uint32_t at = slot_of(parent, key);
        id = slots[at];
        char *copy = id ? NULL : strdup(key);
        if (copy) {
            paths[path_count] = (struct path){parent, copy};
            id = slots[at] = ++path_count;
            struct slice slices[] = {{&id, sizeof id}, {&parent, sizeof parent},
                                     {key, strlen(key)}};
            spool_append(RECORD_NVTX_PATH, slices, 3);
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
    said_full = false;
    generation++;
    pthread_mutex_unlock(&lock);
}

/* After fork(): the ranges are the parent's. Another thread may have been at the tables, so they
 * are left where they are. */
void nvtx_forked(void) {
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
        const struct path *path = &paths[id - 1];
        struct slice slices[] = {{&id, sizeof id}, {&path->parent, sizeof path->parent},
                                 {path->key, strlen(path->key)}};
        spool_append(RECORD_NVTX_PATH, slices, 3);
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

uint32_t nvtx_push(const char *domain, const char *text) {
    if (!listening())
        return 0;
    struct thread_state *thread = current();
    uint32_t depth = thread->nvtx_depth++;
    if (depth < MAX_OPEN) {
        uint32_t path = path_of(thread->nvtx_path, domain, text ? text : "");
        uint64_t time = path ? range_time() : 0; /* 0: the range is not recorded */
        path = path ? path : thread->nvtx_path;
        open_ranges[depth] = (struct open_range){path, time, domain};
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
        struct range_record record = {range.path, thread->thread_id, range.start_ns, now_ns()};
        spool_append_one(RECORD_NVTX_RANGE, &record, sizeof record);
    }
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
/* Open ranges of the calling thread: tells Python whether NVTX itself reaches us. */
GVIZ_EXPORT uint32_t gviz_nvtx_depth(void) { return current()->nvtx_depth; }

/* -- NVTX's injection interface: nvtxTypes.h and nvToolsExt.h of NVTX 3 ---------------------- */

typedef void (*function_pointer)(void);
typedef const void *(*get_export_table)(uint32_t);
struct callback_table {
    size_t struct_size;
    int (*get_module_table)(int module, function_pointer ***table, unsigned *size);
};
struct event_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type; /* 1 ASCII, 2 wide, 3 registered */
    const void *message;
};

enum { EXPORT_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { CORE_PUSH_EX = 8, CORE_PUSH_A = 9, CORE_PUSH_W = 10, CORE_POP = 11 };
enum { CORE2_PUSH_EX = 4, CORE2_POP = 5, CORE2_REGISTER_A = 10, CORE2_REGISTER_W = 11,
       CORE2_CREATE_A = 12, CORE2_CREATE_W = 13, CORE2_DESTROY = 14 };

static const char *narrow(const wchar_t *wide, char *out, size_t size) {
    size_t n = wide ? wcstombs(out, wide, size - 1) : 0;
    out[n == (size_t)-1 ? 0 : n] = 0;
    return out;
}

static int push_ex(const char *domain, const struct event_attributes *event) {
    char text[MAX_TEXT];
    const char *message = "";
    if (event && event->message && event->message_type == 2)
        message = narrow(event->message, text, sizeof text);
    else if (event && event->message) /* a registered string is our own copy of the text */
        message = event->message;
    return (int)nvtx_push(domain, message);
}

static int on_push_ex(const struct event_attributes *event) { return push_ex(NULL, event); }
static int on_push_a(const char *text) { return (int)nvtx_push(NULL, text); }
static int on_push_w(const wchar_t *text) {
    char narrowed[MAX_TEXT];
    return (int)nvtx_push(NULL, narrow(text, narrowed, sizeof narrowed));
}
static int on_pop(void) {
    nvtx_pop(NULL);
    return (int)this_thread()->nvtx_depth;
}
static int on_domain_push(const char *domain, const struct event_attributes *event) {
    return push_ex(domain, event);
}
static int on_domain_pop(const char *domain) {
    nvtx_pop(domain);
    return (int)this_thread()->nvtx_depth;
}
/* Of the payload extension: ranges whose text, if any, is in a payload that is not read. */
static int on_push_payload(const char *domain, const void *payloads, size_t count) {
    (void)payloads;
    (void)count;
    return (int)nvtx_push(domain, "");
}
static int on_pop_payload(const char *domain, const void *payloads, size_t count) {
    (void)payloads;
    (void)count;
    return on_domain_pop(domain);
}

/* A domain's handle, and a registered string's, is our copy of its text. They live as long as
 * the program: NVTX hands the pointers out to it. */
static const void *on_register_a(const char *domain, const char *text) {
    (void)domain;
    return strdup(text ? text : "");
}
static const void *on_register_w(const char *domain, const wchar_t *text) {
    char narrowed[MAX_TEXT];
    return on_register_a(domain, narrow(text, narrowed, sizeof narrowed));
}
static const char *on_create_a(const char *name) { return strdup(name ? name : ""); }
static const char *on_create_w(const wchar_t *name) {
    char narrowed[MAX_TEXT];
    return on_create_a(narrow(name, narrowed, sizeof narrowed));
}
static void on_destroy(const char *domain) { (void)domain; }

struct hook {
    unsigned id;
    function_pointer function;
};

#define HOOK(id, function) {id, (function_pointer)(function)}

static void install(const struct callback_table *callbacks, int module, const struct hook *hooks,
                    size_t count) {
    function_pointer **table = NULL;
    unsigned size = 0;
    if (!callbacks->get_module_table(module, &table, &size))
        return;
    for (size_t i = 0; i < count; i++)
        if (hooks[i].id < size && table[hooks[i].id])
            *table[hooks[i].id] = hooks[i].function;
}

GVIZ_EXPORT int InitializeInjectionNvtx2(get_export_table get_table) {
    static const struct hook core[] = {HOOK(CORE_PUSH_EX, on_push_ex), HOOK(CORE_PUSH_A, on_push_a),
                                       HOOK(CORE_PUSH_W, on_push_w), HOOK(CORE_POP, on_pop)};
    static const struct hook core2[] = {
        HOOK(CORE2_PUSH_EX, on_domain_push),  HOOK(CORE2_POP, on_domain_pop),
        HOOK(CORE2_REGISTER_A, on_register_a), HOOK(CORE2_REGISTER_W, on_register_w),
        HOOK(CORE2_CREATE_A, on_create_a),    HOOK(CORE2_CREATE_W, on_create_w),
        HOOK(CORE2_DESTROY, on_destroy)};
    const struct callback_table *callbacks = get_table ? get_table(EXPORT_CALLBACKS) : NULL;
    if (!callbacks)
        return 0;
    await_injection();
    install(callbacks, MODULE_CORE, core, sizeof core / sizeof *core);
    install(callbacks, MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
    return 1;
}

/* -- NVTX's extensions: nvtxExtTypes.h and nvToolsExtPayload.h of NVTX 3 ------------------------- */

struct extension_segment {
    size_t id, slot_count;
    intptr_t *slots;
};
struct extension_module {
    uint16_t nvtx_version, struct_size, module, compatibility;
    size_t segment_count;
    struct extension_segment *segments;
};

enum { MODULE_PAYLOAD = 2, PAYLOAD_PUSH = 3, PAYLOAD_POP = 4 };

/* Libraries such as NCCL open a range with the core's call and close it with the extension's. */
GVIZ_EXPORT int InitializeInjectionNvtxExtension(const struct extension_module *module) {
    if (module->module != MODULE_PAYLOAD || !module->segment_count)
        return 1; /* its calls do nothing; 0 would have NVTX unload this library */
    const struct extension_segment *segment = &module->segments[0];
    if (segment->slot_count > PAYLOAD_POP) {
        segment->slots[PAYLOAD_PUSH] = (intptr_t)on_push_payload;
        segment->slots[PAYLOAD_POP] = (intptr_t)on_pop_payload;
    }
    return 1;
}
