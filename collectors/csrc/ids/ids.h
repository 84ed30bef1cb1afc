/* Ids: numbers of graphs, nodes and executables, and the clock, in place of CUPTI's. */
#ifndef GVIZ_IDS_H
#define GVIZ_IDS_H

#include "core/core.h"

/* Put these into `cupti`: graph, node and executable ids, and the time. */
void ids_take_over(void);
/* Number from here on above OWN_IDS: numbers of CUPTI's stand in the spool, or graphs that events
 * time. */
void ids_are_own(void);
/* Handles mean nothing any more; numbers go on. */
void ids_forget(void);
uint32_t ids_next_exec(void);
/* Of a call: the fold knows by it that the call is not one of CUPTI's. */
uint32_t ids_next_correlation(void);
/* A node has been made in a graph; returns false where it is known already. */
bool ids_node_made(CUgraph graph, CUgraphNode node);
/* A handle comes to mean a new graph, or none any more. */
void ids_graph_changes(CUgraph graph);

#endif
