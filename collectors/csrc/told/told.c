/* CUPTI's functions, as far as the gate can stand in for them. */
#include "calls/calls.h"
#include "ids/ids.h"
#include "state/state.h"
#include "told/parts.h"

#include "gate/gate.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define OK 0
#define INVALID 1 /* CUPTI_ERROR_INVALID_PARAMETER */
#define NO_RECORDS 12 /* CUPTI_ERROR_MAX_LIMIT_REACHED */
#define NOT_TOLD 15 /* CUPTI_ERROR_NOT_INITIALIZED */
#define RESOURCES 32
#define CACHE_LINE 64
#define MAX_LEVELS 16 /* of child graphs in each other that the walk follows */

/* What a call makes or ends; where it leaves or takes the handle. */
enum effect { NONE, MAKES_CONTEXT, ENDS_CONTEXT, MAKES_STREAM, ENDS_STREAM, MAKES_GRAPH, ENDS_GRAPH,
              MAKES_NODE, MAKES_EXEC, BEGINS_CAPTURE, ENDS_CAPTURE };

static const struct {
    const char *name; /* as it begins; forms of a name have the same arguments here */
    enum effect effect;
} effects[] = {
    {"cuCtxCreate", MAKES_CONTEXT},
    {"cuDevicePrimaryCtxRetain", MAKES_CONTEXT},
    {"cuCtxDestroy", ENDS_CONTEXT},
    {"cuStreamCreate", MAKES_STREAM},
    {"cuGreenCtxStreamCreate", MAKES_STREAM},
    {"cuStreamDestroy", ENDS_STREAM},
    {"cuStreamBeginCapture", BEGINS_CAPTURE},
    {"cuGraphCreate", MAKES_GRAPH},
    {"cuGraphClone", MAKES_GRAPH},
    {"cuStreamEndCapture", ENDS_CAPTURE},
    {"cuGraphDestroyNode", NONE},
    {"cuGraphDestroy", ENDS_GRAPH},
    {"cuGraphAddDependencies", NONE},
    {"cuGraphAdd", MAKES_NODE},
    {"cuGraphInstantiate", MAKES_EXEC},
};

/* How a call's arguments are handed on: as words, or as CUPTI has them. */
enum shape { WORDS, LAUNCH, LAUNCH_COOPERATIVE };

static struct {
    uint8_t effect, shape;
    uint8_t passes; /* who says whether it is made without being told of, of filters[] */
    atomic_uchar wanted;
} told[CALL_ID_LIMIT];
static const gate_filter filters[] = {NULL, launch_passes, update_passes};
static const struct gate_api *gate;
static _Atomic(CUpti_CallbackFunc) subscriber GVIZ_HOT;
static CUresult (*current_context)(CUcontext *context) GVIZ_HOT; /* the driver's own */
static atomic_uchar resources_wanted[RESOURCES];
static __thread bool within; /* a callback's own calls are not told */

/* -- callbacks ---------------------------------------------------------------------------------- */

static void notify(uint32_t resource, CUcontext context, void *handle, const CUpti_GraphData *graph) {
    CUpti_CallbackFunc to = atomic_load(&subscriber);
    if (!to || !atomic_load(&resources_wanted[resource]))
        return;
    CUpti_ResourceData data = {context, handle, (void *)graph};
    to(NULL, DOMAIN_RESOURCE, resource, &data);
}

static void *at(uintptr_t address) { return address ? *(void **)address : NULL; }

static void graph_made(CUgraph graph, CUcontext context) {
    if (!graph)
        return;
    ids_graph_changes(graph);
    notify(RESOURCE_GRAPH_CREATED, context, NULL, &(CUpti_GraphData){.graph = graph});
}

static void node_made(CUgraph graph, CUgraphNode node, CUcontext context, int level);

