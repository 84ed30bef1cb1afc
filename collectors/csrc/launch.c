/* Graph launches: which are recorded node by node, and how long each takes as a whole. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* Under "all", this launch of each executable and those after it are left plain, and timed as a
 * whole: without them nobody could say how much longer the others take for being recorded. */
#define PLAIN_FROM 50
#define PLAIN_LAUNCHES 5

struct exec_state {
    CUgraphExec handle;
    uint32_t exec_id, launches, recorded; /* in this period */
    bool late;
    bool unwanted; /* its graph's name does not match the pattern asked for */
    uint32_t period;
};

GVIZ_LOCK(lock);
/* By handle, open addressing: programs with a thousand executables launch them in turn. */
static struct exec_state *execs;
static size_t exec_count, exec_room; /* entries, removed ones included; a power of two */
static __thread struct launch_slot slot;

/* -- executables -------------------------------------------------------------------------- */

#define REMOVED ((CUgraphExec)1)

/* Return the entry of a handle, or the empty one where it would stand. */
static struct exec_state *exec_slot(struct exec_state *table, size_t room, CUgraphExec handle) {
    size_t at = ((uintptr_t)handle >> 4) * 0x9E3779B97F4A7C15ull & (room - 1);
    while (table[at].handle && table[at].handle != handle)
        at = (at + 1) & (room - 1);
    return &table[at];
}

static struct exec_state *exec_find(CUgraphExec handle) {
    struct exec_state *found = exec_room ? exec_slot(execs, exec_room, handle) : NULL;
    return found && found->handle ? found : NULL;
}

static bool execs_grow(void) {
    size_t alive = 0;
    for (size_t i = 0; i < exec_room; i++)
        alive += execs[i].handle && execs[i].handle != REMOVED;
    size_t room = 64;
    while (room < alive * 4)
        room *= 2;
    struct exec_state *table = calloc(room, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < exec_room; i++)
        if (execs[i].handle && execs[i].handle != REMOVED)
            *exec_slot(table, room, execs[i].handle) = execs[i];
    free(execs);
    execs = table;
    exec_room = room;
    exec_count = alive;
    return true;
}

static struct exec_state *exec_add(CUgraphExec handle, uint32_t exec_id, bool late) {
    if ((exec_count + 1) * 2 > exec_room && !execs_grow())
        return NULL;
    struct exec_state *at = exec_slot(execs, exec_room, handle);
    *at = (struct exec_state){.handle = handle, .exec_id = exec_id, .late = late};
    exec_count++;
    return at;
}

void launch_exec_created(CUgraphExec handle, uint32_t exec_id, bool late) {
    pthread_mutex_lock(&lock);
    struct exec_state *known = exec_find(handle);
    if (known) /* the handle of a destroyed executable, used again */
        *known = (struct exec_state){.handle = handle, .exec_id = exec_id, .late = late};
    else
        exec_add(handle, exec_id, late);
    pthread_mutex_unlock(&lock);
}

void launch_exec_destroyed(CUgraphExec handle) {
    pthread_mutex_lock(&lock);
    struct exec_state *known = exec_find(handle);
    if (known)
        known->handle = REMOVED;
    pthread_mutex_unlock(&lock);
}

void launch_exec_unwanted(CUgraphExec handle) {
    pthread_mutex_lock(&lock);
    struct exec_state *known = exec_find(handle);
    if (known)
        known->unwanted = true;
    pthread_mutex_unlock(&lock);
}

uint32_t launch_exec_id(CUgraphExec handle) {
    pthread_mutex_lock(&lock);
    struct exec_state *known = exec_find(handle);
    uint32_t id = known ? known->exec_id : 0;
    pthread_mutex_unlock(&lock);
    if (!id)
        cupti.cuptiGetGraphExecId(handle, &id);
    return id;
}

void launch_reset(void) {
    pthread_mutex_lock(&lock);
    free(execs);
    execs = NULL;
    exec_count = exec_room = 0;
    pthread_mutex_unlock(&lock);
}

void launch_forget_call(void) { slot.start_ns = 0; }

/* Whether a launch, given how many came before it, is one of those left plain. */
static bool is_plain(uint32_t earlier) {
    return options.policy == POLICY_ALL && earlier >= PLAIN_FROM &&
           earlier < PLAIN_FROM + PLAIN_LAUNCHES;
}

static bool wants_nodes(const struct exec_state *exec) {
    if (exec->unwanted)
        return false;
    switch (options.policy) {
    case POLICY_ALL:
        return !is_plain(exec->launches);
    case POLICY_EVERY:
        return exec->launches % options.policy_count == 0;
    default:
        return exec->recorded < options.policy_count;
    }
}

