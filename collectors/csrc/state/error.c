/* Why the last call from Python failed. */
#include "state/state.h"

#include <stdarg.h>
#include <stdio.h>

#define MULTIPLE_SUBSCRIBERS 39 /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */

static char last_error[1024];
static char cupti_user[512]; /* who uses CUPTI where another does, and what to do */

int error_keep(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return -1;
}

int cupti_failed(const char *call, CUptiResult result) {
    const char *text = NULL;
    cupti.cuptiGetResultString(result, &text);
    if (result == MULTIPLE_SUBSCRIBERS)
        return error_keep("another profiler holds CUPTI in this process (%s: %s); %s",
                          call, text ? text : "?", cupti_user[0] ? cupti_user : "run without it");
    return error_keep("%s failed: %s (%d)", call, text ? text : "?", result);
}

void error_forget(void) { last_error[0] = 0; }

GVIZ_EXPORT const char *gviz_error(void) { return last_error; }

/* A sentence about who holds CUPTI, for the case that another does. */
GVIZ_EXPORT void gviz_set_cupti_user(const char *text) {
    snprintf(cupti_user, sizeof cupti_user, "%s", text ? text : "");
}