/* The driver's copy of a child graph comes with its node. */
static void child_made(CUgraphNode node, CUcontext context, int level) {
    CUgraph child = NULL;
    size_t count = 0;
    if (level > MAX_LEVELS || cuda.GraphChildGraphNodeGetGraph(node, &child) != 0 ||
        cuda.GraphGetNodes(child, NULL, &count) != 0)
        return;
    CUgraphNode *nodes = calloc(count + 1, sizeof *nodes);
    if (nodes && cuda.GraphGetNodes(child, nodes, &count) == 0) {
        graph_made(child, context);
        for (size_t i = 0; i < count; i++)
            node_made(child, nodes[i], context, level + 1);
    }
    free(nodes);
}

static void node_made(CUgraph graph, CUgraphNode node, CUcontext context, int level) {
    CUpti_GraphData data = {.graph = graph, .node = node};
    if (!graph || !node || !ids_node_made(graph, node) || cuda.GraphNodeGetType(node, &data.node_type) != 0)
        return;
    notify(RESOURCE_GRAPHNODE_CREATED, context, NULL, &data);
    if (data.node_type == NODE_GRAPH)
        child_made(node, context, level);
}

static void begins(const struct gate_call *call, CUcontext context) {
    void *first = (void *)call->words[0];
    uint32_t id;
    switch (told[call->id].effect) {
    case BEGINS_CAPTURE: /* for when it is captured */
        stream_number(context, first, calls[call->id].per_thread, &id);
        break;
    case ENDS_CONTEXT:
        stream_ends(first);
        notify(RESOURCE_CONTEXT_DESTROY_STARTING, first, NULL, NULL);
        break;
    case ENDS_STREAM:
        stream_ends(first);
        notify(RESOURCE_STREAM_DESTROY_STARTING, context, first, NULL);
        break;
    case ENDS_GRAPH:
        notify(RESOURCE_GRAPH_DESTROY_STARTING, context, NULL, &(CUpti_GraphData){.graph = first});
        break;
    default:
        break;
    }
}

static void succeeded(const struct gate_call *call, CUcontext context) {
    const uintptr_t *words = call->words;
    switch (told[call->id].effect) {
    case MAKES_CONTEXT:
        notify(RESOURCE_CONTEXT_CREATED, at(words[0]), NULL, NULL);
        break;
    case MAKES_STREAM:
        stream_made(at(words[0]));
        break;
    case MAKES_GRAPH:
        graph_made(at(words[0]), context);
        break;
    case ENDS_GRAPH:
        ids_graph_changes((CUgraph)words[0]);
        break;
    case MAKES_NODE:
        node_made((CUgraph)words[1], at(words[0]), context, 0);
        break;
    case MAKES_EXEC:
        notify(RESOURCE_GRAPHEXEC_CREATED, context, NULL,
               &(CUpti_GraphData){.graph = (CUgraph)words[1], .graph_exec = at(words[0])});
        break;
    default:
        break;
    }
}

/* A stream's operation became a node where the stream is capturing: the last one there. */
static void captured(uint32_t id, const void *params, CUcontext context) {
    bool has_stream;
    CUstream stream = call_stream(id, params, &has_stream);
    int status = 0;
    CUgraph graph = NULL;
    const CUgraphNode *nodes = NULL;
    const EdgeData *edges = NULL;
    size_t count = 0;
    CUresult result = 1;
    if (!has_stream || !captures_known())
        return;
    if (cuda.StreamGetCaptureInfo)
        result = cuda.StreamGetCaptureInfo(stream, &status, NULL, &graph, &nodes, &edges, &count);
    else if (cuda.StreamGetCaptureInfoOld)
        result = cuda.StreamGetCaptureInfoOld(stream, &status, NULL, &graph, &nodes, &count);
    if (result == 0 && status == 1 /* CU_STREAM_CAPTURE_STATUS_ACTIVE */)
        for (size_t i = 0; i < count; i++)
            node_made(graph, nodes[i], context, 0);
}

/* -- parameters ------------------------------------------------------------------------------------- */

/* cuLaunchKernel_params. Those of other calls that anyone looks at are words. */
struct launch_params {
    uintptr_t function;
    uint32_t shape[7]; /* grid, block, shared memory */
    uintptr_t stream, parameters, extra;
};

static uintptr_t argument(const struct gate_call *call, size_t i) {
#if defined(__x86_64__)
    size_t registers = 6;
#else
    size_t registers = 8;
#endif
    return i < registers ? call->words[i] : call->stack[i - registers];
}

