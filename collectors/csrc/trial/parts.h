/* What the parts of the wing share. */
#ifndef GVIZ_TRIAL_PARTS_H
#define GVIZ_TRIAL_PARTS_H

#include "records/records.h"
#include "trial/trial.h"

/* ---- blocks.c: the device memory of the process, from its calls -------------------------------- */

/* A call by its name: whether it is one of these. */
bool blocks_wants(uint32_t cbid, const char *name);
void blocks_call(const CUpti_CallbackData *data, uint32_t cbid);
/* Whether all of these bytes are in one block. */
bool blocks_hold(CUdeviceptr address, size_t bytes);
void blocks_reset(void);

/* ---- images.c: what the modules hold that kernels come from --------------------------------------- */

bool images_want(uint32_t cbid, const char *name);
void images_call(const CUpti_CallbackData *data, uint32_t cbid);
/* Why a kernel may write or print what no memory of blocks.c has, or NULL. */
const char *images_obstacle(CUfunction function, CUkernel kernel);
const char *image_fault(const void *image); /* of a module's image */
void images_reset(void);

/* ---- kernels.c: those of gviz's own -------------------------------------------------------------- */

/* In the current context. */
bool kernels_load(struct kernels *kernels);

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
    struct bench *bench;
    struct experiment *experiment;
    uint64_t saved_bytes;
    bool stale;      /* the program has updated its executable */
    const char *why; /* nothing more is to be tried */
};
/* For bench_close; `data` is a struct slice_work. */
void slice_run(void *data);

#endif
