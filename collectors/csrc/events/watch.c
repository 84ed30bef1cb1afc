/* Collecting without CUPTI: graphs that Python hands over, and their launches.
 *
 * A watched graph is walked when it is handed over. Launches of its executable that come through
 * gviz_launch_begin are counted and timed as a whole; some are made with an instrumented copy
 * (copy.c) in the executable's place. No launch is added and none is left out. A copy takes a
 * launch's place only where the result is the same:
 *   - the executable is what it was: the caller vouches for it (Python knows, see watching.py), or
 *     its updates are seen and made in the copy too (follow.c);
 *   - the launch follows the one before on the same stream. The driver runs launches of one
 *     executable one after another, whatever their streams; a copy is another executable, so
 *     the stream's order must do it, and after a copy another stream waits for its end event;
 *   - no other thread is just about to launch the executable;
 *   - the events of the copy's last launch have been read: an event keeps its last time only.
 */
#include "calls/calls.h"
#include "events/parts.h"
#include "graph/graph.h"
#include "ids/ids.h"
#include "life/life.h"
#include "spool/spool.h"
#include "window/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INSTANTIATE_UPLOAD 2u
#define INSTANTIATE_DEVICE_LAUNCH 4u
/* The clone that copies come from is made in the call that instantiates; a larger graph holds it up. */
#define MAX_NODES_OF_A_COPY 20000u
/* All watched clones together; a node takes about 1 KB on the host and as much on the device. */
#define MAX_NODES_OF_ALL 400000u
/* A loaded machine spoils some: the copier tries again, each time after twice as long. */
#define CALIBRATION_ATTEMPTS 10
#define CALIBRATION_REST_NS 10000000ll

GVIZ_LOCK(table_lock);
static struct watch **table;
static int table_count, table_room, table_first; /* below `first`: of earlier recordings */
GVIZ_LOCK(walk_lock);
static _Atomic int collector;
static int wanted;
static uint32_t slice_limit = 2000; /* nodes with events at once */
static _Atomic uint64_t copied_nodes;
struct watch_counts watch_counts;
static _Atomic int calibrations_failed;
static _Atomic int64_t calibration_due_ns; /* of the monotonic clock */
static _Atomic bool standing_in;

/* -- small things -------------------------------------------------------------------------------- */

bool watching(void) {
    return atomic_load_explicit(&collector, memory_order_acquire) >= COLLECTOR_EVENTS &&
           recording();
}

bool watch_wanted(void) { return wanted >= COLLECTOR_EVENTS; }

bool watch_without_times(void) { return wanted == COLLECTOR_TOPOLOGY; }

bool watch_may_follow(void) { return wanted == COLLECTOR_AUTO; }

struct watch *watch_find(int id) {
    pthread_mutex_lock(&table_lock);
    struct watch *watch = id > table_first && id <= table_count ? table[id - 1] : NULL;
    pthread_mutex_unlock(&table_lock);
    return watch;
}

