/* Launches that pass: they are counted, and nobody is told of them.
 *
 * Being told of a launch costs microseconds where the program's own work has driven gviz out of the
 * caches. Of an executable that is launched more often than once in SPACING_NS, only so many launches
 * are told of: each of them grants how many may pass after it, by how fast they come. So a launch that
 * passes needs no clock; whoever looks after them twice a second takes back what was granted, so that
 * a program that became slow is told of again. Where launches are sampled for the life of a server, the
 * spacing grows with an executable's age: its records do with the logarithm of that.
 */
#include "calls/calls.h"
#include "records/records.h"
#include "spool/spool.h"

#define ENTRIES 4096
#define LINE 4 /* entries that share a cache line: a handle has one of these places */
#define SPACING_NS 5000000ull
#define GROWTH 200 /* launches told of while the age becomes e times as large */
#define TAKEN_BACK_NS 500000000ull
#define MOST_PASSING (1u << 20)

struct passing {
    _Atomic(CUgraphExec) exec; /* NULL: free */
    _Atomic uint32_t left;     /* launches that may pass */
    uint32_t unused;
};

/* The rest of an entry; with the lock. */
struct granted {
    uint32_t exec_id; /* 0: launches that pass are not counted */
    uint32_t count;
    uint64_t first_ns; /* when a launch was told of first */
    uint64_t since_ns; /* and last */
    struct passed passed; /* and nobody was told so yet */
};

_Static_assert(sizeof(struct passing) * LINE == 64, "a line of the cache");
static _Alignas(64) struct passing entries[ENTRIES];
static struct granted granted[ENTRIES];
static _Atomic bool in_use GVIZ_HOT;
GVIZ_LOCK(lock);

static size_t line_of(CUgraphExec exec) {
    return handle_place(exec, ENTRIES) & ~(size_t)(LINE - 1);
}

GVIZ_HOT_CODE bool launch_passes(uintptr_t exec, uintptr_t stream, uint32_t call) {
    (void)stream;
    (void)call;
    struct passing *line = &entries[line_of((CUgraphExec)exec)];
    for (size_t i = 0; i < LINE; i++) {
        if ((uintptr_t)atomic_load_explicit(&line[i].exec, memory_order_relaxed) != exec)
            continue;
        uint32_t left = atomic_load_explicit(&line[i].left, memory_order_relaxed);
        while (left > 0)
            if (atomic_compare_exchange_weak(&line[i].left, &left, left - 1))
                return true;
        return false;
    }
    return false;
}

/* -- with the lock held ------------------------------------------------------------------------ */

static size_t find(CUgraphExec exec) {
    size_t first = line_of(exec);
    for (size_t i = first; i < first + LINE; i++)
        if (atomic_load(&entries[i].exec) == exec)
            return i;
    return ENTRIES;
}

static size_t find_or_add(CUgraphExec exec) {
    size_t at = find(exec);
    size_t first = line_of(exec);
    for (size_t i = first; at == ENTRIES && i < first + LINE; i++)
        if (!atomic_load(&entries[i].exec)) {
            atomic_store(&entries[i].left, 0);
            atomic_store(&entries[i].exec, exec);
            granted[i] = (struct granted){0};
            at = i;
        }
    return at;
}

/* Let none pass any more, and write how many did. */
static void take_back(size_t at) {
    struct granted *of = &granted[at];
    uint32_t count = of->count - atomic_exchange(&entries[at].left, 0);
    of->count = 0;
    of->passed.any = of->passed.any || count;
    if (!count || !of->exec_id)
        return;
    of->passed.count += count;
    struct launches_passed_record record = {of->exec_id, count, of->since_ns, now_ns()};
    spool_append_one(RECORD_LAUNCHES_PASSED, &record, sizeof record);
}

static uint64_t spacing_ns(const struct granted *of, uint64_t time_ns) {
    bool sampling = options.policy == POLICY_EVERY || options.policy == POLICY_PERIOD;
    uint64_t grown_ns = sampling && of->first_ns && time_ns > of->first_ns ? (time_ns - of->first_ns) / GROWTH : 0;
    return grown_ns > SPACING_NS ? grown_ns : SPACING_NS;
}

