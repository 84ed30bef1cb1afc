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
/* `exits`: the process is about to, and what may break it is tried last of all. */
void trial_stop(bool exits);
/* Watch what the program gives back from now on, after it has been told of last. */
void trial_watch_end(void);
/* Whether something is to be tried in the last moment: the spool stays open for it, and is closed then. */
bool trial_stays(void);
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
/* A number that is another whenever the answer may be another. */
uint64_t graph_reach(void);

/* ---- edits.c: dependencies -------------------------------------------------------------------------- */

struct arc {
    size_t from, to; /* places of the nodes in the level */
    bool plain;      /* the whole of one before the whole of the other */
};
/* Those of a level, to be freed; NULL: there is no memory, or they cannot be read. */
struct arc *arcs_of(const struct level *level, size_t *count);
/* Why those of a level, or of levels below it, are not known, or NULL. */
const char *arcs_obstacle(const struct level *level);
bool arc_add(const struct level *level, CUgraphNode from, CUgraphNode to);

/* ---- bench.c: what a slice launches with, behind the closed gate ------------------------------------ */

struct kernels {
    CUmodule module;
    CUfunction copy, sum, spin;
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
const struct gate_api *bench_gate(void); /* NULL: there is none */
bool bench_ready(struct bench *bench, CUcontext context);
void bench_end(struct bench *bench);
/* Launch and wait. Returns the time between two events around the launch, 0: it failed. */
uint64_t bench_launch(const struct bench *bench, CUgraphExec exec);
enum closing {
    CLOSING_DONE,
    CLOSING_LATER,   /* the gate backs off from work in flight: nobody is held up for it */
    CLOSING_IN_VAIN, /* work was in flight all the time */
    CLOSING_NEVER,
};
/* Do a slice as soon as nothing is in flight; `waits`: also until the gate no longer backs off. */
enum closing bench_close(void (*slice)(void *data), void *data, bool waits);
/* Do all slices that `work` makes within one closure. Returns false where nothing was done. */
bool bench_close_once(void (*work)(void));

/* ---- subject.c: executables that slices are about, from one launch of the program to the next ----------- */

struct subject {
    int watch;
    CUgraphExec exec;
    bool over, lent;
    bool requested; /* by the program, which waits for its slices */
    uint32_t launches, in_vain, stale;
    uint64_t spent_ns, begin_ns; /* before now; when now began */
    uint64_t launched_ns; /* by the program, last */
    uint64_t looked_through; /* what the process had when its graph was; 0: it was not yet */
    struct loan loan;
    struct subject *next;
};
/* Those of one kind of slices. */
struct subjects {
    pthread_mutex_t *lock; /* whoever has it makes a slice; others launch without one */
    _Atomic bool on;
    struct subject *first;
    struct bench bench;
    size_t bytes; /* of what begins with a struct subject */
    const uint64_t *budget_ns;
    /* With the lock, and the context current: a slice; the end, with the reason unless NULL; the end of the
     * budget; NULL or what is unloaded before the bench. */
    void (*once)(struct subject *subject);
    void (*finish)(struct subject *subject, const char *why);
    void (*spend)(struct subject *subject);
    void (*unload)(void);
};
/* Returns whether its loan is there to work with; else why it never will be, or NULL: a later launch tries
 * again. `unknown`, unless NULL: why not, where it is not known yet how long a launch takes. */
bool subject_borrow(struct subject *subject, const char *unknown, const char **why);
void subject_return(struct subject *subject);
/* Why its graph is not launched in slices, or NULL. It is looked through once, and again when what it may
 * reach has changed: that takes milliseconds for hundreds of kernels. */
const char *subject_obstacle(struct subject *subject);
/* Do a slice as soon as nothing is in flight. Returns whether it was done; else why it never will be, or NULL. */
bool subject_slice(struct subject *subject, void (*slice)(void *data), void *data, const char **why);
/* Whether its end is still to be said. */
bool subject_open(struct subject *subject);
/* The program has updated it. Returns why no more is tried, or NULL. */
const char *subject_stale(struct subject *subject);
/* Within the budget. */
void subject_once(struct subjects *all, struct subject *subject);
void subjects_launch(struct subjects *all, CUgraphExec exec, CUstream launched_on);
void subjects_stop(struct subjects *all, const char *why);
void subjects_context_ends(struct subjects *all, CUcontext context, const char *why);
void subjects_destroyed(struct subjects *all, CUgraphExec exec, const char *why);
void subjects_abandon(struct subjects *all);

/* ---- memory.c: memory saved, compared and restored ------------------------------------------------ */

struct piece {
    CUdeviceptr at, saved;
    size_t bytes;
    size_t block; /* the number of that which it is of */
    bool written; /* by a launch since it was saved */
};
struct saved {
    CUstream stream;
    CUdeviceptr scratch; /* the saved bytes, then a sum for each piece, then their table */
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
/* Make sure that all is as it was; restore all where it is not. */
bool saved_undo(struct saved *memory, const struct kernels *kernels);
void saved_free(struct saved *memory);

#endif
