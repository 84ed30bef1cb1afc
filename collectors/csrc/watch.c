/* Collecting without CUPTI: graphs that Python hands over, and their launches.
 *
 * A watched graph is walked when it is handed over. Launches of its executable that come through
 * gviz_launch_begin are counted and timed as a whole; some are made with an instrumented copy
 * (copy.c) in the executable's place. No launch is added and none is left out. A copy takes a
 * launch's place only where the result is the same:
 *   - the caller vouches that the executable was never updated (Python knows, see watching.py);
 *   - the launch follows the one before on the same stream. The driver runs launches of one
 *     executable one after another, whatever their streams; a copy is another executable, so
 *     the stream's order must do it, and after a copy another stream waits for its end event;
 *   - the events of the copy's last launch have been read: an event keeps its last time only.
 */
#include "native.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INSTANTIATE_UPLOAD 2u
#define INSTANTIATE_DEVICE_LAUNCH 4u
/* Copies are made in the launching call: 10 ms for 2,500 nodes; a larger graph holds it up. */
#define MAX_NODES_OF_A_COPY 20000u
/* All watched clones together; a node takes about 1 KB on the host and as much on the device. */
#define MAX_NODES_OF_ALL 400000u
#define CALIBRATION_ATTEMPTS 3
#define ALWAYS_TIMED_LAUNCHES 5
#define FIRST_CORRELATION 0x80000000u
enum { LAUNCH_NODE_LEVEL = 1, LAUNCH_EVENTS = 2, LAUNCH_LATE = 8, LAUNCH_COPY = 16 };

struct watch {
    pthread_mutex_t lock;
    CUcontext context;
    int device;
    CUgraphExec exec;
    uint64_t flags;
    uint32_t graph_id, exec_id;
    CUgraph clone;            /* uninstrumented; with one slice the copy is made out of it */
    struct level *level;      /* of the clone */
    size_t node_count, timeable_count, slices, slice_nodes;
    bool copies;              /* a copy may take a launch's place */
    bool refused;             /* and if not, it has been said why */
    bool late;
    struct copy *copy;
    size_t next_slice;
    bool in_flight;           /* the copy was launched and not read since */
    uint32_t correlation;     /* of that launch */
    uint32_t launches, recorded;
    bool due;
    uint64_t last_stream;     /* cuStreamGetId of the launch before */
};

struct launch_record { /* launch.c's */
    uint32_t exec_id, correlation;
    uint64_t start_ns, end_ns;
    uint32_t thread_id;
    int32_t result;
    uint32_t stream_id, flags;
    uint64_t token;
};

