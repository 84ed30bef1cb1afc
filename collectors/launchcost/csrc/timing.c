/* Timing launches and the calls of a graph's life. */
#include "launchcost.h"

#include <stdlib.h>

struct update_info {
    int result;
    CUgraphNode node, from;
}; /* CUgraphExecUpdateResultInfo */

/* What is launched: an executable, or a program into streams. */
struct work {
    CUgraphExec exec;
    const struct lab_program *program;
};

static CUresult launch(const struct work *work) {
    return work->exec ? cuda.GraphLaunch(work->exec, lab.streams[0])
                      : lab_send(work->program, lab.streams[0]);
}

/* Keep the stream busy until lab.latch is set, so that what follows waits in the queue. */
static CUresult hold(uint64_t limit_ns) {
    CUdeviceptr latch = (CUdeviceptr)(uintptr_t)lab.latch; /* one address space, CUDA since 4.0 */
    void *arguments[] = {&latch, &limit_ns};
    lab.latch[0] = lab.latch[1] = 0;
    return lab_launch(lab.wait, lab.streams[0], arguments);
}

static int read_launch(const struct work *work, uint64_t limit_ns, struct lab_reading *reading) {
    CUstream stream = lab.streams[0];
    float milliseconds = 0;
    if (limit_ns && lab_check(hold(limit_ns), "cuLaunchKernel") != 0)
        return -1;
    if (lab_check(cuda.EventRecord(lab.before, stream), "cuEventRecord") != 0)
        return -1;
    int64_t start = monotonic_ns();
    CUresult result = launch(work);
    int64_t launched = monotonic_ns();
    CUresult recorded = cuda.EventRecord(lab.after, stream);
    bool waited = limit_ns == 0 || lab.latch[1] == 0;
    lab.latch[0] = 1;
    if (result == 0)
        result = recorded;
    CUresult finished = lab_cuda.StreamSynchronize(stream);
    int64_t end = monotonic_ns();
    if (lab_check(result ? result : finished, "launching") != 0)
        return -1;
    if (lab_check(cuda.EventElapsedTime(&milliseconds, lab.before, lab.after),
                  "cuEventElapsedTime") != 0)
        return -1;
    *reading = (struct lab_reading){launched - start, end - start,
                                    waited ? (int64_t)((double)milliseconds * 1e6 + 0.5) : -1};
    return 0;
}

/* Launch `repeats` times, each on an idle GPU, or (limit_ns > 0) each behind a kernel that ends
 * when all of it is in the queue, or after limit_ns. */
static int read_launches(const struct work *work, uint64_t limit_ns, int repeats,
                         struct lab_reading *readings) {
    for (int i = 0; i < repeats; i++)
        if (read_launch(work, limit_ns, &readings[i]) != 0)
            return -1;
    return 0;
}

GVIZ_EXPORT int gviz_lab_time_program(const struct lab_program *program, uint64_t limit_ns,
                                      int repeats, struct lab_reading *readings) {
    return read_launches(&(struct work){.program = program}, limit_ns, repeats, readings);
}

GVIZ_EXPORT int gviz_lab_time_exec(CUgraphExec exec, uint64_t limit_ns, int repeats,
                                   struct lab_reading *readings) {
    return read_launches(&(struct work){.exec = exec}, limit_ns, repeats, readings);
}

/* -- graphs ------------------------------------------------------------------------------------------ */

GVIZ_EXPORT int gviz_lab_capture(const struct lab_program *program, CUgraph *graph) {
    return lab_capture(program, graph);
}

GVIZ_EXPORT int gviz_lab_instantiate(CUgraph graph, CUgraphExec *exec) {
    return lab_check(cuda.GraphInstantiate(exec, graph, 0), "cuGraphInstantiateWithFlags");
}

GVIZ_EXPORT void gviz_lab_destroy(CUgraph graph, CUgraphExec exec) {
    if (exec)
        cuda.GraphExecDestroy(exec);
    if (graph)
        cuda.GraphDestroy(graph);
}

