/* The last moment: after all that the process runs at its end, with the driver still there.
 *
 * libcuda leaves what it does at the end with __cxa_atexit, when it is loaded, and has destructors of a
 * library besides. On request both wait until everything else has run: handlers of exit(), destructors of
 * objects and of libraries. From the moment the first was due, the program's calls are answered as after it.
 */
#define _GNU_SOURCE
#include "gate/parts.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEINITIALIZED 4 /* CUDA_ERROR_DEINITIALIZED */
#define MOST_ENDINGS 64 /* libcuda 535 and 580 have a dozen; further ones do not wait */

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

/* -- its destructors ------------------------------------------------------------------------------- */

/* As the loader would call them: those of DT_FINI_ARRAY backwards, then DT_FINI's (gABI, "Initialization and
 * Termination Functions"). The one of driver 580 ends the driver by itself: all calls answer 4 behind it. */
static void (*destructors[MOST_ENDINGS])(void);
static unsigned destructor_count;

static void nothing(void) {}

static void destruct_all(void) {
    for (unsigned i = 0; i < destructor_count; i++)
        destructors[i]();
}

/* What the loader calls in their place. */
static void destruct(void) {
    if (!atomic_load(&last))
        destruct_all();
}

static ElfW(Dyn) *tagged(const void *dynamic, ElfW(Sxword) tag) {
    for (ElfW(Dyn) *entry = (ElfW(Dyn) *)dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry;
    return NULL;
}

/* Read-only since it was relocated, or not. It stays writable: the process ends. */
static bool make_writable(const void *start, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)start & ~(page - 1);
    return mprotect((void *)first, (uintptr_t)start + bytes - first, PROT_READ | PROT_WRITE) == 0;
}

/* The loader reads which they are when it comes to them. */
static bool hold_destructors(void) {
    struct object driver;
    if (destructor_count)
        return true;
    if (!object_find("libcuda.so", 0, &driver) || !driver.dynamic)
        return false;
    ElfW(Dyn) *fini = tagged(driver.dynamic, DT_FINI), *size = tagged(driver.dynamic, DT_FINI_ARRAYSZ),
              *place = tagged(driver.dynamic, DT_FINI_ARRAY);
    void (**array)(void) = place ? (void *)(driver.base + place->d_un.d_ptr) : NULL;
    size_t length = array && size ? size->d_un.d_val / sizeof *array : 0;
    if (length >= MOST_ENDINGS || (fini && !make_writable(fini, sizeof *fini)) ||
        (length && !make_writable(array, length * sizeof *array)))
        return false;
    for (size_t i = length; i-- > 0;)
        destructors[destructor_count++] = array[i];
    if (fini)
        destructors[destructor_count++] = (void (*)(void))(driver.base + fini->d_un.d_ptr);
    for (size_t i = 0; i < length; i++)
        array[i] = i == 0 && !fini ? destruct : nothing;
    if (fini)
        fini->d_un.d_ptr = (uintptr_t)destruct - driver.base;
    return true;
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
    destruct_all();
}

bool last_stay(gate_last work) {
    if (!atomic_load(&has_last) || !atomic_load(&ending_count) || atomic_load(&ending_count) > MOST_ENDINGS ||
        !hold_destructors())
        return false;
    atomic_store(&last, work);
    return true;
}

void last_forked(void) { atomic_store(&last, NULL); }

extern int on_exit(void (*function)(int status, void *data), void *data) __attribute__((weak));

/* Before the program registers anything, and the loader that it runs destructors: what comes first is
 * run last. */
void last_start(void) { atomic_store(&has_last, on_exit && on_exit(at_last, NULL) == 0); }
