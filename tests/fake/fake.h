/* The inside of the fake GPU: one process-wide state behind one recursive lock. libcuda.so.1 holds
 * it; libcupti.so.13 is handed work through struct tool. */
#ifndef FAKE_H
#define FAKE_H

#include "cbids.h"
#include "cuda_types.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* What a handle may point to. A handle is checked against the set of living objects before it is
 * followed, so that a stale one is an error code and not a crash. */
enum object_kind {
    OBJECT_CONTEXT = 1,
    OBJECT_MODULE,
    OBJECT_FUNCTION,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_GRAPH,
    OBJECT_NODE,
    OBJECT_EXEC,
};

struct context {
    uint32_t id;
    CUdevice device;
};

struct parameter {
    size_t offset, size;
};

struct function {
    struct module *module;
    char *name;
    struct parameter *parameters;
    size_t parameter_count;
    size_t parameter_bytes;
};

/* One operation: what a stream call asks for, and what a graph node holds. */
struct work {
    int type; /* enum node_type */
    struct context *context; /* whose device runs it; NULL: the first */
    struct function *function;
    unsigned int grid[3], block[3], shared_mem_bytes;
    unsigned char *arguments;  /* owned copy, laid out as the kernel's parameters */
    void **argument_pointers;  /* into arguments */
    void *packed[5];           /* as `extra`, where they were given so */
    int priority, cooperative;
    bool programmatic; /* launched with programmatic stream serialization */
    CUDA_MEMCPY3D copy;
    bool copy_by_hand; /* from a memcpy node's parameters, not captured: DOT text tells them apart */
    CUDA_MEMSET_NODE_PARAMS memset;
    CUDA_HOST_NODE_PARAMS host;
    struct event *event;
    CUDA_EXT_SEM_NODE_PARAMS semaphores;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    CUdeviceptr freed;
    CUDA_BATCH_MEM_OP_NODE_PARAMS memory_operations;
    CUDA_CONDITIONAL_NODE_PARAMS conditional;
};

struct edge {
    struct node *from, *to;
    CUgraphEdgeData data;
};

struct node {
    struct graph *graph;
    struct node *original; /* the node it was cloned from */
    uint32_t id;           /* order of creation in its graph */
    uint32_t exec_id;      /* its number in the executable, for nodes of an executable's clone */
    struct work work;
    bool disabled;         /* of an executable: cuGraphNodeSetEnabled */
    struct graph **bodies; /* child graph (one) or branches of a conditional */
    size_t body_count;
    size_t edges_in; /* edges that were ever added to it */
};

struct graph {
    uint32_t id;
    struct node **nodes;
    size_t node_count;
    struct edge *edges; /* order of creation */
    size_t edge_count;
    struct node *parent; /* of a body */
    struct graph *original;
    uint32_t next_node_id;
    size_t exec_count;
};

struct range {
    size_t first, last; /* one past the end */
};

/* One node of an executable. The steps of its bodies follow it directly. */
struct step {
    struct node *node;
    size_t *after; /* indices of the steps it waits for */
    size_t after_count;
    struct range *bodies; /* as many as node->body_count */
    size_t next;          /* index of the step that follows it and its bodies */
    size_t queue;
    bool continued; /* a dependent went on in its queue */
    uint64_t end_ns; /* in the launch in hand */
};

struct exec {
    uint32_t id;
    struct graph *clone;
    struct graph *template_graph;
    unsigned long long flags;
    struct step *steps; /* bodies follow the node that holds them */
    size_t step_count;
    uint32_t *queue_stream_ids;
    size_t queue_count;
    uint64_t tail_ns; /* when its last launch ends */
    bool launched;
    uint32_t made_for; /* CUPTI's records until it is finalized for the so-manieth time; 0: for none */
};

struct event {
    unsigned int flags;
    bool recorded;
    uint64_t time_ns;
    uint64_t capture_id; /* recorded inside this capture; 0: outside any */
    struct node **nodes; /* what it stands for there */
    size_t node_count;
};

