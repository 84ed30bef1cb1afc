/* Gate: the program's driver calls come in here, and CUPTI is left here. */
#ifndef GVIZ_GATE_H
#define GVIZ_GATE_H

/* ---- callbacks.c: CUPTI's subscriber ------------------------------------------------------ */

/* Subscribe. Returns 0, or -1: gviz_error says why. */
int callbacks_start(void);

/* ---- leave.c: leaving CUPTI to another profiler ------------------------------------- */

void leave(const char *profiler, double seconds);

#endif
