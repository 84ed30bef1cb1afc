/* CUPTI's subscriber: every callback enters here, on the program's own threads. */
#include "native.h"
#include "nesting.h"
#include "own_time.h"

#include <string.h>

#define MAX_CONTEXTS 64

static CUpti_SubscriberHandle subscriber;
GVIZ_LOCK(context_lock);
static CUcontext contexts[MAX_CONTEXTS];
static uint32_t session; /* counts the recordings of this process */
static _Atomic int operations_watched;
static _Atomic bool frees_watched;
static _Atomic uint32_t stream_generation = 1;

struct call_record {
    uint32_t call, correlation;
    uint64_t start_ns, end_ns;
    uint32_t thread_id;
    int32_t result;
};

/* -- contexts ------------------------------------------------------------------------- */

void context_add(CUcontext context) {
    if (!context)
        return;
    bool added = false;
    pthread_mutex_lock(&context_lock);
    for (int i = 0; i < MAX_CONTEXTS; i++) {
        if (contexts[i] == context)
            break;
        if (!contexts[i]) {
            contexts[i] = context;
            added = true;
            break;
        }
    }
    pthread_mutex_unlock(&context_lock);
    if (added)
        walk_device(context);
    if (added && recording())
        flush_start();
}

static void context_remove(CUcontext context) {
    pthread_mutex_lock(&context_lock);
    int count = 0;
    for (int i = 0; i < MAX_CONTEXTS; i++)
        if (contexts[i] && contexts[i] != context)
            contexts[count++] = contexts[i];
    for (int i = count; i < MAX_CONTEXTS; i++)
        contexts[i] = NULL;
    pthread_mutex_unlock(&context_lock);
    events_forget(context);
}

void contexts_forget(void) {
    pthread_mutex_lock(&context_lock);
    memset(contexts, 0, sizeof contexts);
    pthread_mutex_unlock(&context_lock);
}

CUcontext context_at(int index) {
    pthread_mutex_lock(&context_lock);
    CUcontext context = index < MAX_CONTEXTS ? contexts[index] : NULL;
    pthread_mutex_unlock(&context_lock);
    return context;
}

/* Asking CUPTI takes longer than the rest of a launch callback: the last answer is kept, until
 * a stream is destroyed and its handle can come to mean another. */
uint32_t stream_id_of(CUcontext context, CUstream stream, bool per_thread) {
    static __thread struct {
        CUcontext context;
        CUstream stream;
        bool per_thread;
        uint32_t generation, id;
    } last;
    uint32_t generation = atomic_load_explicit(&stream_generation, memory_order_relaxed);
    if (last.generation == generation && last.context == context && last.stream == stream &&
        last.per_thread == per_thread)
        return last.id;
    uint32_t id = UINT32_MAX;
    bool own = per_thread || stream == CU_STREAM_PER_THREAD;
    CUstream handle = stream == CU_STREAM_PER_THREAD ? NULL : stream;
    if (cupti.cuptiGetStreamIdEx(context, handle, own, &id) != 0)
        return UINT32_MAX;
    last.context = context;
    last.stream = stream;
    last.per_thread = per_thread;
    last.generation = generation;
    last.id = id;
    return id;
}

/* -- driver calls ----------------------------------------------------------------------- */

