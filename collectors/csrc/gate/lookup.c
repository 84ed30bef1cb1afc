/* dlsym and dlvsym of the program: functions of libcuda get their stub, all others libc's answer. */
#define _GNU_SOURCE
#include "gate/parts.h"

#include <dlfcn.h>
#include <pthread.h>

/* As the assembly of stubs.c takes it: the value, or where to jump with the same arguments. */
struct answer {
    void *value;
    void *jump;
};

HIDDEN struct answer lookup_symbol(void *handle, const char *name, void *unused, uintptr_t caller);
HIDDEN struct answer lookup_version(void *handle, const char *name, const char *version, uintptr_t caller);

typedef void *(*lookup)(void *handle, const char *name, const char *version);

static lookup libc_lookup(_Atomic(lookup) *place, const char *name) {
    lookup found = atomic_load_explicit(place, memory_order_relaxed);
    if (!found) {
        found = (lookup)libc_function(name);
        atomic_store(place, found);
    }
    return found;
}

/* cuInit, not cudaMalloc or cublasCreate. */
static bool may_be_driver(const char *name) {
    return name && name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

static bool is_own(const void *address) {
    struct object own;
    return object_find(NULL, (uintptr_t)&spares, &own) && (uintptr_t)address >= own.first &&
           (uintptr_t)address < own.last;
}

static struct answer look_up(lookup libc, void *handle, const char *name, const char *version,
                             uintptr_t caller) {
    if (libc && name && name[0] == 'c' && handle != RTLD_NEXT && is_profilers(name))
        return (struct answer){profilers_answer(name, libc(handle, name, version), caller), NULL};
    if (!libc || !may_be_driver(name) || handle == RTLD_NEXT)
        return (struct answer){NULL, (void *)libc};
    void *found = libc(handle, name, version);
    if (found && is_own(found) && !driver_find())
        found = libc(RTLD_NEXT, name, version); /* what is behind this library: an error, most often */
    if (!found || is_of_driver_or_tool(caller))
        return (struct answer){found && is_own(found) ? atomic_load(&entry_named(name)->real) : found, NULL};
    if (is_own(found) || !driver_has(found))
        return (struct answer){found, NULL};
    void *stub = stub_of(found, name);
    if (!stub) {
        atomic_fetch_add(&tallies.without_stub, 1);
        hole_add(name, caller);
    }
    return (struct answer){stub ? stub : found, NULL};
}

struct answer lookup_symbol(void *handle, const char *name, void *unused, uintptr_t caller) {
    static _Atomic(lookup) libc;
    (void)unused;
    return look_up(libc_lookup(&libc, "dlsym"), handle, name, NULL, caller);
}

struct answer lookup_version(void *handle, const char *name, const char *version, uintptr_t caller) {
    static _Atomic(lookup) libc;
    return look_up(libc_lookup(&libc, "dlvsym"), handle, name, version, caller);
}

static void forked(void) {
    marks_clear_others();
    counts_clear();
    closing_forked();
    last_forked();
    quiet_forked();
    entries_start();
}

/* What glibc's pthread_atfork calls. Other C libraries lack it: programs of theirs, which may be children
 * of one with CUDA, have none themselves, and go on as without this library. */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *) __attribute__((weak));
extern void *__dso_handle HIDDEN;

__attribute__((constructor)) static void start(void) {
    if (!__register_atfork)
        return;
    marks_start();
    entries_start();
    last_start();
    __register_atfork(NULL, NULL, forked, __dso_handle);
}
