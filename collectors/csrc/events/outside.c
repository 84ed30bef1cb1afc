/* Work outside graphs, where there is no CUPTI: an event before a call and one after it, on its stream.
 *
 * What lies between the two is the work's time and what two events add, which is measured
 * (calibrate.c) and taken off by the fold. Where the GPU waits for the host, the first event runs
 * before the call has handed the work over. So work starts no earlier than its call returned, on the
 * clock of the events: they come a lag after the host's, the least that was seen, which an idle GPU
 * has. The second event is on its way for as long as its own call takes (1 us), and no time is
 * shorter than that.
 */
#include "calls/calls.h"
#include "events/parts.h"
#include "graph/graph.h"
#include "spool/spool.h"
#include "window/window.h"

#include <stdlib.h>
#include <string.h>

/* Calls whose events have not been read; as many as the budget is without options. */
#define MAX_OUTSTANDING 20000
#define BATCH 1024 /* operations of a record */
/* Above this, no operation found the GPU idle: an event takes 2 to 8 us there (H100), and its place on
 * the host's clock is known to 5 us. */
#define MOST_LAG_NS 15000
/* Kernels in a row on one stream, after which the bias is measured there once it is idle. */
#define ROW_KERNELS 16
#define ROW_TRIES 2000
#define MAX_CONTEXTS 16

/* Where a call's parameters have how much it moves. */
enum amount { NOTHING, COUNT, ROWS, COPY_2D, COPY_3D };

static const struct description {
    const char *name; /* as it begins */
    uint8_t type, amount, element_bytes, copy_kind;
} descriptions[] = {
    /* copy_kind: CUpti_ActivityMemcpyKind, 0: not known */
    {"cuLaunchKernel", NODE_KERNEL, NOTHING, 0, 0},
    {"cuLaunchCooperativeKernel", NODE_KERNEL, NOTHING, 0, 0},
    {"cuMemcpyHtoD", NODE_MEMCPY, COUNT, 1, 1},
    {"cuMemcpyDtoH", NODE_MEMCPY, COUNT, 1, 2},
    {"cuMemcpyDtoD", NODE_MEMCPY, COUNT, 1, 8},
    {"cuMemcpy2D", NODE_MEMCPY, COPY_2D, 1, 0},
    {"cuMemcpy3DPeer", NODE_MEMCPY, NOTHING, 1, 10},
    {"cuMemcpy3D", NODE_MEMCPY, COPY_3D, 1, 0},
    {"cuMemcpyPeer", NODE_MEMCPY, NOTHING, 1, 10},
    {"cuMemcpy", NODE_MEMCPY, COUNT, 1, 0},
    {"cuMemsetD2D8", NODE_MEMSET, ROWS, 1, 0},
    {"cuMemsetD2D16", NODE_MEMSET, ROWS, 2, 0},
    {"cuMemsetD2D32", NODE_MEMSET, ROWS, 4, 0},
    {"cuMemsetD8", NODE_MEMSET, COUNT, 1, 0},
    {"cuMemsetD16", NODE_MEMSET, COUNT, 2, 0},
    {"cuMemsetD32", NODE_MEMSET, COUNT, 4, 0},
};

/* A call that was made. Its events are read in order. */
struct outstanding {
    struct event_pair *events;
    struct operation operation;
    uint64_t called_ns, returned_ns;
    struct outstanding *next;
};

GVIZ_LOCK(lock);
static struct outstanding *first, **end = &first;
static uint32_t count;
static _Atomic uint64_t lost;
static _Atomic bool on;
static const struct description *described[CALL_ID_LIMIT]; /* NULL: nothing of it is recorded */
static CUcontext seen[MAX_CONTEXTS]; /* of calls that are recorded */
static struct {
    CUcontext context;
    CUstream stream;
    uint32_t kernels; /* that the program launched there, one after the other */
} row;
static __thread struct {
    struct event_pair *events; /* of the call under way, NULL: none */
    CUstream stream;
} slot;

static void describe_calls(void) {
    memset(described, 0, sizeof described);
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++) {
        const char *name = NULL;
        if (calls[id].kind != CALL_OPERATION ||
            cupti.cuptiGetCallbackName(DOMAIN_DRIVER_API, id, &name) != 0 || !name)
            continue;
        for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions && !described[id]; i++)
            if (strncmp(name, descriptions[i].name, strlen(descriptions[i].name)) == 0)
                described[id] = &descriptions[i];
    }
}

void outside_start(void) {
    describe_calls();
    lost = 0;
    on = true;
}

bool outside_on(void) { return on; }

/* -- what a call does --------------------------------------------------------------------------- */

