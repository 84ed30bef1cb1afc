/* What the parts of the wing share. */
#ifndef GVIZ_EVENTS_PARTS_H
#define GVIZ_EVENTS_PARTS_H

#include "events/events.h"
#include "launch/launch.h"
#include "records/records.h"

/* ---- watch.c, replay.c: watched graphs ---------------------------------------------------- */

struct watch {
    pthread_mutex_t lock;
    CUcontext context;
    int device;
    CUgraphExec exec;         /* NULL: not known yet, or not watched any more */
    uint64_t flags;
    uint32_t graph_id, exec_id;
    CUgraph clone;            /* uninstrumented; with one slice the copy is made out of it */
    struct level *level;      /* of the clone */
    size_t node_count, timeable_count, slices, slice_nodes;
    bool copies;              /* a copy may take a launch's place */
    bool refused;             /* and if not, the reason is recorded */
    bool counted;             /* among the nodes of all clones */
    bool late;
    bool for_gate;            /* its launches come from the gate, not from Python */
    bool passes;              /* launches may have passed, unannounced */
    struct copy *copy;
    size_t next_slice;
    bool in_flight;           /* the copy was launched and not read since */
    uint32_t correlation;     /* of that launch */
    uint32_t launches, recorded;
    uint32_t plain_timed;     /* launches of the executable with an event before and after */
    bool due;
    uint64_t copied_ns;       /* when a copy was launched last */
    uint64_t last_stream;     /* cuStreamGetId of the launch before */
    uint32_t under_way;       /* launches of the executable announced and not made yet */
};

struct watch_counts {
    _Atomic uint64_t launches; /* that a copy made */
    _Atomic uint64_t unread;   /* of these, whose events could not be read */
    _Atomic uint64_t made;     /* copies built */
    _Atomic uint64_t made_ns;  /* host time of that */
};

extern struct watch_counts watch_counts;

struct watch *watch_find(int id);
/* Each watch of this recording in turn, from NULL; NULL past the end. */
struct watch *watch_next(int *at);
void watch_refuse(struct watch *watch, const char *why);
void watch_updated(struct watch *watch);
/* With the watch's lock: give back what copies need. */
void watch_release(struct watch *watch);
bool watch_calibrated(struct watch *watch);
extern const struct launch_maker launch_by_copies;
/* With the watch's lock and its context: read the copy's events if its launch has finished. */
void watch_collect(struct watch *watch);

/* ---- level.c: a graph and its child graphs, as they were when it was handed over --------- */

/* One graph level. Nodes stand in the order of their ids. */
struct level {
    CUgraph graph;
    uint32_t graph_id;
    size_t count, edge_count;
    CUgraphNode *nodes;
    uint32_t *ids;           /* in the graph */
    int *types;
    bool *timeable;          /* events may stand around it */
    struct level **children; /* of child-graph nodes, else NULL */
};

struct level *level_read(CUgraph graph, int depth);
struct level *level_in_clone(const struct level *original, CUgraph clone, bool check);
void level_free(struct level *level);
size_t level_nodes(const struct level *level);
/* Why no instrumented copy may take this graph's place, or NULL. */
const char *level_obstacle(const struct level *level, int device);

/* ---- copy.c: the instrumented copy ------------------------------------------------------- */

struct timed_node {
    uint32_t graph_id, node_id;
    int type;
    CUevent before, after;
};

struct copy {
    CUgraph graph;
    CUgraphExec exec;
    struct timed_node *timed;
    size_t timed_count;
    CUevent start, end;      /* on the stream, around the launch */
    bool lost;               /* launched, but its end is not recorded: not to be used again */
};

struct copy *copy_make(CUgraph graph, struct level *level, uint64_t flags, size_t first, size_t last);
int copy_launch(struct copy *copy, CUstream stream);
bool copy_finished(struct copy *copy);
bool copy_read(struct copy *copy, struct node_time *times, uint64_t *extent_ns);
void copy_free(struct copy *copy);
const char *copy_error(void);

/* ---- calibrate.c --------------------------------------------------------------------------- */

bool calibrate(CUcontext context, int device, bool last_chance);
bool calibrate_known(int device);
uint64_t calibrate_position(CUcontext context, int device, CUevent event);
void calibrate_reset(void);

#endif