static const void *params_of(const struct gate_call *call, struct launch_params *room) {
    uint8_t shape = told[call->id].shape;
    if (shape == WORDS)
        return call->words;
    room->function = call->words[0];
    for (size_t i = 0; i < 7; i++)
        room->shape[i] = (uint32_t)argument(call, i + 1);
    room->stream = argument(call, 8);
    room->parameters = argument(call, 9);
    room->extra = shape == LAUNCH ? argument(call, 10) : 0;
    return room;
}

/* -- what the gate tells -------------------------------------------------------------------------------- */

GVIZ_HOT_CODE static void tell(const struct gate_call *call) {
    CUpti_CallbackFunc to = atomic_load(&subscriber);
    struct launch_params room;
    CUcontext context = NULL;
    if (!to || call->id >= CALL_ID_LIMIT)
        return;
    if (!call->result || told[call->id].effect != NONE) {
        current_context(&context);
        call->data[2] = (uint64_t)(uintptr_t)context;
    }
    context = (CUcontext)(uintptr_t)call->data[2];
    if (!call->result)
        call->data[1] = ids_next_correlation();
    CUpti_CallbackData data = {
        .site = call->result != NULL, .function_name = call->name,
        .params = params_of(call, &room), .return_value = call->result, .context = context,
        .correlation_data = &call->data[0], .correlation_id = (uint32_t)call->data[1]};
    if (call->result && (int)*call->result == 0) {
        succeeded(call, context);
        if (calls[call->id].kind == CALL_OPERATION)
            captured(call->id, data.params, context);
    }
    if (atomic_load_explicit(&told[call->id].wanted, memory_order_relaxed))
        to(NULL, DOMAIN_DRIVER_API, call->id, &data);
    if (!call->result && this_thread()->call_made)
        *call->made = true;
    this_thread()->call_made = false;
    if (!call->result)
        begins(call, context);
}

extern const char __start_gviz_hot[] __attribute__((visibility("hidden")));
extern const char __stop_gviz_hot[] __attribute__((visibility("hidden")));

/* Ask for all at once, not one after the other as they are read. */
static inline void prefetch(uint32_t id) {
    __builtin_prefetch(&told[id]);
    __builtin_prefetch(&calls[id]);
    for (const char *line = __start_gviz_hot; line < __stop_gviz_hot; line += CACHE_LINE)
        __builtin_prefetch(line, 1);
}

/* Of gviz's own threads nothing is told. */
GVIZ_HOT_CODE static void on_call(const struct gate_call *call) {
    if (within || this_thread()->inside)
        return;
    if (!call->result && call->id < CALL_ID_LIMIT)
        prefetch(call->id);
    within = true;
    tell(call);
    within = false;
}

/* -- in place of CUPTI's functions ------------------------------------------------------------------------ */

static CUptiResult version(uint32_t *number) { return *number = 0, OK; }

static CUptiResult result_text(CUptiResult result, const char **text) {
    *text = result == INVALID ? "not known without CUPTI" : "not told without CUPTI";
    return OK;
}

static uint8_t shape_of(const char *name) {
    if (strncmp(name, "cuLaunchKernel", 14) == 0 && name[14] != 'E')
        return LAUNCH;
    return strncmp(name, "cuLaunchCooperativeKernel", 25) == 0 ? LAUNCH_COOPERATIVE : WORDS;
}

/* Which of filters[]. Whether a node is on or off is told of always. */
static uint8_t filter_of(const char *name) {
    if (strncmp(name, "cuGraphLaunch", 13) == 0)
        return 1;
    return strncmp(name, "cuGraphExec", 11) == 0 && strstr(name, "NodeSet") ? 2 : 0;
}

static void set_told(uint32_t id, bool on) {
    if (told[id].passes)
        gate->filter(id, on ? filters[told[id].passes] : NULL);
    gate->tell(id, on);
}

