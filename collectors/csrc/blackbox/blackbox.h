/* Black box: what is left to be read when the GPU has failed, a launch hangs, or the process is killed.
 *
 * On request only. The driver is told to write a lightweight core dump (core_dump.c), which names the
 * kernel. Crumbs (crumbs.c) name the nodes: launches are made by copies (events/lasting.c) with nodes
 * beside the program's own that write words of a mapped file, which outlives the process.
 */
#ifndef GVIZ_BLACKBOX_H
#define GVIZ_BLACKBOX_H

#include "events/events.h"

/* With the control lock, before a context is made. `told`: the gate tells of calls; `calls_seen`: somebody
 * does. */
void blackbox_start(bool told, bool calls_seen);
/* After fork(). */
void blackbox_abandon(void);
/* A call that was kept (calls_keep), before it is made. */
void blackbox_call(const CUpti_CallbackData *data, uint32_t cbid);
/* A node was made, in the thread's NVTX range. */
void blackbox_node_made(CUgraphNode node);
/* On the flush thread: look for failures, and for launches that make no progress. */
void blackbox_poll(void);
/* All work was waited for, with this result. */
void blackbox_waited(int result);
/* All work has ended, or is given up. */
void blackbox_stop(void);

#endif