static void describe_kernel(uint32_t cbid, const void *params, struct operation *out) {
    const char *from = params;
    if (calls[cbid].stream_offset < 0) { /* cuLaunchKernelEx: a configuration, then the function */
        memcpy(&out->function, from + sizeof(void *), sizeof out->function);
        from = *(const char *const *)params;
    } else {
        memcpy(&out->function, from, sizeof out->function);
        from += sizeof(void *);
    }
    memcpy(out->grid, from, sizeof out->grid);
    memcpy(out->block, from + sizeof out->grid, sizeof out->block);
    memcpy(&out->shared_mem_bytes, from + sizeof out->grid + sizeof out->block,
           sizeof out->shared_mem_bytes);
    walk_function((CUfunction)(uintptr_t)out->function);
}

static int64_t bytes_of(const struct description *of, const void *params) {
    const size_t *words = params;
    const size_t *flat; /* CUDA_MEMCPY2D: 14 words, then width and height */
    const MemcpyParams *copy;
    switch (of->amount) {
    case COUNT:
        return (int64_t)(words[2] * of->element_bytes);
    case ROWS:
        return (int64_t)(words[3] * words[4] * of->element_bytes);
    case COPY_2D:
        flat = *(const size_t *const *)params;
        return (int64_t)(flat[14] * flat[15]);
    case COPY_3D:
        copy = *(const MemcpyParams *const *)params;
        return (int64_t)(copy->width_bytes * copy->height * copy->depth);
    default:
        return -1;
    }
}

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 8, HOST_TO_HOST = 9 };

static uint32_t direction(bool from_device, bool to_device) {
    return from_device ? to_device ? DEVICE_TO_DEVICE : DEVICE_TO_HOST
                       : to_device ? HOST_TO_DEVICE : HOST_TO_HOST;
}

/* By the types of memory that a copy names: 1 host, 2 device; 0: of arrays it is not known. */
static uint32_t named_direction(int source, int destination) {
    bool known = source >= 1 && source <= 2 && destination >= 1 && destination <= 2;
    return known ? direction(source == 2, destination == 2) : 0;
}

static uint32_t copy_kind(const struct description *of, const void *params) {
    const uint64_t *words = params;
    const uint64_t *flat; /* CUDA_MEMCPY2D: types of memory in words 2 and 9 */
    const MemcpyParams *copy;
    if (of->copy_kind)
        return of->copy_kind;
    switch (of->amount) {
    case COUNT:
        return direction(device_of_address(words[1], -1) >= 0, device_of_address(words[0], -1) >= 0);
    case COPY_2D:
        flat = *(const uint64_t *const *)params;
        return named_direction((int)flat[2], (int)flat[9]);
    case COPY_3D:
        copy = *(const MemcpyParams *const *)params;
        return named_direction(copy->source.memory_type, copy->destination.memory_type);
    default:
        return 0;
    }
}

static struct operation describe(uint32_t cbid, const CUpti_CallbackData *data, CUstream stream) {
    const struct description *of = described[cbid];
    struct operation found = {
        .correlation = data->correlation_id, .type = of->type,
        .copy_kind = of->type == NODE_MEMCPY ? copy_kind(of, data->params) : 0,
        .bytes = of->type == NODE_KERNEL ? -1 : bytes_of(of, data->params),
        .stream_id = stream_id_of(data->context, stream, calls[cbid].per_thread)};
    if (of->type == NODE_KERNEL)
        describe_kernel(cbid, data->params, &found);
    return found;
}

/* -- what the events add -------------------------------------------------------------------------------- */

static bool is_long_row(CUcontext context, CUstream stream) {
    pthread_mutex_lock(&lock);
    if (row.context != context || row.stream != stream)
        row.kernels = 0;
    row.context = context;
    row.stream = stream;
    uint32_t before = row.kernels++;
    pthread_mutex_unlock(&lock);
    return before >= ROW_KERNELS && before < ROW_KERNELS + ROW_TRIES;
}

/* Before a kernel of the program. */
static void calibrate_on(CUcontext context, CUstream stream) {
    CUdevice device;
    if (!is_long_row(context, stream) || !cuda.StreamQuery || cuda.CtxGetDevice(&device) != 0 ||
        calibrate_outside_over(device) || !captures_kept_out(stream))
        return;
    if (cuda.StreamQuery(stream) == 0)
        calibrate_outside(context, device, &stream);
    captures_let_in();
}

/* At the end, for programs that launch few kernels or never leave the GPU idle. */
static void calibrate_left(void) {
    CUcontext popped;
    CUdevice device;
    for (int i = 0; i < MAX_CONTEXTS; i++) {
        if (!seen[i] || cuda.CtxPushCurrent(seen[i]) != 0)
            continue;
        if (cuda.CtxGetDevice(&device) == 0)
            calibrate_outside(seen[i], device, NULL);
        cuda.CtxPopCurrent(&popped);
    }
}

