/* Entries: the functions of libcuda, by name and by address, and the stub before each. */
#define _GNU_SOURCE
#include "gate/parts.h"

#include <dlfcn.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOTS 8192 /* more than twice the entries of names.c and the spares */

static _Atomic uintptr_t driver_first, driver_last; /* 0: not found */
static _Atomic(struct entry *) slots[SLOTS];
static atomic_uint spares_taken;
static atomic_bool has_barrier; /* the kernel gives the barrier that stubs leave out */
static atomic_flag letting = ATOMIC_FLAG_INIT;

static size_t slot_of(const void *address) {
    return ((uintptr_t)address * 0x9E3779B97F4A7C15ull) >> 51; /* 13 bits: SLOTS */
}

/* Put an entry where its address leads to. Returns the one that is there: another thread's, or
 * that of another name of one function. */
static struct entry *put(struct entry *entry) {
    void *real = atomic_load(&entry->real);
    for (size_t i = slot_of(real);; i = (i + 1) % SLOTS) {
        struct entry *there = NULL;
        if (atomic_compare_exchange_strong(&slots[i], &there, entry))
            return entry;
        if (atomic_load(&there->real) == real)
            return there;
    }
}

static struct entry *entry_at(const void *address) {
    for (size_t i = slot_of(address);; i = (i + 1) % SLOTS) {
        struct entry *entry = atomic_load(&slots[i]);
        if (!entry || atomic_load(&entry->real) == address)
            return entry;
    }
}

