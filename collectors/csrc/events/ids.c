/* Ids and the clock where CUPTI is not used.
 *
 * The walk of a graph, launches and events ask CUPTI for ids and for the time. Without a
 * subscription these functions stand in for CUPTI's in `cupti`, so that one walk serves both:
 * a graph gets the next number of a counter of ours, a node its place in the order of creation,
 * which is what CUPTI numbers too.
 */
#include "events/parts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNKNOWN 1 /* CUPTI_ERROR_INVALID_PARAMETER */

struct entry {
    const void *handle;
    uint64_t id;
};

GVIZ_LOCK(lock);
static struct entry *entries; /* open addressing, a power of two */
static size_t entry_count, entry_room;
/* Far above CUPTI's small numbers: after leaving CUPTI both kinds stand in one spool. */
static _Atomic uint32_t last_id = OWN_IDS;

uint32_t ids_next(void) { return atomic_fetch_add(&last_id, 1) + 1; }

static struct entry *find(struct entry *table, size_t room, const void *handle) {
    size_t at = ((uintptr_t)handle >> 4) * 0x9E3779B97F4A7C15ull & (room - 1);
    while (table[at].handle && table[at].handle != handle)
        at = (at + 1) & (room - 1);
    return &table[at];
}

static bool grow(void) {
    size_t room = entry_room ? entry_room * 2 : 1024;
    struct entry *table = calloc(room, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < entry_room; i++)
        if (entries[i].handle)
            *find(table, room, entries[i].handle) = entries[i];
    free(entries);
    entries = table;
    entry_room = room;
    return true;
}

static void learn(const void *handle, uint64_t id) {
    pthread_mutex_lock(&lock);
    if ((entry_count + 1) * 2 <= entry_room || grow()) {
        struct entry *at = find(entries, entry_room, handle);
        entry_count += !at->handle;
        *at = (struct entry){handle, id};
    }
    pthread_mutex_unlock(&lock);
}

void ids_learn_graph(CUgraph graph, uint32_t graph_id) { learn(graph, graph_id); }

void ids_learn_node(CUgraphNode node, uint32_t graph_id, uint32_t node_id) {
    learn(node, (uint64_t)graph_id << 32 | node_id);
}

/* Handles mean something only while their graph is being walked: they are used again. */
void ids_forget(void) {
    pthread_mutex_lock(&lock);
    free(entries);
    entries = NULL;
    entry_count = entry_room = 0;
    pthread_mutex_unlock(&lock);
}

static CUptiResult look_up(const void *handle, uint64_t *id) {
    pthread_mutex_lock(&lock);
    struct entry *found = entry_room ? find(entries, entry_room, handle) : NULL;
    bool known = found && found->handle;
    if (known)
        *id = found->id;
    pthread_mutex_unlock(&lock);
    return known ? 0 : UNKNOWN;
}

/* -- in place of CUPTI's functions ---------------------------------------------------------- */

static CUptiResult graph_id(CUgraph graph, uint32_t *id) {
    uint64_t found;
    CUptiResult result = look_up(graph, &found);
    if (result == 0)
        *id = (uint32_t)found;
    return result;
}

static CUptiResult node_id(CUgraphNode node, uint64_t *id) { return look_up(node, id); }

static CUptiResult exec_id(CUgraphExec exec, uint32_t *id) {
    (void)exec;
    *id = ids_next();
    return 0;
}

/* cuptiGetTimestamp gives CLOCK_REALTIME (CUPTI 13.0). */
static CUptiResult timestamp(uint64_t *time) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *time = (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
    return 0;
}

void ids_take_over(void) {
    cupti.cuptiGetGraphId = graph_id;
    cupti.cuptiGetGraphNodeId = node_id;
    cupti.cuptiGetGraphExecId = exec_id;
    cupti.cuptiGetTimestamp = timestamp;
}
