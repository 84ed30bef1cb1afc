/* Watched graphs: what watch.c and replay.c share. */
#ifndef GVIZ_WATCH_H
#define GVIZ_WATCH_H

#include "native.h"

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
    bool counted;             /* among the nodes of all clones */
    bool late;
    struct copy *copy;
    size_t next_slice;
    bool in_flight;           /* the copy was launched and not read since */
    uint32_t correlation;     /* of that launch */
    uint32_t launches, recorded;
    bool due;
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
bool watch_calibrated(struct watch *watch);
/* With the watch's lock and its context: read the copy's events if its launch has finished. */
void watch_collect(struct watch *watch);

#endif