GVIZ_EXPORT int gviz_lab_time_capture(const struct lab_program *program, int repeats,
                                      int64_t *times_ns) {
    for (int i = 0; i < repeats; i++) {
        CUgraph graph = NULL;
        int64_t start = monotonic_ns();
        int result = lab_capture(program, &graph);
        times_ns[i] = monotonic_ns() - start;
        if (graph)
            cuda.GraphDestroy(graph);
        if (result != 0)
            return -1;
    }
    return 0;
}

static CUresult live(CUgraph graph, bool upload, struct lab_life *life) {
    CUstream stream = lab.streams[0];
    CUgraphExec exec = NULL;
    int64_t times[9];
    times[0] = monotonic_ns();
    CUresult result = cuda.GraphInstantiate(&exec, graph, 0);
    times[1] = times[2] = times[3] = monotonic_ns();
    if (result == 0 && upload) {
        result = lab_cuda.GraphUpload(exec, stream);
        times[2] = monotonic_ns();
        if (result == 0)
            result = lab_cuda.StreamSynchronize(stream);
        times[3] = monotonic_ns();
    }
    for (int i = 0; i < 2 && result == 0; i++) {
        result = cuda.GraphLaunch(exec, stream);
        times[4 + 2 * i] = monotonic_ns();
        if (result == 0)
            result = lab_cuda.StreamSynchronize(stream);
        times[5 + 2 * i] = monotonic_ns();
    }
    if (result != 0) {
        if (exec)
            cuda.GraphExecDestroy(exec);
        return result;
    }
    result = cuda.GraphExecDestroy(exec);
    times[8] = monotonic_ns();
    *life = (struct lab_life){times[1] - times[0], upload ? times[2] - times[1] : -1,
                              upload ? times[3] - times[1] : -1, times[4] - times[3],
                              times[5] - times[3], times[6] - times[5], times[7] - times[5],
                              times[8] - times[7]};
    return result;
}

/* Instantiate, upload (or not), launch twice and destroy, `repeats` times. */
GVIZ_EXPORT int gviz_lab_time_life(CUgraph graph, int upload, int repeats,
                                   struct lab_life *lives) {
    for (int i = 0; i < repeats; i++)
        if (lab_check(live(graph, upload != 0, &lives[i]), "living through a graph") != 0)
            return -1;
    return 0;
}

/* -- updates ------------------------------------------------------------------------------------------ */

/* Whole-graph updates from two graphs of the same shape in turn: where their arguments differ, each
 * update changes them. */
GVIZ_EXPORT int gviz_lab_time_update(CUgraphExec exec, CUgraph one, CUgraph other, int repeats,
                                     int64_t *times_ns) {
    struct update_info info;
    for (int i = 0; i < repeats; i++) {
        int64_t start = monotonic_ns();
        CUresult result = lab_cuda.GraphExecUpdate(exec, i % 2 ? other : one, &info);
        times_ns[i] = monotonic_ns() - start;
        if (lab_check(result, "cuGraphExecUpdate") != 0)
            return -1;
    }
    return 0;
}

static CUgraphNode *nodes_of(CUgraph graph, size_t *count) {
    if (cuda.GraphGetNodes(graph, NULL, count) != 0)
        return NULL;
    CUgraphNode *nodes = calloc(*count ? *count : 1, sizeof *nodes);
    if (nodes && cuda.GraphGetNodes(graph, nodes, count) == 0)
        return nodes;
    free(nodes);
    return NULL;
}

static CUresult set_all(CUgraphExec exec, const CUgraphNode *nodes, const KernelParams *params,
                        size_t count) {
    CUresult result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = lab_cuda.GraphExecKernelNodeSetParams(exec, nodes[i], &params[i]);
    return result;
}

static CUresult time_set_all(CUgraphExec exec, const CUgraphNode *nodes, KernelParams *params,
                             size_t count, int repeats, int64_t *times_ns) {
    CUresult result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = cuda.GraphKernelNodeGetParams(nodes[i], &params[i]);
    for (int i = 0; i < repeats && result == 0; i++) {
        int64_t start = monotonic_ns();
        result = set_all(exec, nodes, params, count);
        times_ns[i] = monotonic_ns() - start;
    }
    return result;
}