struct capture {
    uint64_t id;
    struct graph *graph;
    struct stream *origin;
    int mode;
    bool invalidated;
    bool into_existing; /* cuStreamBeginCaptureToGraph */
    pthread_t thread;
};

struct stream {
    uint32_t id; /* as CUPTI numbers it */
    unsigned int flags;
    int priority;
    uint64_t tail_ns; /* when the last operation ends */
    uint64_t host_ticket; /* the last host function queued on it */
    unsigned ordinary; /* kernels in a row: speed.c */
    bool apart;
    struct capture *capture;
    struct node **frontier; /* nodes that the next captured one depends on */
    size_t frontier_count;
};

/* -- the tool: what libcupti.so.13 plugs in ------------------------------------------------- */

struct activity {
    const struct work *work;
    uint64_t start_ns, end_ns;
    uint32_t stream_id, context_id, device_id, correlation_id;
    uint64_t graph_node_id;
    uint32_t graph_id;
};

struct graph_data { /* CUpti_GraphData */
    struct graph *graph, *original_graph;
    struct node *node, *original_node;
    int node_type;
    struct node *dependency;
    struct exec *exec;
};

struct tool {
    void (*api)(int site, int cbid, const char *name, const void *params, CUresult *result,
                uint64_t *correlation_data, uint32_t correlation_id);
    void (*runtime)(int site, int cbid, const char *name, const void *params, int *result);
    void (*resource)(int cbid, struct stream *stream, void *descriptor);
    void (*activity)(const struct activity *activity);
};

enum resource_cbid {
    RESOURCE_CONTEXT_CREATED = 1,
    RESOURCE_STREAM_CREATED = 3,
    RESOURCE_STREAM_DESTROY_STARTING = 4,
    RESOURCE_CU_INIT_FINISHED = 5,
    RESOURCE_MODULE_LOADED = 6,
    RESOURCE_GRAPH_CREATED = 9,
    RESOURCE_GRAPH_DESTROY_STARTING = 10,
    RESOURCE_GRAPH_CLONED = 11,
    RESOURCE_GRAPHNODE_CREATE_STARTING = 12,
    RESOURCE_GRAPHNODE_CREATED = 13,
    RESOURCE_GRAPHNODE_DESTROY_STARTING = 14,
    RESOURCE_GRAPHNODE_DEPENDENCY_CREATED = 15,
    RESOURCE_GRAPHEXEC_CREATE_STARTING = 17,
    RESOURCE_GRAPHEXEC_CREATED = 18,
    RESOURCE_GRAPHEXEC_DESTROY_STARTING = 19,
    RESOURCE_GRAPHNODE_CLONED = 20,
    RESOURCE_GRAPH_NODE_UPDATED = 22,
    RESOURCE_GRAPH_NODE_SET_PARAMS = 23,
};

/* What fake_set_plan plants; contract/planted.py has the same fields. */
struct plan {
    uint64_t seed;
    double call_ns;       /* host time of a kernel's launch */
    double launch_ns;     /* of a graph's launch */
    double scale;         /* of both, and of the times of nodes */
    double noise;         /* standard deviation of each of them, as a share */
    double drift_per_s;   /* by which share they grow in a second */
    double cold_factor;   /* of the first calls */
    double attached_ns;   /* more for each launch once CUPTI is subscribed to */
    double recorded_ns;   /* and more while it keeps records */
    uint32_t cold_calls, cold_launches;
};

EXPORT void fake_set_plan(const struct plan *plan); /* NULL: the real clock again */
EXPORT double fake_drift(void);
EXPORT void fake_keeps_records(bool on);
bool records_are_kept(void);
uint32_t tool_departures(void); /* how often a tool has gone */
EXPORT int fake_calls_inside(void); /* how many calls are under way on all threads */
EXPORT void fake_set_tool(const struct tool *tool);
/* A call of the CUDA runtime is entered (result NULL) or returns. */
EXPORT void fake_runtime_call(int cbid, const char *name, const void *params, int *result);
EXPORT uint64_t fake_now_ns(void);
EXPORT void fake_lock(void);
EXPORT void fake_unlock(void);
EXPORT bool fake_is(const void *object, enum object_kind kind);
EXPORT struct context *fake_context(void);
EXPORT uint32_t fake_stream_id(struct stream *stream); /* 0: no such stream */
EXPORT long fake_setting(const char *name);            /* an environment number, 0 when unset */

