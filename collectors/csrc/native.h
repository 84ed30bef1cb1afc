/* gviz's native library: what its parts share.
 *
 * The library lives in the watched process. It owns CUPTI, and it appends raw
 * records to a spool. It holds no lock that the program could wait for beyond
 * one append, runs no Python on CUPTI's threads, and after any inner failure it
 * detaches and lets the program go on.
 */
#ifndef GVIZ_NATIVE_H
#define GVIZ_NATIVE_H

#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_types.h"

#define GVIZ_EXPORT __attribute__((visibility("default")))

/* ---- spool.c: the only way out -------------------------------------------------- */

/* Record types. The payloads are described in gviz/spool/format.py. */
enum record_type {
    RECORD_META = 1,        /* JSON from Python: name, command, versions */
    RECORD_END = 2,         /* recording closed in order */
    RECORD_NOTE = 3,        /* a sentence for the reader of the recording */
    RECORD_COUNTER = 4,     /* one number about the measuring itself */
    RECORD_DEVICE = 10,
    RECORD_WINDOW = 11,
    RECORD_BUFFER = 12,     /* raw CUPTI activity records */
    RECORD_STRING = 13,     /* the text behind a kernel-name pointer */
    RECORD_CALL = 14,       /* host times of a launch, copy or memset call */
    RECORD_LIFE = 15,       /* a driver call of a graph's life */
    RECORD_CALL_NAME = 16,
    RECORD_LAUNCH = 17,
    RECORD_LAUNCH_TIME = 18,
    RECORD_GRAPH = 19,
    RECORD_NODE = 20,
    RECORD_EDGES = 21,
    RECORD_FUNCTION = 22,
    RECORD_CREATED = 23,
    RECORD_CLONED = 24,
    RECORD_STACK = 25,      /* JSON from Python */
    RECORD_NVTX_PATH = 26,
    RECORD_NVTX_RANGE = 27,
    RECORD_DOT = 28,        /* the driver's DOT text of a graph */
    RECORD_CAPTURE_ERROR = 30,      /* a call that broke a capture */
    RECORD_CAPTURE_FAILED = 31,     /* the end of a capture that gave no graph */
    RECORD_UPDATES = 32,            /* equal updates of an executable, summed */
    RECORD_UPDATE_FAILED = 33,      /* what the driver said about one whole-graph update */
    RECORD_INSTANTIATE_FAILED = 34, /* what it said about an instantiation */
    RECORD_DEVICE_MEMORY = 35,      /* free memory before and after a step of a graph's life */
    RECORD_RUNTIME_CALL_NAME = 36,
};

struct slice {
    const void *data;
    size_t size;
};

int spool_open(const char *directory);
void spool_close(void);
/* After fork(): forget the parent's spool without touching it. */
void spool_abandon(void);
/* Append one record made of up to several pieces. Returns 0, or -1 when the disk is full. */
int spool_append(uint32_t type, const struct slice *slices, int count);
int spool_append_one(uint32_t type, const void *data, size_t size);
const char *spool_directory(void);
uint64_t spool_bytes(void);

/* ---- control.c: the state of the process ----------------------------------------- */

enum policy { POLICY_FIRST = 0, POLICY_EVERY = 1, POLICY_ALL = 2 };

struct options {
    uint32_t policy;             /* enum policy */
    uint32_t policy_count;       /* N of first N, K of every Kth */
    uint32_t eager_operations;   /* eager budget, operations */
    uint32_t dot_nodes;          /* DOT text is kept for graphs up to this many nodes */
    uint64_t eager_ns;           /* eager budget, nanoseconds of activity */
    double event_cost_fraction;  /* share of wall time that launch events may take */
};

enum run_state { STATE_IDLE = 0, STATE_RECORDING = 1, STATE_DETACHED = 2 };

extern struct options options;
extern _Atomic int run_state;