/* New parameters for every node, one call each. All nodes must be kernels. */
GVIZ_EXPORT int gviz_lab_time_node_updates(CUgraphExec exec, CUgraph graph, int repeats,
                                           int64_t *times_ns) {
    size_t count = 0;
    CUgraphNode *nodes = nodes_of(graph, &count);
    KernelParams *params = calloc(count ? count : 1, sizeof *params);
    int result = lab_fail("out of memory");
    if (nodes && params)
        result = lab_check(time_set_all(exec, nodes, params, count, repeats, times_ns),
                           "cuGraphExecKernelNodeSetParams");
    free(params);
    free(nodes);
    return result;
}

static CUresult enable_all(CUgraphExec exec, const CUgraphNode *nodes, size_t count, unsigned on) {
    CUresult result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = lab_cuda.GraphNodeSetEnabled(exec, nodes[i], on);
    return result;
}

/* Every node disabled and enabled again, one call each; times of the disabling and the enabling. */
GVIZ_EXPORT int gviz_lab_time_enabling(CUgraphExec exec, CUgraph graph, int repeats,
                                       int64_t *off_ns, int64_t *on_ns) {
    size_t count = 0;
    CUgraphNode *nodes = nodes_of(graph, &count);
    if (!nodes)
        return lab_fail("out of memory");
    CUresult result = 0;
    for (int i = 0; i < repeats && result == 0; i++) {
        int64_t start = monotonic_ns();
        result = enable_all(exec, nodes, count, 0);
        int64_t off = monotonic_ns();
        if (result == 0)
            result = enable_all(exec, nodes, count, 1);
        off_ns[i] = off - start;
        on_ns[i] = monotonic_ns() - off;
    }
    free(nodes);
    return lab_check(result, "cuGraphNodeSetEnabled");
}

/* -- the same loop, three ways and without a graph ----------------------------------------------------- */

enum loop { LOOP_STREAM = 0, LOOP_INSTANTIATE = 1, LOOP_UPDATE = 2, LOOP_LAUNCH = 3 };

/* One iteration; *exec lives on between iterations of LOOP_UPDATE and LOOP_LAUNCH. */
static int iterate(enum loop how, const struct lab_program *program, CUgraphExec *exec) {
    struct update_info info;
    CUgraph graph = NULL;
    CUresult result = 0;
    if (how == LOOP_STREAM)
        return lab_check(lab_send(program, lab.streams[0]), "launching");
    if (how != LOOP_LAUNCH && lab_capture(program, &graph) != 0)
        return -1;
    if (how == LOOP_INSTANTIATE) {
        if (*exec)
            cuda.GraphExecDestroy(*exec);
        *exec = NULL;
        result = cuda.GraphInstantiate(exec, graph, 0);
    } else if (how == LOOP_UPDATE) {
        result = lab_cuda.GraphExecUpdate(*exec, graph, &info);
    }
    if (graph)
        cuda.GraphDestroy(graph);
    if (result == 0)
        result = cuda.GraphLaunch(*exec, lab.streams[0]);
    return lab_check(result, "launching");
}

/* `iterations` of the loop, from before the first until the GPU has finished the last; without
 * the first capture and instantiation where the executable lives on. Spinning kernels get another
 * argument every time, so that an update has something to do. */
GVIZ_EXPORT int gviz_lab_time_loop(int how, const struct lab_program *program, int iterations,
                                   int64_t *time_ns) {
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    int result = 0;
    if (how == LOOP_UPDATE || how == LOOP_LAUNCH) {
        result = lab_capture(program, &graph);
        if (result == 0)
            result = gviz_lab_instantiate(graph, &exec);
        if (result == 0)
            result = lab_check(lab_cuda.GraphUpload(exec, lab.streams[0]), "cuGraphUpload");
        if (result == 0)
            result = lab_check(lab_cuda.StreamSynchronize(lab.streams[0]), "cuStreamSynchronize");
    }
    int64_t start = monotonic_ns();
    for (int i = 0; i < iterations && result == 0; i++) {
        struct lab_program turn = *program;
        turn.clocks += (uint64_t)(i % 2 == 0);
        result = iterate((enum loop)how, &turn, &exec);
    }
    CUresult finished = lab_cuda.StreamSynchronize(lab.streams[0]);
    *time_ns = monotonic_ns() - start;
    gviz_lab_destroy(graph, exec);
    return result == 0 ? lab_check(finished, "cuStreamSynchronize") : result;
}
