/* Entry: where Python, the driver and NVTX call in: start, stop, fork, and the flush thread.
 *
 * The library lives in the watched process. It owns CUPTI, and it appends raw
 * records to a spool. It holds no lock that the program could wait for beyond
 * one append, runs no Python on CUPTI's threads, and after any inner failure it
 * detaches and lets the program go on.
 */
#ifndef GVIZ_ENTRY_H
#define GVIZ_ENTRY_H

#include "state/state.h"

/* ---- control.c ------------------------------------------------------------------------- */

void await_injection(void);

/* ---- flush.c --------------------------------------------------------------------------- */

void flush_start(void);
bool flush_finish(double seconds);
void flush_forked(void);

/* ---- process.c: the processes of gviz run ------------------------------------------------ */

void process_set_job(const char *directory, int parent, bool follow);
bool process_has_job(void);
bool process_follows_children(void);
bool process_from_environment(struct options *wanted, char *cupti, size_t size);
int process_open(bool describe_it, bool at_once);
bool process_start_waits(void); /* whether gviz start came before this process used CUDA */
int process_keep(uint32_t type, const void *data, size_t size);
void process_forget(void);
void process_forked(void);
int32_t process_stack_reason(void);
void process_note_gate(void); /* where gviz run wanted the gate and it is not here */

#endif
