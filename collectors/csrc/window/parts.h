/* What the parts of the wing share. */
#ifndef GVIZ_WINDOW_PARTS_H
#define GVIZ_WINDOW_PARTS_H

#include "window/window.h"

/* With the window lock held. */
int activity_open(enum window_reason reason);
void activity_close(void);

/* A period begins or ends: budgets start anew, or nothing is wanted any more. */
void window_resume(void);
void window_pause(void);

#endif
