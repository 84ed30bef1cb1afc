/* Window: when gviz records: periods, which the user requests, and in them windows, in which CUPTI
 * keeps the times of nodes and of work outside graphs.
 */
#ifndef GVIZ_WINDOW_H
#define GVIZ_WINDOW_H

#include "records/records.h"
#include "state/state.h"

/* ---- pause.c: when the user wants a recording -------------------------------------- */

uint32_t period_number(void);
/* A launch is entered, and has returned. */
void pause_launch_begins(void);
void pause_launch_ended(void);
/* Whether a launch belongs to a period; called once for each. `*last`: it is the last of its own. */
bool pause_admits(bool *last);
void pause_after_last(void);
void pause_tick(void);
/* A range of the program begins that is to be recorded, or ends. */
void pause_range(bool begins);
void pause_requested(void); /* gviz start came before CUDA */
uint64_t pause_due_ns(uint64_t most);
void pause_take_signal(bool keep);
/* `reason`: ATTACHED; or RETURNED, FOLLOWED in a recording that is under way. */
void pause_attached(enum period_reason reason);
void pause_leave(const char *profiler);
bool pause_hold(void);
void pause_release(bool held);
void pause_finish(void);
void pause_forked(void);

/* ---- activity.c ------------------------------------------------------------------ */

int activity_start(bool again);
void activity_flush(void);
void activity_stop(void);
/* After activity_stop: have CUPTI hand back every buffer, for another profiler brings its own. */
void activity_give_back(void);
bool activity_is_open(void);
bool activity_can_open(void); /* there is a CUPTI that times nodes */
void activity_end(void);      /* it opens no more */
/* A function of CUPTI's does not return: who can, calls none any more. */
void activity_give_up(void);
bool activity_given_up(void);
void activity_counters(void);

/* ---- visit.c: CUPTI in windows, behind the gate -------------------------------------------- */

/* False: there are none, and a note says why. `copies` take over when they end. */
bool visits_start(const char *cupti_path, bool copies);
void visits_finish(bool started);
void visits_leave_to(const char *profiler);
void visits_abandon(void);
bool visits_on(void);
/* Within a launch: wait until no window is open. */
void visits_keep_out(void);
void visits_await(void);  /* a launch is to be recorded node by node: it waits for a window, if one may come */
/* A launch was made in the window: one that is wanted, or another. */
void visits_launched(bool is_wanted);

/* ---- window.c: when node times are taken -------------------------------------------- */

void window_reset(bool again);
void window_finish(void);
void window_close(void); /* if what was launched in it has finished, or soon does */
void window_launch(bool wanted, CUcontext context, CUstream stream);
void window_launched(bool wanted);
void window_close_soon(void);
bool window_eager_left(void); /* budget for work outside graphs */
void window_launched_plain(uint32_t launches); /* of graphs, without CUPTI */
void window_operation(CUcontext context, CUstream stream, bool has_stream);
void window_operation_done(uint64_t start_ns);
void window_stream_destroyed(CUcontext context, CUstream stream);

#endif