struct watch *watch_next(int *at) {
    *at = *at < table_first ? table_first + 1 : *at + 1;
    return watch_find(*at);
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

/* Nothing is tried of it, and no values are read. */
static void refuse_slices(struct watch *watch, const char *why) {
    struct trial_refused_record trial = {watch->graph_id, watch->exec_id, TRIAL_ANY, 0};
    struct values_refused_record values = {watch->graph_id, watch->exec_id};
    struct slice of_trial[] = {{&trial, sizeof trial}, {why, strlen(why)}};
    struct slice of_values[] = {{&values, sizeof values}, {why, strlen(why)}};
    watch->untimed = true;
    if (options.trial_ns)
        spool_append(RECORD_TRIAL_REFUSED, of_trial, 2);
    if (options.values_ns)
        spool_append(RECORD_VALUES_REFUSED, of_values, 2);
}

/* No copy may take this graph's place; a note records why. */
void watch_refuse(struct watch *watch, const char *why) {
    watch->copies = false;
    if (lasting_on()) {
        lasting_refused(watch, why);
        return;
    }
    if (watch->refused || visits_on()) /* windows of CUPTI time its nodes */
        return;
    watch->refused = true;
    struct refused_record record = {watch->graph_id, watch->exec_id};
    struct slice slices[] = {{&record, sizeof record}, {why, strlen(why)}};
    spool_append(RECORD_REFUSED, slices, 2);
    if (!watch->extent_ns) /* once a copy was timed, they say it of what they have begun */
        refuse_slices(watch, why);
}

bool watch_can_copy(void) {
    return cuda.GraphClone && cuda.GraphDestroy && cuda.GraphNodeFindInClone &&
           cuda.GraphAddEventRecordNode && cuda.GraphInstantiate && cuda.GraphExecDestroy &&
           cuda.GraphExecGetFlags && cuda.GraphLaunch && cuda.StreamGetId &&
           cuda.StreamWaitEvent && cuda.EventElapsedTime &&
           (cuda.GraphAddDependencies || cuda.GraphAddDependenciesOld) &&
           (cuda.GraphRemoveDependencies || cuda.GraphRemoveDependenciesOld);
}

/* -- handing a graph over ---------------------------------------------------------------------------- */

/* Read a graph and write what it is made of. Numbers of its nodes hold no longer than that: handles
 * are used again, and who uses them is not seen. */
static struct level *read_handed(CUgraph graph, uint32_t exec_id) {
    pthread_mutex_lock(&walk_lock);
    ids_forget();
    struct level *level = level_read(graph, 0);
    if (level)
        walk_graph(graph, exec_id);
    ids_forget();
    pthread_mutex_unlock(&walk_lock);
    return level;
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
    if (!watch_can_copy())
        return "the driver lacks functions that copying a graph needs; CUDA 12.3 has them";
    if (watch->node_count > MAX_NODES_OF_A_COPY)
        return "it has more than 20,000 nodes, and cloning it would hold up the program";
    if (atomic_load(&copied_nodes) + watch->node_count > MAX_NODES_OF_ALL)
        return "the graphs watched have more than 400,000 nodes already";
    return level_obstacle(level, watch->device);
}

/* Clone the graph, for copies to come. */
static void prepare(struct watch *watch, const struct level *level) {
    const char *why = obstacle(watch, level);
    if (why) {
        watch_refuse(watch, why);
        return;
    }
    CUresult result = cuda.GraphClone(&watch->clone, level->graph);
    if (result != 0) {
        char text[80];
        snprintf(text, sizeof text, "the driver does not clone it (cuGraphClone returned %d)",
                 result);
        watch->clone = NULL;
        watch_refuse(watch, text);
        return;
    }
    watch->level = level_in_clone(level, watch->clone, true);
    if (!watch->level) {
        cuda.GraphDestroy(watch->clone);
        watch->clone = NULL;
        watch_refuse(watch, "its clone has other nodes or launch attributes");
        return;
    }
    if (watch->for_gate)
        watch->followed = followed_make(level, watch->level);
    watch->counted = true;
    atomic_fetch_add(&copied_nodes, watch->node_count);
    watch->timeable_count = count_timeable(level);
    watch->slices = (watch->timeable_count + slice_limit - 1) / slice_limit;
    if (watch->slices == 0)
        watch_refuse(watch, "it has no nodes that events can time");
    else
        watch->slice_nodes = (watch->timeable_count + watch->slices - 1) / watch->slices;
}

static struct watch *make(void) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    pthread_mutex_init(&watch->lock, NULL);
    pthread_mutex_init(&watch->clone_lock, NULL);
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
    watch->exec_id = ids_next_exec();
    struct level *level = read_handed(graph, watch->exec_id);
    if (!level) {
        free(watch);
        return 0;
    }
    watch->graph_id = level->graph_id;
    watch->node_count = level_nodes(level);
    watch->copies = true;
    if (atomic_load(&collector) != COLLECTOR_EVENTS)
        watch_refuse(watch, "the topology collector takes no node times");
    else if (why_not)
        watch_refuse(watch, why_not);
    else
        prepare(watch, level);
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
    if (result != 0 || status != 1 /* CU_STREAM_CAPTURE_STATUS_ACTIVE */)
        return 0;
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED); /* nothing done here may break it */
    int watch = gviz_watch_graph(graph, NULL);
    exchange_capture_mode(mode);
    return watch;
}

/* Watch an executable whose graph is not known any more. */
GVIZ_EXPORT int gviz_watch_late(CUgraphExec exec) {
    struct watch *watch = watching() ? make() : NULL;
    if (!watch)
        return 0;
    watch->exec = exec;
    watch->exec_id = executable_id(exec);
    watch->late = true;
    return add(watch);
}

static bool wants_copies(void) { return options.policy_count || options.policy == POLICY_ALL; }

bool watch_calibrated(struct watch *watch, uint64_t *again_ns) {
    *again_ns = 0;
    if (calibrate_known(watch->device))
        return true;
    int failed = atomic_load(&calibrations_failed);
    if (failed == CALIBRATION_ATTEMPTS)
        return false;
    int64_t rest_ns = atomic_load(&calibration_due_ns) - monotonic_ns();
    bool busy = false;
    if (rest_ns <= 0 && calibrate(watch->context, watch->device, failed, &busy))
        return true;
    if (busy) {
        rest_ns = CALIBRATION_REST_NS;
    } else if (rest_ns <= 0) {
        rest_ns = CALIBRATION_REST_NS << failed;
        atomic_store(&calibration_due_ns, monotonic_ns() + rest_ns);
        atomic_store(&calibrations_failed, failed + 1);
    }
    *again_ns = (uint64_t)rest_ns;
    return false;
}

