/* Graphs launched by the GPU itself.
 *
 * The device side of cudaGraphLaunch is in libcudadevrt, which comes with CUDA's runtime and is
 * linked here at run time by the driver: the text below calls it and is the same for every GPU.
 * The numbers are cudaStreamGraphTailLaunch and cudaStreamGraphFireAndForget (driver_types.h of
 * CUDA 13.0); %current_graph_exec is what cudaGetCurrentGraphExec reads (PTX ISA 8.0).
 */
#include "launchcost.h"

#include <stdio.h>
#include <string.h>

#define INSTANTIATE_DEVICE_LAUNCH 4
#define JIT_ERROR_LOG 5      /* CU_JIT_ERROR_LOG_BUFFER */
#define JIT_ERROR_LOG_SIZE 6 /* CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES */
#define INPUT_PTX 1
#define INPUT_LIBRARY 4

static const char ptx[] =
    ".version 8.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".extern .func (.param .b32 result) cudaGraphLaunch(.param .b64 graph, .param .b64 stream);\n"
    /* Launches `graph` into `stream` (fire and forget, or tail), `count` times; how long that took. */
    ".visible .entry gviz_launch(.param .u64 graph, .param .u64 stream, .param .u32 count,\n"
    "                            .param .u64 spent) {\n"
    ".reg .b32 %r<4>;\n"
    ".reg .b64 %rd<9>;\n"
    ".reg .pred %p;\n"
    "ld.param.u64 %rd1, [graph];\n"
    "ld.param.u64 %rd2, [stream];\n"
    "ld.param.u32 %r1, [count];\n"
    "ld.param.u64 %rd3, [spent];\n"
    "mov.u64 %rd4, %globaltimer;\n"
    "next:\n"
    "setp.eq.u32 %p, %r1, 0;\n"
    "@%p bra done;\n"
    "{\n"
    ".param .b64 a;\n"
    ".param .b64 b;\n"
    ".param .b32 c;\n"
    "st.param.b64 [a], %rd1;\n"
    "st.param.b64 [b], %rd2;\n"
    "call.uni (c), cudaGraphLaunch, (a, b);\n"
    "ld.param.b32 %r2, [c];\n"
    "}\n"
    "sub.u32 %r1, %r1, 1;\n"
    "bra next;\n"
    "done:\n"
    "mov.u64 %rd5, %globaltimer;\n"
    "sub.s64 %rd6, %rd5, %rd4;\n"
    "cvta.to.global.u64 %rd7, %rd3;\n"
    "st.volatile.global.u64 [%rd7], %rd6;\n"
    "ret;\n"
    "}\n"
    /* The running graph launches itself until *left is 0. */
    ".visible .entry gviz_again(.param .u64 left) {\n"
    ".reg .b32 %r<4>;\n"
    ".reg .b64 %rd<5>;\n"
    ".reg .pred %p;\n"
    "ld.param.u64 %rd1, [left];\n"
    "cvta.to.global.u64 %rd2, %rd1;\n"
    "ld.volatile.global.u32 %r1, [%rd2];\n"
    "setp.eq.u32 %p, %r1, 0;\n"
    "@%p bra done;\n"
    "sub.u32 %r2, %r1, 1;\n"
    "st.volatile.global.u32 [%rd2], %r2;\n"
    "mov.u64 %rd3, %current_graph_exec;\n"
    "mov.u64 %rd4, 0x0100000000000000;\n"
    "{\n"
    ".param .b64 a;\n"
    ".param .b64 b;\n"
    ".param .b32 c;\n"
    "st.param.b64 [a], %rd3;\n"
    "st.param.b64 [b], %rd4;\n"
    "call.uni (c), cudaGraphLaunch, (a, b);\n"
    "ld.param.b32 %r3, [c];\n"
    "}\n"
    "done:\n"
    "ret;\n"
    "}\n";

static CUmodule module;
static CUfunction launch_kernel, again_kernel;

/* -- linking -------------------------------------------------------------------------------------- */

static int link_with(void *linker, const char *library, char *log) {
    void *image = NULL;
    CUresult result = lab_cuda.LinkAddData(linker, INPUT_PTX, (void *)(uintptr_t)ptx, sizeof ptx,
                                       "gviz", 0, NULL, NULL);
    if (result == 0)
        result = lab_cuda.LinkAddFile(linker, INPUT_LIBRARY, library, 0, NULL, NULL);
    if (result == 0)
        result = lab_cuda.LinkComplete(linker, &image, NULL);
    if (result == 0)
        result = cuda.ModuleLoadData(&module, image);
    if (result == 0)
        result = cuda.ModuleGetFunction(&launch_kernel, module, "gviz_launch");
    if (result == 0)
        result = cuda.ModuleGetFunction(&again_kernel, module, "gviz_again");
    if (result != 0 && log[0])
        return lab_fail("linking %s failed: %s", library, log);
    return lab_check(result, "linking libcudadevrt");
}

GVIZ_EXPORT int gviz_lab_open_device_launch(const char *library) {
    char log[800] = "";
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    void *linker = NULL;
    if (!lab_cuda.LinkCreate || !lab_cuda.LinkAddData || !lab_cuda.LinkAddFile || !lab_cuda.LinkComplete ||
        !lab_cuda.LinkDestroy)
        return lab_fail("this CUDA driver cannot link (cuLinkCreate is missing)");
    if (lab_check(lab_cuda.LinkCreate(2, options, values, &linker), "cuLinkCreate") != 0)
        return -1;
    int result = link_with(linker, library, log);
    lab_cuda.LinkDestroy(linker);
    return result;
}

