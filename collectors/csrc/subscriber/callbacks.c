/* CUPTI's subscriber: every callback enters here, on the program's own threads. */
#include "blackbox/blackbox.h"
#include "blocks/blocks.h"
#include "calls/calls.h"
#include "events/events.h"
#include "subscriber/subscriber.h"
#include "graph/graph.h"
#include "launch/launch.h"
#include "life/life.h"
#include "spool/spool.h"
#include "told/told.h"
#include "trial/trial.h"
#include "values/values.h"
#include "window/window.h"

#include <string.h>

static uint32_t session GVIZ_HOT; /* counts the recordings of this process */

/* -- driver calls ----------------------------------------------------------------------- */

static void operation(const CUpti_CallbackData *data, uint32_t cbid) {
    struct thread_state *thread = this_thread();
    if (data->site == 0) {
        thread->call_stream = call_stream(cbid, data->params, &thread->call_has_stream);
        thread->created_node = false;
        if (outside_on())
            outside_begins(data, cbid);
        else
            window_operation(data->context, thread->call_stream, thread->call_has_stream);
        if (data->correlation_data)
            *data->correlation_data = now_ns();
        return;
    }
    uint64_t end_ns = now_ns();
    if (!data->correlation_data || *data->correlation_data == 0)
        return; /* gviz attached while the call was under way */
    uint64_t start_ns = *data->correlation_data;
    bool recorded = outside_on() ? outside_ends(data, cbid, start_ns, end_ns) : activity_is_open();
    thread->call_has_stream = false;
    if (thread->created_node || !recorded)
        return; /* captured, or outside a window: no operation of its own */
    struct call_record record = {
        .call = cbid, .correlation = data->correlation_id,
        .start_ns = *data->correlation_data, .end_ns = end_ns,
        .thread_id = thread->thread_id,
        .result = data->return_value ? *(int *)data->return_value : 0};
    call_name(cbid);
    spool_append_one(RECORD_CALL, &record, sizeof record);
    window_operation_done(record.start_ns);
}

/* Attached late, a context is known only once something is done in it. */
GVIZ_HOT_CODE static void context_notice(CUcontext context) {
    static __thread CUcontext last;
    static __thread uint32_t last_session;
    if (context == last && session == last_session)
        return;
    last = context;
    last_session = session;
    context_add(context);
}

static void add_node(const CUpti_CallbackData *data) {
    const char *name = data->function_name ? data->function_name : "";
    if (data->site == 0)
        bodies_add_enter();
    else /* the first cuGraphAddNode has no edge data before its node parameters */
        bodies_add_exit(data, strstr(name, "_v") ? 5 : 4);
}

/* An instantiation has returned, and what is said of it is recorded. */
static void exec_made(const CUpti_CallbackData *data) {
    void *const *params = data->params;
    if (data->return_value && *(int *)data->return_value == 0 && params[0])
        watch_instantiated(params[1], *(CUgraphExec *)params[0]);
}

GVIZ_HOT_CODE static void driver_call(uint32_t cbid, const CUpti_CallbackData *data) {
    if (data->site == 0 && calls[cbid].kind != CALL_OTHER)
        context_notice(data->context);
    if (calls[cbid].kept) {
        blackbox_call(data, cbid);
        blocks_call(data, cbid);
        trial_call(data, cbid);
    }
    switch (calls[cbid].kind) {
    case CALL_OPERATION:
        if (eager_is_read())
            eager_call(data);
        operation(data, cbid);
        break;
    case CALL_GRAPH_LAUNCH:
        if (data->site == 0) {
            trial_launch(((const CUgraphExec *)data->params)[0], ((const CUstream *)data->params)[1]);
            values_launch(((const CUgraphExec *)data->params)[0], ((const CUstream *)data->params)[1]);
            launch_enter(data, cbid);
        } else {
            launch_exit(data, cbid);
        }
        break;
    case CALL_ADD_NODE:
        add_node(data);
        break;
    case CALL_FREE:
        graph_memory_free(data, cbid);
        break;
    case CALL_OTHER:
        break;
    case CALL_PROFILER_START:
        if (data->site != 0 && options.capture_range == RANGE_PROFILER)
            pause_range(true);
        break;
    case CALL_PROFILER_STOP:
        if (data->site == 0 && options.capture_range == RANGE_PROFILER)
            pause_range(false);
        break;
    case CALL_EXEC_DESTROY:
        if (data->site == 0) {
            trial_destroyed(((const CUgraphExec *)data->params)[0]);
            values_destroyed(((const CUgraphExec *)data->params)[0]);
            watch_destroyed(((const CUgraphExec *)data->params)[0]);
        }
        life_call(cbid, data);
        break;
    case CALL_INSTANTIATE:
        life_call(cbid, data);
        if (data->site != 0)
            exec_made(data);
        break;
    case CALL_NODE_UPDATE:
    case CALL_EXEC_UPDATE:
        life_call(cbid, data);
        if (data->site != 0)
            watch_updated(data, calls[cbid].kind == CALL_EXEC_UPDATE);
        break;
    default:
        life_call(cbid, data);
    }
    if (data->site != 0 && captures_known())
        capture_call_done(cbid, data);
}

