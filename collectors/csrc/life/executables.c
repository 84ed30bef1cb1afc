/* The executables of the process: their ids, and how often each was launched. */
#include "calls/calls.h"
#include "life/parts.h"

#include <stdlib.h>

#define REMOVED ((CUgraphExec)1)

GVIZ_LOCK_IN(GVIZ_HOT, lock);
/* By handle, open addressing: programs with a thousand executables launch them in turn. */
static struct executable *table GVIZ_HOT;
static size_t count GVIZ_HOT, room GVIZ_HOT; /* entries, removed ones included; a power of two */

/* Return the entry of a handle, or the empty one where it would stand. */
GVIZ_HOT_CODE static struct executable *slot_of(struct executable *entries, size_t size, CUgraphExec handle) {
    size_t at = handle_place(handle, size);
    while (entries[at].handle && entries[at].handle != handle)
        at = (at + 1) & (size - 1);
    return &entries[at];
}

static struct executable *find(CUgraphExec handle) {
    struct executable *found = room ? slot_of(table, room, handle) : NULL;
    return found && found->handle ? found : NULL;
}

static bool grow(void) {
    size_t alive = 0;
    for (size_t i = 0; i < room; i++)
        alive += table[i].handle && table[i].handle != REMOVED;
    size_t size = 64;
    while (size < alive * 4)
        size *= 2;
    struct executable *grown = calloc(size, sizeof *grown);
    if (!grown)
        return false;
    for (size_t i = 0; i < room; i++)
        if (table[i].handle && table[i].handle != REMOVED)
            *slot_of(grown, size, table[i].handle) = table[i];
    free(table);
    table = grown;
    room = size;
    count = alive;
    return true;
}

static struct executable *add(CUgraphExec handle, uint32_t exec_id, bool late) {
    if ((count + 1) * 2 > room && !grow())
        return NULL;
    struct executable *at = slot_of(table, room, handle);
    *at = (struct executable){.handle = handle, .exec_id = exec_id, .late = late};
    count++;
    return at;
}

void executable_created(CUgraphExec handle, uint32_t exec_id) {
    passing_forget(handle);
    pthread_mutex_lock(&lock);
    struct executable *known = find(handle);
    if (known) /* the handle of a destroyed executable, used again */
        *known = (struct executable){.handle = handle, .exec_id = exec_id};
    else
        add(handle, exec_id, false);
    pthread_mutex_unlock(&lock);
}

void executable_destroyed(CUgraphExec handle) {
    passing_forget(handle);
    pthread_mutex_lock(&lock);
    struct executable *known = find(handle);
    if (known)
        known->handle = REMOVED;
    pthread_mutex_unlock(&lock);
}

void executable_unwanted(CUgraphExec handle) {
    pthread_mutex_lock(&lock);
    struct executable *known = find(handle);
    if (known)
        known->unwanted = true;
    pthread_mutex_unlock(&lock);
}

bool executable_is_wanted(CUgraphExec handle) {
    pthread_mutex_lock(&lock);
    struct executable *known = find(handle);
    bool wanted = known && !known->unwanted;
    pthread_mutex_unlock(&lock);
    return wanted;
}

void executable_watch(CUgraphExec handle, int watch) {
    pthread_mutex_lock(&lock);
    struct executable *known = find(handle);
    if (known) {
        known->watch = watch;
        known->resting = 0;
    }
    pthread_mutex_unlock(&lock);
}

void executable_rest(CUgraphExec handle) {
    pthread_mutex_lock(&lock);
    struct executable *known = find(handle);
    if (known && known->watch) {
        known->resting = known->watch;
        known->watch = 0;
    }
    pthread_mutex_unlock(&lock);
}

int executable_watch_of(CUgraphExec handle) {
    pthread_mutex_lock(&lock);
    struct executable *known = find(handle);
    int watch = !known ? 0 : known->watch ? known->watch : known->resting;
    pthread_mutex_unlock(&lock);
    return watch;
}

uint32_t executable_id(CUgraphExec handle) {
    pthread_mutex_lock(&lock);
    struct executable *known = find(handle);
    uint32_t id = known ? known->exec_id : 0;
    pthread_mutex_unlock(&lock);
    if (!id)
        cupti.cuptiGetGraphExecId(handle, &id);
    return id;
}

GVIZ_HOT_CODE struct executable *executable_hold(CUgraphExec handle) {
    pthread_mutex_lock(&lock);
    struct executable *known = find(handle);
    if (known)
        return known;
    /* Instantiated before gviz attached. CUPTI is called without the lock: one of its callbacks
     * may wait for it. */
    pthread_mutex_unlock(&lock);
    uint32_t id = 0;
    cupti.cuptiGetGraphExecId(handle, &id);
    bool unwanted = !origin_wants_late();
    pthread_mutex_lock(&lock);
    known = find(handle);
    if (!known && (known = add(handle, id, true)))
        known->unwanted = unwanted;
    return known;
}

GVIZ_HOT_CODE void executable_release(void) { pthread_mutex_unlock(&lock); }

void executables_reset(void) {
    pthread_mutex_lock(&lock);
    free(table);
    table = NULL;
    count = room = 0;
    pthread_mutex_unlock(&lock);
}
