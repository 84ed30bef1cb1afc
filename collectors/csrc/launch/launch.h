/* Launch: graph launches, and how long each takes as a whole. */
#ifndef GVIZ_LAUNCH_H
#define GVIZ_LAUNCH_H

#include "state/state.h"

/* ---- launch.c ------------------------------------------------------------------------- */

/* So many launches of each executable get events whatever they cost: a short run would
 * otherwise end with hardly any. */
#define ALWAYS_TIMED_LAUNCHES 5

enum launch_flag {
    LAUNCH_NODE_LEVEL = 1, LAUNCH_EVENTS = 2, LAUNCH_CAPTURED = 4, LAUNCH_LATE = 8,
    LAUNCH_COPY = 16, /* an instrumented copy ran, events/replay.c */
};

struct launch_record {
    uint32_t exec_id, correlation;
    uint64_t start_ns, end_ns;
    uint32_t thread_id;
    int32_t result;
    uint32_t stream_id, flags; /* of enum launch_flag */
    uint64_t token;
};

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