struct times_record {
    uint32_t correlation, exec_id, count, slices;
    int32_t device;
    uint32_t reserved;
    uint64_t position_ns; /* host time of the start event, 0: unknown */
    uint64_t extent_ns;   /* from the start event to the end event */
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct watch **table;
static int table_count, table_room, table_first; /* below `first`: of earlier recordings */
static pthread_mutex_t walk_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int collector;
static int wanted;
static uint32_t slice_limit = 2000; /* nodes with events at once */
static _Atomic uint32_t next_correlation = FIRST_CORRELATION;
static _Atomic uint64_t copied_nodes, copy_launches, copy_unread, copies_made, copies_ns;
static _Atomic int calibration_attempts;
static __thread struct {
    struct watch *watch;
    struct launch_record record;
    void *event_pair;
    CUstream stream;
} slot;

/* -- small things -------------------------------------------------------------------------------- */

bool watching(void) {
    return atomic_load_explicit(&collector, memory_order_acquire) >= COLLECTOR_EVENTS &&
           recording();
}

bool watch_wanted(void) { return wanted >= COLLECTOR_EVENTS; }

bool watch_may_follow(void) { return wanted == COLLECTOR_AUTO; }

static struct watch *find(int id) {
    pthread_mutex_lock(&table_lock);
    struct watch *watch = id > table_first && id <= table_count ? table[id - 1] : NULL;
    pthread_mutex_unlock(&table_lock);
    return watch;
}

/* Ids are from 1. A watch stays allocated: a launch may hold its address. */
static int add(struct watch *watch) {
    int id = 0;
    pthread_mutex_lock(&table_lock);
    if (table_count == table_room) {
        int room = table_room ? 2 * table_room : 64;
        struct watch **grown = realloc(table, (size_t)room * sizeof *grown);
        table = grown ? grown : table;
        table_room = grown ? room : table_room;
    }
    if (table_count < table_room) {
        table[table_count] = watch;
        id = ++table_count;
    }
    pthread_mutex_unlock(&table_lock);
    return id;
}

/* No copy may take this graph's place; its reader is told why. */
static void refuse(struct watch *watch, const char *why) {
    watch->copies = false;
    if (watch->refused)
        return;
    watch->refused = true;
    uint32_t ids[] = {watch->graph_id, watch->exec_id};
    struct slice slices[] = {{ids, sizeof ids}, {why, strlen(why)}};
    spool_append(RECORD_REFUSED, slices, 2);
}

static bool can_copy(void) {
    return cuda.GraphClone && cuda.GraphDestroy && cuda.GraphNodeFindInClone &&
           cuda.GraphAddEventRecordNode && cuda.GraphInstantiate && cuda.GraphExecDestroy &&
           cuda.GraphExecGetFlags && cuda.GraphLaunch && cuda.StreamGetId &&
           cuda.StreamWaitEvent && cuda.EventElapsedTime &&
           (cuda.GraphAddDependencies || cuda.GraphAddDependenciesOld) &&
           (cuda.GraphRemoveDependencies || cuda.GraphRemoveDependenciesOld);
}

/* -- handing a graph over ---------------------------------------------------------------------------- */

static void walk(const struct level *level, uint32_t exec_id) {
    pthread_mutex_lock(&walk_lock);
    level_learn(level);
    walk_graph(level->graph, exec_id);
    ids_forget();
    pthread_mutex_unlock(&walk_lock);
}

static size_t count_timeable(const struct level *level) {
    size_t count = 0;
    for (size_t i = 0; i < level->count; i++) {
        count += level->timeable[i];
        if (level->children[i])
            count += count_timeable(level->children[i]);
    }
    return count;
}

static const char *obstacle(const struct watch *watch, const struct level *level) {
    if (!can_copy())
        return "the driver lacks functions that copying a graph needs; CUDA 12.3 has them";
    if (watch->node_count > MAX_NODES_OF_A_COPY)
        return "it has more than 20,000 nodes, and copying it would hold up the program";
    if (atomic_load(&copied_nodes) + watch->node_count > MAX_NODES_OF_ALL)
        return "the graphs watched have more than 400,000 nodes already";
    return level_obstacle(level, watch->device);
}

/* Clone the graph, for copies to come. */
static void prepare(struct watch *watch, const struct level *level) {
    const char *why = obstacle(watch, level);
    if (why) {
        refuse(watch, why);
        return;
    }
    CUresult result = cuda.GraphClone(&watch->clone, level->graph);
    if (result != 0) {
        char text[80];
        snprintf(text, sizeof text, "the driver does not clone it (cuGraphClone returned %d)",
                 result);
        watch->clone = NULL;
        refuse(watch, text);
        return;
    }
    watch->level = level_in_clone(level, watch->clone, true);
    if (!watch->level) {
        cuda.GraphDestroy(watch->clone);
        watch->clone = NULL;
        refuse(watch, "its clone has other nodes or launch attributes");
        return;
    }
    atomic_fetch_add(&copied_nodes, watch->node_count);
    watch->timeable_count = count_timeable(level);
    watch->slices = (watch->timeable_count + slice_limit - 1) / slice_limit;
    if (watch->slices == 0)
        refuse(watch, "it has no nodes that events can time");
    else
        watch->slice_nodes = (watch->timeable_count + watch->slices - 1) / watch->slices;
}

static struct watch *make(void) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    pthread_mutex_init(&watch->lock, NULL);
    watch->device = -1;
    if (cuda.CtxGetCurrent(&watch->context) != 0 || !watch->context ||
        cuda.CtxGetDevice(&watch->device) != 0) {
        free(watch);
        return NULL;
    }
    context_add(watch->context);
    return watch;
}

