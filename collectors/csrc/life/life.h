/* Life: the driver calls of a graph's life, from its capture to its destruction, and what is known
 * where they are made: executables, names, ranges.
 */
#ifndef GVIZ_LIFE_H
#define GVIZ_LIFE_H

#include "records/records.h"
#include "state/state.h"

/* ---- life.c: the calls ------------------------------------------------------------------ */

void life_reset(void);
void life_call(uint32_t cbid, const CUpti_CallbackData *data);
void life_graph_destroyed(CUgraph graph);

/* ---- capture.c: stream captures in progress, and what breaks them -------------------- */

void capture_call_done(uint32_t cbid, const CUpti_CallbackData *data);
void capture_runtime_call(uint32_t cbid, const CUpti_CallbackData *data);
void capture_stream_destroyed(CUcontext context, CUstream stream);
void capture_poll(void); /* on the flush thread */

/* ---- updates.c: updates of executables, summed ---------------------------------------- */

void updates_flush(void);

/* ---- executables.c: the executables of the process ---------------------------------------- */

struct executable {
    CUgraphExec handle;
    uint32_t exec_id, launches, recorded; /* in this period */
    uint32_t period;
    uint64_t wanted_ns; /* when node times of a launch were wanted last */
    bool late;     /* instantiated before gviz attached */
    bool launched; /* before, in whatever period */
    bool unwanted; /* its graph's name does not match the requested pattern */
    int watch;     /* of the copies that may be launched in its place, 0: none */
    int resting;   /* such a watch, until the next period */
};

void executables_reset(void);
void executable_created(CUgraphExec exec, uint32_t exec_id);
uint32_t executable_id(CUgraphExec exec);
void executable_watch(CUgraphExec exec, int watch);
void executable_rest(CUgraphExec exec); /* its watch is told of no launch in this period any more */
int executable_watch_of(CUgraphExec exec); /* 0: no copy stands for it, now or later */
bool executable_is_wanted(CUgraphExec exec); /* its nodes are to be timed */
/* Its entry, made if need be; NULL without memory. The table is locked until the release. */
struct executable *executable_hold(CUgraphExec exec);
void executable_release(void);

/* ---- memory.c: device memory that graphs take ------------------------------------------ */

uint64_t memory_free(void); /* 0: not queried */
void memory_taken(uint32_t exec_id, enum memory_step step, uint64_t free_before);
void memory_counters(void);

/* ---- origin.c: where graphs come from, and which are wanted ---------------------------- */

GVIZ_EXPORT void gviz_set_graph_pattern(const char *text);
void origin_reset(void);
void origin_exec_created(CUgraphExec exec, uint32_t exec_id);

/* ---- nvtx.c: ranges ------------------------------------------------------------------ */

void nvtx_reset(void);
/* Ranges of this name are to be recorded, whatever their domain; NULL: none. */
GVIZ_EXPORT void gviz_set_range(const char *name);
void nvtx_forked(void);
void nvtx_write_paths(void);
void nvtx_counters(void);
/* Return the depth at which the range was opened. */
uint32_t nvtx_push(const char *domain, const char *text);
void nvtx_pop(const char *domain);

/* ---- own_time.c: gviz's own part of the time that making graphs takes ---------------------- */

void own_time_forget(void); /* of this thread */
/* Around each callback; 0: nothing is made. */
uint64_t own_time_enter(void);
void own_time_leave(uint64_t entered_ns);
void own_time_counters(void);

#endif
