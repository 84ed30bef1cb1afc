/* Events: the collector that does without CUPTI. Graphs are handed over by Python, and copies of
 * them with an event around each node are launched in their place.
 */
#ifndef GVIZ_EVENTS_H
#define GVIZ_EVENTS_H

#include "state/state.h"

enum collector { COLLECTOR_AUTO = 0, COLLECTOR_CUPTI = 1, COLLECTOR_EVENTS = 2,
                 COLLECTOR_TOPOLOGY = 3 };

bool watch_wanted(void);     /* events or topology were requested */
bool watch_without_times(void); /* topology was requested */
bool watch_may_follow(void); /* after a CUPTI that failed */
GVIZ_EXPORT void gviz_want_collector(int which);
void watch_start(const char *why, bool fresh);
void watch_finish(void);
void watch_stop(void);
void watch_abandon(void);
bool watching(void);

/* Copies of the executables that the gate tells of, in place of some of their launches. */
bool watch_can_copy(void);
void watch_stand_in(bool later); /* when windows of CUPTI have ended */
void watch_instantiated(CUgraph graph, CUgraphExec exec);
/* A call that updates it has returned: of one node, or of the `whole`. */
void watch_updated(const CUpti_CallbackData *data, bool whole);
void watch_destroyed(CUgraphExec exec); /* it is about to be */
void watch_context_ends(CUcontext context);

/* Work outside graphs: an event before and after each call, as long as the eager budget lasts. */
void outside_start(void);
bool outside_on(void);
void outside_begins(const CUpti_CallbackData *data, uint32_t cbid);
/* The call has returned; whether it is timed. */
bool outside_ends(const CUpti_CallbackData *data, uint32_t cbid, uint64_t called_ns,
                  uint64_t returned_ns);
/* On the flush thread: write the times of what has finished. Returns whether something has not. */
bool outside_poll(void);
void outside_forget(CUcontext context); /* it is about to be destroyed */
void outside_abandon(void);
void outside_stop(void);

#endif
