/* Executables that slices are about: found at their launches, a slice in front of each, to their end. */
#include "calls/calls.h"
#include "life/life.h"
#include "trial/trial.h"

#include <stdlib.h>
#include <string.h>

#define MILLISECOND_NS 1000000ull
/* Launches of an executable before the first slice: its upload, and those that it warms up with. */
#define LAUNCHES_BEFORE 3
/* How many launches after one another wait in vain until nothing is in flight before no more slices are made. */
#define MOST_IN_VAIN 10
/* Updates of the program meanwhile. */
#define MOST_STALE 5
/* As an instrumented copy takes it, twice what the graph takes. */
#define LONGEST_NS (8 * MILLISECOND_NS)

static bool is_current(CUcontext context) {
    CUcontext current = NULL;
    return cuda.CtxGetCurrent(&current) == 0 && current == context;
}

bool subject_borrow(struct subject *subject, const char *unknown, const char **why) {
    *why = NULL;
    if (subject->lent)
        return is_current(subject->loan.context);
    *why = lend_begin(subject->watch, &subject->loan);
    subject->lent = !*why;
    if (*why)
        return false;
    if (!subject->loan.extent_ns || !is_current(subject->loan.context)) {
        *why = unknown;
        if (!unknown)
            subject_return(subject);
        return false;
    }
    if (subject->loan.extent_ns > LONGEST_NS)
        *why = "a launch takes longer than 4 ms, too long for a slice of 20 ms";
    return !*why;
}

void subject_return(struct subject *subject) {
    if (subject->lent)
        lend_end(&subject->loan);
    subject->lent = false;
    subject->looked_through = 0;
}

const char *subject_obstacle(struct subject *subject) {
    uint64_t reach = graph_reach();
    const char *why = reach == subject->looked_through ? NULL : graph_obstacle(subject->loan.level);
    subject->looked_through = why ? 0 : reach;
    return why;
}

bool subject_slice(struct subject *subject, void (*slice)(void *data), void *data, const char **why) {
    enum closing closing = bench_close(slice, data, subject->requested);
    *why = NULL;
    if (closing == CLOSING_DONE)
        subject->in_vain = 0;
    else if (closing == CLOSING_NEVER || (closing == CLOSING_IN_VAIN && ++subject->in_vain >= MOST_IN_VAIN))
        *why = "work of the process was in flight before each launch, or its calls are not seen";
    return closing == CLOSING_DONE;
}

bool subject_open(struct subject *subject) {
    subject->over = subject->over || lend_refused(subject->watch);
    return !subject->over;
}

const char *subject_stale(struct subject *subject) {
    return ++subject->stale >= MOST_STALE ? "the program updates its executable between its launches" : NULL;
}

void subject_once(struct subjects *all, struct subject *subject) {
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    subject->begin_ns = now_ns();
    all->once(subject);
    subject->spent_ns += now_ns() - subject->begin_ns;
    if (!subject->over && subject->spent_ns >= *all->budget_ns)
        all->spend(subject);
    exchange_capture_mode(mode);
}

/* -- all of a kind, with the lock ---------------------------------------------------------------------- */

/* NULL without memory. */
static struct subject *subject_of(struct subjects *all, int watch, CUgraphExec exec) {
    for (struct subject *one = all->first; one; one = one->next)
        if (one->watch == watch)
            return one;
    struct subject *made = calloc(1, all->bytes);
    if (made) {
        made->watch = watch;
        made->exec = exec;
        made->next = all->first;
        all->first = made;
    }
    return made;
}

static void end_all(struct subjects *all, const char *why) {
    CUcontext popped, context = all->bench.context;
    bool current = context && cuda.CtxPushCurrent(context) == 0;
    for (struct subject *subject = all->first, *next; subject; subject = next) {
        next = subject->next;
        if (subject_open(subject))
            all->finish(subject, why);
        free(subject);
    }
    all->first = NULL;
    if (current) {
        if (all->unload)
            all->unload();
        bench_end(&all->bench);
        cuda.CtxPopCurrent(&popped);
    }
}

/* -- events ---------------------------------------------------------------------------------------------- */

void subjects_launch(struct subjects *all, CUgraphExec exec, CUstream launched_on) {
    int watch = atomic_load(&all->on) && !paused() ? executable_watch_of(exec) : 0;
    if (!watch || captures_known() || stream_is_capturing(launched_on) || pthread_mutex_trylock(all->lock) != 0)
        return;
    struct subject *subject = subject_of(all, watch, exec);
    if (subject)
        subject->launched_ns = now_ns();
    if (subject && subject_open(subject) && ++subject->launches > LAUNCHES_BEFORE)
        subject_once(all, subject);
    pthread_mutex_unlock(all->lock);
}

void subjects_stop(struct subjects *all, const char *why) {
    if (!atomic_exchange(&all->on, false))
        return;
    pthread_mutex_lock(all->lock);
    end_all(all, why);
    pthread_mutex_unlock(all->lock);
}

void subjects_context_ends(struct subjects *all, CUcontext context, const char *why) {
    pthread_mutex_lock(all->lock);
    if (all->bench.context == context)
        end_all(all, why);
    pthread_mutex_unlock(all->lock);
}

/* Without the lock it stays, until a slice of it finds that its loan is not current. */
void subjects_destroyed(struct subjects *all, CUgraphExec exec, const char *why) {
    if (!atomic_load(&all->on) || !lock_for_program(all->lock))
        return;
    for (struct subject **at = &all->first, *one; (one = *at);) {
        if (one->exec != exec) {
            at = &one->next;
            continue;
        }
        if (subject_open(one))
            all->finish(one, why);
        *at = one->next;
        free(one);
    }
    pthread_mutex_unlock(all->lock);
}

void subjects_abandon(struct subjects *all) {
    atomic_store(&all->on, false);
    all->first = NULL;
    memset(&all->bench, 0, sizeof all->bench);
}