struct entry *entry_named(const char *name) {
    size_t low = 0, high = (size_t)(__stop_gate_entries - __start_gate_entries);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, __start_gate_entries[middle].name);
        if (order == 0)
            return &__start_gate_entries[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* The stubs keep addresses of libcuda: it must stay, also where the program closes it. */
static void pin(const char *path) {
    void *(*open)(const char *, int) = libc_function("dlopen");
    if (open)
        open(path, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Several threads may do it at once, with the same outcome: none waits for another, which may wait
 * for the loader's lock that this one holds. */
static void read_driver(const struct object *driver) {
    static atomic_bool watched;
    pin(driver->path);
    for (struct entry *e = __start_gate_entries; e < __stop_gate_entries; e++) {
        void *real = object_symbol(driver, e->name);
        if (!real)
            continue;
        e->id = (uint32_t)(e - __start_gate_entries) + 1;
        atomic_store(&e->hooks, hooks_of(e->name));
        atomic_store(&e->real, real);
        put(e);
    }
    if (!atomic_exchange(&watched, true))
        closing_watch_exit();
    atomic_store(&driver_first, driver->first);
    atomic_store_explicit(&driver_last, driver->last, memory_order_release);
}

bool driver_find(void) {
    struct object driver;
    if (atomic_load_explicit(&driver_last, memory_order_acquire))
        return true;
    if (!object_find("libcuda.so", 0, &driver))
        return false;
    read_driver(&driver);
    return true;
}

bool driver_has(const void *address) {
    return driver_find() && (uintptr_t)address >= atomic_load(&driver_first) &&
           (uintptr_t)address < atomic_load(&driver_last);
}

static struct entry *take_spare(void *real, const char *name) {
    unsigned i = atomic_load(&spares_taken);
    do {
        if (i >= SPARE_COUNT)
            return NULL;
    } while (!atomic_compare_exchange_weak(&spares_taken, &i, i + 1));
    struct entry *named = entry_named(name), *entry = &spares[i];
    entry->name = named ? named->name : "a function of the driver that has no name here";
    entry->stub = spare_stubs + SPARE_BYTES * (size_t)i;
    entry->id = named ? (uint32_t)(named - __start_gate_entries) + 1 : 0;
    atomic_store(&entry->hooks, hooks_of(entry->name));
    atomic_store(&entry->told, named && atomic_load(&named->told));
    atomic_store(&entry->deferred, named && atomic_load(&named->deferred));
    atomic_store(&entry->filter, named ? atomic_load(&named->filter) : NULL);
    atomic_store(&entry->real, real);
    return entry;
}

/* The stubs of spares ask no filter: call_enter asks it. */
static bool asks_filter(struct entry *entry) {
    bool is_spare = entry >= spares && entry < spares + SPARE_COUNT;
    return !is_spare && atomic_load(&entry->filter);
}

void *stub_of(void *real, const char *name) {
    struct entry *entry = entry_at(real);
    if (!entry) {
        entry = take_spare(real, name);
        entry = entry ? put(entry) : NULL;
    }
    return entry ? entry->stub : NULL;
}

/* -- stubs that only mark ------------------------------------------------------------------------ */

static bool barrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

/* In a process of one thread, where it costs nothing; a forked child has to say it again. */
void entries_start(void) {
    atomic_flag_clear(&letting);
    atomic_store(&has_barrier, barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED));
}

static void lock(void) {
    while (atomic_flag_test_and_set(&letting))
        continue; /* a look at the phase and a store by another thread */
}

void entry_let_pass(struct entry *entry) {
#if defined(__x86_64__) /* on aarch64 all calls ask call_enter */
    const struct hooks *hooks = atomic_load_explicit(&entry->hooks, memory_order_relaxed);
    if ((hooks && (hooks->before || hooks->after)) || !atomic_load_explicit(&has_barrier, memory_order_relaxed))
        return;
    lock();
    bool plain = !atomic_load(&entry->deferred);
    if (plain && atomic_load(&phase) == PHASE_OPEN && (!atomic_load(&entry->told) || asks_filter(entry))) {
        entry->own_at = own_mark_at();
        atomic_store(&entry->fast, atomic_load(&entry->real));
    }
    atomic_flag_clear(&letting);
#else
    (void)entry;
#endif
}

static void stop(struct entry *entry) {
    if (atomic_load_explicit(&entry->fast, memory_order_relaxed))
        atomic_store(&entry->fast, NULL);
}

static void set_told(struct entry *entry, bool on) {
    atomic_store(&entry->told, on);
    if (on && !asks_filter(entry))
        stop(entry);
}

/* Of the name's own entry and of the spares that have its number. */
static void set_all(uint32_t id, void (*set)(struct entry *entry, bool on), bool on) {
    struct entry *end = spares + atomic_load(&spares_taken);
    lock();
    set(&__start_gate_entries[id - 1], on);
    for (struct entry *entry = spares; entry < end; entry++)
        if (entry->id == id)
            set(entry, on);
    atomic_flag_clear(&letting);
}

void entries_tell(uint32_t id, bool on) { set_all(id, set_told, on); }

static void set_deferred(struct entry *entry, bool on) {
    atomic_store(&entry->deferred, on);
    if (on)
        stop(entry);
}

void entries_defer(uint32_t id, bool on) { set_all(id, set_deferred, on); }

static void set_filter(struct entry *entry, gate_filter passes) {
    atomic_store(&entry->filter, passes);
    if (!passes && atomic_load(&entry->told))
        stop(entry);
}

void entries_filter(uint32_t id, gate_filter passes) {
    struct entry *end = spares + atomic_load(&spares_taken);
    lock();
    set_filter(&__start_gate_entries[id - 1], passes);
    for (struct entry *entry = spares; entry < end; entry++)
        if (entry->id == id)
            set_filter(entry, passes);
    atomic_flag_clear(&letting);
}

/* A stub marks, then reads whether it may pass, with no barrier between. After this one its mark is
 * seen, or it saw that it may not. */
bool entries_stop(void) {
    struct entry *end = spares + atomic_load(&spares_taken);
    lock();
    for (struct entry *entry = __start_gate_entries; entry < __stop_gate_entries; entry++)
        stop(entry);
    for (struct entry *entry = spares; entry < end; entry++)
        stop(entry);
    atomic_flag_clear(&letting);
    return !atomic_load(&has_barrier) || barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
