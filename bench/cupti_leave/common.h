/* What the experiments share: a program with a graph of exact results, timed steps, CUPTI. */
#ifndef CUPTI_LEAVE_COMMON_H
#define CUPTI_LEAVE_COMMON_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* Ends the process with status 4 and the call's text if a driver call fails. */
#define CHECK(call) check((call), #call, __LINE__)
void check(CUresult result, const char *call, int line);

double now_ms(void);
void pause_ms(double ms);
/* Sorts in place; `quantile` in [0, 1]. */
double quantile_of(double *values, int count, double quantile);

/* -- a program -------------------------------------------------------------------------------- */

enum { DATA_WORDS = 1 << 16 };

struct program {
    CUcontext context;
    CUmodule module;
    CUfunction step, spin, fault, hash_pieces;
    CUstream stream;
    CUgraph graph;     /* a chain of `nodes` steps */
    CUgraphExec exec;
    CUdeviceptr data;
    int nodes;
    long steps;        /* steps that the data has gone through */
};

/* Makes the program's parts in the current context. */
void make_program(struct program *p, int nodes);
/* Opens device 0 with its primary context. */
CUcontext open_device(void);
/* Launches the step kernel on a stream, once; counts it. */
CUresult launch_step(struct program *p, CUstream stream);
CUresult launch_graph(struct program *p);
/* Times `count` launches, each waited for (us). */
void time_launches(struct program *p, double *us, int count);
/* True if every word of the data is what `steps` steps make of it. */
bool is_exact(const struct program *p);

/* -- steps, each of which may never return ---------------------------------------------------- */

/* Runs steps on a thread of its own; `watch_steps` releases the situation when one takes longer
   than the limit. `steps` calls `run_step` for each. */
int run_step(const char *name, int (*call)(void));
/* Returns when the thread of `steps` has ended; false if a step did not return after release. */
bool watch_steps(void (*steps)(void), double limit_ms, void (*release)(void));
/* Prints "steps": {name: [first nonzero result or 0, median ms, most ms]}, "blocked": name. */
void print_steps(void);

/* -- CUPTI ------------------------------------------------------------------------------------ */

extern uint32_t correlations[65536]; /* of launches seen since attach_cupti */
extern int correlation_count;
extern long record_count, bad_record_count;

/* Each runs the calls that attach or leave as steps; returns the first result that is not 0. */
int attach_cupti(void);
int leave_cupti(void);

/* -- situations beside which something is done ------------------------------------------------ */

/* Starts the named situation on a thread of its own and returns when it is there. */
void begin_situation(const char *name, CUcontext context);
/* Lets what waits go on. */
void release_situation(void);
/* Waits for the end: 0, or the first error that the situation's own calls met; -1: never ended;
   -2: its results are wrong. */
int end_situation(void);
/* Something is captured: launches elsewhere are left out. */
bool is_capturing(const char *name);

#endif
