/* What the parts of the wing share. */
#ifndef GVIZ_EVENTS_PARTS_H
#define GVIZ_EVENTS_PARTS_H

#include "events/events.h"
#include "launch/launch.h"
#include "records/records.h"

/* ---- watch.c, replay.c: watched graphs ---------------------------------------------------- */

struct followed;

struct watch {
    pthread_mutex_t lock;
    CUcontext context;
    int device;
    CUgraphExec exec;         /* NULL: not known yet, or not watched any more */
    uint64_t flags;
    uint32_t graph_id, exec_id;
    pthread_mutex_t clone_lock; /* taken after `lock`: for what follows, to `updates` */
    CUgraph clone;            /* uninstrumented: copies are made out of clones of it */
    struct level *level;      /* of the clone */
    struct followed *followed; /* by updates of the executable; NULL: none are seen */
    uint32_t updates;         /* made in the clone */
    size_t node_count, timeable_count, slices, slice_nodes;
    bool copies;              /* a copy may take a launch's place */
    bool refused;             /* and if not, the reason is recorded */
    bool untimed;             /* none was timed before, so that it is that of trials and values, too */
    bool counted;             /* among the nodes of all clones */
    bool late;
    bool for_gate;            /* its launches come from the gate, not from Python */
    bool passes;              /* launches may have passed, unannounced */
    bool ended;               /* what copies need is to be given back */
    bool wanted;              /* a copy is to be made */
    bool cramped;             /* the device had no room for one */
    void *lasting;            /* of who edits the copy, which makes every launch; NULL: it times some */
    bool lasting_last;        /* that copy made the last launch */
    uint32_t outdated;        /* copies that were so before they could be launched */
    struct copy *copy;        /* that may be launched, or is in flight */
    size_t copy_slice;        /* which it times */
    size_t next_slice;
    bool in_flight;           /* the copy was launched and not read since */
    uint32_t correlation;     /* of that launch */
    uint32_t launches, recorded; /* recorded: by copies, in the period */
    uint32_t period;
    uint32_t plain_timed;     /* launches of the executable with an event before and after */
    uint32_t in_a_row;        /* copies launched since the executable itself was */
    bool due;
    uint64_t extent_ns;       /* of the copy's launch that was read last */
    uint64_t copied_ns;       /* when a copy was launched last */
    uint64_t used_ns;         /* or made */
    uint64_t look_ns;         /* until its events are queried again */
    uint64_t last_stream;     /* cuStreamGetId of the launch before */
    uint32_t under_way;       /* launches of the executable announced and not made yet */
    bool queued;              /* these two with the copier's lock */
    struct watch *next;
};

struct watch_counts {
    _Atomic uint64_t launches; /* that a copy made */
    _Atomic uint64_t unread;   /* of these, whose events could not be read */
    _Atomic uint64_t made;     /* copies built */
    _Atomic uint64_t made_ns;  /* host time of that, on the copier's thread */
    _Atomic uint64_t cloned_ns; /* and inside the program's calls */
};

extern struct watch_counts watch_counts;

struct watch *watch_find(int id);
/* Each watch of this recording in turn, from NULL; NULL past the end. */
struct watch *watch_next(int *at);
void watch_refuse(struct watch *watch, const char *why);
/* Without its lock: give back what copies need. No copy may be in flight. */
void watch_release(struct watch *watch);
/* Whether the bias is known; if not, it is measured, once it is time for that. `*again_ns`: when that is;
 * 0: no more. */
bool watch_calibrated(struct watch *watch, uint64_t *again_ns);
extern const struct launch_maker launch_by_copies;
/* It has its times of this period, and those of the plain launches that they are held against. */
bool watch_is_done(const struct watch *watch);
/* Read the events of the copy in flight. Returns whether there was none, or it had finished. The
 * copier is not at the watch, or calls it. */
bool watch_read(struct watch *watch);

/* ---- lasting.c ----------------------------------------------------------------------------------- */

bool lasting_on(void);
/* A watch was made; its executable is known. */
void lasting_begin(struct watch *watch, int id);
/* With the watch's lock and context: launch the copy, or have the launch wait for the copy's last. */
bool lasting_launch(struct watch *watch, CUstream stream, struct launch_record *record);
void lasting_refused(struct watch *watch, const char *why);
void lasting_over(struct watch *watch); /* with its lock */

/* ---- copier.c: the thread that makes copies, reads their events and destroys them ------------- */

/* With the watch's lock: it wants a copy, has one in flight, or has ended. */
void copier_call(struct watch *watch);
/* Whether the device has memory for another copy. */
bool copier_has_room(const struct watch *watch);
/* Without its lock: a launch of it waits for its copy, for a moment. */
void copier_await(struct watch *watch);
/* Until the copier is not at the watch. */
void copier_leaves(const struct watch *watch);
void copier_reset(void);
bool copier_stop(void); /* false: it does not end, and nothing of it may be given back */
void copier_forked(void);

