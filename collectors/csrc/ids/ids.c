/* Numbers of graphs, nodes and executables, in place of CUPTI's: nodes in the order in which they are
 * met, which for a captured graph is that of their creation.
 *
 * Handles are used again. A graph's number is forgotten when the graph is destroyed; a node's holds
 * its graph's, so that one left over from another graph is known for that.
 */
#include "ids/ids.h"
#include "records/records.h"
#include "state/state.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INVALID 1 /* CUPTI_ERROR_INVALID_PARAMETER */

struct entry {
    const void *handle;
    uint64_t id;       /* of a node: graph << 32 | node; of a graph: its number, 0: none */
    uint32_t met;      /* nodes of a graph */
};

GVIZ_LOCK(lock);
static struct entry *entries; /* open addressing, a power of two */
static size_t count, room;
static uint32_t last_graph;
static _Atomic uint32_t last_exec;
static _Atomic uint32_t last_correlation GVIZ_HOT = OWN_CORRELATIONS;

void ids_forget(void) {
    pthread_mutex_lock(&lock);
    free(entries);
    entries = NULL;
    count = room = 0;
    pthread_mutex_unlock(&lock);
}

void ids_are_own(void) {
    pthread_mutex_lock(&lock);
    last_graph = last_graph < OWN_IDS ? OWN_IDS : last_graph;
    pthread_mutex_unlock(&lock);
    uint32_t none = 0;
    atomic_compare_exchange_strong(&last_exec, &none, OWN_IDS);
}

/* -- with the lock held ------------------------------------------------------------------------ */

static struct entry *slot_of(struct entry *table, size_t size, const void *handle) {
    size_t at = handle_place(handle, size);
    while (table[at].handle && table[at].handle != handle)
        at = (at + 1) & (size - 1);
    return &table[at];
}

static bool make_room(void) {
    if ((count + 1) * 2 <= room)
        return true;
    size_t size = room ? room * 2 : 1024;
    struct entry *table = calloc(size, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < room; i++)
        if (entries[i].handle)
            *slot_of(table, size, entries[i].handle) = entries[i];
    free(entries);
    entries = table;
    room = size;
    return true;
}

/* Valid until the next one; NULL without memory. */
static struct entry *entry_of(const void *handle) {
    if (!handle || !make_room())
        return NULL;
    struct entry *entry = slot_of(entries, room, handle);
    if (!entry->handle) {
        *entry = (struct entry){.handle = handle};
        count++;
    }
    return entry;
}

static uint32_t number_of(CUgraph graph) {
    struct entry *entry = entry_of(graph);
    if (entry && !entry->id)
        *entry = (struct entry){graph, ++last_graph, 0};
    return entry ? (uint32_t)entry->id : 0;
}

/* Returns whether it was met for the first time. */
static bool meet(CUgraph graph, CUgraphNode node) {
    uint32_t number = number_of(graph);
    struct entry *entry = entry_of(node);
    if (!entry || !number || entry->id >> 32 == number)
        return false;
    entry->id = (uint64_t)number << 32;
    struct entry *owner = entry_of(graph); /* the table may have moved */
    entry = entry_of(node);
    if (owner && entry)
        entry->id |= owner->met++;
    return true;
}

/* -- */

bool ids_node_made(CUgraph graph, CUgraphNode node) {
    pthread_mutex_lock(&lock);
    bool first = meet(graph, node);
    pthread_mutex_unlock(&lock);
    return first;
}

void ids_graph_changes(CUgraph graph) {
    pthread_mutex_lock(&lock);
    struct entry *entry = room ? slot_of(entries, room, graph) : NULL;
    if (entry && entry->handle)
        entry->id = 0;
    pthread_mutex_unlock(&lock);
}

/* Meet a graph's nodes, of which new ones may have come. A child graph is destroyed with its parent
 * and says nothing: where a known graph has none of its nodes, the handle means another. */
static void meet_all(CUgraph graph, CUgraphNode *nodes, size_t node_count) {
    pthread_mutex_lock(&lock);
    uint32_t number = number_of(graph);
    if (!number) { /* without memory there may be no table either */
        pthread_mutex_unlock(&lock);
        return;
    }
    size_t known = 0;
    for (size_t i = 0; i < node_count; i++) {
        struct entry *entry = slot_of(entries, room, nodes[i]);
        known += entry->handle && entry->id >> 32 == number;
    }
    struct entry *owner = entry_of(graph);
    if (owner && owner->met && !known)
        owner->id = 0;
    for (size_t i = 0; i < node_count; i++)
        meet(graph, nodes[i]);
    pthread_mutex_unlock(&lock);
}

GVIZ_HOT_CODE uint32_t ids_next_correlation(void) { return atomic_fetch_add(&last_correlation, 1) + 1; }

uint32_t ids_next_exec(void) { return atomic_fetch_add(&last_exec, 1) + 1; }

/* -- in place of CUPTI's functions --------------------------------------------------------------- */

static CUptiResult graph_id(CUgraph graph, uint32_t *id) {
    size_t node_count = 0;
    if (!graph || cuda.GraphGetNodes(graph, NULL, &node_count) != 0)
        return INVALID;
    CUgraphNode *nodes = calloc(node_count + 1, sizeof *nodes);
    if (!nodes)
        return INVALID;
    if (cuda.GraphGetNodes(graph, nodes, &node_count) == 0)
        meet_all(graph, nodes, node_count);
    free(nodes);
    pthread_mutex_lock(&lock);
    *id = number_of(graph);
    pthread_mutex_unlock(&lock);
    return *id ? 0 : INVALID;
}

static CUptiResult node_id(CUgraphNode node, uint64_t *id) {
    pthread_mutex_lock(&lock);
    struct entry *entry = room && node ? slot_of(entries, room, node) : NULL;
    bool known = entry && entry->handle && entry->id >> 32;
    if (known)
        *id = entry->id;
    pthread_mutex_unlock(&lock);
    return known ? 0 : INVALID;
}

static CUptiResult exec_id(CUgraphExec exec, uint32_t *id) {
    *id = exec ? ids_next_exec() : 0;
    return exec ? 0 : INVALID;
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
