/* Nodes inside nodes, what nodes are told to do, and what graphs allocate. */
#ifndef GVIZ_NESTING_H
#define GVIZ_NESTING_H

#include "native.h"

/* ---- bodies.c: the body graphs of conditional nodes ----------------------------------- */

struct body_list {
    int type; /* CUgraphConditionalNodeType */
    uint32_t size;
    uint64_t handle;
    CUgraph *bodies; /* size of them, in order of branch; NULL: unknown */
};

void bodies_reset(void);
void bodies_add_enter(void);
void bodies_add_exit(const CUpti_CallbackData *data, int params_at);
void bodies_graph_created(CUgraph graph);
void bodies_graph_destroyed(CUgraph graph);
bool bodies_of(uint32_t graph_id, uint32_t node_id, struct body_list *list);

/* ---- parameters.c: what nodes without columns of their own are told to do ---------------- */

void parameters_of(CUgraphNode node, uint32_t graph_id, uint32_t node_id, int type);

/* ---- graph_memory.c: memory reserved and used by alloc nodes ------------------------------ */

void graph_memory_reset(bool again);
void graph_memory_watch(int device, CUdeviceptr address);
void graph_memory_free(const CUpti_CallbackData *data, uint32_t cbid);
void graph_memory_sample(void);

/* ---- devices.c ------------------------------------------------------------------------------ */

int device_current(void);
int device_of_context(CUcontext context, int missing);
int device_of_address(uint64_t address, int missing);
void devices_forget(void);

#endif
