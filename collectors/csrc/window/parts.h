/* What the parts of the wing share. */
#ifndef GVIZ_WINDOW_PARTS_H
#define GVIZ_WINDOW_PARTS_H

#include "window/window.h"

#include <sys/socket.h>
#include <sys/un.h>

/* With the window lock held. */
int activity_open(enum window_reason reason);
void activity_close(void);

/* A period begins or ends: budgets start anew, or nothing is wanted any more. */
void window_resume(void);
void window_pause(void);

/* ---- request.c: other processes begin and end periods ------------------------------------- */

enum request_kind { REQUEST_NONE = 0, REQUEST_START = 1, REQUEST_STOP = 2 };

struct request {
    enum request_kind kind; /* NONE: it is not understood, or not this user's */
    struct sockaddr_un from;
    socklen_t from_size;
};

/* From now on, until the recording ends, requests can come. */
void requests_open(void);
void requests_close(void);
void requests_forked(void);
/* Take the next request; false when there is none. */
bool request_take(struct request *request);
void request_answer(const struct request *request, const char *word);

#endif