/* Watch a graph; returns its id, or 0. `why_not`: why no copy may take its place, NULL: it may. */
GVIZ_EXPORT int gviz_watch_graph(CUgraph graph, const char *why_not) {
    struct watch *watch = watching() && graph ? make() : NULL;
    if (!watch)
        return 0;
    struct level *level = level_read(graph, 0);
    if (!level) {
        free(watch);
        return 0;
    }
    watch->graph_id = level->graph_id;
    watch->exec_id = ids_next();
    watch->node_count = level_nodes(level);
    watch->copies = true;
    if (atomic_load(&collector) != COLLECTOR_EVENTS)
        refuse(watch, "the topology collector takes no node times");
    else if (why_not)
        refuse(watch, why_not);
    else
        prepare(watch, level);
    walk(watch->level ? watch->level : level, watch->exec_id);
    level_free(level);
    return add(watch);
}

/* The same for the graph that a stream is capturing, just before its capture ends. */
GVIZ_EXPORT int gviz_watch_capture(CUstream stream) {
    CUgraph graph = NULL;
    int status = 0;
    uint64_t id;
    CUresult result = 1;
    if (!watching())
        return 0;
    if (cuda.StreamGetCaptureInfo)
        result = cuda.StreamGetCaptureInfo(stream, &status, &id, &graph, NULL, NULL, NULL);
    else if (cuda.StreamGetCaptureInfoOld)
        result = cuda.StreamGetCaptureInfoOld(stream, &status, &id, &graph, NULL, NULL);
    return result == 0 && status == 1 ? gviz_watch_graph(graph, NULL) : 0;
}

/* Watch an executable whose graph is not known any more. */
GVIZ_EXPORT int gviz_watch_late(CUgraphExec exec) {
    struct watch *watch = watching() ? make() : NULL;
    if (!watch)
        return 0;
    watch->exec = exec;
    watch->exec_id = launch_exec_id(exec);
    watch->late = true;
    return add(watch);
}

static bool calibrated(struct watch *watch) {
    if (calibrate_known(watch->device))
        return true;
    int attempt = atomic_fetch_add(&calibration_attempts, 1);
    if (attempt < CALIBRATION_ATTEMPTS)
        return calibrate(watch->context, watch->device, attempt == CALIBRATION_ATTEMPTS - 1);
    refuse(watch, "the bias of events could not be measured on this GPU (is it busy?)");
    return false;
}

/* The watched graph was instantiated as this executable. Nothing runs on the GPU right after a
 * capture, as a rule, so this is the moment to calibrate. */
GVIZ_EXPORT void gviz_watch_exec(int id, CUgraphExec exec) {
    struct watch *watch = find(id);
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->exec = exec;
    if (watch->copies && cuda.GraphExecGetFlags(exec, &watch->flags) != 0)
        refuse(watch, "its instantiation flags cannot be read");
    if (watch->flags & INSTANTIATE_DEVICE_LAUNCH)
        refuse(watch, "it is instantiated for launches from the device");
    watch->flags &= ~(uint64_t)INSTANTIATE_UPLOAD; /* needs a stream; the launch uploads */
    if (watch->copies && options.policy_count + (options.policy == POLICY_ALL))
        calibrated(watch);
    pthread_mutex_unlock(&watch->lock);
}

GVIZ_EXPORT void gviz_watch_refuse(int id, const char *why) {
    struct watch *watch = find(id);
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    refuse(watch, why);
    pthread_mutex_unlock(&watch->lock);
}

/* The ids under which the spool knows a watched graph and its executable. */
GVIZ_EXPORT int gviz_watch_ids(int id, uint32_t *graph_id, uint32_t *exec_id) {
    struct watch *watch = find(id);
    if (!watch)
        return -1;
    *graph_id = watch->graph_id;
    *exec_id = watch->exec_id;
    return 0;
}

/* -- reading ------------------------------------------------------------------------------------------- */

static void write_times(struct watch *watch, const struct node_time *times, uint64_t extent_ns) {
    struct times_record record = {
        .correlation = watch->correlation, .exec_id = watch->exec_id,
        .count = (uint32_t)watch->copy->timed_count, .slices = (uint32_t)watch->slices,
        .device = watch->device, .extent_ns = extent_ns,
        .position_ns = calibrate_position(watch->context, watch->device, watch->copy->start)};
    struct slice slices[] = {{&record, sizeof record}, {times, record.count * sizeof *times}};
    spool_append(RECORD_NODE_TIMES, slices, 2);
}