/* With the lock. */
static void see(CUcontext context) {
    for (int i = 0; i < MAX_CONTEXTS && seen[i] != context; i++)
        if (!seen[i]) {
            seen[i] = context;
            return;
        }
}

static void forget_rows(void) {
    memset(seen, 0, sizeof seen);
    row.context = NULL;
}

static void forget_row(CUcontext context) {
    pthread_mutex_lock(&lock);
    int kept = 0;
    for (int i = 0; i < MAX_CONTEXTS; i++)
        if (seen[i] != context)
            seen[kept++] = seen[i];
    while (kept < MAX_CONTEXTS)
        seen[kept++] = NULL;
    if (row.context == context)
        row.context = NULL;
    pthread_mutex_unlock(&lock);
}

/* -- calls ------------------------------------------------------------------------------------------ */

void outside_begins(const CUpti_CallbackData *data, uint32_t cbid) {
    if (slot.events) /* of a call whose end nobody was told of */
        pair_return(slot.events);
    slot.events = NULL;
    if (!described[cbid] || !window_eager_left() || activity_is_open() || paused())
        return;
    pthread_mutex_lock(&lock);
    bool full = count >= MAX_OUTSTANDING;
    lost += full;
    pthread_mutex_unlock(&lock);
    struct event_pair *events = full ? NULL : pair_take(data->context);
    if (!events)
        return;
    const struct thread_state *thread = this_thread();
    slot.stream = thread->call_has_stream ? thread->call_stream
                  : calls[cbid].per_thread ? CU_STREAM_PER_THREAD : NULL;
    if (described[cbid]->type == NODE_KERNEL)
        calibrate_on(data->context, slot.stream);
    if (record_outside_captures(events->start, slot.stream))
        slot.events = events;
    else
        pair_return(events);
}

static void keep(struct event_pair *events, const struct operation *operation, uint64_t called_ns,
                 uint64_t returned_ns) {
    struct outstanding *made = malloc(sizeof *made);
    if (!made) {
        pair_return(events);
        return;
    }
    *made = (struct outstanding){events, *operation, called_ns, returned_ns, NULL};
    pthread_mutex_lock(&lock);
    *end = made;
    end = &made->next;
    count++;
    see(events->context);
    pthread_mutex_unlock(&lock);
}

bool outside_ends(const CUpti_CallbackData *data, uint32_t cbid, uint64_t called_ns,
                  uint64_t returned_ns) {
    struct event_pair *events = slot.events;
    slot.events = NULL;
    if (!events)
        return false;
    bool made = data->return_value && *(int *)data->return_value == 0 && !this_thread()->created_node;
    if (!made || !record_outside_captures(events->end, slot.stream)) {
        pair_return(events);
        return false;
    }
    struct operation operation = describe(cbid, data, slot.stream);
    keep(events, &operation, called_ns, returned_ns);
    if (operation.type == NODE_KERNEL && behind_is(cbid, data->params))
        behind_keep(data->context, slot.stream);
    return true;
}

/* -- reading ---------------------------------------------------------------------------------------- */

static struct outstanding *take_all(void) {
    pthread_mutex_lock(&lock);
    struct outstanding *all = first;
    first = NULL;
    end = &first;
    count = 0;
    pthread_mutex_unlock(&lock);
    return all;
}

static void put_back(struct outstanding *list) {
    if (!list)
        return;
    struct outstanding **last = &list;
    uint32_t added = 0;
    for (; *last; last = &(*last)->next)
        added++;
    pthread_mutex_lock(&lock);
    *last = first;
    if (!first)
        end = last;
    first = list;
    count += added;
    pthread_mutex_unlock(&lock);
}

static void release(struct outstanding *list) {
    while (list) {
        struct outstanding *next = list->next;
        pair_return(list->events);
        free(list);
        list = next;
    }
}

/* Operations of one context that have finished, and the host's time at the first event of one. */
struct batch {
    CUcontext context;
    int device;
    CUevent at;
    uint64_t at_ns;
};

/* Place an operation's events on the host's clock; false: the driver does not say. */
static bool place(const struct batch *batch, struct outstanding *of) {
    int64_t from_ns, for_ns;
    of->operation.start_ns = of->operation.end_ns = 0;
    if (!event_distance(batch->at, of->events->start, &from_ns) ||
        !event_distance(of->events->start, of->events->end, &for_ns))
        return false;
    of->operation.device_id = batch->device;
    of->operation.start_ns = batch->at_ns + (uint64_t)from_ns;
    of->operation.end_ns = of->operation.start_ns + (uint64_t)for_ns;
    return true;
}

