/* What the parts of the wing share. */
#ifndef GVIZ_TOLD_PARTS_H
#define GVIZ_TOLD_PARTS_H

#include "told/told.h"

/* ---- ids.c: numbers of graphs, nodes and executables ---------------------------------------- */

void ids_reset(void);
CUptiResult ids_graph(CUgraph graph, uint32_t *id);
CUptiResult ids_node(CUgraphNode node, uint64_t *id);
CUptiResult ids_exec(CUgraphExec exec, uint32_t *id);
/* A node has been made in a graph; returns false where it is known already. */
bool ids_node_made(CUgraph graph, CUgraphNode node);
/* A handle comes to mean a new graph, or none any more. */
void ids_graph_changes(CUgraph graph);

#endif
