/* gviz's own part of the time that making graphs takes. */
#ifndef GVIZ_OWN_TIME_H
#define GVIZ_OWN_TIME_H

#include <stdint.h>

enum made { MADE_CAPTURE = 0, MADE_INSTANTIATE = 1, MADE_KINDS };

void own_time_reset(void);
void own_time_forget(void); /* of this thread */
/* This thread makes a graph from begin_ns to end_ns; a capture that another thread ends is not counted. */
void own_time_open(enum made kind, uint64_t begin_ns);
void own_time_close(enum made kind, uint64_t end_ns);
/* Around each callback; 0: nothing is made. */
uint64_t own_time_enter(void);
void own_time_leave(uint64_t entered_ns);
void own_time_counters(void);

#endif