/* Let work start when its call had handed it over, and no earlier. */
static void start_after_call(struct outstanding *of, int64_t lag_ns) {
    struct operation *work = &of->operation;
    uint64_t least_ns = lag_ns < MOST_LAG_NS ? of->returned_ns + (uint64_t)lag_ns : of->called_ns;
    least_ns = least_ns > of->called_ns ? least_ns : of->called_ns;
    work->after_call = work->start_ns < least_ns;
    if (work->after_call)
        work->start_ns = least_ns;
    if (work->end_ns < work->start_ns)
        work->end_ns = work->start_ns;
}

static void write_out(const struct operation *operations, uint32_t number) {
    struct operations_record record = {number, 0};
    struct slice slices[] = {{&record, sizeof record}, {operations, number * sizeof *operations}};
    if (number)
        spool_append(RECORD_OPERATIONS, slices, 2);
}

/* With the context: write the operations down to `until`. */
static void read_batch(const struct batch *batch, struct outstanding *list, const struct outstanding *until) {
    static struct operation room[BATCH]; /* the flush thread's */
    uint32_t filled = 0;
    int64_t lag_ns = INT64_MAX;
    for (struct outstanding *of = list; of != until; of = of->next)
        if (place(batch, of)) {
            int64_t own_ns = (int64_t)(of->operation.start_ns - of->called_ns);
            lag_ns = own_ns < lag_ns ? own_ns : lag_ns;
        }
    for (struct outstanding *of = list; of != until; of = of->next) {
        if (!of->operation.end_ns) {
            lost++;
            continue;
        }
        start_after_call(of, lag_ns);
        room[filled++] = of->operation;
        if (filled == BATCH) {
            write_out(room, filled);
            filled = 0;
        }
    }
    write_out(room, filled);
}

/* With their context: the first ones that have finished; `*past`: the one after them. Returns the
 * last of them, or NULL. */
static struct outstanding *find_finished(struct outstanding *list, struct outstanding **past) {
    struct outstanding *last = NULL;
    for (*past = list; *past && (*past)->events->context == list->events->context; *past = (*past)->next) {
        if (cuda.EventQuery((*past)->events->end) != 0)
            break;
        last = *past;
    }
    return last;
}

/* Read the first operations that have finished. Returns those after them; `*stuck`: none had. */
static struct outstanding *read_first(struct outstanding *list, bool *stuck) {
    struct batch batch = {.context = list->events->context, .device = -1};
    CUcontext popped;
    struct outstanding *past = list;
    if (cuda.CtxPushCurrent(batch.context) != 0) {
        *stuck = true;
        return list;
    }
    struct outstanding *last = find_finished(list, &past);
    if (last && cuda.CtxGetDevice(&batch.device) == 0) {
        batch.at = last->events->start;
        batch.at_ns = calibrate_position(batch.context, batch.device, batch.at);
    }
    *stuck = !batch.at_ns;
    if (!*stuck)
        read_batch(&batch, list, past);
    cuda.CtxPopCurrent(&popped);
    if (*stuck)
        return list;
    last->next = NULL;
    release(list);
    return past;
}

bool outside_poll(void) {
    bool stuck = false;
    struct outstanding *list = take_all();
    while (list && !stuck)
        list = read_first(list, &stuck);
    put_back(list);
    return list != NULL;
}

/* -- ends --------------------------------------------------------------------------------------------- */

/* A call whose times are lost: its events go with their context, or are left to the driver. */
static void abandon_call(struct outstanding *of) {
    lost++;
    of->events->next = NULL;
    pairs_drop(&of->events, NULL);
    free(of);
}

void outside_forget(CUcontext context) {
    struct outstanding *all = take_all(), *kept = NULL, **to = &kept;
    while (all) {
        struct outstanding *next = all->next;
        if (all->events->context == context) {
            abandon_call(all);
        } else {
            *to = all;
            to = &all->next;
        }
        all = next;
    }
    *to = NULL;
    put_back(kept);
    forget_row(context);
}

/* After fork(): what is outstanding is the parent's. */
void outside_abandon(void) {
    first = NULL;
    end = &first;
    count = 0;
    slot.events = NULL;
    forget_rows();
    atomic_store(&on, false);
}

void outside_stop(void) {
    if (!on)
        return;
    on = false;
    for (struct outstanding *left = take_all(), *next; left; left = next) {
        next = left->next;
        abandon_call(left);
    }
    calibrate_left();
    forget_rows();
    if (lost)
        counter("eager_times_lost", (double)lost, "number",
                "measured: calls outside graphs whose events could not be recorded or read");
}