static void operation(const CUpti_CallbackData *data, uint32_t cbid) {
    struct thread_state *thread = this_thread();
    if (data->site == 0) {
        thread->call_stream = call_stream(cbid, data->params, &thread->call_has_stream);
        thread->created_node = false;
        window_operation(data->context, thread->call_stream, thread->call_has_stream);
        if (data->correlation_data)
            *data->correlation_data = now_ns();
        return;
    }
    uint64_t end_ns = now_ns();
    thread->call_has_stream = false;
    if (thread->created_node || !data->correlation_data || !activity_is_open())
        return; /* captured, or outside a window: no operation of its own */
    if (*data->correlation_data == 0)
        return; /* gviz attached while the call was under way */
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
static void context_notice(CUcontext context) {
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

static void driver_call(uint32_t cbid, const CUpti_CallbackData *data) {
    if (data->site == 0 && calls[cbid].kind != CALL_OTHER)
        context_notice(data->context);
    switch (calls[cbid].kind) {
    case CALL_OPERATION:
        operation(data, cbid);
        break;
    case CALL_GRAPH_LAUNCH:
        if (data->site == 0)
            launch_enter(data, cbid);
        else
            launch_exit(data, cbid);
        break;
    case CALL_ADD_NODE:
        add_node(data);
        break;
    case CALL_FREE:
        graph_memory_free(data, cbid);
        break;
    case CALL_OTHER:
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
        atomic_fetch_add(&stream_generation, 1);
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
        break;
    case RESOURCE_GRAPHNODE_CLONED:
        nodes_cloned(graph);
        break;
    case RESOURCE_GRAPHEXEC_CREATED: {
        context_add(data->context);
        uint32_t exec_id = 0;
        cupti.cuptiGetGraphExecId(graph->graph_exec, &exec_id);
        CUgraph template = thread->instantiate_graph ? thread->instantiate_graph : graph->graph;
        launch_exec_created(graph->graph_exec, exec_id, false);
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

static void on_callback(void *unused, int domain, uint32_t cbid, const void *data) {
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

static const uint32_t resources[] = {
    RESOURCE_CONTEXT_CREATED,      RESOURCE_CONTEXT_DESTROY_STARTING,
    RESOURCE_STREAM_DESTROY_STARTING,
    RESOURCE_GRAPH_CREATED,        RESOURCE_GRAPH_DESTROY_STARTING,
    RESOURCE_GRAPHNODE_CREATED,    RESOURCE_GRAPHNODE_CLONED,
    RESOURCE_GRAPHEXEC_CREATED,
};

int calls_watch_graphs(bool on) {
    CUptiResult result = 0;
    for (uint32_t id = 1; id < CALL_ID_LIMIT && result == 0; id++)
        if (calls[id].kind > CALL_OPERATION)
            result = cupti.cuptiEnableCallback(on, subscriber, DOMAIN_DRIVER_API, id);
    for (size_t i = 0; i < sizeof resources / sizeof *resources && result == 0; i++)
        result = cupti.cuptiEnableCallback(on, subscriber, DOMAIN_RESOURCE, resources[i]);
    return result;
}

static void watch(uint8_t kind, bool on) {
    if (!subscriber)
        return; /* left to another profiler, or another collector measures */
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++)
        if (calls[id].kind == kind)
            cupti.cuptiEnableCallback(on, subscriber, DOMAIN_DRIVER_API, id);
}

void calls_watch_launches(bool on) { watch(CALL_GRAPH_LAUNCH, on); }

/* Counted: a capture and an eager window may both ask for them. Two threads may be in here: each
 * ends with what the count says at its end, so that they end with the same. */
void calls_watch_operations(bool on) {
    int before = atomic_fetch_add(&operations_watched, on ? 1 : -1);
    if (on ? before != 0 : before != 1)
        return;
    bool wanted;
    do {
        wanted = atomic_load(&operations_watched) > 0;
        watch(CALL_OPERATION, wanted);
    } while (wanted != (atomic_load(&operations_watched) > 0));
}

void callback_enable(bool on, int domain, uint32_t cbid) {
    if (!subscriber)
        return;
    cupti.cuptiEnableCallback(on, subscriber, domain, cbid);
}

void domain_enable(bool on, int domain) {
    if (subscriber)
        cupti.cuptiEnableDomain(on, subscriber, domain);
}

/* From now on, also after captures, in which every call is watched. */
void calls_watch_frees(void) {
    atomic_store(&frees_watched, true);
    watch(CALL_FREE, true);
}

bool calls_frees_watched(void) { return atomic_load(&frees_watched); }

int callbacks_start(void) {
    CUptiResult result = cupti.cuptiSubscribe(&subscriber, on_callback, NULL);
    if (result != 0) {
        subscriber = NULL;
        return cupti_failed("cuptiSubscribe", result);
    }
    session++;
    counter("recording_number", session, "number",
            "measured: which recording of this process it is; CUPTI was subscribed to so often");
    memset(contexts, 0, sizeof contexts);
    atomic_store(&operations_watched, 0);
    atomic_store(&frees_watched, false);
    result = calls_watch_graphs(true);
    if (result != 0) {
        cupti.cuptiUnsubscribe(subscriber);
        return cupti_failed("cuptiEnableCallback", result);
    }
    CUcontext current = NULL;
    if (cuda.CtxGetCurrent(&current) == 0) /* attached late: the context is there already */
        context_add(current);
    return 0;
}

void callbacks_stop(void) {
    if (subscriber)
        cupti.cuptiUnsubscribe(subscriber);
    subscriber = NULL;
}

bool callbacks_active(void) { return subscriber != NULL; }
