/* Graph: what a graph is made of: nodes, edges, bodies, what its nodes do and allocate, and the
 * code that created them.
 */
#ifndef GVIZ_GRAPH_H
#define GVIZ_GRAPH_H

#include "state/state.h"

/* ---- walk.c: nodes and edges ------------------------------------------------------------ */

/* In place of an executable's id: the graph is walked because something about it failed. */

void walk_reset(void);
void walk_graph(CUgraph graph, uint32_t exec_id);
void walk_device(CUcontext context);
void walk_function(CUfunction function); /* it is launched: write its name and resources, once */
/* Where a value lies that a kernel node is given; NULL: not known. */
const char *kernel_argument(const KernelParams *params, size_t index, size_t offset);
/* Fill in up to `count` edges and return how many there are; with 0 and NULL only that. */
size_t graph_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, EdgeData *data,
                   size_t count);

/* ---- devices.c: which device a context, or an address, belongs to ---------------------------- */

/* Of device memory; `missing`: it is none that the driver knows. */
int device_of_address(uint64_t address, int missing);

/* ---- bodies.c: the body graphs of conditional nodes ----------------------------------- */

void bodies_reset(void);
void bodies_add_enter(void);
void bodies_add_exit(const CUpti_CallbackData *data, int params_at);
void bodies_graph_created(CUgraph graph);
void bodies_graph_destroyed(CUgraph graph);

/* ---- nodes.c: when and where a node was created ----------------------------------------- */

void nodes_created(const CUpti_GraphData *data, CUcontext context);
void nodes_cloned(const CUpti_GraphData *data);

/* ---- stacks.c: the Python code that runs ------------------------------------------------- */

typedef int32_t (*stack_callback)(void);
GVIZ_EXPORT void gviz_set_stack_callback(stack_callback callback);
int32_t python_stack(void); /* of the calling thread: id > 0, else a reason */
void stacks_missing(int32_t reason); /* as long as there is no taker */

/* ---- graph_memory.c: memory reserved and used by alloc nodes ------------------------------ */

void graph_memory_reset(bool again);
void graph_memory_free(const CUpti_CallbackData *data, uint32_t cbid);
void graph_memory_sample(void);

#endif
