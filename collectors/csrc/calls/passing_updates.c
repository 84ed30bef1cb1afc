/* Updates of one node that pass: they are counted, and nobody is told of them.
 *
 * Some programs give their kernel nodes new parameters before each launch. The first of a node are told
 * of, with their times, and later one in SPACING_NS: each of these grants how many may pass after it, by
 * how fast they come. Who grants knows that no copy stands for the executable, now or later: a copy has
 * to be given the same parameters.
 */
#include "calls/calls.h"
#include "records/records.h"
#include "spool/spool.h"

#include <string.h>

#define ENTRY_BITS 13
#define ENTRIES (1u << ENTRY_BITS)
#define GROUP 4 /* entries side by side, two lines of the cache: an update has one of these places */
#define CHAIN_BITS 8
#define TOLD_FIRST 16
#define SPACING_NS 500000000ull
#define TAKEN_BACK_NS (2 * SPACING_NS)
#define MOST_PASSING (1u << 20)

struct passing {
    _Atomic(CUgraphExec) exec; /* NULL: free */
    CUgraphNode node;
    uint32_t call;
    _Atomic uint32_t left; /* updates that may pass */
    uint64_t unused;
};

/* The rest of an entry; with the lock. */
struct granted {
    struct updated_node named;
    uint32_t told, count;
    uint32_t next; /* of its chain, plus one; 0: it is the last */
    uint64_t since_ns; /* when one was told of last */
};

_Static_assert(sizeof(struct passing) * GROUP == 128, "two lines of the cache");
static _Alignas(128) struct passing entries[ENTRIES];
static struct granted granted[ENTRIES];
static uint32_t chains[1u << CHAIN_BITS]; /* of the executables' entries: the first of each, plus one */
static _Atomic uint32_t used; /* entries */
static _Atomic bool in_use;   /* the gate asks */
GVIZ_LOCK(lock);

/* Nodes lie at even distances: the product's upper bits depend on all of a handle's. */
static size_t place_of(CUgraphExec exec, CUgraphNode node, int bits) {
    uint64_t mixed = (uint64_t)(uintptr_t)exec * 0xC2B2AE3D27D4EB4Full ^ (uint64_t)(uintptr_t)node;
    return (size_t)(mixed * 0x9E3779B97F4A7C15ull >> (64 - bits));
}

static struct passing *group_of(CUgraphExec exec, CUgraphNode node) {
    return &entries[place_of(exec, node, ENTRY_BITS) & ~(size_t)(GROUP - 1)];
}

/* With the lock, or for an executable that nobody destroys meanwhile. */
GVIZ_HOT_CODE static struct passing *find(CUgraphExec exec, CUgraphNode node, uint32_t call) {
    struct passing *group = group_of(exec, node);
    for (size_t i = 0; i < GROUP; i++)
        if (atomic_load_explicit(&group[i].exec, memory_order_acquire) == exec && group[i].node == node &&
            group[i].call == call)
            return &group[i];
    return NULL;
}

GVIZ_HOT_CODE bool update_passes(uintptr_t exec, uintptr_t node, uint32_t call) {
    struct passing *at = find((CUgraphExec)exec, (CUgraphNode)node, call);
    uint32_t left = at ? atomic_load_explicit(&at->left, memory_order_relaxed) : 0;
    while (left > 0)
        if (atomic_compare_exchange_weak(&at->left, &left, left - 1))
            return true;
    return false;
}

/* -- with the lock held ------------------------------------------------------------------------ */

static uint32_t *chain_of(CUgraphExec exec) { return &chains[place_of(exec, NULL, CHAIN_BITS)]; }

