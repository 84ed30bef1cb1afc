/* The driver calls of a graph's life: capture, instantiation, upload, update, destruction.
 *
 * Each is one record with its host times. What a failed one reports beyond its result follows in a
 * record of its own, after the nodes of the graph that it was about.
 */
#include "calls/calls.h"
#include "graph/graph.h"
#include "life/parts.h"
#include "spool/spool.h"

#include <stdlib.h>
#include <string.h>

/* Graphs walked because something about them failed: a program that tries an update before every
 * launch and fails each time is not to be slowed by it for ever. */
#define MAX_FAILED_WALKS 32
/* Whole-graph updates written one by one; all of them are summed in updates.c. */
#define MAX_UPDATE_CALLS 1000
#define UPDATE_FAILURE 910 /* CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE */
#define MAX_SEARCH_DEPTH 16

struct update_info { /* CUgraphExecUpdateResultInfo */
    int result;
    CUgraphNode error_node, error_from;
};

struct instantiate_params { /* CUDA_GRAPH_INSTANTIATE_PARAMS */
    uint64_t flags;
    CUstream upload_stream;
    CUgraphNode error_node;
    int result;
};

static _Atomic uint32_t failed_walks, update_calls;
static __thread uint64_t start_ns;
static __thread uint64_t free_before;
static __thread uint32_t exec_id;
static __thread CUgraph destroyed; /* being destroyed by the call under way */
static __thread uint32_t destroyed_id;

void life_reset(void) {
    atomic_store(&failed_walks, 0);
    atomic_store(&update_calls, 0);
    capture_reset();
    updates_reset();
    memory_reset();
    own_time_reset();
}

static uint32_t graph_id_of(CUgraph graph) {
    uint32_t id = 0;
    if (graph)
        cupti.cuptiGetGraphId(graph, &id);
    return id;
}

static uint64_t node_id_of(CUgraphNode node) {
    uint64_t id = NO_NODE;
    if (!node || cupti.cuptiGetGraphNodeId(node, &id) != 0)
        return NO_NODE;
    return id;
}

/* A call failed that was given these handles: only the driver can tell whether they are good. It
 * looked at them in the call itself, so asking again is no more dangerous than that. */
static bool is_graph(CUgraph graph) {
    size_t count = 0;
    return graph && cuda.GraphGetNodes(graph, NULL, &count) == 0;
}

static bool is_node(CUgraphNode node) {
    int type;
    return node && cuda.GraphNodeGetType(node, &type) == 0;
}

/* Whether a node is one of a graph's or of its child graphs'. The handle is only compared: a driver
 * that failed early leaves in place of the failing node what the program had there. */
static bool contains(CUgraph graph, CUgraphNode node, int depth) {
    size_t count = 0;
    if (!node || depth > MAX_SEARCH_DEPTH || cuda.GraphGetNodes(graph, NULL, &count) != 0)
        return false;
    CUgraphNode *nodes = calloc(count ? count : 1, sizeof *nodes);
    bool found = false;
    if (nodes && cuda.GraphGetNodes(graph, nodes, &count) == 0)
        for (size_t i = 0; i < count && !found; i++) {
            int type = -1;
            CUgraph child = NULL;
            found = nodes[i] == node;
            if (!found && cuda.GraphNodeGetType(nodes[i], &type) == 0 && type == NODE_GRAPH &&
                cuda.GraphChildGraphNodeGetGraph(nodes[i], &child) == 0 && child)
                found = contains(child, node, depth + 1);
        }
    free(nodes);
    return found;
}

static uint64_t named_node(CUgraph graph, CUgraphNode node) {
    return contains(graph, node, 0) ? node_id_of(node) : NO_NODE;
}

static bool walk_failed(CUgraph graph) {
    if (atomic_fetch_add(&failed_walks, 1) >= MAX_FAILED_WALKS)
        return false;
    walk_graph(graph, WALK_FAILED);
    return true;
}

static bool is_called(const CUpti_CallbackData *data, const char *part) {
    return data->function_name && strstr(data->function_name, part);
}

/* -- entered ------------------------------------------------------------------------------------ */

static void enter(const CUpti_CallbackData *data, uint32_t cbid) {
    const void *const *params = data->params;
    struct thread_state *thread = this_thread();
    bool has_stream;
    exec_id = 0;
    free_before = 0;
    switch (calls[cbid].kind) {
    case CALL_BEGIN_CAPTURE:
        origin_begin_capture(call_stream(cbid, params, &has_stream),
                             is_called(data, "ToGraph") ? graph_id_of((CUgraph)params[1]) : 0);
        capture_begin_enter();
        break;
    case CALL_END_CAPTURE:
        capture_end_enter(data->context, call_stream(cbid, params, &has_stream));
        break;
    case CALL_INSTANTIATE:
        thread->instantiate_graph = (CUgraph)params[1];
        thread->instantiating = true;
        origin_instantiate(graph_id_of(thread->instantiate_graph));
        free_before = memory_free();
        break;
    case CALL_UPLOAD:
        free_before = memory_free();
        exec_id = executable_id((CUgraphExec)params[0]);
        break;
    case CALL_EXEC_UPDATE:
    case CALL_NODE_UPDATE:
        exec_id = executable_id((CUgraphExec)params[0]);
        break;
    case CALL_EXEC_DESTROY:
        exec_id = executable_id((CUgraphExec)params[0]);
        executable_destroyed((CUgraphExec)params[0]);
        break;
    case CALL_GRAPH_DESTROY:
        destroyed = (CUgraph)params[0];
        destroyed_id = 0;
        break;
    default:
        break;
    }
    start_ns = now_ns();
    if (calls[cbid].kind == CALL_BEGIN_CAPTURE)
        own_time_open(MADE_CAPTURE, start_ns);
    else if (calls[cbid].kind == CALL_INSTANTIATE)
        own_time_open(MADE_INSTANTIATE, start_ns);
}

