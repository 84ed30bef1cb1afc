/* gviz's native library: what its parts share.
 *
 * The library lives in the watched process. It owns CUPTI, and it appends raw
 * records to a spool. It holds no lock that the program could wait for beyond
 * one append, runs no Python on CUPTI's threads, and after any inner failure it
 * detaches and lets the program go on.
 */
#ifndef GVIZ_NATIVE_H
#define GVIZ_NATIVE_H

#include "calls/calls.h"
#include "graph/graph.h"
#include "launch/launch.h"
#include "life/life.h"
#include "spool/spool.h"
#include "state/state.h"
#include "window/window.h"

/* ---- control.c ------------------------------------------------------------------ */

void await_injection(void);
/* flush.c */
void flush_start(void);
bool flush_finish(double seconds);
void flush_forked(void);
/* ---- process.c: the processes of gviz run ------------------------------------------ */

void process_set_job(const char *directory, int parent, bool follow);
bool process_has_job(void);
bool process_follows_children(void);
bool process_from_environment(struct options *wanted, char *cupti, size_t size);
int process_open(bool describe_it, bool at_once);
int process_keep(uint32_t type, const void *data, size_t size);
void process_forget(void);
void process_forked(void);
int32_t process_stack_reason(void);
/* ---- leave.c: leaving CUPTI to another profiler ------------------------------------- */

void leave(const char *profiler, double seconds);

/* ---- callbacks.c ------------------------------------------------------------------ */

int callbacks_start(void);

/* ---- ids.c: what stands in for CUPTI where it is not used ------------------------------ */

void ids_take_over(void);
uint32_t ids_next(void);
void ids_learn_graph(CUgraph graph, uint32_t graph_id);
void ids_learn_node(CUgraphNode node, uint32_t graph_id, uint32_t node_id);
void ids_forget(void);

/* ---- level.c: a graph and its child graphs, as they were when it was handed over --------- */

/* One graph level. Nodes stand in the order of their ids. */
struct level {
    CUgraph graph;
    uint32_t graph_id;
    size_t count, edge_count;
    CUgraphNode *nodes;
    int *types;
    bool *timeable;          /* events may stand around it */
    struct level **children; /* of child-graph nodes, else NULL */
};

struct level *level_read(CUgraph graph, int depth);
struct level *level_in_clone(const struct level *original, CUgraph clone, bool check);
void level_free(struct level *level);
void level_learn(const struct level *level);
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
    bool lost;               /* launched, but nothing says when it ends: not to be used again */
};

struct node_time {
    uint32_t graph_id, node_id;
    uint64_t start_ns;       /* from the launch's start event to the event before the node */
    uint64_t between_ns;     /* from there to the event after it */
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

/* ---- watch.c: graphs that Python hands over, and their launches ------------------------------ */

enum collector { COLLECTOR_AUTO = 0, COLLECTOR_CUPTI = 1, COLLECTOR_EVENTS = 2,
                 COLLECTOR_TOPOLOGY = 3 };

bool watch_wanted(void);     /* events or topology were asked for */
bool watch_may_follow(void); /* after a CUPTI that failed */
GVIZ_EXPORT void gviz_want_collector(int which);
void watch_start(const char *why, bool fresh);
void watch_poll(bool last);
void watch_stop(void);
void watch_abandon(void);
bool watching(void);

#endif
