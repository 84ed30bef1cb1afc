/* gviz's native library: what its parts share.
 *
 * The library lives in the watched process. It owns CUPTI, and it appends raw
 * records to a spool. It holds no lock that the program could wait for beyond
 * one append, runs no Python on CUPTI's threads, and after any inner failure it
 * detaches and lets the program go on.
 */
#ifndef GVIZ_NATIVE_H
#define GVIZ_NATIVE_H

#include "calls/calls.h"
#include "events/events.h"
#include "graph/graph.h"
#include "launch/launch.h"
#include "life/life.h"
#include "spool/spool.h"
#include "state/state.h"
#include "window/window.h"

/* ---- control.c ------------------------------------------------------------------ */

void await_injection(void);
/* flush.c */
void flush_start(void);
bool flush_finish(double seconds);
void flush_forked(void);
/* ---- process.c: the processes of gviz run ------------------------------------------ */

void process_set_job(const char *directory, int parent, bool follow);
bool process_has_job(void);
bool process_follows_children(void);
bool process_from_environment(struct options *wanted, char *cupti, size_t size);
int process_open(bool describe_it, bool at_once);
int process_keep(uint32_t type, const void *data, size_t size);
void process_forget(void);
void process_forked(void);
int32_t process_stack_reason(void);
/* ---- leave.c: leaving CUPTI to another profiler ------------------------------------- */

void leave(const char *profiler, double seconds);

/* ---- callbacks.c ------------------------------------------------------------------ */

int callbacks_start(void);

#endif