void life_graph_destroyed(CUgraph graph) {
    capture_graph_destroyed(graph);
    if (graph && graph == destroyed)
        destroyed_id = graph_id_of(graph);
}

/* -- returned ------------------------------------------------------------------------------------ */

static void capture_begun(const CUpti_CallbackData *data, struct life_record *record) {
    bool has_stream;
    if (is_called(data, "ToGraph"))
        memcpy(&record->mode, (const char *)data->params + 40, sizeof record->mode);
    else if (is_called(data, "_v2")) /* the first version has no mode: global */
        memcpy(&record->mode, (const char *)data->params + 8, sizeof record->mode);
    struct capture_call begin = {
        .call = record->call, .result = record->result, .start_ns = record->start_ns,
        .end_ns = record->end_ns, .context = data->context,
        .stream = call_stream(record->call, data->params, &has_stream),
        .stream_id = record->stream_id, .mode = record->mode};
    capture_begin_exit(&begin);
}

static void capture_ended(const CUpti_CallbackData *data, struct life_record *record) {
    const void *const *params = data->params;
    CUgraph *graph = (CUgraph *)params[1];
    bool has_stream;
    if (record->result == 0 && graph)
        record->graph_id = graph_id_of(*graph);
    struct capture_call end = {
        .call = record->call, .result = record->result, .start_ns = record->start_ns,
        .end_ns = record->end_ns, .context = data->context,
        .stream = call_stream(record->call, params, &has_stream),
        .stream_id = record->stream_id};
    capture_end_exit(&end);
}

static void instantiate_failed(const CUpti_CallbackData *data, const struct life_record *life) {
    const void *const *params = data->params;
    struct instantiate_failed_record record = {
        .graph_id = life->graph_id, .call = life->call, .thread_id = life->thread_id,
        .start_ns = life->start_ns, .end_ns = life->end_ns, .flags = life->flags,
        .result = life->result, .detail = -1, .error_node = NO_NODE};
    const struct instantiate_params *with = params[2];
    CUgraphNode *error_node = (CUgraphNode *)params[2];
    CUgraph graph = life->graph_id ? (CUgraph)params[1] : NULL;
    if (is_called(data, "WithParams") && with) {
        /* An early failure leaves what the program had there; success would be no failure. */
        record.detail = with->result > 0 && with->result < 64 ? with->result : -1;
        record.error_node = graph ? named_node(graph, with->error_node) : NO_NODE;
    } else if (!is_called(data, "WithFlags") && error_node) {
        record.error_node = graph ? named_node(graph, *error_node) : NO_NODE;
    }
    record.walked = life->graph_id && walk_failed((CUgraph)params[1]);
    call_name(life->call);
    spool_append_one(RECORD_INSTANTIATE_FAILED, &record, sizeof record);
}

static void instantiated(const CUpti_CallbackData *data, struct life_record *record) {
    const void *const *params = data->params;
    CUgraphExec *exec = (CUgraphExec *)params[0];
    this_thread()->instantiate_graph = NULL;
    this_thread()->instantiating = false;
    if (record->result == 0 || is_graph((CUgraph)params[1]))
        record->graph_id = graph_id_of((CUgraph)params[1]);
    if (is_called(data, "WithFlags"))
        record->flags = (uint64_t)params[2];
    else if (is_called(data, "WithParams") && params[2])
        record->flags = *(const uint64_t *)params[2];
    if (record->result == 0 && exec) {
        record->exec_id = executable_id(*exec);
        memory_taken(record->exec_id, MEMORY_INSTANTIATE, free_before);
        graph_memory_sample();
    } else {
        instantiate_failed(data, record);
    }
}

/* The driver's detail on an update beyond its result; -1 where the program requested none. */
static int update_detail(const CUpti_CallbackData *data, CUgraphNode *node, CUgraphNode *from) {
    const void *const *params = data->params;
    *node = *from = NULL;
    if (is_called(data, "_v2")) {
        const struct update_info *info = params[2];
        if (!info)
            return -1;
        *node = info->error_node;
        *from = info->error_from;
        return info->result;
    }
    const CUgraphNode *node_out = params[2];
    const int *result_out = params[3];
    *node = node_out ? *node_out : NULL;
    return result_out ? *result_out : -1;
}

