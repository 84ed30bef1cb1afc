/* The last moment: after all that the process runs at its end, with the driver still there.
 *
 * libcuda leaves what it does at the end with __cxa_atexit, when it is loaded. On request that waits until
 * everything else has run: handlers of exit(), destructors of objects and of libraries. From the moment
 * it was due, the program's calls are answered as after it.
 */
#define _GNU_SOURCE
#include "gate/parts.h"

#include <stdlib.h>
#include <string.h>

#define DEINITIALIZED 4 /* CUDA_ERROR_DEINITIALIZED */
#define MOST_ENDINGS 64 /* libcuda 535 has a dozen; further ones do not wait */

typedef int (*registering)(void (*function)(void *), void *data, void *object);

struct ending {
    void (*function)(void *);
    void *data;
};

static struct ending endings[MOST_ENDINGS], *due[MOST_ENDINGS]; /* due: in their order */
static atomic_uint ending_count, due_count;
static atomic_bool has_last;
static _Atomic(gate_last) last;
static atomic_bool is_over; /* the driver has ended, for the program */

/* -- what libcuda does at the end ------------------------------------------------------------------ */

static void end(void *data) {
    struct ending *ending = data;
    if (!atomic_load(&last)) {
        ending->function(ending->data);
        return;
    }
    due[atomic_fetch_add(&due_count, 1)] = ending;
    if (!atomic_exchange(&is_over, true))
        entries_stop();
}

/* Objects register one destructor after the other: of most the last one asked for is known. */
static bool is_of_driver(void *object) {
    static _Atomic(void *) other;
    struct object found;
    if (!object || object == atomic_load_explicit(&other, memory_order_relaxed))
        return false;
    if (object_find(NULL, (uintptr_t)object, &found) && is_drivers_file(found.path))
        return true;
    atomic_store_explicit(&other, object, memory_order_relaxed);
    return false;
}

/* Of the loader's own list, as this may be called before the constructor here. */
EXPORT int __cxa_atexit(void (*function)(void *), void *data, void *object) {
    static _Atomic(registering) libc;
    registering next = atomic_load_explicit(&libc, memory_order_relaxed);
    if (!next) {
        next = (registering)libc_function("__cxa_atexit");
        atomic_store(&libc, next);
    }
    if (!next)
        return -1;
    unsigned i = is_of_driver(object) ? atomic_fetch_add(&ending_count, 1) : MOST_ENDINGS;
    if (i >= MOST_ENDINGS)
        return next(function, data, object);
    endings[i] = (struct ending){function, data};
    return next(end, &endings[i], object);
}

/* -- the program's calls from then on --------------------------------------------------------------- */

static int deinitialized(void) { return DEINITIALIZED; }

bool last_has_come(void) { return atomic_load_explicit(&is_over, memory_order_relaxed); }

void *last_answer(const char *name, void *real) {
    static const char *const answering[] = {"cuGetErrorName", "cuGetErrorString", "cuDriverGetVersion"};
    for (size_t i = 0; i < sizeof answering / sizeof *answering; i++)
        if (strcmp(name, answering[i]) == 0)
            return real;
    return (void *)deinitialized;
}

/* -- the last moment ---------------------------------------------------------------------------------- */

static void at_last(int status, void *unused) {
    gate_last work = atomic_load(&last);
    (void)unused;
    if (!work || !last_has_come() || !work(status))
        return;
    for (unsigned i = 0; i < atomic_load(&due_count); i++)
        due[i]->function(due[i]->data);
}

bool last_stay(gate_last work) {
    if (!atomic_load(&has_last) || !atomic_load(&ending_count) || atomic_load(&ending_count) > MOST_ENDINGS)
        return false;
    atomic_store(&last, work);
    return true;
}

void last_forked(void) { atomic_store(&last, NULL); }

extern int on_exit(void (*function)(int status, void *data), void *data) __attribute__((weak));

/* Before the program registers anything, and the loader that it runs destructors: what comes first is
 * run last. */
void last_start(void) { atomic_store(&has_last, on_exit && on_exit(at_last, NULL) == 0); }
