/* NVTX's injection interface: nvtxTypes.h and nvToolsExt.h of NVTX 3.
 *
 * NVTX_INJECTION64_PATH names this library before the program's first NVTX call.
 */
#include "entry/entry.h"
#include "life/life.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define MAX_TEXT 512

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
