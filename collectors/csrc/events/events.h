/* Events: the collector that does without CUPTI. Graphs are handed over by Python, and copies of
 * them with an event around each node are launched in their place.
 */
#ifndef GVIZ_EVENTS_H
#define GVIZ_EVENTS_H

#include "state/state.h"

struct watch;
struct timed_node;

enum collector { COLLECTOR_AUTO = 0, COLLECTOR_CUPTI = 1, COLLECTOR_EVENTS = 2,
                 COLLECTOR_TOPOLOGY = 3 };

bool watch_wanted(void);     /* events or topology were requested */
bool watch_without_times(void); /* topology was requested */
bool watch_may_follow(void); /* after a CUPTI that failed */
GVIZ_EXPORT void gviz_want_collector(int which);
void watch_start(const char *why, bool fresh);
void watch_finish(void);
void watch_stop(void);
void watch_abandon(void);
bool watching(void);

/* Copies of the executables that the gate tells of, in place of some of their launches. */
bool watch_can_copy(void);
void watch_stand_in(bool later); /* when windows of CUPTI have ended */
void watch_instantiated(CUgraph graph, CUgraphExec exec);
/* A call that updates it has returned: of one node, or of the `whole`. */
void watch_updated(const CUpti_CallbackData *data, bool whole);
void watch_destroyed(CUgraphExec exec); /* it is about to be */
void watch_context_ends(CUcontext context);

/* ---- behind.c -------------------------------------------------------------------------------- */

/* With the context: after a kernel of the program between events, or kernels of gviz's on a stream of its own. The
 * graphs of the program keep their speed then. */
void behind_keep(CUcontext context, CUstream stream);

/* ---- lend.c: copies for trials, without events inside, edited or not ------------------------- */

/* One graph level. Nodes stand in the order of their ids. */
struct level {
    CUgraph graph;
    uint32_t graph_id;
    size_t first; /* place of its first node among those of all levels */
    size_t count, edge_count;
    CUgraphNode *nodes;
    uint32_t *ids;           /* in the graph */
    int *types;
    bool *timeable;          /* events may stand around it */
    struct level **children; /* of child-graph nodes, else NULL */
};

struct copy {
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode *nodes;      /* by place */
    _Atomic unsigned char *left_out;
    struct timed_node *timed;
    size_t timed_count;
    CUevent start, end;      /* on the stream, around the launch */
    bool lost;               /* launched, but its end is not recorded: not to be used again */
};

/* A watched executable, and its graph as it was at `updates`. */
struct loan {
    struct watch *watch;
    CUgraphExec exec; /* the program's */
    CUgraph graph;
    struct level *level; /* of that graph */
    CUcontext context;
    int device;
    uint32_t graph_id, exec_id, updates;
    uint64_t flags; /* that copies are instantiated with */
    uint64_t extent_ns; /* of an instrumented copy's launch; 0: none was read yet */
    bool settled;       /* the executable stays as it was, or is gone */
};

/* Returns NULL, or why there is none. */
const char *lend_begin(int watch, struct loan *loan);
/* Whether none ever will be, and the recording says why. */
bool lend_refused(int watch);
/* Whether the program has not updated or destroyed it since. It waits for no lock. */
bool lend_is_current(const struct loan *loan);
/* The program launches no more: copies are of the executable as it is now, whatever becomes of it. Returns
 * false where they would not be. */
bool lend_settle(struct loan *loan);
/* Clone the graph, edit that, instantiate it. NULL: copy_error() says why. */
struct copy *lend_copy(const struct loan *loan, bool (*edit)(const struct level *level, const void *data),
                       const void *data);
void lend_end(struct loan *loan);
void copy_free(struct copy *copy);
const char *copy_error(void);

/* ---- lasting.c: copies that make every launch of an executable -------------------------------- */

/* Who puts something into them. */
struct lasting_maker {
    /* A copy of an executable's graph is to be made. NULL: not this one, for the reason in `*why`. */
    void *(*begins)(const struct level *level, uint32_t exec_id, const char **why);
    bool (*edits)(const struct level *level, const void *what); /* the graph of the copy */
    /* It was made; `end` is recorded behind each launch. */
    void (*made)(void *what, CUcontext context, CUevent end);
    void (*launched)(void *what);
    bool (*is_fault)(int result); /* no launch can be made any more, by whatever executable */
    void (*over)(void *what);     /* its executable is destroyed, or the copy was not made */
    void (*refused)(uint32_t graph_id, uint32_t exec_id, const char *why);
};
/* With the control lock, before copies stand in. NULL: there are none, and others may time nodes. */
void lasting_start(const struct lasting_maker *maker);

/* Work outside graphs: an event before and after each call, as long as the eager budget lasts. */
void outside_start(void);
bool outside_on(void);
void outside_begins(const CUpti_CallbackData *data, uint32_t cbid);
/* The call has returned; whether it is timed. */
bool outside_ends(const CUpti_CallbackData *data, uint32_t cbid, uint64_t called_ns,
                  uint64_t returned_ns);
/* On the flush thread: write the times of what has finished. Returns whether something has not. */
bool outside_poll(void);
void outside_forget(CUcontext context); /* it is about to be destroyed */
void outside_abandon(void);
void outside_stop(void);

#endif