/* -- resources ---------------------------------------------------------------------------- */

static void resource(uint32_t cbid, const CUpti_ResourceData *data) {
    const CUpti_GraphData *graph = data->descriptor;
    struct thread_state *thread = this_thread();
    switch (cbid) {
    case RESOURCE_CONTEXT_CREATED:
        context_add(data->context);
        break;
    case RESOURCE_CONTEXT_DESTROY_STARTING:
        context_remove(data->context);
        break;
    case RESOURCE_STREAM_DESTROY_STARTING:
        window_stream_destroyed(data->context, data->handle);
        capture_stream_destroyed(data->context, data->handle);
        stream_ids_forget();
        break;
    case RESOURCE_GRAPH_CREATED:
        bodies_graph_created(graph->graph);
        break;
    case RESOURCE_GRAPH_DESTROY_STARTING:
        bodies_graph_destroyed(graph->graph);
        life_graph_destroyed(graph->graph);
        break;
    case RESOURCE_GRAPHNODE_CREATED:
        if (!thread->instantiating)
            nodes_created(graph, data->context);
        blackbox_node_made(graph->node);
        break;
    case RESOURCE_GRAPHNODE_CLONED:
        nodes_cloned(graph);
        break;
    case RESOURCE_GRAPHEXEC_CREATED: {
        context_add(data->context);
        uint32_t exec_id = 0;
        cupti.cuptiGetGraphExecId(graph->graph_exec, &exec_id);
        CUgraph template = thread->instantiate_graph ? thread->instantiate_graph : graph->graph;
        executable_created(graph->graph_exec, exec_id);
        origin_exec_created(graph->graph_exec, exec_id);
        walk_graph(template, exec_id);
        break;
    }
    default:
        break;
    }
}

/* The first call of a thread in this recording. A call that was under way when the last one
 * stopped left its marks. */
static void thread_enters(struct thread_state *thread) {
    thread->session = session;
    thread->instantiating = false;
    thread->instantiate_graph = NULL;
    own_time_forget();
    thread->call_has_stream = thread->created_node = false;
    launch_forget_call();
}

GVIZ_HOT_CODE static void on_callback(void *unused, int domain, uint32_t cbid, const void *data) {
    (void)unused;
    struct thread_state *thread = this_thread();
    if (!recording() || thread->inside || cbid >= CALL_ID_LIMIT)
        return;
    if (thread->session != session)
        thread_enters(thread);
    uint64_t entered_ns = own_time_enter();
    thread->inside++; /* our own driver calls must not come back here */
    if (domain == DOMAIN_DRIVER_API)
        driver_call(cbid, data);
    else if (domain == DOMAIN_RUNTIME_API)
        capture_runtime_call(cbid, data);
    else if (domain == DOMAIN_RESOURCE)
        resource(cbid, data);
    thread->inside--;
    own_time_leave(entered_ns);
}

/* -- on and off ------------------------------------------------------------------------------ */

int callbacks_start(void) {
    if (subscription_start(on_callback) != 0)
        return -1;
    session++;
    if (!told_in_place())
        counter("recording_number", session, "number",
                "measured: which recording of this process it is; CUPTI was subscribed to so often");
    contexts_forget();
    int result = calls_watch_graphs();
    if (result != 0) {
        subscription_stop();
        return cupti_failed("cuptiEnableCallback", result);
    }
    CUcontext current = NULL;
    if (cuda.CtxGetCurrent(&current) == 0) /* attached late: the context is there already */
        context_add(current);
    return 0;
}