/* Read the copy's events if its launch has finished. With the watch's lock and its context. */
static void collect(struct watch *watch) {
    if (!watch->in_flight || watch->copy->lost || !copy_finished(watch->copy))
        return;
    struct node_time *times = calloc(watch->copy->timed_count + 1, sizeof *times);
    uint64_t extent_ns = 0;
    if (times && copy_read(watch->copy, times, &extent_ns))
        write_times(watch, times, extent_ns);
    else
        atomic_fetch_add(&copy_unread, 1);
    free(times);
    watch->in_flight = false;
}

/* On the flush thread. The `last` time nothing launches any more. */
void watch_poll(bool last) {
    for (int id = table_first + 1;; id++) {
        struct watch *watch = find(id);
        CUcontext popped;
        if (!watch)
            break;
        if (last)
            pthread_mutex_lock(&watch->lock);
        else if (pthread_mutex_trylock(&watch->lock) != 0)
            continue;
        if (watch->in_flight && cuda.CtxPushCurrent(watch->context) == 0) {
            collect(watch);
            cuda.CtxPopCurrent(&popped);
        }
        pthread_mutex_unlock(&watch->lock);
    }
}

/* -- launching ------------------------------------------------------------------------------------------- */

/* Make the copy of the next slice. With the watch's lock and its context. */
static bool make_copy(struct watch *watch) {
    if (watch->copy && watch->slices == 1)
        return true;
    uint64_t begin_ns = now_ns();
    CUgraph graph = watch->clone;
    struct level *level = watch->level;
    size_t first = watch->next_slice * watch->slice_nodes;
    if (watch->slices == 1) {
        watch->clone = NULL;
        watch->level = NULL;
    } else {
        copy_free(watch->copy);
        watch->copy = NULL;
        if (cuda.GraphClone(&graph, watch->clone) != 0)
            return false;
        level = level_in_clone(watch->level, graph, false);
        if (!level) {
            cuda.GraphDestroy(graph);
            return false;
        }
    }
    size_t last = first + watch->slice_nodes;
    last = last < watch->timeable_count ? last : watch->timeable_count;
    watch->copy = copy_make(graph, level, watch->flags, first, last);
    level_free(level);
    atomic_fetch_add(&copies_made, 1);
    atomic_fetch_add(&copies_ns, now_ns() - begin_ns);
    return watch->copy != NULL;
}

static bool due(struct watch *watch, uint32_t earlier) {
    if (options.policy == POLICY_ALL)
        return true;
    if (options.policy == POLICY_EVERY) {
        watch->due = watch->due || earlier % options.policy_count == 0;
        return watch->due;
    }
    /* Each node is to be timed so often. */
    return watch->recorded < options.policy_count * watch->slices;
}

/* Launch the copy, if it may take this launch's place. With the watch's lock and its context.
 * The first launch is always the original's: it tells what the copy is compared with. */
static bool launch_copy(struct watch *watch, CUstream stream, uint64_t stream_id,
                        uint32_t earlier, struct launch_record *record) {
    if (!watch->copies || !due(watch, earlier) || watch->in_flight || earlier == 0 ||
        stream_id != watch->last_stream || !calibrated(watch))
        return false;
    if (!make_copy(watch)) {
        refuse(watch, copy_error()[0] ? copy_error() : "its copy could not be made");
        return false;
    }
    record->start_ns = now_ns();
    if (copy_launch(watch->copy, stream) != 0) {
        refuse(watch, copy_error());
        return false;
    }
    record->end_ns = now_ns();
    record->flags |= LAUNCH_NODE_LEVEL | LAUNCH_COPY;
    watch->in_flight = true;
    watch->correlation = record->correlation;
    watch->recorded++;
    watch->due = false;
    watch->next_slice = (watch->next_slice + 1) % watch->slices;
    atomic_fetch_add(&copy_launches, 1);
    if (watch->copy->lost)
        refuse(watch, copy_error());
    return true;
}