/* -- state.c ---------------------------------------------------------------------------------- */

struct call {
    int cbid;
    const char *name;
    const void *params;
    uint64_t correlation_data;
    uint32_t correlation_id;
    uint32_t outer; /* correlation id of the call that this one is made inside of */
};

void call_enter(struct call *call, int cbid, const char *name, const void *params);
CUresult call_exit(struct call *call, CUresult result);
uint32_t current_correlation_id(void);
void add_object(const void *object, enum object_kind kind);
void remove_object(const void *object);
void notify(int cbid, struct stream *stream, void *descriptor);
void notify_graph(int cbid, const struct graph_data *data);
void report_activity(const struct activity *activity);
EXPORT void *fake_allocate(size_t count, size_t size);
/* Append an item to an array that grows; returns the (moved) array. */
EXPORT void *fake_append(void *array, size_t count, size_t size, const void *item);
uint32_t next_graph_id(void);
uint32_t next_stream_id(void);

/* Run `expression` as the body of a driver function: ENTER callback, lock, body, EXIT callback.
 * `fields` declares CUPTI's parameter structure, the rest are its values. */
#define TRACED(function, fields, expression, ...)                    \
    do {                                                             \
        struct fields params_ = {__VA_ARGS__};                       \
        struct call call_;                                           \
        call_enter(&call_, cbid_##function, #function, &params_);    \
        fake_waits(#function);                                       \
        fake_lock();                                                 \
        CUresult result_ = fake_refuses(#function) ? CUDA_ERROR_OUT_OF_MEMORY : (expression); \
        fake_unlock();                                               \
        return call_exit(&call_, result_);                           \
    } while (0)

/* The same for functions that wait: the body runs without the lock. */
#define TRACED_UNLOCKED(function, fields, expression, ...)           \
    do {                                                             \
        struct fields params_ = {__VA_ARGS__};                       \
        struct call call_;                                           \
        call_enter(&call_, cbid_##function, #function, &params_);    \
        return call_exit(&call_, (expression));                      \
    } while (0)

/* -- plan.c: without a plan they do nothing, and return false --------------------------------- */
bool plan_clock(uint64_t *time_ns);
bool plan_wait_until(uint64_t time_ns);
uint64_t plan_duration_ns(uint64_t duration_ns);
void plan_call(int cbid, bool has_tool);

/* -- device.c --------------------------------------------------------------------------------- */
CUresult require_context(void); /* success, or why there is none current */
CUresult require_device(CUdevice device);

/* -- fault.c: kernels that fail and kernels that never end ------------------------------------ */
uint64_t kernel_ends_ns(const struct work *work, uint64_t start_ns); /* and note what it does to the GPU */
bool gpu_gets_to(uint64_t start_ns); /* whether what starts then runs */
bool fake_refuses(const char *name); /* see fault.c */
void fake_waits(const char *name);
CUresult with_fault(const char *name, CUresult result); /* what a call returns once the GPU has failed */

/* -- work.c ----------------------------------------------------------------------------------- */
struct work kernel_work(struct function *function, const unsigned int grid[3],
                        const unsigned int block[3], unsigned int shared_mem_bytes);
CUresult set_kernel_arguments(struct work *work, void **parameters, void **extra);
void copy_work(struct work *to, const struct work *from);
void free_work(struct work *work);
uint64_t work_duration_ns(const struct work *work);
void perform(const struct work *work);
size_t copied_bytes(const CUDA_MEMCPY3D *copy);

/* -- memory.c --------------------------------------------------------------------------------- */
CUresult allocate_device(CUdeviceptr *address, size_t bytes);
CUresult free_device(CUdeviceptr address);
void take_graph_memory(void); /* the driver's pool for executables, once */
void take_code_memory(void);  /* for a module */
int memory_type_at(CUdeviceptr address, bool *pinned); /* MEMORY_HOST or MEMORY_DEVICE */

/* -- module.c --------------------------------------------------------------------------------- */
enum { MULTIPROCESSORS = 132 };
bool fills_gpu(const struct work *work); /* a kernel of as many blocks as run at once, or more */
/* Where a variable of a module is, or NULL. */
void *module_variable(const struct module *module, const char *name);

/* -- gpu.c ------------------------------------------------------------------------------------ */
uint64_t earliest_start_ns(struct stream *stream);
void run_on_stream(struct stream *stream, const struct work *work);
void queue_host_function(struct stream *stream, const CUDA_HOST_NODE_PARAMS *host, uint64_t at_ns);
void wait_for_stream(struct stream *stream);
void wait_for_device(void);
bool stream_is_done(struct stream *stream);

/* -- stream.c --------------------------------------------------------------------------------- */
struct stream *resolve_stream(CUstream handle); /* NULL: invalid */
/* speed.c, with the lock: what a stream was given outside graphs, and that all of it has ended. */
void speed_work(struct stream *stream, const struct work *work);
void speed_event(struct stream *stream);
void speed_ended(struct stream *stream);
struct stream *legacy_stream(void);
struct stream *stream_at(size_t index); /* every living stream in turn; NULL: no more */
/* Send an operation where it belongs: into the stream's capture, or to the GPU. */
CUresult submit(CUstream handle, const struct work *work);

/* -- capture.c -------------------------------------------------------------------------------- */
CUresult capture_work(struct stream *stream, const struct work *work);
CUresult check_unsafe_call(void); /* success, or 900 after invalidating the captures */
CUresult check_no_capture(void);  /* the same for calls that no mode permits */
CUresult check_captured_event(struct event *event);
CUresult check_legacy_stream(struct stream *stream);
void invalidate(struct capture *capture);
CUresult capture_event(struct stream *stream, struct event *event);
CUresult capture_wait(struct stream *stream, struct event *event);

/* -- graph.c ---------------------------------------------------------------------------------- */
struct graph *new_graph(uint32_t id);
void destroy_graph(struct graph *graph);
struct node *add_node(struct graph *graph, struct node *const *dependencies, const CUgraphEdgeData *data,
                      size_t dependency_count, const struct work *work);
CUresult add_edge(struct graph *graph, struct node *from, struct node *to, CUgraphEdgeData data);
bool has_type(const struct graph *graph, int type); /* at any depth */
/* A graph's edges by the node they lead to: those to the node of id n are edges[first[n]] up to
 * edges[first[n + 1]], in order of creation. Large graphs must not take quadratic time. */
struct edge_index {
    size_t *first;
    const struct edge **edges;
};
struct edge_index index_edges(const struct graph *graph);
void free_index(struct edge_index index);

/* -- clone.c ---------------------------------------------------------------------------------- */
struct graph *clone_graph(struct graph *original, uint32_t id, bool tell_clones);
void add_child(struct node *node, struct graph *child);
void add_bodies(struct node *node);

/* -- conditional.c ---------------------------------------------------------------------------- */
bool handle_is_of(unsigned long long handle, const struct graph *graph);
void reset_handles(const struct exec *exec); /* at a launch: those that start at their default */
bool takes_body(const struct node *node, size_t body); /* by the value of its handle now */
void perform_conditional_kernel(const struct work *work);

/* -- graph_memory.c --------------------------------------------------------------------------- */
void graph_memory_run(const struct work *work); /* an alloc or free node ran in a launch */
void graph_memory_freed(CUdeviceptr address);   /* by cuMemFreeAsync or cuMemFree */

/* -- exec.c ----------------------------------------------------------------------------------- */
void launch_exec(struct exec *exec, struct stream *stream);
void plan_exec(struct exec *exec);
struct node *exec_node(struct exec *exec, struct node *template_node);

#endif
