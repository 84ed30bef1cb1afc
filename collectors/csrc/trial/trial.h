/* Trials: edits of a graph, launched, timed and undone between two launches of the program.
 *
 * On request only, and only where the gate is: a trial runs in front of a launch, on the thread that
 * makes it, while every other thread is held outside the driver and nothing is in flight. So what a
 * copy is launched on is what the program's own launch will be launched on a moment later, and each
 * launch of a trial computes what that will compute. All device memory of the process is saved before
 * and restored after each launch; a graph that could reach anything else is refused, with the reason.
 */
#ifndef GVIZ_TRIAL_H
#define GVIZ_TRIAL_H

#include "blocks/blocks.h"
#include "events/events.h"

/* Calls are watched, and the gate tells of them; the contexts are not made yet. The calls that make
 * memory and modules are kept from then on. */
void trial_watch_memory(void);
void trial_start(void); /* after that */
void trial_stop(void);
void trial_abandon(void); /* after fork() */
/* A call that was kept (calls_keep), before and after it is made. */
void trial_call(const CUpti_CallbackData *data, uint32_t cbid);
/* An executable, or a context, is about to be destroyed. */
void trial_destroyed(CUgraphExec exec);
void trial_context_ends(CUcontext context);
/* The program is about to launch an executable. */
void trial_launch(CUgraphExec exec, CUstream stream);

/* What slices of other wings need too. */

/* ---- obstacle.c: which graphs are not launched in slices ------------------------------------------ */

/* Why, in words, or NULL; of what a launch of it would reach by now. */
const char *graph_obstacle(const struct level *level);

/* ---- edits.c: dependencies -------------------------------------------------------------------------- */

struct arc {
    size_t from, to; /* places of the nodes in the level */
    bool plain;      /* the whole of one before the whole of the other */
};
/* Those of a level, to be freed; NULL without memory. */
struct arc *arcs_of(const struct level *level, size_t *count);
bool arc_add(const struct level *level, CUgraphNode from, CUgraphNode to);

/* ---- bench.c: what a slice launches with, behind the closed gate ------------------------------------ */

struct kernels {
    CUmodule module;
    CUfunction sum, spin;
    double clocks_per_ns; /* of the GPU as it runs; 0: not measured */
};
/* Of one context, which is current whenever it is used. */
struct bench {
    CUcontext context; /* NULL: nothing is there */
    struct kernels kernels;
    CUstream stream;
    CUevent start, end;
};
/* Whether there is one; slices need it. Not within a call of the driver. */
bool bench_find_gate(void);
bool bench_ready(struct bench *bench, CUcontext context);
void bench_end(struct bench *bench);
/* Launch and wait. Returns the time between two events around the launch, 0: it failed. */
uint64_t bench_launch(const struct bench *bench, CUgraphExec exec);
/* Do a slice as soon as nothing is in flight. Returns whether it was done; `never`: nor will it be. */
bool bench_close(void (*slice)(void *data), void *data, bool *never);

/* ---- memory.c: memory saved, compared and restored ------------------------------------------------ */

struct piece {
    CUdeviceptr at, saved;
    size_t bytes;
    bool written; /* by a launch since it was saved */
};
struct saved {
    CUstream stream;
    CUdeviceptr scratch; /* the saved bytes, then a sum for each piece */
    size_t bytes, count;
    struct piece *pieces;
    uint64_t *before, *sums; /* of each piece: when it was saved, and now */
};

/* Returns NULL, or why not; then nothing is to be freed. */
const char *saved_make(struct saved *memory, const struct bench *bench);
/* Sum up every piece. */
bool saved_sum(struct saved *memory, const struct kernels *kernels);
/* Whether any sum is another than these. */
bool saved_differs(const struct saved *memory, const uint64_t *others);
/* Note which pieces have other sums than before. */
void saved_note_written(struct saved *memory);
/* Of the pieces that were written, or of all. */
bool saved_restore(struct saved *memory, bool all);
/* Restore all, and make sure of it. */
bool saved_undo(struct saved *memory, const struct kernels *kernels);
void saved_free(struct saved *memory);

#endif