/* The watched graph was instantiated as this executable. Nothing runs on the GPU right after a
 * capture, as a rule, so this is the moment to calibrate. */
static void instantiated(struct watch *watch, CUgraphExec exec) {
    pthread_mutex_lock(&watch->lock);
    watch->exec = exec;
    if (watch->copies && cuda.GraphExecGetFlags(exec, &watch->flags) != 0)
        watch_refuse(watch, "its instantiation flags cannot be read");
    if (watch->flags & INSTANTIATE_DEVICE_LAUNCH)
        watch_refuse(watch, "it is instantiated for launches from the device");
    if (watch->refused)
        copier_call(watch); /* to release what copies need */
    watch->flags &= ~(uint64_t)INSTANTIATE_UPLOAD; /* needs a stream; the launch uploads */
    if (watch->copies && wants_copies() && !visits_on() && !lasting_on()) {
        uint64_t again_ns;
        if (!atomic_load(&calibrations_failed))
            watch_calibrated(watch, &again_ns); /* else the copier tries again */
        if ((watch->wanted = !paused()))
            copier_call(watch);
    }
    pthread_mutex_unlock(&watch->lock);
}

GVIZ_EXPORT void gviz_watch_exec(int id, CUgraphExec exec) {
    struct watch *watch = watch_find(id);
    if (watch)
        instantiated(watch, exec);
}

GVIZ_EXPORT void gviz_watch_refuse(int id, const char *why) {
    struct watch *watch = watch_find(id);
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    if (watch->copies)
        copier_call(watch); /* to release what they need */
    watch_refuse(watch, why);
    pthread_mutex_unlock(&watch->lock);
}

/* The ids under which the spool knows a watched graph and its executable. */
GVIZ_EXPORT int gviz_watch_ids(int id, uint32_t *graph_id, uint32_t *exec_id) {
    struct watch *watch = watch_find(id);
    if (!watch)
        return -1;
    *graph_id = watch->graph_id;
    *exec_id = watch->exec_id;
    return 0;
}

/* -- forgetting a graph ----------------------------------------------------------------------------------- */

void watch_release(struct watch *watch) {
    CUcontext popped;
    pthread_mutex_lock(&watch->lock);
    pthread_mutex_lock(&watch->clone_lock);
    struct watch taken = {.copy = watch->copy, .clone = watch->clone, .level = watch->level,
                          .followed = watch->followed};
    watch->copies = watch->wanted = false;
    lasting_over(watch);
    watch->copy = NULL;
    watch->clone = NULL;
    watch->level = NULL;
    watch->followed = NULL;
    if (watch->counted)
        atomic_fetch_sub(&copied_nodes, watch->node_count);
    watch->counted = false;
    pthread_mutex_unlock(&watch->clone_lock);
    pthread_mutex_unlock(&watch->lock);
    level_free(taken.level);
    followed_free(taken.followed);
    if ((!taken.copy && !taken.clone) || cuda.CtxPushCurrent(watch->context) != 0)
        return;
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    copy_free(taken.copy);
    if (taken.clone)
        cuda.GraphDestroy(taken.clone);
    exchange_capture_mode(mode);
    cuda.CtxPopCurrent(&popped);
}

/* The executable is about to be destroyed, or is gone. */
GVIZ_EXPORT void gviz_unwatch(int id) {
    struct watch *watch = watch_find(id);
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->copies = false;
    watch->ended = true;
    watch->exec = NULL;
    copier_call(watch);
    pthread_mutex_unlock(&watch->lock);
}

/* -- executables that the gate tells of ------------------------------------------------------------------- */

/* Its graph is still as it was instantiated. */
void watch_instantiated(CUgraph graph, CUgraphExec exec) {
    if (!atomic_load(&standing_in) || !(wants_copies() || lasting_on()) || !executable_is_wanted(exec))
        return;
    uint64_t begin_ns = now_ns();
    struct level *level = level_read(graph, 0);
    struct watch *watch = level ? make() : NULL;
    if (watch) {
        watch->for_gate = watch->copies = true;
        watch->graph_id = level->graph_id;
        watch->exec_id = executable_id(exec);
        watch->node_count = level_nodes(level);
        prepare(watch, level);
        atomic_fetch_add(&watch_counts.cloned_ns, now_ns() - begin_ns);
        int id = watch->copies ? add(watch) : 0;
        if (!id) {
            watch_release(watch);
            free(watch);
        } else {
            instantiated(watch, exec);
            executable_watch(exec, id);
            if (lasting_on())
                lasting_begin(watch, id);
        }
    }
    level_free(level);
}

void watch_destroyed(CUgraphExec exec) {
    int id = atomic_load(&standing_in) ? executable_watch_of(exec) : 0;
    if (id)
        gviz_unwatch(id);
}

