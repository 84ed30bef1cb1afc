/* Subscriber: the program's driver calls come in here through CUPTI, and CUPTI is left here. */
#ifndef GVIZ_SUBSCRIBER_H
#define GVIZ_SUBSCRIBER_H

/* ---- callbacks.c: CUPTI's subscriber ------------------------------------------------------ */

/* Subscribe. Returns 0, or -1: gviz_error says why. */
int callbacks_start(void);

/* ---- leave.c: leaving CUPTI to another profiler ------------------------------------- */

void leave(const char *profiler, double seconds);

#endif
