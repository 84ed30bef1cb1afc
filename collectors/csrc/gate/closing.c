/* The gate's phases: open, wanted, closed. */
#define _GNU_SOURCE
#include "gate/parts.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MILLISECOND 1000000u
/* Until nobody is inside, calls are held no longer. */
#define CLOSE_LIMIT_NS (5 * MILLISECOND)
/* A call that is inside so long is a wait, or a launch that waits for room in a full queue: most take
 * microseconds, a thread that lost its core is back. Nobody is held while this is looked at. */
#define LONG_CALL_NS (10 * MILLISECOND)
/* The longer the closer backs off, the longer waits are polls before the next try, up to this: one
 * that had begun before then ends meanwhile. */
#define LAST_PATIENCE_NS (1000ull * MILLISECOND)
/* Held calls go on after this, whatever the work does: attaching to CUPTI takes 5 to 15 ms. */
#define HOLD_LIMIT_NS (250 * MILLISECOND)
#define FIRST_BACKOFF_NS (1 * MILLISECOND)
#define LAST_BACKOFF_NS (10000ull * MILLISECOND)
#define EXIT_LIMIT_NS (1000ull * MILLISECOND)
#define SPINS 200

_Atomic uint32_t phase;
static atomic_bool closer_there, forbidden;
static _Atomic uint64_t hold_limit_ns; /* of the closure under way */
static _Atomic uint64_t backoff_ns, not_before_ns;
THREAD_LOCAL bool closer;

uint64_t gate_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool is_closer(void) { return closer; }

static void wake(void) { syscall(SYS_futex, &phase, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0); }

