/* Sentences and numbers for the reader of the recording, and the end after an inner failure. */
#include "spool/spool.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Atomic int failure_reported;

void note(const char *kind, const char *format, ...) {
    char text[1200];
    int at = snprintf(text, sizeof text, "%s\n", kind);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + at, sizeof text - (size_t)at, format, arguments);
    va_end(arguments);
    spool_append_one(RECORD_NOTE, text, strlen(text));
}

void counter(const char *name, double value, const char *unit, const char *method) {
    char text[600];
    snprintf(text, sizeof text, "%s\n%.17g\n%s\n%s", name, value, unit, method);
    spool_append_one(RECORD_COUNTER, text, strlen(text));
}

void give_up(const char *why) {
    int recording_now = STATE_RECORDING;
    if (!atomic_compare_exchange_strong(&run_state, &recording_now, STATE_DETACHED))
        return;
    spool_append_one(RECORD_STOPPED, why, strlen(why)); /* where there is a spool still */
    if (!atomic_exchange(&failure_reported, 1))
        fprintf(stderr, "gviz: collecting stopped: %s; the program goes on, "
                        "what was recorded is kept\n", why);
}

void give_up_reset(void) { atomic_store(&failure_reported, 0); }