/* -- launches ------------------------------------------------------------------------------------ */

static bool exec_enter(CUgraphExec handle, bool admitted, uint32_t *exec_id, bool *late,
                       uint32_t *earlier) {
    pthread_mutex_lock(&lock);
    struct exec_state *exec = exec_find(handle);
    if (!exec) { /* instantiated before gviz attached */
        uint32_t id = 0;
        /* CUPTI is asked without the lock: one of its callbacks may wait for it. */
        pthread_mutex_unlock(&lock);
        cupti.cuptiGetGraphExecId(handle, &id);
        bool unwanted = !origin_wants_late();
        pthread_mutex_lock(&lock);
        exec = exec_find(handle);
        if (!exec && (exec = exec_add(handle, id, true)))
            exec->unwanted = unwanted;
    }
    if (exec && exec->period != period_number()) {
        exec->period = period_number();
        exec->launches = exec->recorded = 0;
    }
    bool wanted = exec && admitted && wants_nodes(exec);
    if (exec) {
        exec->recorded += wanted;
        *earlier = exec->launches++;
        *exec_id = exec->exec_id;
        *late = exec->late;
    }
    pthread_mutex_unlock(&lock);
    return wanted;
}

void launch_enter(const CUpti_CallbackData *data, uint32_t cbid) {
    const void *const *params = data->params;
    bool has_stream, late = false;
    CUstream stream = call_stream(cbid, params, &has_stream);
    memset(&slot, 0, sizeof slot);
    this_thread()->call_stream = stream;
    this_thread()->call_has_stream = true;
    uint64_t time = now_ns();
    /* The driver refuses a launch into a capture (CUDA 13.0); it runs nothing. */
    if (captures_known() && stream_is_capturing(stream)) {
        slot.flags = LAUNCH_CAPTURED;
        return;
    }
    pause_launch_begins(); /* before it is asked whether this is a period */
    bool admitted = pause_admits(&slot.last);
    if (!admitted) {
        window_launch(false, data->context, stream); /* to close it */
        if (!activity_is_open()) { /* else it is recorded by CUPTI in any case */
            pause_launch_ended();
            return;
        }
    }
    uint32_t earlier = 0;
    slot.wanted = exec_enter((CUgraphExec)params[0], admitted, &slot.exec_id, &late, &earlier);
    bool timed = earlier < ALWAYS_TIMED_LAUNCHES || is_plain(earlier) || events_wanted(time);
    if (is_plain(earlier))
        window_close_soon();
    /* Asked only where an event could end up in a capture that gviz did not see begin: it costs
     * as much as the rest of this function. */
    timed = timed && !stream_is_capturing(stream);
    if (admitted)
        window_launch(slot.wanted, data->context, stream);
    slot.stream_id = stream_id_of(data->context, stream, calls[cbid].per_thread);
    bool open = activity_is_open();
    slot.flags = (open ? LAUNCH_NODE_LEVEL : 0) | (late ? LAUNCH_LATE : 0);
    slot.start_ns = time;
    if (earlier == 0 && !late && timed)
        slot.free_before = memory_free(); /* before the first event: it takes host time */
    if (timed)
        slot.event_pair = events_begin(data->context, stream, &slot.token);
    if (timed || slot.wanted)
        slot.start_ns = now_ns(); /* the call's own time, without what was done for it here */
}

void launch_exit(const CUpti_CallbackData *data, uint32_t cbid) {
    uint64_t end_ns = now_ns();
    this_thread()->call_has_stream = false;
    if (slot.flags & LAUNCH_CAPTURED || !slot.start_ns)
        return;
    int result = data->return_value ? *(int *)data->return_value : 0;
    bool has_stream;
    CUstream stream = call_stream(cbid, data->params, &has_stream);
    if (slot.event_pair) {
        events_end(slot.event_pair, stream, result == 0);
        slot.flags |= LAUNCH_EVENTS;
    }
    if (slot.free_before)
        memory_taken(slot.exec_id, MEMORY_FIRST_LAUNCH, slot.free_before);
    window_launched(slot.wanted);
    pause_launch_ended();
    struct launch_record record = {
        .exec_id = slot.exec_id, .correlation = data->correlation_id,
        .start_ns = slot.start_ns, .end_ns = end_ns, .thread_id = this_thread()->thread_id,
        .result = result, .stream_id = slot.stream_id, .flags = slot.flags,
        .token = slot.event_pair ? slot.token : 0};
    slot.start_ns = 0;
    call_name(cbid);
    spool_append_one(RECORD_LAUNCH, &record, sizeof record);
    if (slot.last)
        pause_after_last();
}