static void grant(size_t at, uint32_t exec_id, uint64_t count) {
    take_back(at); /* another thread launches it, too */
    granted[at].exec_id = exec_id;
    granted[at].count = (uint32_t)(count < MOST_PASSING ? count : MOST_PASSING);
    atomic_store(&entries[at].left, granted[at].count);
}

/* -- */

struct passed passing_end(CUgraphExec exec) {
    struct passed passed = {0};
    if (!atomic_load_explicit(&in_use, memory_order_relaxed))
        return passed;
    pthread_mutex_lock(&lock);
    size_t at = find(exec);
    if (at < ENTRIES) {
        take_back(at);
        passed = granted[at].passed;
        granted[at].passed = (struct passed){0};
    }
    pthread_mutex_unlock(&lock);
    return passed;
}

/* With the lock released: a capture that began meanwhile, or a period that ended or began, took back
 * what was granted before. */
static void check(bool counted) {
    if (captures_known() || paused() == counted)
        passing_end_all();
}

void passing_grant(CUgraphExec exec, uint32_t exec_id, struct passed passed, uint32_t most) {
    if (!atomic_load_explicit(&in_use, memory_order_relaxed) || captures_known())
        return;
    uint64_t time_ns = now_ns();
    pthread_mutex_lock(&lock);
    size_t at = find_or_add(exec);
    if (at < ENTRIES) {
        uint64_t interval_ns = (time_ns - granted[at].since_ns) / (passed.count + 1ull) + 1;
        uint64_t count = granted[at].since_ns ? spacing_ns(&granted[at], time_ns) / interval_ns : 0;
        grant(at, exec_id, count < most ? count : most);
        granted[at].since_ns = time_ns;
        granted[at].first_ns = granted[at].first_ns ? granted[at].first_ns : time_ns;
    }
    pthread_mutex_unlock(&lock);
    check(true);
}

void passing_grant_uncounted(CUgraphExec exec) {
    if (!atomic_load_explicit(&in_use, memory_order_relaxed) || captures_known())
        return;
    pthread_mutex_lock(&lock);
    size_t at = find_or_add(exec);
    if (at < ENTRIES)
        grant(at, 0, MOST_PASSING);
    pthread_mutex_unlock(&lock);
    check(false);
}

void passing_look_after(void) {
    updates_passing_look_after();
    if (!atomic_load_explicit(&in_use, memory_order_relaxed))
        return;
    uint64_t time_ns = now_ns();
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ENTRIES; i++) {
        uint64_t wait_ns = 2 * spacing_ns(&granted[i], time_ns);
        wait_ns = wait_ns > TAKEN_BACK_NS ? wait_ns : TAKEN_BACK_NS;
        if (atomic_load_explicit(&entries[i].exec, memory_order_relaxed) &&
            time_ns - granted[i].since_ns >= wait_ns)
            take_back(i);
    }
    pthread_mutex_unlock(&lock);
}

void passing_end_all(void) {
    updates_passing_end_all();
    if (!atomic_load_explicit(&in_use, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ENTRIES; i++)
        if (atomic_load_explicit(&entries[i].exec, memory_order_relaxed))
            take_back(i);
    pthread_mutex_unlock(&lock);
}

void passing_forget(CUgraphExec exec) {
    updates_passing_forget(exec);
    if (!atomic_load_explicit(&in_use, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    size_t at = find(exec);
    if (at < ENTRIES) {
        take_back(at);
        atomic_store(&entries[at].exec, NULL);
    }
    pthread_mutex_unlock(&lock);
}

void passing_reset(bool on) {
    updates_passing_reset(on);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ENTRIES; i++) {
        atomic_store(&entries[i].exec, NULL);
        atomic_store(&entries[i].left, 0);
        granted[i] = (struct granted){0};
    }
    atomic_store(&in_use, on);
    pthread_mutex_unlock(&lock);
}
