/* What the parts of the wing share. */
#ifndef GVIZ_TRIAL_PARTS_H
#define GVIZ_TRIAL_PARTS_H

#include "events/events.h"
#include "records/records.h"
#include "trial/trial.h"

/* ---- blocks.c: the device memory of the process, from its calls -------------------------------- */

struct block {
    CUdeviceptr address;
    size_t bytes;
};

/* A call by its name: whether it is one of these. */
bool blocks_wants(uint32_t cbid, const char *name);
void blocks_call(const CUpti_CallbackData *data, uint32_t cbid);
/* Why the memory of the process cannot be accounted for, or NULL. Needs the context. */
const char *blocks_obstacle(int device);
/* Whether all of these bytes are in one block. */
bool blocks_hold(CUdeviceptr address, size_t bytes);
/* A copy of them, to be freed; NULL without memory. */
struct block *blocks_list(size_t *count, size_t *bytes);
void blocks_reset(void);

/* ---- images.c: what the modules hold that kernels come from --------------------------------------- */

bool images_want(uint32_t cbid, const char *name);
void images_call(const CUpti_CallbackData *data, uint32_t cbid);
/* Why a kernel may write or print what no memory of blocks.c has, or NULL. */
const char *images_obstacle(CUfunction function, CUkernel kernel);
const char *image_fault(const void *image); /* of a module's image */
void images_reset(void);

/* ---- obstacle.c: which graphs are not tried ---------------------------------------------------------- */

/* Why, in words, or NULL; of what a launch of it would reach by now. */
const char *graph_obstacle(const struct level *level);

/* ---- kernels.c: those of gviz's own -------------------------------------------------------------- */

/* Of the current context. */
struct kernels {
    CUmodule module;
    CUfunction sum, spin;
    double clocks_per_ns; /* of the GPU as it runs; 0: not measured */
};
bool kernels_load(struct kernels *kernels);

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
const char *saved_make(struct saved *memory, const struct kernels *kernels, CUstream stream);
/* Sum up every piece. */
bool saved_sum(struct saved *memory, const struct kernels *kernels);
/* Note which pieces have other sums than before. */
void saved_note_written(struct saved *memory);
/* Of the pieces that were written, or of all. */
bool saved_restore(struct saved *memory, bool all);
void saved_free(struct saved *memory);

/* ---- edits.c: what is changed in a copy ---------------------------------------------------------------- */

struct edits {
    struct trial_edit *edits;
    size_t count;
};

/* Dependencies that others imply, of all levels. */
struct edits edits_implied(const struct level *level);
/* Cut them. `data` is a struct edits. */
bool edits_apply(const struct level *level, const void *data);

struct arc {
    size_t from, to; /* places of the nodes in the level */
    bool plain;      /* the whole of one before the whole of the other */
};
/* The dependencies of a level, to be freed; NULL without memory. */
struct arc *arcs_of(const struct level *level, size_t *count);
bool arc_remove(const struct level *level, CUgraphNode from, CUgraphNode to);
bool arc_add(const struct level *level, CUgraphNode from, CUgraphNode to);
void edits_add(struct edits *edits, struct trial_edit edit);

/* ---- delays.c: delays behind the nodes of a family ---------------------------------------------------- */

struct delays {
    const struct edits *edits;
    const struct kernels *kernels;
    bool idle; /* the nodes that delay are there, and take no time */
};
/* Kernels of one function each: the largest families, at most `most`; returns how many. */
size_t delays_find(const struct level *level, struct edits *families, size_t most);
/* `data` is a struct delays. */
bool delays_apply(const struct level *level, const void *data);

/* ---- slice.c: launches of a trial, behind the closed gate -------------------------------------------- */

#define MOST_PAIRS 40

struct experiment {
    enum trial_kind kind;
    struct copy *unedited; /* NULL: the program's executable */
    struct copy *edited;
    struct edits edits;
    struct trial_pair pairs[MOST_PAIRS];
    uint32_t count;
    bool warm; /* its first pair was launched, and its results are known */
    enum trial_results results;
    uint64_t begin_ns, held_ns;
};
struct slice_work {
    struct loan *loan;
    struct kernels *kernels;
    CUstream stream;
    CUevent start, end;
    struct experiment *experiment;
    uint64_t saved_bytes;
    bool stale;      /* the program has updated its executable */
    const char *why; /* nothing more is to be tried */
};
/* For gate_api.run_closed_for; `data` is a struct slice_work. */
void slice_run(void *data);

#endif
