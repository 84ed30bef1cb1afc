/* What the parts of the wing share. */
#ifndef GVIZ_TRIAL_PARTS_H
#define GVIZ_TRIAL_PARTS_H

#include "records/records.h"
#include "trial/trial.h"

/* ---- image.c: what is read of an image; cubin.c and fat.c read for it ------------------------------- */

struct variable {
    char *name;
    uint64_t bytes; /* 0: declared in PTX, and not read */
};
struct image {
    const void *unread; /* in a file's mapping, until it is asked for */
    const char *fault;  /* why nothing is known of it */
    struct variable *variables;
    size_t variable_count;
    char **callers; /* kernels that call functions of the driver */
    size_t caller_count;
    bool all_call;
};
extern const char unknown_form[];
/* Names of functions that the driver gives to kernels, up to NULL. */
extern const char *const calls_of_kernels[];

/* Keep an image that was just loaded; `capability` of the GPU, such as 90. */
void image_take(struct image *image, const void *data, unsigned capability);
void image_read(struct image *image, unsigned capability);
void image_forget(struct image *image);
bool image_calls(const struct image *image, const char *kernel);
/* For those that read. False: no memory, or not understood. */
bool image_add_variable(struct image *image, const char *name, uint64_t bytes);
bool image_add_caller(struct image *image, const char *name);
bool ptx_read(struct image *image, const char *text);
bool cubin_read(struct image *image, const void *binary, size_t bytes);
/* Sets a fault where it cannot. */
void fat_read(struct image *image, const void *fat, unsigned capability);

/* ---- images.c: the modules that kernels come from, and where their variables are ------------------- */

bool images_want(uint32_t cbid, const char *name);
void images_call(const CUpti_CallbackData *data, uint32_t cbid);
/* Why a kernel of this name may write what is not saved, or prints, or NULL. Reads images that were not
 * asked for before: first before a gate is closed. */
const char *images_obstacle(CUfunction function, const char *name);
/* A number that is another once any was loaded or unloaded. */
uint64_t images_changes(void);
/* The variables of modules that were asked for and are known, to be freed; NULL without memory. */
struct block *images_blocks(size_t *count);
/* Whether all of these bytes are of a variable among them. */
bool images_hold(CUdeviceptr address, size_t bytes);
void images_reset(void);

/* ---- kernels.c: those of gviz's own -------------------------------------------------------------- */

/* In the current context; the module is to be unloaded where it is there, also when this fails. */
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
void edits_add(struct edits *edits, struct trial_edit edit);
/* By graph, then by node: as those that look for the edit of a node need them. */
void edits_sort(struct edits *edits);
/* Of such edits the place of the first that is of this node or behind it. */
size_t edits_first(const struct edits *edits, uint32_t graph_id, uint32_t node_id);
/* The first of a node; NULL: it has none. */
const struct trial_edit *edit_of(const struct edits *edits, uint32_t graph_id, uint32_t node_id);

#define NOWHERE SIZE_MAX

/* Where a node stands in its level. */
struct place {
    uint32_t id;
    size_t at;
};
/* In the order of ids, to be freed; NULL without memory. */
struct place *places_of(const struct level *level);
/* NOWHERE: there is no such node. */
size_t node_place(const struct place *places, size_t count, uint32_t node_id);

/* Arcs by the node they begin at: those of node i are by[first[i]] up to by[first[i + 1]]. */
struct index {
    size_t *first, *by;
};
/* False: no memory; then nothing is to be freed. */
bool index_make(struct index *index, const struct arc *arcs, size_t count, size_t nodes);
void index_free(struct index *index);

/* Nodes of a level so that each comes after those it waits for; which are before which, up to 8,192 nodes. */
struct order {
    size_t count, *nodes;
    uint64_t *before;
    bool whole;
};
/* False: no memory, or a cycle; then nothing is to be freed. */
bool order_make(struct order *order, const struct arc *arcs, size_t count, size_t nodes);
/* Whether a node is known to have ended before another begins, by whole dependencies. */
bool order_has(const struct order *order, size_t node, size_t of);
/* Fill in which of some nodes are not known to be before another of them. False: no memory. */
bool order_find_last(const struct order *order, const size_t *nodes, size_t count, bool *last);
void order_free(struct order *order);
bool arc_remove(const struct level *level, CUgraphNode from, CUgraphNode to);

/* ---- arrange.c: nodes in one chain, in another order of creation, by priority ---------------------------- */

/* Of the outermost graph; none where it is a chain. */
void arrange_find(const struct level *level, struct edits *chain, struct edits *order);
/* Kernels that have a priority. */
struct edits edits_prioritized(const struct level *level);
/* `data` is a struct edits. */
bool chain_apply(const struct level *level, const void *data);
bool order_apply(const struct level *level, const void *data);

/* ---- delays.c: delays behind the nodes of a family or layer ---------------------------------------------------- */