/* What copies have in it goes with it. */
void watch_context_ends(CUcontext context) {
    int at = 0;
    for (struct watch *watch; (watch = watch_next(&at));) {
        if (watch->context != context)
            continue;
        pthread_mutex_lock(&watch->lock);
        watch->copies = false;
        watch->ended = true;
        pthread_mutex_unlock(&watch->lock);
        copier_leaves(watch);
        if (!watch_read(watch) || watch->in_flight)
            atomic_fetch_add(&watch_counts.unread, 1);
        watch->in_flight = false;
        watch_release(watch);
        copier_leaves(watch);
        watch->context = NULL;
    }
}

/* After fork(): what is watched, and a lock somebody held, are the parent's. */
void watch_abandon(void) {
    pthread_mutex_init(&table_lock, NULL);
    table_first = table_count;
    atomic_store(&standing_in, false);
    copier_forked();
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

static void counts_reset(void) {
    atomic_store(&calibrations_failed, 0);
    atomic_store(&calibration_due_ns, 0);
    atomic_store(&copied_nodes, 0);
    atomic_store(&watch_counts.launches, 0);
    atomic_store(&watch_counts.unread, 0);
    atomic_store(&watch_counts.made, 0);
    atomic_store(&watch_counts.made_ns, 0);
    atomic_store(&watch_counts.cloned_ns, 0);
    copier_reset();
}

/* With the control lock, before the gate tells of anything. */
void watch_stand_in(bool later) {
    counts_reset();
    if (!later) /* else ids are such as the records of windows have */
        ids_are_own();
    launch_listen(&launch_by_copies);
    calls_keep_launches(true); /* also outside periods: what follows a copy must wait for it */
    atomic_store_explicit(&standing_in, true, memory_order_release);
}

/* With the control lock, the driver's functions loaded. `fresh`: nothing was recorded before. */
void watch_start(const char *why, bool fresh) {
    int which = wanted == COLLECTOR_TOPOLOGY || !watch_can_copy() ? COLLECTOR_TOPOLOGY
                                                            : COLLECTOR_EVENTS;
    ids_take_over();
    ids_are_own();
    if (fresh) {
        walk_reset();
        executables_reset();
        graph_memory_reset(false);
        contexts_forget();
        int driver = 0;
        cuda.DriverGetVersion(&driver);
        counter("driver_version", driver, "number", "measured: cuDriverGetVersion");
        counter("attached_ns", (double)now_ns(), "ns", "measured: CLOCK_REALTIME");
    }
    counts_reset();
    const char *name = which == COLLECTOR_EVENTS ? "events" : "topology";
    struct slice slices[] = {{name, strlen(name)}, {"\n", 1}, {why, strlen(why)}};
    spool_append(RECORD_COLLECTOR, slices, 3);
    atomic_store_explicit(&collector, which, memory_order_release);
    if (fresh)
        pause_take_signal(false);
    bool left = atomic_load(&run_state) == STATE_LEFT;
    pause_attached(left ? PERIOD_FOLLOWED : PERIOD_ATTACHED);
    atomic_store_explicit(&run_state, STATE_RECORDING, memory_order_release);
}

/* After the last poll. What is still in flight is left to the driver: its events may not be
 * destroyed under it. */
void watch_stop(void) {
    bool stood_in = atomic_exchange(&standing_in, false);
    if (atomic_exchange(&collector, COLLECTOR_AUTO) < COLLECTOR_EVENTS && !stood_in)
        return;
    launch_listen(NULL);
    calls_keep_launches(false);
    bool stopped = copier_stop();
    uint64_t lost = atomic_load(&watch_counts.unread);
    int at = 0;
    for (struct watch *watch; (watch = watch_next(&at));) {
        if (watch->cramped && watch->copies)
            watch_refuse(watch, "the GPU has little free memory, and a copy of the graph would take some");
        watch->copies = false;
        lost += watch->in_flight;
        bool runs = watch->in_flight || (watch->lasting && watch->copy && !copy_finished(watch->copy));
        if (!runs && stopped)
            watch_release(watch);
    }
    table_first = table_count;
    if (!lost && stopped)
        calibrate_reset();
    counter("launches_by_copy", (double)atomic_load(&watch_counts.launches), "number",
            "measured: launches that an instrumented copy made in the executable's place");
    counter("copy_times_lost", (double)lost, "number",
            "measured: such launches whose events could not be read");
    counter("copies_made", (double)atomic_load(&watch_counts.made), "number",
            "measured: instrumented copies built");
    counter("copies_ns", (double)atomic_load(&watch_counts.made_ns), "ns",
            "measured: host time of building them, total, on a thread of gviz's own");
    counter("copies_call_ns", (double)atomic_load(&watch_counts.cloned_ns), "ns",
            "measured: host time of cloning what they are built from, total, inside the program's calls");
}