static CUptiResult subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc function, void *unused) {
    (void)unused;
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++) {
        const char *name = gate->name_of(id);
        told[id].effect = NONE;
        told[id].shape = name ? shape_of(name) : WORDS;
        told[id].passes = name ? filter_of(name) : 0;
        atomic_store(&told[id].wanted, 0);
        for (size_t i = 0; name && i < sizeof effects / sizeof *effects; i++)
            if (strncmp(name, effects[i].name, strlen(effects[i].name)) == 0) {
                told[id].effect = (uint8_t)effects[i].effect;
                break;
            }
    }
    ids_forget();
    streams_reset();
    passing_reset(true);
    *(void **)&current_context = gate->bare("cuCtxGetCurrent");
    if (!current_context)
        current_context = cuda.CtxGetCurrent;
    atomic_store(&subscriber, function);
    gate->listen(on_call);
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++)
        set_told(id, told[id].effect != NONE);
    *handle = (CUpti_SubscriberHandle)&subscriber;
    return OK;
}

static CUptiResult unsubscribe(CUpti_SubscriberHandle handle) {
    (void)handle;
    atomic_store(&subscriber, NULL);
    gate->listen(NULL);
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++)
        set_told(id, false);
    passing_reset(false);
    return OK;
}

static CUptiResult enable_callback(uint32_t on, CUpti_SubscriberHandle handle, int domain, uint32_t id) {
    (void)handle;
    if (domain == DOMAIN_RESOURCE && id < RESOURCES)
        atomic_store(&resources_wanted[id], (unsigned char)on);
    if (domain != DOMAIN_DRIVER_API || id >= CALL_ID_LIMIT)
        return OK;
    atomic_store(&told[id].wanted, (unsigned char)on);
    set_told(id, on || told[id].effect != NONE);
    return OK;
}

/* Of the runtime's calls nothing is told. */
static CUptiResult enable_domain(uint32_t on, CUpti_SubscriberHandle handle, int domain) {
    (void)on;
    (void)handle;
    (void)domain;
    return OK;
}

static CUptiResult callback_name(int domain, uint32_t id, const char **name) {
    *name = domain == DOMAIN_DRIVER_API ? gate->name_of(id) : NULL;
    return *name ? OK : INVALID;
}

static CUptiResult register_buffers(CUpti_BuffersRequested requested, CUpti_BuffersCompleted completed) {
    (void)requested;
    (void)completed;
    return OK;
}

static CUptiResult enable_activity(int kind) { return (void)kind, NOT_TOLD; }
static CUptiResult disable_activity(int kind) { return (void)kind, OK; }
static CUptiResult flush_activity(uint32_t flags) { return (void)flags, OK; }

static CUptiResult next_record(uint8_t *buffer, size_t valid, uint8_t **record) {
    (void)buffer;
    (void)valid;
    *record = NULL;
    return NO_RECORDS;
}

static CUptiResult dropped_records(CUcontext context, uint32_t stream, size_t *count) {
    (void)context;
    (void)stream;
    return *count = 0, OK;
}

/* -- */

bool told_available(void) {
    gate = dlsym(RTLD_DEFAULT, "gviz_gate");
    return gate && gate->size >= sizeof *gate;
}

void told_take_over(void) {
    cupti = (struct cupti_functions){
        .cuptiGetVersion = version,
        .cuptiGetResultString = result_text,
        .cuptiSubscribe = subscribe,
        .cuptiUnsubscribe = unsubscribe,
        .cuptiEnableCallback = enable_callback,
        .cuptiEnableDomain = enable_domain,
        .cuptiGetCallbackName = callback_name,
        .cuptiActivityRegisterCallbacks = register_buffers,
        .cuptiActivityEnable = enable_activity,
        .cuptiActivityDisable = disable_activity,
        .cuptiActivityFlushAll = flush_activity,
        .cuptiActivityGetNextRecord = next_record,
        .cuptiActivityGetNumDroppedRecords = dropped_records,
        .cuptiGetStreamIdEx = stream_number,
    };
    ids_take_over();
}

bool told_launches_elsewhere(void) { return gate && gate->others_in("cuGraphLaunch"); }

bool told_in_place(void) { return cupti.cuptiSubscribe == subscribe; }