/* What this thread is doing; see callbacks.c. */
struct thread_state {
    uint32_t thread_id;
    int inside;               /* our own driver calls are not to be recorded */
    bool instantiating;       /* nodes created now are the driver's copies */
    CUgraph instantiate_graph;
    CUstream call_stream;     /* stream of the driver call under way */
    bool call_has_stream;
    bool created_node;        /* the call under way created a graph node */
    uint32_t nvtx_path;
    uint32_t nvtx_depth;
};

struct thread_state *this_thread(void);
uint64_t now_ns(void);
static inline bool recording(void) {
    return atomic_load_explicit(&run_state, memory_order_acquire) == STATE_RECORDING;
}
void flush_start(void);
/* Keep CUPTI's own words for gviz_error; always returns -1. */
int cupti_failed(const char *call, CUptiResult result);
/* Turn the collectors off after an inner failure; says so once on stderr. */
void give_up(const char *why);
void note(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
void counter(const char *name, double value, const char *unit, const char *method);

/* ---- activity.c ------------------------------------------------------------------ */

int activity_start(void);
void activity_flush(void);
void activity_stop(void);
int activity_open(uint32_t reason);
void activity_close(void);
bool activity_is_open(void);
void activity_counters(void);

/* ---- calls.c: which driver calls are watched ------------------------------------- */

enum call_class {
    CALL_OTHER = 0,
    CALL_OPERATION,        /* launch, copy or memset */
    CALL_GRAPH_LAUNCH,
    CALL_BEGIN_CAPTURE,
    CALL_END_CAPTURE,
    CALL_INSTANTIATE,
    CALL_UPLOAD,
    CALL_EXEC_UPDATE,
    CALL_EXEC_DESTROY,
    CALL_NODE_UPDATE,      /* new parameters for one node of an executable, or on and off */
    CALL_GRAPH_CLONE,
    CALL_GRAPH_DESTROY,
};

struct call_info {
    uint8_t kind;           /* enum call_class */
    int8_t stream_offset;   /* of hStream in the parameters; -1 none, -2 inside a launch config */
    bool per_thread;        /* _ptsz: stream NULL means the per-thread stream */
    bool known;             /* CUPTI has a call of this number */
    bool named;             /* its name is in the spool */
};

#define CALL_ID_LIMIT 1400
extern struct call_info calls[CALL_ID_LIMIT];
void calls_find(void);
/* Enable the callbacks of launches, copies and memsets (expensive outside windows). */
void calls_watch_operations(bool on);
int calls_watch_graphs(bool on);
CUstream call_stream(uint32_t cbid, const void *params, bool *has_stream);
void call_name(uint32_t cbid);

/* ---- callbacks.c ------------------------------------------------------------------ */

int callbacks_start(void);
void callbacks_stop(void);
uint32_t stream_id_of(CUcontext context, CUstream stream, bool per_thread);
void callback_enable(bool on, int domain, uint32_t cbid);
void domain_enable(bool on, int domain);
CUcontext context_at(int index); /* contexts seen, NULL past the end */

/* ---- life.c: the driver calls of a graph's life ------------------------------------ */

void life_reset(void);
void life_call(uint32_t cbid, const CUpti_CallbackData *data);
void life_graph_destroyed(CUgraph graph);

/* ---- capture.c: stream captures in progress, and what breaks them -------------------- */

struct capture_call { /* a begin or end of a capture that has returned */
    uint32_t call;
    int32_t result;
    uint64_t start_ns, end_ns;
    CUcontext context;
    CUstream stream;
    uint32_t stream_id, mode;
};

void capture_reset(void);
bool captures_known(void); /* a capture is in progress on some thread */
void capture_begin_enter(void);
void capture_begin_exit(const struct capture_call *begin);
void capture_end_enter(CUcontext context, CUstream stream);
void capture_end_exit(const struct capture_call *end);
void capture_call_done(uint32_t cbid, const CUpti_CallbackData *data);
void capture_runtime_call(uint32_t cbid, const CUpti_CallbackData *data);
void capture_graph_destroyed(CUgraph graph);
void capture_stream_destroyed(CUcontext context, CUstream stream);
void capture_poll(void); /* on the flush thread */

/* ---- updates.c: updates of executables, summed ---------------------------------------- */

#define WHOLE_GRAPH UINT32_MAX
#define UNKNOWN_NODE (UINT32_MAX - 1)

struct update {
    uint32_t exec_id;
    uint32_t graph_id, node_id; /* of the node; WHOLE_GRAPH for cuGraphExecUpdate */
    uint32_t call;
    int32_t result;
    uint32_t value; /* 0 or 1 of cuGraphNodeSetEnabled; CUgraphExecUpdateResult */
};

void updates_reset(void);
void updates_add(const struct update *update, uint64_t start_ns, uint64_t end_ns);
void updates_flush(void);

/* ---- memory.c: device memory that graphs take ------------------------------------------ */

enum memory_step { MEMORY_INSTANTIATE = 1, MEMORY_UPLOAD = 2, MEMORY_FIRST_LAUNCH = 3 };

void memory_reset(void);
uint64_t memory_free(void); /* 0: not asked */
void memory_taken(uint32_t exec_id, enum memory_step step, uint64_t free_before);
void memory_counters(void);

/* ---- launch.c: graph launches ------------------------------------------ */

struct launch_slot {
    uint64_t start_ns;
    uint64_t token;         /* of the event pair, 0: none */
    void *event_pair;
    uint32_t exec_id;
    uint32_t stream_id;
    uint32_t flags;
    bool wanted;
    uint64_t free_before;   /* device memory, before the first launch; 0: not asked */
};

void launch_reset(void);
void launch_enter(const CUpti_CallbackData *data, uint32_t cbid);
void launch_exit(const CUpti_CallbackData *data, uint32_t cbid);
void launch_exec_created(CUgraphExec exec, uint32_t exec_id, bool late);
void launch_exec_destroyed(CUgraphExec exec);
uint32_t launch_exec_id(CUgraphExec exec);
bool stream_is_capturing(CUstream stream);

/* ---- window.c: when node times are taken -------------------------------------------- */

enum window_reason { WINDOW_EAGER = 1, WINDOW_LAUNCHES = 2 };

void window_reset(void);
void window_start(void);
void window_finish(void);
void window_launch(bool wanted, CUcontext context, CUstream stream);
void window_launched(bool wanted);
void window_operation(CUcontext context, CUstream stream, bool has_stream);
void window_operation_done(uint64_t start_ns);
void window_stream_destroyed(CUcontext context, CUstream stream);

/* ---- events.c: whole-launch GPU time ----------------------------------------------- */

bool events_wanted(uint64_t time_ns);
void *events_begin(CUcontext context, CUstream stream, uint64_t *token);
void events_end(void *pair, CUstream stream, bool launched);
void events_poll(void);
void events_forget(CUcontext context);
void events_stop(void);

/* ---- walk.c: a graph's nodes and edges ---------------------------------------------- */

/* In place of an executable's id: the graph is walked because something about it failed. */
#define WALK_FAILED UINT32_MAX

void walk_reset(void);
void walk_graph(CUgraph graph, uint32_t exec_id);
void walk_device(CUcontext context);

/* ---- nodes.c: when and where a node was created -------------------------------------- */

typedef int32_t (*stack_callback)(void);
int32_t python_stack(void); /* of this thread, now: its id, or why there is none */
void nodes_created(const CUpti_GraphData *data, CUcontext context);
void nodes_cloned(const CUpti_GraphData *data);

/* ---- nvtx.c -------------------------------------------------------------------------- */

void nvtx_reset(void);
uint32_t nvtx_push(const char *domain, const char *text);
void nvtx_pop(const char *domain);

#endif