/* ---- follow.c: updates of an executable, made in its copy too ---------------------------------- */

/* `original` as it was instantiated, and the same nodes in its clone. */
struct followed *followed_make(const struct level *original, const struct level *clone);
void followed_free(struct followed *followed);
bool followed_is_whole(const struct followed *followed); /* the program has no node disabled */
/* With the watch's clone_lock: make in a copy the updates after the first `updates`, and have it leave
 * out the nodes that the program has disabled. Returns whether the copy is as the executable is. */
bool followed_apply(const struct watch *watch, struct copy *copy, uint32_t updates);

/* ---- level.c: a graph and its child graphs, as they were when it was handed over --------- */

struct level *level_read(CUgraph graph, int depth);
struct level *level_in_clone(const struct level *original, CUgraph clone, bool check);
void level_free(struct level *level);
size_t level_nodes(const struct level *level);
/* Put the nodes of all levels where their places are. */
void level_list(const struct level *level, CUgraphNode *nodes);
/* Why no instrumented copy may take this graph's place, or NULL. */
const char *level_obstacle(const struct level *level, int device);

/* ---- copy.c: the instrumented copy ------------------------------------------------------- */

struct timed_node {
    uint32_t graph_id, node_id;
    int type;
    size_t place; /* among the nodes of all levels */
    CUevent before, after;
};

/* Of a node of a copy, in bits: it is disabled; it became so, or was, while a launch was in flight. */
enum { LEFT_OUT = 1, CHANGED = 2 };

struct copy *copy_make(CUgraph graph, struct level *level, uint64_t flags, size_t first, size_t last);
int copy_launch(struct copy *copy, CUstream stream);
bool copy_finished(struct copy *copy);
/* Fill in the times of the nodes that ran, `*count` of them. */
bool copy_read(struct copy *copy, struct node_time *times, uint32_t *count, uint64_t *extent_ns);

/* ---- calibrate.c --------------------------------------------------------------------------- */

#define CALIBRATION_NODES 48 /* of a chain */
#define CALIBRATION_FUNCTIONS 4
#define CALIBRATION_WARM_UP 2 /* rounds: the first launch uploads the graph */
#define CALIBRATION_ROUNDS 4
#define CALIBRATION_PLAIN_ROUNDS 3
#ifdef __SANITIZE_THREAD__ /* which makes each call take ten times as long */
#define CALIBRATION_LIMIT_NS 2000000000ull
#else
#define CALIBRATION_LIMIT_NS 40000000ull
#endif

struct calibrated {
    CUcontext context;
    CUstream stream;
    CUevent anchor;
    CUmodule module;
    CUfunction functions[CALIBRATION_FUNCTIONS], nothing;
    CUgraphExec busy; /* one kernel that keeps the GPU */
    CUdeviceptr memory;
    bool ready, done, failed, outside_done;
    int outside_tries;
};

/* Readings of one kind of node. */
struct readings {
    int64_t usual[CALIBRATION_NODES * CALIBRATION_ROUNDS], early[CALIBRATION_NODES * CALIBRATION_ROUNDS];
    size_t usual_count, early_count;
    int64_t chain_ns;
};

/* `failed`: how often it did, on the copier's thread by now, which has more time for it. `*busy`: another
 * thread is at it, which nobody waits for. */
bool calibrate(CUcontext context, int device, int failed, bool *busy);
bool calibrate_known(int device);
/* With the context: measure what events add to kernels outside graphs, on a stream of the program that is
 * idle and not captured, or (NULL) on gviz's own, which may slow the program's graphs. */
void calibrate_outside(CUcontext context, int device, const CUstream *stream);
bool calibrate_outside_over(int device); /* it is known, or was tried often enough on the program's streams */
bool calibrate_busy(const struct calibrated *device, CUstream stream);
bool calibrate_await(CUevent event, uint64_t until_ns);
/* Launch several times, the first to warm up; the shortest time. */
typedef bool (*calibrate_timed)(const void *data, uint64_t until_ns, int64_t *taken_ns);
bool calibrate_shortest(calibrate_timed launch, const void *data, int64_t *shortest_ns);
struct calibration_record calibrate_evaluate(int device, int type, struct readings *readings);
/* A kernel that does nothing; NULL: none has been made in this context. */
CUfunction calibrate_nothing(CUcontext context, int device);
uint64_t calibrate_position(CUcontext context, int device, CUevent event);
void calibrate_reset(void);

/* ---- calibrate_row.c ------------------------------------------------------------------------ */

bool calibrate_row(const struct calibrated *device, int number, CUstream stream,
                   struct calibration_record *record);

/* ---- behind.c --------------------------------------------------------------------------------- */

/* Whether a call launches a kernel that may begin before the one ahead of it has ended. */
bool behind_is(uint32_t cbid, const void *params);
/* With its context: launch two kernels that do `nothing` (NULL: none) so. */
void behind_launch(CUfunction nothing, CUstream stream);

#endif
