/* Launch: graph launches, and how long each takes as a whole. */
#ifndef GVIZ_LAUNCH_H
#define GVIZ_LAUNCH_H

#include "state/state.h"

/* ---- launch.c ------------------------------------------------------------------------- */

/* So many launches of each executable get events whatever they cost: a short run would
 * otherwise end with hardly any. */
#define ALWAYS_TIMED_LAUNCHES 5

void launch_forget_call(void); /* of this thread: its end was not seen */
void launch_enter(const CUpti_CallbackData *data, uint32_t cbid);
void launch_exit(const CUpti_CallbackData *data, uint32_t cbid);

/* ---- timing.c: whole-launch GPU time, by events ------------------------------------------- */

bool timing_wanted(uint64_t time_ns);
void *timing_begin(CUcontext context, CUstream stream, uint64_t *token);
void timing_end(void *pair, CUstream stream, bool launched);
void timing_poll(void);
int timing_pending(void);
void timing_forget(CUcontext context);
void timing_stop(bool at_end);

#endif
