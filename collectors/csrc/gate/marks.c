/* Marks: one a thread, which says that the thread is inside the driver. */
#define _GNU_SOURCE
#include "gate/parts.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_BYTES 16384
#define DESTRUCTOR_ROUNDS 4 /* PTHREAD_DESTRUCTOR_ITERATIONS: other destructors may still call */

struct chunk {
    struct chunk *next;
    struct mark marks[(CHUNK_BYTES - 64) / sizeof(struct mark)];
};
#define CHUNK_MARKS (sizeof((struct chunk *)0)->marks / sizeof(struct mark))

static _Atomic(struct chunk *) chunks;
static pthread_key_t at_thread_end;
static bool has_key;
THREAD_LOCAL struct mark *own;

static struct mark *take_mark(void) {
    for (;;) {
        struct chunk *first = atomic_load(&chunks);
        for (struct chunk *chunk = first; chunk; chunk = chunk->next)
            for (size_t i = 0; i < CHUNK_MARKS; i++) {
                bool used = false;
                if (!atomic_load_explicit(&chunk->marks[i].used, memory_order_relaxed) &&
                    atomic_compare_exchange_strong(&chunk->marks[i].used, &used, true))
                    return &chunk->marks[i];
            }
        struct chunk *more = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED)
            return NULL;
        more->next = first;
        if (!atomic_compare_exchange_strong(&chunks, &more->next, more))
            munmap(more, CHUNK_BYTES); /* another thread added one */
    }
}

static struct mark *mark_of_thread(void) {
    if (own)
        return own;
    struct mark *mark = take_mark();
    if (mark) {
        mark->rounds = 0;
        mark->stack = 0;
        own = mark;
        if (has_key)
            pthread_setspecific(at_thread_end, mark);
    }
    return mark;
}

static void give_back(struct mark *mark) {
    own = NULL;
    atomic_store(&mark->inside, false); /* cancelled inside a call */
    atomic_store(&mark->used, false);
}

static void thread_ends(void *data) {
    struct mark *mark = data;
    if (++mark->rounds < DESTRUCTOR_ROUNDS && pthread_setspecific(at_thread_end, mark) == 0)
        return;
    give_back(mark);
}

void marks_start(void) { has_key = pthread_key_create(&at_thread_end, thread_ends) == 0; }

struct mark *own_mark(void) { return own; }

ptrdiff_t own_mark_at(void) { return (char *)&own - (char *)__builtin_thread_pointer(); }

bool mark_is_inside(void) { return own && atomic_load(&own->inside); }

struct mark *mark_find(bool (*matches)(struct mark *mark, void *data), void *data) {
    for (struct chunk *chunk = atomic_load(&chunks); chunk; chunk = chunk->next)
        for (size_t i = 0; i < CHUNK_MARKS; i++)
            if (atomic_load(&chunk->marks[i].used) && matches(&chunk->marks[i], data))
                return &chunk->marks[i];
    return NULL;
}

static bool is_in(struct mark *mark, void *prefix) {
    const struct entry *entry = atomic_load(&mark->entry);
    return mark != own && atomic_load(&mark->inside) && entry &&
           strncmp(entry->name, prefix, strlen(prefix)) == 0;
}

bool marks_others_in(const char *prefix) { return mark_find(is_in, (void *)prefix) != NULL; }

static bool clear_other(struct mark *mark, void *unused) {
    (void)unused;
    if (mark != own) {
        atomic_store(&mark->inside, false);
        atomic_store(&mark->used, false);
    }
    return false;
}

/* In a forked child, which has one thread. */
void marks_clear_others(void) { mark_find(clear_other, NULL); }

/* -- a call ------------------------------------------------------------------------------- */

/* A call within a call neither waits nor marks: the outer one is inside until it returns. Calls
 * that were left by longjmp or an exception left the mark standing: a call as deep or shallower
 * cannot be within them. Stacks grow downwards. */
static bool is_nested(const struct mark *mark, const struct call *call) {
    return atomic_load_explicit(&mark->inside, memory_order_relaxed) && call->stack < mark->stack;
}

static void mark_call(struct mark *mark, const struct call *call) {
    for (;;) {
        mark->stack = call->stack;
        atomic_store_explicit(&mark->entry, call->entry, memory_order_relaxed);
        atomic_store_explicit(&mark->calls, atomic_load_explicit(&mark->calls, memory_order_relaxed) + 1,
                              memory_order_relaxed);
        /* In one order for all threads: either this one sees the gate closed, or the closer sees
         * the mark. */
        atomic_store(&mark->inside, true);
        if (atomic_load(&phase) != PHASE_CLOSED)
            break;
        atomic_store(&mark->inside, false);
        hold();
    }
    mark->stack = call->stack; /* a signal's handler may have called in between */
}

static _Atomic(bool (*)(void)) wait_needed;
static _Atomic(void (*)(void)) wait_a_moment;

void marks_set_wait(bool (*needed)(void), void (*wait)(void)) {
    atomic_store(&wait_a_moment, wait);
    atomic_store(&wait_needed, needed);
}

/* Asked with the mark set: what is waited for begins and ends only while nobody has one. */
static void wait_outside(struct mark *mark, const struct call *call, bool (*needed)(void),
                         void (*wait)(void)) {
    while (needed && wait && needed()) {
        atomic_store(&mark->inside, false);
        wait();
        mark_call(mark, call);
    }
}

void mark_step_aside(bool (*needed)(void), void (*wait)(void)) {
    if (!mark_is_inside())
        return;
    const struct call call = {.entry = atomic_load(&own->entry), .stack = own->stack};
    wait_outside(own, &call, needed, wait);
}

/* Returns false where there is no memory for a mark. */
static bool mark_entered(struct call *call, const struct hooks *hooks) {
    struct mark *mark = mark_of_thread();
    if (!mark)
        return false;
    if (is_nested(mark, call))
        return true;
    if (atomic_load_explicit(&phase, memory_order_relaxed) == PHASE_OPEN) {
        entry_let_pass(call->entry);
    } else if (hooks && hooks->wanted) {
        atomic_store(&mark->inside, false); /* left by longjmp */
        hooks->wanted(call);
    }
    mark_call(mark, call);
    if (atomic_load_explicit(&call->entry->deferred, memory_order_relaxed))
        wait_outside(mark, call, atomic_load(&wait_needed), atomic_load(&wait_a_moment));
    return true;
}

void *call_enter(struct call *call) {
    struct entry *entry = call->entry;
    void *real = atomic_load_explicit(&entry->real, memory_order_relaxed);
    if (!real) {
        driver_find();
        real = atomic_load(&entry->real);
        if (!real)
            return NULL;
    }
    call->late = last_has_come() && !is_closer();
    if (call->late)
        return last_answer(entry->name, real);
    const struct hooks *hooks = atomic_load_explicit(&entry->hooks, memory_order_relaxed);
    if (!is_closer() && !mark_entered(call, hooks))
        atomic_fetch_add(&tallies.without_mark, 1);
    if (hooks && hooks->before)
        hooks->before(call);
    return telling_before(call, real);
}

uintptr_t call_leave(struct call *call) {
    if (call->late)
        return call->result;
    const struct hooks *hooks = atomic_load_explicit(&call->entry->hooks, memory_order_relaxed);
    if (hooks && hooks->after)
        hooks->after(call);
    telling_after(call);
    struct mark *mark = own;
    if (mark && mark->stack == call->stack)
        atomic_store_explicit(&mark->inside, false, memory_order_release);
    return call->result;
}
