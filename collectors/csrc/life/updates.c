/* Updates of executables, summed: some programs make one before every launch.
 *
 * Equal updates (same executable, node, call and result) share an entry. The flush thread writes
 * what has come together since it last did; whoever reads the spool adds it up.
 */
#include "calls/calls.h"
#include "life/parts.h"
#include "spool/spool.h"

#include <string.h>

#define ROOM 2048 /* entries; a power of two, filled by half at most */

GVIZ_LOCK(lock);
static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;
static struct updates_record tables[2][ROOM];
static struct updates_record *filling = tables[0];
static size_t filled;

void updates_reset(void) {
    pthread_mutex_lock(&lock);
    memset(tables, 0, sizeof tables);
    filling = tables[0];
    filled = 0;
    pthread_mutex_unlock(&lock);
}

static bool equal(const struct updates_record *a, const struct updates_record *b) {
    return a->exec_id == b->exec_id && a->node_id == b->node_id && a->call == b->call &&
           a->result == b->result && a->value == b->value && a->graph_id == b->graph_id;
}

static size_t slot_of(const struct updates_record *key) {
    uint64_t mixed = ((uint64_t)key->exec_id << 32 | key->node_id) * 0x9E3779B97F4A7C15ull;
    mixed ^= ((uint64_t)key->call << 32 | (uint32_t)key->result) * 0xC2B2AE3D27D4EB4Full;
    return (size_t)((mixed >> 29) + key->value) & (ROOM - 1);
}

static bool add(const struct updates_record *one) {
    size_t at = slot_of(one);
    while (filling[at].calls && !equal(&filling[at], one))
        at = (at + 1) & (ROOM - 1);
    struct updates_record *entry = &filling[at];
    if (entry->calls == UINT32_MAX || (!entry->calls && filled >= ROOM / 2))
        return false;
    if (!entry->calls) {
        *entry = *one;
        filled++;
        return true;
    }
    entry->calls++;
    entry->thread_id = one->thread_id;
    entry->first_ns = one->first_ns < entry->first_ns ? one->first_ns : entry->first_ns;
    entry->last_ns = one->last_ns > entry->last_ns ? one->last_ns : entry->last_ns;
    entry->total_ns += one->total_ns;
    return true;
}

void updates_add(const struct update *update, uint64_t start_ns, uint64_t end_ns) {
    struct updates_record one = {
        .exec_id = update->exec_id, .node_id = update->node_id, .call = update->call,
        .result = update->result, .value = update->value, .calls = 1,
        .thread_id = this_thread()->thread_id, .graph_id = update->graph_id, .first_ns = start_ns, .last_ns = start_ns,
        .total_ns = end_ns - start_ns};
    call_name(update->call);
    pthread_mutex_lock(&lock);
    bool added = add(&one);
    pthread_mutex_unlock(&lock);
    if (!added) /* more different ones than there is room for: by itself */
        spool_append_one(RECORD_UPDATES, &one, sizeof one);
}

void updates_flush(void) {
    if (pthread_mutex_trylock(&flushing) != 0)
        return;
    pthread_mutex_lock(&lock);
    struct updates_record *full = filling;
    bool any = filled > 0;
    if (any) {
        filling = full == tables[0] ? tables[1] : tables[0];
        filled = 0;
    }
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; any && i < ROOM; i++)
        if (full[i].calls) {
            spool_append_one(RECORD_UPDATES, &full[i], sizeof full[i]);
            full[i].calls = 0;
        }
    pthread_mutex_unlock(&flushing);
}
