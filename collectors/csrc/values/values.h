/* Values: what the nodes of a graph read and write, measured on a copy between two launches of the
 * program.
 *
 * On request only, and only where the gate is. In a slice as trials have it, a copy of the graph runs
 * its nodes one after the other, with a probe before and one after each: a kernel that reads the memory
 * that the node is given. What the copy wrote is undone.
 */
#ifndef GVIZ_VALUES_H
#define GVIZ_VALUES_H

#include "core/core.h"

/* Calls are watched, and the gate tells of them; the contexts are not made yet. */
void values_start(void);
void values_stop(void);
void values_abandon(void); /* after fork() */
/* An executable, or a context, is about to be destroyed. */
void values_destroyed(CUgraphExec exec);
void values_context_ends(CUcontext context);
/* A call that puts work into a stream, before and after it is made. */
bool eager_is_read(void);
void eager_call(const CUpti_CallbackData *data);
/* The program is about to launch an executable. */
void values_launch(CUgraphExec exec, CUstream stream);

#endif
