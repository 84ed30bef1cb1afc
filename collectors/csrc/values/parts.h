/* What the parts of the wing share. */
#ifndef GVIZ_VALUES_PARTS_H
#define GVIZ_VALUES_PARTS_H

#include "records/records.h"
#include "trial/trial.h"
#include "values/values.h"

/* ---- types.c: the elements that parameters of kernels point to ----------------------------------- */

/* Not within a call of the driver. */
void types_prepare(void);
/* Fill in what each of `count` parameters points to; ELEMENT_BYTES where its kernel's name does not
 * tell. `sizes`: of the parameters, in bytes. */
void types_of(const char *name, const size_t *sizes, size_t count, enum element_type *types);

/* ---- apart.c: work that may not return ------------------------------------------------------------- */

/* Do work in a thread of gviz's own. Returns whether it was done within a limit. Else `data` is released,
 * whenever it is done. */
bool done_apart(void (*work)(void *data), void *data, void (*release)(void *data), uint64_t limit_ns);

/* ---- handed_out.c: blocks of the program's own allocators ------------------------------------------ */

struct handed_out {
    CUdeviceptr address;
    uint64_t bytes; /* that were asked for */
};
/* Those of a device in order of address, to be freed; NULL: there are none, or nobody tells in time. */
struct handed_out *handed_out_list(CUdevice device, size_t *count);

/* ---- plan.c: what is to be probed ------------------------------------------------------------------ */

/* Parameters of a kernel that are looked at. */
#define MOST_PARAMETERS 256

/* What a node does, or a stream call. */
struct work {
    int type; /* of the node that does it; -1: it is given nothing */
    union {
        KernelParams kernel;
        MemcpyParams copy;
        MemsetParams set;
    };
};
/* A node, in the order in which the copy runs them; or a stream call. */
struct site {
    uint32_t graph_id, node_id;
    uint64_t token; /* the same for the same kernel, for copies, for memsets */
    bool chosen, dumped; /* its memory is probed; and its contents kept */
    size_t first_buffer, buffers; /* among those of the plan */
    size_t first_range, ranges;
};
/* An address that a node is given. */
struct buffer {
    uint32_t position, offset;
    enum element_type type;
    bool told_elsewhere; /* the type is that of the same address at another node */
    CUdeviceptr at, end; /* what is probed of it */
    CUdeviceptr block_end;
    CUdeviceptr handed_out; /* begin of the allocator's block that it lies in, 0: none is known */
    size_t reported;     /* bytes, 0: CUDA does not say how many */
};
/* Memory to be probed: from an address of a buffer to the next that any node is given. */
struct range {
    size_t buffer;
    CUdeviceptr at;
    size_t bytes;
    enum value_extent extent;
    bool dumped;
    size_t content; /* where what it held before is kept, in the plan's contents; what it held after follows */
};
struct plan {
    struct site *sites;
    struct buffer *buffers;
    struct range *ranges;
    size_t site_count, buffer_count, range_count;
    size_t site_room, buffer_room, range_room;
    size_t content_bytes;
    bool lost; /* there is no memory for it */
};

/* Of the nodes that the options name. Returns NULL, or why there is none; to be freed either way. */
const char *plan_make(struct plan *plan, const struct loan *loan);
/* Of contents, so that each begins where an element of any type can. */
static inline size_t content_room(const struct range *range) { return (range->bytes + 15) & ~(size_t)15; }
/* Add a stream call to a plan that begins empty; then, after the last, as above. */
void plan_take_call(struct plan *plan, const struct work *work, const struct handed_out *handed_out, size_t count);
const char *plan_finish(struct plan *plan);
void plan_free(struct plan *plan);
/* Places of a level's nodes, each after those that it waits for, to be freed; NULL: no memory. */
size_t *order_of(const struct level *level);

/* ---- probes.c: a copy with probes, and what they read -------------------------------------------------- */

struct probes {
    const struct plan *plan;
    size_t first, last; /* sites */
    struct copy *copy;
    CUdeviceptr memory; /* a table of the ranges, twice, then their parts, twice */
    size_t table_bytes, parts;
    void *table, *read; /* on the host: the table, and the parts as a launch left them */
    CUdeviceptr contents; /* 0: none are kept */
    void *held;           /* on the host */
    uint64_t bytes;     /* that a launch probes */
};

/* Loads the kernel into the current context. */
bool probe_load(CUmodule *module, CUfunction *probe);
/* The end of the sites from `first` on that one copy takes. */
size_t probes_last(const struct plan *plan, size_t first);
/* Returns NULL, or why not; then nothing is to be freed. */
const char *probes_make(struct probes *probes, const struct loan *loan, CUfunction probe);
/* Before its launches; and after each. */
bool probes_upload(const struct probes *probes);
bool probes_read(struct probes *probes);
bool probes_read_contents(struct probes *probes);
/* Fill in the values of the ranges as they were read; returns how many there are. */
size_t probes_values(const struct probes *probes, struct probed_value *values);
size_t probes_ranges(const struct probes *probes);
void probes_free(struct probes *probes);

/* For what no copy is made of: the table alone; then launch the probe for a site, `side` 0: before it. */
bool probes_make_table(struct probes *probes);
bool probes_launch(const struct probes *probes, CUfunction probe, CUstream stream, size_t site, size_t side);

/* ---- contents.c: files of what memory held ------------------------------------------------------------- */

/* Write what a launch has read to files, beside the records; `values` are all that it read. Returns how many
 * ranges of nodes whose contents are wanted were left out. */
size_t contents_keep(const struct probes *probes, const struct probed_value *values);

/* ---- stream_call.c: what a call puts into a stream ------------------------------------------------------------ */

/* `name`: of the call. Returns false: it is no work, or work that is not understood. */
bool stream_call_work(const char *name, const void *params, struct work *work);

/* ---- eager.c: the same work by stream calls ------------------------------------------------------------------ */

/* A graph was read: write what its calls left, if they were read. */
void eager_match(const struct plan *plan, uint32_t graph_id, uint32_t exec_id);
void eager_context_ends(CUcontext ending);
void eager_abandon(void); /* after fork() */

/* ---- values.c ---- */

bool values_are_read(void);

/* ---- probe_ptx.c, probe_sass.c ------------------------------------------------------------------------ */

extern const char probe_ptx[];
/* Machine code for GPUs of a major compute capability, from a minor one on. */
struct probe_sass {
    int major, minor;
    const uint64_t *image; /* an ELF file */
};
extern const struct probe_sass probe_sass[];
extern const size_t probe_sass_count;

/* ---- reading.c: one slice ------------------------------------------------------------------------------- */

struct reading {
    struct subject *of;
    struct bench *bench;
    struct probes *probes;
    struct probed_value *values;
    struct values_record record; /* with its numbers of values and pieces */
    struct written_piece *pieces;
    bool stale;      /* the program has updated its executable */
    const char *why; /* nothing more is to be probed */
};
/* For bench_close; `data` is a struct reading. */
void reading_run(void *data);

#endif