static struct passing *add(CUgraphExec exec, CUgraphNode node, uint32_t call) {
    struct passing *group = group_of(exec, node);
    for (size_t i = 0; i < GROUP; i++) {
        if (atomic_load(&group[i].exec))
            continue;
        uint32_t *chain = chain_of(exec);
        size_t at = (size_t)(&group[i] - entries);
        granted[at] = (struct granted){.next = *chain};
        *chain = (uint32_t)at + 1;
        group[i].node = node;
        group[i].call = call;
        atomic_store(&group[i].left, 0);
        atomic_store(&group[i].exec, exec);
        atomic_fetch_add(&used, 1);
        return &group[i];
    }
    return NULL;
}

/* Let none pass any more, and write how many did. */
static uint32_t take_back(struct passing *at) {
    struct granted *of = &granted[at - entries];
    uint32_t count = of->count - atomic_exchange(&at->left, 0);
    of->count = 0;
    if (!count)
        return 0;
    struct updates_passed_record record = {of->named.exec_id, of->named.graph_id, of->named.node_id, at->call,
                                           count, now_ns()};
    spool_append_one(RECORD_UPDATES_PASSED, &record, sizeof record);
    return count;
}

static void take_back_all(uint64_t told_before_ns) {
    for (size_t i = 0; atomic_load(&used) && i < ENTRIES; i++)
        if (atomic_load_explicit(&entries[i].exec, memory_order_relaxed) &&
            granted[i].since_ns <= told_before_ns)
            take_back(&entries[i]);
}

static uint64_t count_to_grant(const struct granted *of, uint32_t passed, uint64_t time_ns) {
    uint64_t interval_ns = (time_ns - of->since_ns) / (passed + 1ull) + 1;
    return of->told < TOLD_FIRST ? 0 : SPACING_NS / interval_ns;
}

/* -- */

void updates_passing_grant(CUgraphExec exec, CUgraphNode node, uint32_t call, struct updated_node named) {
    if (!atomic_load_explicit(&in_use, memory_order_relaxed) || captures_known())
        return;
    uint64_t time_ns = now_ns();
    pthread_mutex_lock(&lock);
    struct passing *at = find(exec, node, call);
    at = at ? at : add(exec, node, call);
    if (at) {
        struct granted *of = &granted[at - entries];
        uint32_t passed = take_back(at); /* another thread may have granted, too */
        uint64_t count = count_to_grant(of, passed, time_ns);
        of->named = named;
        of->told += of->told < TOLD_FIRST;
        of->since_ns = time_ns;
        of->count = (uint32_t)(count < MOST_PASSING ? count : MOST_PASSING);
        atomic_store(&at->left, of->count);
    }
    pthread_mutex_unlock(&lock);
    if (captures_known()) /* one that began meanwhile took back what was granted before */
        updates_passing_end_all();
}

void updates_passing_look_after(void) {
    uint64_t time_ns = now_ns();
    pthread_mutex_lock(&lock);
    take_back_all(time_ns - TAKEN_BACK_NS);
    pthread_mutex_unlock(&lock);
}

void updates_passing_end_all(void) {
    pthread_mutex_lock(&lock);
    take_back_all(UINT64_MAX);
    pthread_mutex_unlock(&lock);
}

void updates_passing_forget(CUgraphExec exec) {
    if (!atomic_load_explicit(&used, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    for (uint32_t *link = chain_of(exec); *link;) {
        size_t at = *link - 1;
        if (atomic_load(&entries[at].exec) != exec) {
            link = &granted[at].next;
            continue;
        }
        take_back(&entries[at]);
        *link = granted[at].next;
        atomic_store(&entries[at].exec, NULL);
        atomic_fetch_sub(&used, 1);
    }
    pthread_mutex_unlock(&lock);
}

void updates_passing_reset(bool on) {
    updates_passing_end_all();
    pthread_mutex_lock(&lock);
    for (size_t i = 0; atomic_load(&used) && i < ENTRIES; i++)
        atomic_store(&entries[i].exec, NULL);
    memset(chains, 0, sizeof chains);
    atomic_store(&used, 0);
    atomic_store(&in_use, on);
    pthread_mutex_unlock(&lock);
}