/* Returns whether the call is to be written by itself. */
static bool exec_updated(const CUpti_CallbackData *data, struct life_record *record) {
    const void *const *params = data->params;
    CUgraphNode node, from;
    int detail = update_detail(data, &node, &from);
    if (record->result != UPDATE_FAILURE) /* then the driver may have reported nothing */
        detail = -1;
    struct update update = {record->exec_id, 0, WHOLE_GRAPH, record->call, record->result,
                            record->result == 0 ? 0 : (uint32_t)detail};
    updates_add(&update, record->start_ns, record->end_ns);
    if (atomic_fetch_add(&update_calls, 1) >= MAX_UPDATE_CALLS)
        return false;
    bool good = record->result == 0 || is_graph((CUgraph)params[1]);
    if (good)
        record->graph_id = graph_id_of((CUgraph)params[1]);
    if (record->result == 0)
        return true;
    struct update_failed_record failed = {
        .exec_id = record->exec_id, .graph_id = record->graph_id, .call = record->call,
        .thread_id = record->thread_id, .start_ns = record->start_ns, .end_ns = record->end_ns,
        .result = record->result, .detail = detail, .error_node = NO_NODE, .error_from = NO_NODE};
    if (good) {
        failed.error_node = named_node((CUgraph)params[1], node);
        failed.error_from = named_node((CUgraph)params[1], from);
        failed.walked = walk_failed((CUgraph)params[1]);
    }
    call_name(record->call);
    spool_append_one(RECORD_UPDATE_FAILED, &failed, sizeof failed);
    return true;
}

static void node_updated(const CUpti_CallbackData *data, uint32_t cbid, int result,
                         uint64_t end_ns) {
    const void *const *params = data->params;
    CUgraphNode node = (CUgraphNode)params[1];
    uint64_t id = result == 0 || is_node(node) ? node_id_of(node) : NO_NODE;
    struct update update = {exec_id, 0, UNKNOWN_NODE, cbid, result, 0};
    if (id != NO_NODE) {
        update.graph_id = (uint32_t)(id >> 32);
        update.node_id = (uint32_t)id;
    }
    bool switches = is_called(data, "SetEnabled");
    if (switches)
        memcpy(&update.value, (const char *)data->params + 16, sizeof update.value);
    updates_add(&update, start_ns, end_ns);
    struct updated_node named = {exec_id, update.graph_id, update.node_id};
    if (result == 0 && id != NO_NODE && !switches && !executable_watch_of((CUgraphExec)params[0]))
        updates_passing_grant((CUgraphExec)params[0], node, cbid, named);
}

static void returned(const CUpti_CallbackData *data, uint32_t cbid) {
    const void *const *params = data->params;
    int result = data->return_value ? *(const int *)data->return_value : 0;
    uint64_t end_ns = now_ns();
    if (calls[cbid].kind == CALL_END_CAPTURE)
        own_time_close(MADE_CAPTURE, end_ns);
    else if (calls[cbid].kind == CALL_INSTANTIATE)
        own_time_close(MADE_INSTANTIATE, end_ns);
    if (calls[cbid].kind == CALL_NODE_UPDATE) {
        node_updated(data, cbid, result, end_ns);
        return;
    }
    struct life_record record = {
        .call = cbid, .correlation = data->correlation_id, .start_ns = start_ns, .end_ns = end_ns,
        .thread_id = this_thread()->thread_id, .result = result, .exec_id = exec_id,
        .stream_id = UINT32_MAX};
    bool has_stream;
    CUstream stream = call_stream(cbid, params, &has_stream);
    if (has_stream)
        record.stream_id = stream_id_of(data->context, stream, calls[cbid].per_thread);
    switch (calls[cbid].kind) {
    case CALL_BEGIN_CAPTURE:
        capture_begun(data, &record);
        if (result != 0)
            origin_end_capture(stream, false, 0);
        break;
    case CALL_END_CAPTURE:
        capture_ended(data, &record);
        origin_end_capture(stream, result == 0, record.graph_id);
        break;
    case CALL_INSTANTIATE:
        instantiated(data, &record);
        origin_instantiated();
        break;
    case CALL_UPLOAD:
        if (result == 0)
            memory_taken(exec_id, MEMORY_UPLOAD, free_before);
        break;
    case CALL_EXEC_UPDATE:
        if (!exec_updated(data, &record))
            return;
        break;
    case CALL_GRAPH_CLONE:
        if (result == 0 && params[0]) {
            record.graph_id = graph_id_of((CUgraph)params[1]);
            record.flags = graph_id_of(*(const CUgraph *)params[0]);
        }
        break;
    case CALL_GRAPH_DESTROY:
        record.graph_id = destroyed_id;
        destroyed = NULL;
        break;
    default:
        break;
    }
    call_name(cbid);
    spool_append_one(RECORD_LIFE, &record, sizeof record);
}

void life_call(uint32_t cbid, const CUpti_CallbackData *data) {
    if (data->site == 0)
        enter(data, cbid);
    else
        returned(data, cbid);
}