/* Which stream this is: handles are used again, and CU_STREAM_PER_THREAD is one a thread. */
static bool identify(CUstream stream, uint64_t *id) {
    unsigned long long found = 0;
    int status = 0;
    /* No event of ours may slip into a capture; a launch into one is the program's affair. */
    if (cuda.StreamIsCapturing(stream, &status) != 0 || status != 0)
        return false;
    if (!cuda.StreamGetId || cuda.StreamGetId(stream, &found) != 0)
        found = (uint64_t)(uintptr_t)stream ^ (uint64_t)this_thread()->thread_id << 48;
    *id = found;
    return true;
}

/* Called just before a launch; with 1 the launch has been made, with 0 it is the caller's. */
GVIZ_EXPORT int gviz_launch_begin(int id, CUstream stream) {
    memset(&slot, 0, sizeof slot);
    struct watch *watch = watching() ? find(id) : NULL;
    CUcontext popped;
    uint64_t stream_id;
    if (!watch || cuda.CtxPushCurrent(watch->context) != 0)
        return 0;
    if (!identify(stream, &stream_id)) {
        cuda.CtxPopCurrent(&popped);
        return 0;
    }
    pthread_mutex_lock(&watch->lock);
    collect(watch);
    uint32_t earlier = watch->launches++;
    struct launch_record record = {
        .exec_id = watch->exec_id, .correlation = atomic_fetch_add(&next_correlation, 1),
        .thread_id = this_thread()->thread_id, .stream_id = (uint32_t)stream_id,
        .flags = watch->late ? LAUNCH_LATE : 0};
    bool copied = launch_copy(watch, stream, stream_id, earlier, &record);
    if (!copied && watch->in_flight && stream_id != watch->last_stream)
        cuda.StreamWaitEvent(stream, watch->copy->end, 0);
    watch->last_stream = stream_id;
    pthread_mutex_unlock(&watch->lock);
    if (copied) {
        spool_append_one(RECORD_LAUNCH, &record, sizeof record);
    } else {
        if (earlier < ALWAYS_TIMED_LAUNCHES || events_wanted(now_ns()))
            slot.event_pair = events_begin(watch->context, stream, &record.token);
        slot.watch = watch;
        slot.stream = stream;
        record.flags |= slot.event_pair ? LAUNCH_EVENTS : 0;
        record.start_ns = now_ns();
        slot.record = record;
    }
    cuda.CtxPopCurrent(&popped);
    return copied;
}

/* Called after the caller's own launch, with its CUresult. */
GVIZ_EXPORT void gviz_launch_end(int result) {
    CUcontext popped;
    struct watch *watch = slot.watch;
    if (!watch)
        return;
    uint64_t end_ns = now_ns();
    slot.watch = NULL;
    if (slot.event_pair && cuda.CtxPushCurrent(watch->context) == 0) {
        events_end(slot.event_pair, slot.stream, result == 0);
        cuda.CtxPopCurrent(&popped);
    }
    slot.record.end_ns = end_ns;
    slot.record.result = result;
    spool_append_one(RECORD_LAUNCH, &slot.record, sizeof slot.record);
}

/* Launch an executable whose launches nobody else makes; returns the CUresult. */
GVIZ_EXPORT int gviz_launch(int id, CUgraphExec exec, CUstream stream) {
    char why[400];
    if (!cuda.GraphLaunch && (cuda_load(why, sizeof why) != 0 || !cuda.GraphLaunch))
        return 999; /* CUDA_ERROR_UNKNOWN */
    if (gviz_launch_begin(id, stream))
        return 0;
    int result = cuda.GraphLaunch(exec, stream);
    gviz_launch_end(result);
    return result;
}

/* -- forgetting a graph ----------------------------------------------------------------------------------- */

static void release(struct watch *watch) {
    CUcontext popped;
    if (cuda.CtxPushCurrent(watch->context) != 0)
        return;
    int mode = relax_capture(CU_CAPTURE_MODE_RELAXED);
    if (watch->level)
        atomic_fetch_sub(&copied_nodes, watch->node_count);
    copy_free(watch->copy);
    if (watch->clone)
        cuda.GraphDestroy(watch->clone);
    level_free(watch->level);
    watch->copy = NULL;
    watch->clone = NULL;
    watch->level = NULL;
    relax_capture(mode);
    cuda.CtxPopCurrent(&popped);
}

