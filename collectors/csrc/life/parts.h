/* What the parts of the wing share. */
#ifndef GVIZ_LIFE_PARTS_H
#define GVIZ_LIFE_PARTS_H

#include "life/life.h"

/* ---- capture.c ---------------------------------------------------------------------- */

struct capture_call { /* a begin or end of a capture that has returned */
    uint32_t call;
    int32_t result;
    uint64_t start_ns, end_ns;
    CUcontext context;
    CUstream stream;
    uint32_t stream_id, mode;
};

void capture_reset(void);
void capture_begin_enter(void);
void capture_begin_exit(const struct capture_call *begin);
void capture_end_enter(CUcontext context, CUstream stream);
void capture_end_exit(const struct capture_call *end);
void capture_graph_destroyed(CUgraph graph);

/* ---- updates.c ---------------------------------------------------------------------- */

struct update {
    uint32_t exec_id;
    uint32_t graph_id, node_id; /* of the node; WHOLE_GRAPH for cuGraphExecUpdate */
    uint32_t call;
    int32_t result;
    uint32_t value; /* 0 or 1 of cuGraphNodeSetEnabled; CUgraphExecUpdateResult */
};

void updates_reset(void);
void updates_add(const struct update *update, uint64_t start_ns, uint64_t end_ns);

/* ---- executables.c, memory.c -------------------------------------------------------- */

void executable_destroyed(CUgraphExec exec);
void executable_unwanted(CUgraphExec exec); /* its nodes are not to be timed */
void memory_reset(void);

/* ---- origin.c ----------------------------------------------------------------------- */

void origin_begin_capture(CUstream stream, uint32_t into_graph_id);
void origin_end_capture(CUstream stream, bool succeeded, uint32_t graph_id);
void origin_instantiate(uint32_t graph_id);
void origin_instantiated(void);
bool origin_wants_late(void); /* whether graphs without a known name get node times */

/* ---- nvtx.c ------------------------------------------------------------------------- */

uint32_t nvtx_open_path(void); /* of the calling thread, 0: no range is open */
/* The texts of a path joined with "/", cut to size. */
void nvtx_path_text(uint32_t path, char *out, size_t size);

/* ---- own_time.c --------------------------------------------------------------------- */

enum made { MADE_CAPTURE = 0, MADE_INSTANTIATE = 1, MADE_KINDS };

void own_time_reset(void);
/* This thread makes a graph from begin_ns to end_ns; a capture that another thread ends is not
 * counted. */
void own_time_open(enum made kind, uint64_t begin_ns);
void own_time_close(enum made kind, uint64_t end_ns);

#endif