struct delays {
    const struct edits *edits;
    const struct kernels *kernels;
    bool idle; /* the nodes that delay are there, and take no time */
};
/* Edits of some parts of a graph: `all` is to be freed, and the edits of each. */
struct parts {
    struct edits *all;
    size_t count;
};
/* Kernels of one function each, the largest family first. */
struct parts delays_find(const struct level *level);
/* Name of the kernel that delays of a family stand behind; NULL: it has none. */
const char *delays_name(const struct level *level, const struct edits *edits);
/* Kernels of each of the blocks that repeat: the first, the last, then always between those before. */
struct parts layers_find(const struct level *level);
/* A node that spends time, behind another unless NULL; NULL: it cannot be made. */
CUgraphNode delays_pause(const struct level *level, const struct delays *delays, CUgraphNode after, uint64_t ns);
/* `data` is a struct delays. */
bool delays_apply(const struct level *level, const void *data);

/* ---- removal.c: what waits for what once nodes have left ----------------------------------------- */

struct wait {
    size_t from;
    size_t arc; /* of the graph; NOWHERE: the dependency is not there yet */
};
struct waits {
    struct wait *all;
    size_t count, room;
};
/* Nodes that leave a level, one after the other in this order. */
struct removal {
    size_t nodes, arc_count;
    struct arc *arcs;
    struct index index; /* of the arcs */
    struct order order;
    struct waits *of; /* of each node */
    bool *leaves;     /* the node is not there any more */
    bool *dropped;    /* of each arc: no dependency comes of it any more */
    struct pair *pairs;
    size_t pair_count, pair_room;
    bool failed; /* no memory */
};
enum leaving {
    LEAVING_DONE,
    LEAVING_NEEDS_OTHER, /* another node is to have its place */
    LEAVING_FAILED,
};
/* To be freed, also where it fails. */
bool removal_make(struct removal *removal, const struct level *level);
enum leaving removal_leave(struct removal *removal, size_t at);
/* Nodes go with their dependencies; then come those that were not there. `made`: what has the place of each. */
bool removal_rewire(const struct removal *removal, const struct level *level, CUgraphNode *made);
void removal_free(struct removal *removal);

/* ---- off.c: kernels left out, or replaced by pauses --------------------------------------------- */

/* Of the first `most` families that delays_find finds those that may be; returns how many. */
size_t off_find(const struct level *level, struct edits *families, size_t most);
/* `data` is a struct delays. */
bool off_apply(const struct level *level, const void *data);

/* ---- slice.c: launches of a trial, behind the closed gate -------------------------------------------- */

#define MOST_PAIRS 40

struct experiment {
    enum trial_kind kind;
    struct copy *unedited; /* NULL: the program's executable */
    struct copy *edited;
    struct edits edits;
    struct trial_pair pairs[MOST_PAIRS];
    uint32_t count;
    bool halved; /* what it leaves out takes half of its time in another */
    bool warm; /* its first pair was launched, and its results are known */
    enum trial_results results;
    uint64_t begin_ns, held_ns;
    uint64_t gain_ns; /* median, once it was made */
};
/* ---- experiments.c: what is tried of a graph ------------------------------------------------------------ */

struct experiments {
    struct experiment *all;
    size_t count, room, at;
    bool planned, delays; /* those without delays are there; those with, too */
    bool last, halves;    /* those of the last moment; of these, what needs the gains of others */
    bool varies;          /* launches of the same leave other results */
    uint64_t launch_ns;   /* of the program's executable; 0: not known yet */
};

/* Plan what needs no times; then delays, once launch_ns is known. */
void experiments_plan(struct experiments *these, const struct loan *loan);
void experiments_plan_delays(struct experiments *these, const struct level *level);
/* Plan what only the last moment allows: families left out; then halves of those that gained most. */
void experiments_plan_last(struct experiments *these, const struct level *level);
void experiments_plan_halves(struct experiments *these);
/* The control and those of one kind alone; of families the largest whose name contains `family`. Returns
 * whether there are any of that kind. */
bool experiments_keep(struct experiments *these, enum trial_kind kind, const struct level *level,
                      const char *family);
/* NULL: all were made. */
struct experiment *experiments_current(struct experiments *these);
void experiments_next(struct experiments *these);
void experiments_free(struct experiments *these);
/* Make its copies, where they are not there. Returns NULL, or why not. */
const char *experiment_prepare(struct experiment *one, const struct loan *loan, const struct kernels *kernels);
void experiment_drop(struct experiment *one); /* to be made from its beginning */

/* ---- trial.c: what is tried in the process's last moment -------------------------------------------- */

/* Keep the graphs for which there is something to try. Returns whether there are any. */
bool tries_keep(void);
void tries_refuse(const char *why);
/* Behind the closed gate; as long as it may go on. */
void tries_make(bool (*go_on)(void));
bool tries_lost_context(void);
void tries_hang(void); /* what is being tried does not end: say so, and that all is over */

/* ---- last.c: the last moment ---- */

bool last_begin(void);
void last_abandon(void);

/* ---- one slice of an experiment ---- */

struct slice_work {
    struct subject *of;
    struct bench *bench;
    struct experiment *experiment;
    uint64_t saved_bytes;
    bool stale;      /* the program has updated its executable */
    bool failed;     /* a launch failed */
    const char *why; /* nothing more is to be tried */
};
/* For bench_close; `data` is a struct slice_work. */
void slice_run(void *data);

#endif
