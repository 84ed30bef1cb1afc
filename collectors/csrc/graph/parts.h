/* What the parts of the wing share. */
#ifndef GVIZ_GRAPH_PARTS_H
#define GVIZ_GRAPH_PARTS_H

#include "graph/graph.h"

struct body_list {
    int type; /* CUgraphConditionalNodeType */
    uint32_t size;
    uint64_t handle;
    CUgraph *bodies; /* size of them, in order of branch; NULL: unknown */
};

bool bodies_of(uint32_t graph_id, uint32_t node_id, struct body_list *list);

/* What nodes without columns of their own are to do. */
void parameters_of(CUgraphNode node, uint32_t graph_id, uint32_t node_id, int type);

void graph_memory_watch(int device, CUdeviceptr address);

int device_current(void);
int device_of_context(CUcontext context, int missing);
void devices_forget(void);

#endif