GVIZ_EXPORT void gviz_lab_close_device_launch(void) {
    if (module)
        cuda.ModuleUnload(module);
    module = NULL;
}

/* -- graphs that the device may launch ---------------------------------------------------------- */

struct launched {
    CUgraph graph;
    CUgraphExec exec;
};

static void discard(struct launched *graph) {
    if (graph->exec)
        cuda.GraphExecDestroy(graph->exec);
    if (graph->graph)
        cuda.GraphDestroy(graph->graph);
}

static int make(struct launched *made, unsigned long long flags) {
    CUresult result = cuda.GraphInstantiate(&made->exec, made->graph, flags);
    if (result == 0)
        result = lab_cuda.GraphUpload(made->exec, lab.streams[0]);
    if (result == 0)
        result = lab_cuda.StreamSynchronize(lab.streams[0]);
    return lab_check(result, "cuGraphInstantiateWithFlags");
}

/* Capture the program and, after it, one kernel (or none of both). */
static int capture(const struct lab_program *program, CUfunction kernel, void **arguments,
                   CUgraph *graph) {
    CUstream stream = lab.streams[0];
    CUresult result = lab_cuda.StreamBeginCapture(stream, CU_CAPTURE_MODE_RELAXED);
    if (result != 0)
        return lab_check(result, "cuStreamBeginCapture");
    if (program)
        result = lab_send(program, stream);
    if (result == 0 && kernel)
        result = lab_launch(kernel, stream, arguments);
    CUresult ended = lab_cuda.StreamEndCapture(stream, graph);
    return lab_check(result ? result : ended, "capturing");
}

static int read_once(CUgraphExec exec, struct lab_reading *reading) {
    float milliseconds = 0;
    CUstream stream = lab.streams[0];
    CUresult result = cuda.EventRecord(lab.before, stream);
    int64_t start = monotonic_ns();
    if (result == 0)
        result = cuda.GraphLaunch(exec, stream);
    int64_t launched = monotonic_ns();
    if (result == 0)
        result = cuda.EventRecord(lab.after, stream);
    if (result == 0)
        result = lab_cuda.StreamSynchronize(stream);
    int64_t end = monotonic_ns();
    if (result == 0)
        result = cuda.EventElapsedTime(&milliseconds, lab.before, lab.after);
    *reading = (struct lab_reading){launched - start, end - start,
                                    (int64_t)((double)milliseconds * 1e6 + 0.5)};
    return lab_check(result, "launching from the device");
}

/* A graph of one kernel launches the program's graph `count` times into `stream`, fire and forget
 * or tail; with count 0 it does nothing, which is what the rest is compared with. `spent_ns`: how
 * long the kernel was launching. */
GVIZ_EXPORT int gviz_lab_time_device_launch(const struct lab_program *program, uint64_t stream,
                                            uint32_t count, int repeats,
                                            struct lab_reading *readings, int64_t *spent_ns) {
    struct launched inner = {0}, outer = {0};
    uint64_t handle = 0, spent = (uint64_t)(uintptr_t)&lab.latch[4];
    void *arguments[] = {&handle, &stream, &count, &spent};
    int result = capture(program, NULL, NULL, &inner.graph);
    if (result == 0)
        result = make(&inner, INSTANTIATE_DEVICE_LAUNCH);
    handle = (uint64_t)(uintptr_t)inner.exec;
    if (result == 0)
        result = capture(NULL, launch_kernel, arguments, &outer.graph);
    if (result == 0)
        result = make(&outer, 0);
    for (int i = 0; i < repeats && result == 0; i++) {
        result = read_once(outer.exec, &readings[i]);
        memcpy(&spent_ns[i], (const void *)&lab.latch[4], sizeof *spent_ns);
    }
    discard(&outer);
    discard(&inner);
    return result;
}

/* The program's graph and a kernel that launches it again, `launches` times in all; and the same
 * graph launched as often by the host. Times from the first launch to the end of the last. */
GVIZ_EXPORT int gviz_lab_time_self_launch(const struct lab_program *program, uint32_t launches,
                                          int repeats, int64_t *device_ns, int64_t *host_ns) {
    struct launched graph = {0};
    struct lab_reading reading;
    uint64_t left = (uint64_t)(uintptr_t)&lab.latch[2];
    void *arguments[] = {&left};
    CUresult launched = 0;
    lab.latch[2] = 0;
    int result = capture(program, again_kernel, arguments, &graph.graph);
    if (result == 0)
        result = make(&graph, INSTANTIATE_DEVICE_LAUNCH);
    for (int i = 0; i < repeats && result == 0; i++) {
        lab.latch[2] = launches - 1;
        result = read_once(graph.exec, &reading);
        device_ns[i] = reading.finish;
        if (result == 0 && lab.latch[2] != 0)
            result = lab_fail("the graph launched itself %u times less than asked",
                              (unsigned)lab.latch[2]);
        int64_t start = monotonic_ns();
        for (uint32_t j = 0; j < launches && launched == 0; j++)
            launched = cuda.GraphLaunch(graph.exec, lab.streams[0]);
        CUresult finished = lab_cuda.StreamSynchronize(lab.streams[0]);
        host_ns[i] = monotonic_ns() - start;
        if (result == 0)
            result = lab_check(launched ? launched : finished, "launching");
    }
    discard(&graph);
    return result;
}
