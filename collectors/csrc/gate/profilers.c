/* CUPTI's functions by which another profiler begins. CUPTI serves one at a time: where the native
 * library has it for a moment, the caller waits until it has left, then the call goes through. */
#define _GNU_SOURCE
#include "gate/parts.h"

#include <string.h>

#define NOT_INITIALIZED 15 /* CUPTI_ERROR_NOT_INITIALIZED */

static _Atomic(gate_arrival) arrival;

static const char *const names[] = {"cuptiActivityRegisterCallbacks", "cuptiSubscribe", "cuptiSubscribe_v2"};

bool is_profilers(const char *name) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

void profilers_listen(gate_arrival to) { atomic_store(&arrival, to); }

/* Whether an address is in the library that is told of arrivals. */
static bool is_of_listener(uintptr_t address) {
    struct object listener;
    uintptr_t to = (uintptr_t)atomic_load(&arrival);
    return to && object_find(NULL, to, &listener) && address >= listener.first && address < listener.last;
}

static void *profilers_real(const char *name) {
    struct object cupti;
    return object_find("libcupti.so", 0, &cupti) ? object_symbol(&cupti, name) : NULL;
}

static void *arrive(const char *name, void *caller) {
    gate_arrival to = atomic_load(&arrival);
    struct object object;
    if (to && !is_of_listener((uintptr_t)caller) && !is_of_driver_or_tool((uintptr_t)caller)) {
        bool known = object_find(NULL, (uintptr_t)caller, &object);
        to(name, known && object.path[0] ? file_name(object.path) : "the program");
    }
    return profilers_real(name);
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

EXPORT int cuptiSubscribe(void *subscriber, void *callback, void *data) {
    int (*real)(void *, void *, void *) = arrive("cuptiSubscribe", CALLER);
    return real ? real(subscriber, callback, data) : NOT_INITIALIZED;
}

EXPORT int cuptiSubscribe_v2(void *subscriber, void *callback, void *data, void *parameters) {
    int (*real)(void *, void *, void *, void *) = arrive("cuptiSubscribe_v2", CALLER);
    return real ? real(subscriber, callback, data, parameters) : NOT_INITIALIZED;
}

EXPORT int cuptiActivityRegisterCallbacks(void *requested, void *completed) {
    int (*real)(void *, void *) = arrive("cuptiActivityRegisterCallbacks", CALLER);
    return real ? real(requested, completed) : NOT_INITIALIZED;
}

/* The answer to a lookup that libc has answered: by this library's function, unless the caller is one
 * that it stands in the way of. */
void *profilers_answer(const char *name, void *found, uintptr_t caller) {
    static void *const stubs[] = {(void *)cuptiActivityRegisterCallbacks, (void *)cuptiSubscribe,
                                  (void *)cuptiSubscribe_v2};
    void *real = profilers_real(name);
    if (!found || !real)
        return NULL;
    if (is_of_listener(caller) || is_of_driver_or_tool(caller))
        return real;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return stubs[i];
    return found;
}
