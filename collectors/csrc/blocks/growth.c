/* Device memory that the driver takes for itself: code, room for kernels' stacks, executables.
 *
 * What is free is read before and after each call that may make it take some, so that what is in use
 * besides the program's blocks is known to be the driver's. A call beside which another thread made
 * one is not counted: then more is in use than is accounted for, and nothing is tried.
 */
#include "blocks/blocks.h"
#include "calls/calls.h"

#include <stdatomic.h>
#include <string.h>

#define SEEN 16384

enum when { NEVER, ALWAYS, FIRST_TIME }; /* the first of a function or executable */

static const struct {
    const char *prefix;
    enum when when;
    int subject; /* which word of the parameters is the function or executable */
} kinds[] = {
    {"cuModuleLoad", ALWAYS, 0},         {"cuModuleUnload", ALWAYS, 0},
    {"cuModuleGet", ALWAYS, 0},          {"cuLibraryLoad", ALWAYS, 0},
    {"cuLibraryUnload", ALWAYS, 0},      {"cuLibraryGet", ALWAYS, 0},
    {"cuKernelGetFunction", ALWAYS, 0},  {"cuFuncLoad", ALWAYS, 0},
    {"cuFuncSetAttribute", ALWAYS, 0},   {"cuKernelSetAttribute", ALWAYS, 0},
    {"cuFuncGetAttribute", FIRST_TIME, 2}, {"cuLaunchKernelEx", FIRST_TIME, 1},
    {"cuLaunchKernel", FIRST_TIME, 0},   {"cuLaunchCooperativeKernel", FIRST_TIME, 0},
    {"cuGraphInstantiate", ALWAYS, 0},   {"cuGraphExecDestroy", ALWAYS, 0},
    {"cuGraphUpload", FIRST_TIME, 0},    {"cuGraphLaunch", FIRST_TIME, 0},
    {"cuGraphAddKernelNode", FIRST_TIME, 0}, {"cuStreamCreate", ALWAYS, 0},
    {"cuStreamDestroy", ALWAYS, 0},      {"cuStreamBeginCapture", ALWAYS, 0},
    {"cuStreamEndCapture", ALWAYS, 0},   {"cuCtxSetLimit", ALWAYS, 0},
    {"cuOccupancyMaxActive", ALWAYS, 0},
};

static uint8_t kind_of[CALL_ID_LIMIT]; /* one more than its place; 0: none */
static _Atomic uintptr_t seen[SEEN];
static _Atomic size_t seen_count;
static _Atomic int64_t taken;
static _Atomic size_t free_at_first; /* when the program made the first of these calls; 0: none was counted */
static _Atomic uint64_t counted; /* that may change what is free */
static __thread struct {
    size_t free; /* 0: not counted */
    uint64_t calls;
} before;

void growth_reset(void) {
    memset(kind_of, 0, sizeof kind_of);
    for (size_t i = 0; i < SEEN; i++)
        atomic_store_explicit(&seen[i], 0, memory_order_relaxed);
    atomic_store(&seen_count, 0);
    atomic_store(&free_at_first, 0);
    growth_begin();
}

void growth_begin(void) { atomic_store(&taken, 0); }

size_t growth_free_at_first(void) { return atomic_load(&free_at_first); }

int64_t growth_bytes(void) { return atomic_load(&taken); }

void growth_disturb(void) { atomic_fetch_add(&counted, 1); }

bool growth_wants(uint32_t cbid, const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !kind_of[cbid]; i++)
        if (strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
            kind_of[cbid] = (uint8_t)(i + 1);
    return kind_of[cbid] != 0;
}

/* Whether a pointer is new; a full table knows all. */
static bool is_new(uintptr_t pointer) {
    if (!pointer || atomic_load_explicit(&seen_count, memory_order_relaxed) > SEEN / 2)
        return false;
    for (size_t i = (pointer >> 4) * 0x9E3779B97F4A7C15u >> 50;; i++) {
        uintptr_t found = 0;
        if (atomic_compare_exchange_strong(&seen[i % SEEN], &found, pointer)) {
            atomic_fetch_add_explicit(&seen_count, 1, memory_order_relaxed);
            return true;
        }
        if (found == pointer)
            return false;
    }
}

static size_t read_free(void) {
    size_t available = 0, total = 0;
    return cuda.MemGetInfo && cuda.MemGetInfo(&available, &total) == 0 ? available : 0;
}

void growth_open(void) {
    before.free = read_free();
    before.calls = atomic_fetch_add(&counted, 1) + 1;
}

void growth_close(void) {
    size_t after = before.free ? read_free() : 0;
    if (after && atomic_load(&counted) == before.calls)
        atomic_fetch_add(&taken, (int64_t)before.free - (int64_t)after);
    if (before.free)
        atomic_fetch_add(&counted, 1);
    before.free = 0;
}

void growth_call(const CUpti_CallbackData *data, uint32_t cbid) {
    const uintptr_t *words = data->params;
    if (!kind_of[cbid])
        return;
    size_t kind = kind_of[cbid] - 1u, none = 0;
    if (data->site != 0) {
        growth_close();
    } else if (kinds[kind].when == ALWAYS || is_new(words[kinds[kind].subject])) {
        growth_open();
        atomic_compare_exchange_strong(&free_at_first, &none, before.free);
    }
}