/* The executable is about to be destroyed, or is gone. */
GVIZ_EXPORT void gviz_unwatch(int id) {
    struct watch *watch = find(id);
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->copies = false;
    bool busy = false;
    if (watch->in_flight && cuda.CtxPushCurrent(watch->context) == 0) {
        CUcontext popped;
        collect(watch);
        busy = watch->in_flight;
        cuda.CtxPopCurrent(&popped);
    }
    if (!busy) /* else at the end, once its events have been read */
        release(watch);
    pthread_mutex_unlock(&watch->lock);
}

/* After fork(): what is watched, and a lock somebody held, are the parent's. */
void watch_abandon(void) {
    pthread_mutex_init(&table_lock, NULL);
    table_first = table_count;
}

/* -- start and stop ------------------------------------------------------------------------------------------ */

/* What the next recording is to measure with. */
GVIZ_EXPORT void gviz_want_collector(int which) { wanted = which; }

/* What measures now: 0 nothing, else enum collector. */
GVIZ_EXPORT int gviz_collector(void) {
    if (!recording())
        return 0;
    int now = atomic_load(&collector);
    return now >= COLLECTOR_EVENTS ? now : COLLECTOR_CUPTI;
}

/* For tests: graphs of more nodes are timed slice by slice. */
GVIZ_EXPORT void gviz_limit_slice(uint32_t nodes) { slice_limit = nodes ? nodes : 1; }

/* With the control lock, the driver's functions loaded. `fresh`: nothing was recorded before. */
void watch_start(const char *why, bool fresh) {
    int which = wanted == COLLECTOR_TOPOLOGY || !can_copy() ? COLLECTOR_TOPOLOGY
                                                            : COLLECTOR_EVENTS;
    ids_take_over();
    if (fresh) {
        walk_reset();
        launch_reset();
        contexts_forget();
        int driver = 0;
        cuda.DriverGetVersion(&driver);
        counter("driver_version", driver, "number", "measured: cuDriverGetVersion");
        counter("attached_ns", (double)now_ns(), "ns", "measured: CLOCK_REALTIME");
    }
    atomic_store(&calibration_attempts, 0);
    atomic_store(&copied_nodes, 0);
    atomic_store(&copy_launches, 0);
    atomic_store(&copy_unread, 0);
    atomic_store(&copies_made, 0);
    atomic_store(&copies_ns, 0);
    const char *name = which == COLLECTOR_EVENTS ? "events" : "topology";
    struct slice slices[] = {{name, strlen(name)}, {"\n", 1}, {why, strlen(why)}};
    spool_append(RECORD_COLLECTOR, slices, 3);
    atomic_store_explicit(&collector, which, memory_order_release);
    atomic_store_explicit(&run_state, STATE_RECORDING, memory_order_release);
    if (context_at(0))
        flush_start();
}

/* After the last poll. What is still in flight is left to the driver: its events may not be
 * destroyed under it. */
void watch_stop(void) {
    if (atomic_exchange(&collector, COLLECTOR_AUTO) < COLLECTOR_EVENTS)
        return;
    uint64_t lost = atomic_load(&copy_unread);
    for (int id = table_first + 1; id <= table_count; id++) {
        struct watch *watch = find(id);
        pthread_mutex_lock(&watch->lock);
        watch->copies = false;
        lost += watch->in_flight;
        if (!watch->in_flight)
            release(watch);
        pthread_mutex_unlock(&watch->lock);
    }
    table_first = table_count;
    if (!lost)
        calibrate_reset();
    counter("launches_by_copy", (double)atomic_load(&copy_launches), "number",
            "measured: launches that an instrumented copy made in the executable's place");
    counter("copy_times_lost", (double)lost, "number",
            "measured: such launches whose events could not be read");
    counter("copies_made", (double)atomic_load(&copies_made), "number",
            "measured: instrumented copies built");
    counter("copies_ns", (double)atomic_load(&copies_ns), "ns",
            "measured: host time of building them, total, inside launch calls");
}