static void pause_ns(long ns) {
    struct timespec pause = {0, ns};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* -- the program's threads ------------------------------------------------------------------- */

void hold(void) {
    int error = errno;
    uint64_t start_ns = gate_now_ns(), held_ns = 0;
    atomic_fetch_add(&tallies.held, 1);
    while (atomic_load(&phase) == PHASE_CLOSED) {
        held_ns = gate_now_ns() - start_ns;
        uint64_t limit_ns = atomic_load(&hold_limit_ns);
        if (held_ns >= limit_ns) {
            uint32_t was = PHASE_CLOSED;
            if (atomic_compare_exchange_strong(&phase, &was, PHASE_OPEN)) {
                atomic_fetch_add(&tallies.overrun, 1);
                wake();
            }
            break;
        }
        uint64_t left_ns = limit_ns - held_ns;
        struct timespec rest = {(time_t)(left_ns / 1000000000u), (long)(left_ns % 1000000000u)};
        syscall(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, PHASE_CLOSED, &rest, NULL, 0);
    }
    held_ns = gate_now_ns() - start_ns;
    uint64_t longest = atomic_load(&tallies.longest_hold_ns);
    while (held_ns > longest &&
           !atomic_compare_exchange_weak(&tallies.longest_hold_ns, &longest, held_ns))
        continue;
    errno = error;
}

/* -- the closer -------------------------------------------------------------------------------- */

static bool is_other_inside(struct mark *mark, void *unused) {
    (void)unused;
    return mark != own_mark() && atomic_load(&mark->inside);
}

static bool stays_inside(struct mark *mark, void *until_ns) {
    uint64_t calls = atomic_load(&mark->calls);
    while (is_other_inside(mark, NULL) && atomic_load(&mark->calls) == calls) {
        if (gate_now_ns() >= *(uint64_t *)until_ns)
            return true;
        pause_ns(20000);
    }
    return false;
}

static const char *call_of(const struct mark *mark) {
    const struct entry *entry = mark ? atomic_load(&mark->entry) : NULL;
    return entry ? entry->name : NULL;
}

/* Wait until no call is inside that stays there and the GPU seems idle. Nobody is held meanwhile.
 * Returns what is in the way. Work in flight is not: it may end soon. */
static const char *wait_for_a_moment(void) {
    uint64_t patience_ns = atomic_load(&backoff_ns) / 2;
    patience_ns = patience_ns > LONG_CALL_NS ? patience_ns : LONG_CALL_NS;
    patience_ns = patience_ns < LAST_PATIENCE_NS ? patience_ns : LAST_PATIENCE_NS;
    uint64_t until_ns = gate_now_ns() + patience_ns;
    const char *call = call_of(mark_find(stays_inside, &until_ns));
    const char *obstacle = quiet_obstacle(false);
    while (!call && obstacle && gate_now_ns() < until_ns) {
        pause_ns(20000);
        obstacle = quiet_obstacle(false);
    }
    return call ? call : obstacle == quiet_in_flight ? NULL : obstacle;
}

/* Calls are held. Returns what is still in the way. */
static const char *wait_until_quiet(void) {
    uint64_t until_ns = gate_now_ns() + CLOSE_LIMIT_NS;
    const struct mark *mark = NULL;
    const char *obstacle = NULL;
    quiet_begin();
    for (int spins = 0;; spins++) {
        mark = mark_find(is_other_inside, NULL);
        obstacle = mark ? call_of(mark) : quiet_obstacle(true);
        if (!obstacle || gate_now_ns() >= until_ns)
            return obstacle;
        if (spins >= SPINS)
            pause_ns(20000);
    }
}

static enum gate_answer give_up(const char *obstacle) {
    uint64_t wait_ns = atomic_load(&backoff_ns);
    wait_ns = wait_ns == 0 ? FIRST_BACKOFF_NS : 2 * wait_ns;
    wait_ns = wait_ns < LAST_BACKOFF_NS ? wait_ns : LAST_BACKOFF_NS;
    atomic_store(&backoff_ns, wait_ns);
    atomic_store(&not_before_ns, gate_now_ns() + wait_ns);
    atomic_store(&tallies.busy_with, obstacle);
    atomic_fetch_add(&tallies.busy, 1);
    return GATE_BUSY;
}

static void let_in(void) {
    atomic_store(&phase, PHASE_OPEN);
    wake();
}

/* Windows may not reach into the driver's end; in the last moment that waits. */
static bool is_forbidden(void) { return atomic_load(&forbidden) && !last_has_come(); }

static enum gate_answer close_gate(void) {
    if (is_forbidden())
        return GATE_FORBIDDEN;
    if (atomic_load(&tallies.without_mark))
        return GATE_UNKNOWN;
    if (gate_now_ns() < atomic_load(&not_before_ns))
        return GATE_BACKING_OFF;
    atomic_store(&phase, PHASE_WANTED);
    if (!entries_stop()) {
        atomic_store(&phase, PHASE_OPEN);
        return GATE_UNKNOWN;
    }
    const char *obstacle = wait_for_a_moment();
    if (!obstacle) {
        atomic_store(&phase, PHASE_CLOSED);
        obstacle = wait_until_quiet();
    }
    if (!obstacle && !atomic_load(&tallies.without_mark) && !is_forbidden()) {
        atomic_store(&backoff_ns, 0);
        atomic_fetch_add(&tallies.closed, 1);
        return GATE_RAN;
    }
    let_in();
    return obstacle ? give_up(obstacle) : GATE_FORBIDDEN;
}

static enum gate_answer run_closed_for(void (*work)(void *data), void *data, uint64_t limit_ns) {
    bool there = false;
    if (!atomic_compare_exchange_strong(&closer_there, &there, true))
        return GATE_TAKEN;
    atomic_store(&hold_limit_ns, limit_ns);
    enum gate_answer answer = close_gate();
    if (answer == GATE_RAN) {
        closer = true;
        work(data);
        if (atomic_load(&phase) != PHASE_CLOSED)
            answer = GATE_OVERRAN;
        closer = false;
        let_in();
    }
    atomic_store(&closer_there, false);
    return answer;
}

static enum gate_answer run_closed(void (*work)(void *data), void *data) {
    return run_closed_for(work, data, HOLD_LIMIT_NS);
}

/* -- the end of the process, and its children -------------------------------------------------- */

static void at_exit(void) {
    atomic_store(&forbidden, true);
    uint64_t until_ns = gate_now_ns() + EXIT_LIMIT_NS;
    while (!closer && atomic_load(&closer_there) && gate_now_ns() < until_ns)
        pause_ns(100000);
}

/* After libcuda is loaded, so that it runs before libcuda's own. */
void closing_watch_exit(void) { atexit(at_exit); }

void closing_forked(void) {
    atomic_store(&phase, PHASE_OPEN);
    atomic_store(&closer_there, false);
    atomic_store(&backoff_ns, 0);
    atomic_store(&not_before_ns, 0);
    closer = false;
}

EXPORT const struct gate_api gviz_gate = {
    .size = sizeof gviz_gate,
    .run_closed = run_closed,
    .is_inside = mark_is_inside,
    .read_counts = counts_read,
    .read_holes = holes_read,
    .name_of = telling_name,
    .listen = telling_listen,
    .tell = telling_tell,
    .bare = telling_bare,
    .filter = telling_filter,
    .others_in = marks_others_in,
    .mind_profilers = profilers_listen,
    .set_wait = marks_set_wait,
    .defer = telling_defer,
    .step_aside = mark_step_aside,
    .run_closed_for = run_closed_for,
    .stay = last_stay,
};
