/* Why the last call from Python failed. */
#include "state/state.h"

#include <stdarg.h>
#include <stdio.h>

#define MULTIPLE_SUBSCRIBERS 39 /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */

static char last_error[1024];
static char holder[512]; /* who holds CUPTI where another does, and what to do */

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
                          call, text ? text : "?", holder[0] ? holder : "run without it");
    return error_keep("%s failed: %s (%d)", call, text ? text : "?", result);
}

void error_forget(void) { last_error[0] = 0; }

GVIZ_EXPORT const char *gviz_error(void) { return last_error; }

/* A sentence about who holds CUPTI, for the case that another does. */
GVIZ_EXPORT void gviz_set_holder(const char *text) {
    snprintf(holder, sizeof holder, "%s", text ? text : "");
}
