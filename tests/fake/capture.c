/* Stream capture: work sent to a capturing stream becomes nodes. */
#include "fake.h"

static struct capture **captures; /* the ones going on */
static size_t capture_count;
static __thread int thread_mode = CAPTURE_GLOBAL;

static struct capture *capture_of_id(uint64_t id) {
    for (size_t i = 0; i < capture_count; i++)
        if (captures[i]->id == id)
            return captures[i];
    return NULL;
}

void invalidate(struct capture *capture) { capture->invalidated = true; }

/* Calls that could disturb a capture are refused while one goes on, and break it; how far one
 * looks depends on the calling thread's mode (cuThreadExchangeStreamCaptureMode). */
CUresult check_unsafe_call(void) {
    bool refused = false;
    if (thread_mode == CAPTURE_RELAXED)
        return CUDA_SUCCESS;
    for (size_t i = 0; i < capture_count; i++) {
        struct capture *capture = captures[i];
        bool own = pthread_equal(capture->thread, pthread_self()) && capture->mode != CAPTURE_RELAXED;
        bool global = thread_mode == CAPTURE_GLOBAL && capture->mode == CAPTURE_GLOBAL;
        if (own || global) {
            invalidate(capture);
            refused = true;
        }
    }
    return refused ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

/* Waiting for the context is refused while any of its streams is captured, whatever the mode. */
CUresult check_no_capture(void) {
    for (size_t i = 0; i < capture_count; i++)
        invalidate(captures[i]);
    return capture_count ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult check_captured_event(struct event *event) {
    if (!event->capture_id)
        return CUDA_SUCCESS;
    struct capture *capture = capture_of_id(event->capture_id);
    if (capture)
        invalidate(capture);
    return CUDA_ERROR_CAPTURED_EVENT;
}

static bool waits_for_legacy(const struct capture *capture) { return !(capture->origin->flags & 1); }

/* The legacy stream would wait for a blocking stream that is being captured. */
static CUresult legacy_obstacle(const struct stream *stream) {
    for (size_t i = 0; stream == legacy_stream() && i < capture_count; i++)
        if (waits_for_legacy(captures[i]))
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return CUDA_SUCCESS;
}

CUresult check_legacy_stream(struct stream *stream) {
    CUresult result = legacy_obstacle(stream);
    for (size_t i = 0; result != CUDA_SUCCESS && i < capture_count; i++)
        if (waits_for_legacy(captures[i]))
            invalidate(captures[i]);
    return result;
}

/* -- what a capturing stream depends on next ------------------------------------------------------ */

static void add_to_frontier(struct stream *stream, struct node *node) {
    for (size_t i = 0; i < stream->frontier_count; i++)
        if (stream->frontier[i] == node)
            return;
    stream->frontier = fake_append(stream->frontier, stream->frontier_count++, sizeof node, &node);
}

CUresult capture_work(struct stream *stream, const struct work *work) {
    struct capture *capture = stream->capture;
    if (capture->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    /* Programmatic stream serialization: the edge from a kernel waits for its trigger only. */
    CUgraphEdgeData edge = {.from_port = 1, .type = 1};
    bool programmatic = work->programmatic && stream->frontier_count == 1 &&
                        stream->frontier[0]->work.type == NODE_KERNEL;
    struct node *node = add_node(capture->graph, stream->frontier, programmatic ? &edge : NULL,
                                 stream->frontier_count, work);
    stream->frontier_count = 0;
    add_to_frontier(stream, node);
    return CUDA_SUCCESS;
}

CUresult capture_event(struct stream *stream, struct event *event) {
    if (stream->capture->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    event->capture_id = stream->capture->id;
    event->recorded = false;
    event->node_count = 0;
    for (size_t i = 0; i < stream->frontier_count; i++)
        event->nodes = fake_append(event->nodes, event->node_count++, sizeof(struct node *), &stream->frontier[i]);
    return CUDA_SUCCESS;
}

CUresult capture_wait(struct stream *stream, struct event *event) {
    struct capture *capture = event->capture_id ? capture_of_id(event->capture_id) : NULL;
    if (event->capture_id && !capture)
        return CUDA_SUCCESS; /* its capture has ended: nothing to wait for */
    if (stream->capture && !capture) {
        invalidate(stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (stream->capture && stream->capture != capture) {
        invalidate(stream->capture);
        invalidate(capture);
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (capture->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream == legacy_stream()) {
        invalidate(capture);
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    stream->capture = capture;
    for (size_t i = 0; i < event->node_count; i++)
        add_to_frontier(stream, event->nodes[i]);
    return CUDA_SUCCESS;
}

/* -- begin and end --------------------------------------------------------------------------------- */

static CUresult begin(CUstream handle, int mode, struct graph *graph, struct node *const *dependencies,
                      size_t dependency_count) {
    static uint64_t last_id;
    struct stream *stream = resolve_stream(handle);
    CUresult result = require_context();
    if (result != CUDA_SUCCESS)
        return result;
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (mode < CAPTURE_GLOBAL || mode > CAPTURE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == legacy_stream())
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct capture *capture = fake_allocate(1, sizeof *capture);
    *capture = (struct capture){.id = ++last_id,
                                .graph = graph ? graph : new_graph(next_graph_id()),
                                .origin = stream,
                                .mode = mode,
                                .into_existing = graph != NULL,
                                .thread = pthread_self()};
    captures = fake_append(captures, capture_count++, sizeof capture, &capture);
    stream->capture = capture;
    stream->frontier_count = 0;
    for (size_t i = 0; i < dependency_count; i++)
        add_to_frontier(stream, dependencies[i]);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
    TRACED(cuStreamBeginCapture_v2, { CUstream a; int b; }, begin(stream, mode, NULL, NULL, 0), stream, mode);
}

EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                                            const CUgraphEdgeData *data, size_t count, int mode) {
    TRACED(cuStreamBeginCaptureToGraph,
           {
               CUstream a;
               CUgraph b;
               const CUgraphNode *c;
               const CUgraphEdgeData *d;
               size_t e;
               int f;
           },
           fake_is(graph, OBJECT_GRAPH) ? begin(stream, mode, graph, dependencies, count)
                                        : CUDA_ERROR_INVALID_VALUE,
           stream, graph, dependencies, data, count, mode);
}

/* Mark the nodes that a set of nodes depends on, itself included; `marked` is indexed by node id. */
static void mark_ancestors(const struct graph *graph, struct node *const *nodes, size_t count, bool *marked) {
    for (size_t i = 0; i < count; i++)
        marked[nodes[i]->id] = true;
    /* Ids grow along every captured edge, so one pass from the last edge backwards is enough
     * once edges are taken in order of their dependent. */
    struct edge_index index = index_edges(graph);
    for (size_t id = graph->next_node_id; id-- > 0;)
        for (size_t e = index.first[id]; marked[id] && e < index.first[id + 1]; e++)
            marked[index.edges[e]->from->id] = true;
    free_index(index);
}

static bool is_joined(const struct capture *capture) {
    struct stream *stream;
    bool joined = true;
    bool *marked = fake_allocate(capture->graph->next_node_id, sizeof *marked);
    mark_ancestors(capture->graph, capture->origin->frontier, capture->origin->frontier_count, marked);
    for (size_t i = 0; (stream = stream_at(i)) != NULL; i++)
        if (stream->capture == capture)
            for (size_t n = 0; n < stream->frontier_count; n++)
                joined = joined && marked[stream->frontier[n]->id];
    free(marked);
    return joined;
}

static void finish(struct capture *capture) {
    struct stream *stream;
    for (size_t i = 0; (stream = stream_at(i)) != NULL; i++)
        if (stream->capture == capture) {
            stream->capture = NULL;
            stream->frontier_count = 0;
        }
    for (size_t i = 0; i < capture_count; i++)
        if (captures[i] == capture) {
            captures[i] = captures[capture_count - 1];
            capture_count--;
            break;
        }
}

static CUresult end(CUstream handle, CUgraph *out) {
    struct stream *stream = resolve_stream(handle);
    CUresult result = CUDA_SUCCESS;
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct capture *capture = stream->capture;
    bool wrong_thread = capture->mode != CAPTURE_RELAXED && !pthread_equal(capture->thread, pthread_self());
    if (!wrong_thread && capture->origin != stream) {
        invalidate(capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (wrong_thread) /* which ends it all the same (driver 580) */
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    else if (capture->invalidated)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!is_joined(capture))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    finish(capture);
    if (out)
        *out = result == CUDA_SUCCESS ? capture->graph : NULL;
    if (result != CUDA_SUCCESS && !capture->into_existing)
        destroy_graph(capture->graph);
    free(capture);
    return result;
}

EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    TRACED(cuStreamEndCapture, { CUstream a; CUgraph *b; }, end(stream, graph), stream, graph);
}

/* -- asking ------------------------------------------------------------------------------------------ */

static CUresult is_capturing(CUstream handle, int *status) {
    struct stream *stream = resolve_stream(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = legacy_obstacle(stream); /* which breaks nothing (H100, driver 580) */
    *status = !stream->capture               ? CAPTURE_NONE
              : stream->capture->invalidated ? CAPTURE_INVALIDATED
                                             : CAPTURE_ACTIVE;
    return result;
}

EXPORT CUresult cuStreamIsCapturing(CUstream stream, int *status) {
    TRACED(cuStreamIsCapturing, { CUstream a; int *b; }, is_capturing(stream, status), stream, status);
}

static CUresult get_info(CUstream handle, int *status, uint64_t *id, CUgraph *graph,
                         const CUgraphNode **dependencies, const CUgraphEdgeData **data, size_t *count) {
    CUresult result = is_capturing(handle, status);
    if (result != CUDA_SUCCESS || *status != CAPTURE_ACTIVE)
        return result;
    struct stream *stream = resolve_stream(handle);
    if (id)
        *id = stream->capture->id;
    if (graph)
        *graph = stream->capture->graph;
    if (dependencies)
        *dependencies = stream->frontier;
    if (data)
        *data = NULL;
    if (count)
        *count = stream->frontier_count;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *status, uint64_t *id, CUgraph *graph,
                                          const CUgraphNode **dependencies, size_t *count) {
    TRACED(cuStreamGetCaptureInfo_v2,
           {
               CUstream a;
               int *b;
               uint64_t *c;
               CUgraph *d;
               const CUgraphNode **e;
               size_t *f;
           },
           get_info(stream, status, id, graph, dependencies, NULL, count), stream, status, id, graph,
           dependencies, count);
}

EXPORT CUresult cuStreamGetCaptureInfo_v3(CUstream stream, int *status, uint64_t *id, CUgraph *graph,
                                          const CUgraphNode **dependencies, const CUgraphEdgeData **data,
                                          size_t *count) {
    TRACED(cuStreamGetCaptureInfo_v3,
           {
               CUstream a;
               int *b;
               uint64_t *c;
               CUgraph *d;
               const CUgraphNode **e;
               const CUgraphEdgeData **f;
               size_t *g;
           },
           get_info(stream, status, id, graph, dependencies, data, count), stream, status, id, graph,
           dependencies, data, count);
}

static CUresult exchange(int *mode) {
    if (!mode || *mode < CAPTURE_GLOBAL || *mode > CAPTURE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    int previous = thread_mode;
    thread_mode = *mode;
    *mode = previous;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    TRACED(cuThreadExchangeStreamCaptureMode, { int *a; }, exchange(mode), mode);
}

enum { ADD_DEPENDENCIES = 0, SET_DEPENDENCIES = 1 };

static CUresult update_dependencies(CUstream handle, const CUgraphNode *nodes, size_t count, unsigned int flags) {
    struct stream *stream = resolve_stream(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if ((count && !nodes) || flags > SET_DEPENDENCIES)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!fake_is(nodes[i], OBJECT_NODE) || nodes[i]->graph != stream->capture->graph)
            return CUDA_ERROR_INVALID_VALUE;
    if (flags == SET_DEPENDENCIES)
        stream->frontier_count = 0;
    for (size_t i = 0; i < count; i++)
        add_to_frontier(stream, nodes[i]);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, const CUgraphNode *nodes,
                                                     const CUgraphEdgeData *data, size_t count,
                                                     unsigned int flags) {
    TRACED(cuStreamUpdateCaptureDependencies_v2,
           {
               CUstream a;
               const CUgraphNode *b;
               const CUgraphEdgeData *c;
               size_t d;
               unsigned int e;
           },
           update_dependencies(stream, nodes, count, flags), stream, nodes, data, count, flags);
}
