/* Trials: edits of a graph, launched, timed and undone between two launches of the program.
 *
 * On request only, and only where the gate is: a trial runs in front of a launch, on the thread that
 * makes it, while every other thread is held outside the driver and nothing is in flight. So what a
 * copy is launched on is what the program's own launch will be launched on a moment later, and each
 * launch of a trial computes what that will compute. All device memory of the process is saved before
 * and restored after each launch; a graph that could reach anything else is refused, with the reason.
 */
#ifndef GVIZ_TRIAL_H
#define GVIZ_TRIAL_H

#include "core/core.h"

/* Calls are watched, and the gate tells of them; the contexts are not made yet. */
void trial_start(void);
void trial_stop(void);
void trial_abandon(void); /* after fork() */
/* A call that was kept (calls_keep), before and after it is made. */
void trial_call(const CUpti_CallbackData *data, uint32_t cbid);
/* An executable, or a context, is about to be destroyed. */
void trial_destroyed(CUgraphExec exec);
void trial_context_ends(CUcontext context);
/* The program is about to launch an executable. */
void trial_launch(CUgraphExec exec, CUstream stream);

#endif
