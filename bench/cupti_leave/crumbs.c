/* crumbs cost | crumbs fault NODE EVERY path|leaf | crumbs dump off|light|full FILE:
   writes to host memory between the kernels of a graph, and the driver's core dumps. */
#include "common.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODES = 100, LAUNCHES = 300 };

static struct program program;
static volatile unsigned *crumbs;
static CUdeviceptr crumbs_on_device;

static CUresult add_write(CUgraph graph, CUgraphNode behind, int number, unsigned flags,
                          CUgraphNode *added) {
    CUstreamBatchMemOpParams write = {0};
    CUDA_BATCH_MEM_OP_NODE_PARAMS node = {0};
    write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    write.writeValue.address = crumbs_on_device + number * sizeof(unsigned);
    write.writeValue.value = 1;
    write.writeValue.flags = flags;
    node.ctx = program.context;
    node.count = 1;
    node.paramArray = &write;
    return cuGraphAddBatchMemOpNode(added, graph, &behind, 1, &node);
}

/* A chain of steps; node `bad` faults; a write follows every `every`th, in the path or beside. */
static CUgraphExec make_chain(int every, bool leaf, int bad) {
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode last = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    for (int i = 0; i < NODES; i++) {
        int words = DATA_WORDS;
        void *arguments[] = {&program.data, &words};
        CUDA_KERNEL_NODE_PARAMS kernel = {0};
        CUgraphNode node;
        kernel.func = i == bad ? program.fault : program.step;
        kernel.gridDimX = i == bad ? 1 : 64;
        kernel.blockDimX = i == bad ? 1 : 256;
        kernel.gridDimY = kernel.gridDimZ = kernel.blockDimY = kernel.blockDimZ = 1;
        kernel.kernelParams = arguments;
        CHECK(cuGraphAddKernelNode(&node, graph, last ? &last : NULL, last != NULL, &kernel));
        last = node;
        if (every && i % every == 0) {
            CUgraphNode write;
            CHECK(add_write(graph, node, i, CU_STREAM_WRITE_VALUE_DEFAULT, &write));
            last = leaf ? node : write;
        }
    }
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
    return exec;
}

/* GPU time of a launch among many that are queued (us). */
static double queued_us(CUgraphExec exec) {
    CUevent start, end;
    float ms;
    CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    for (int i = 0; i < 20; i++)
        CHECK(cuGraphLaunch(exec, program.stream));
    CHECK(cuStreamSynchronize(program.stream));
    CHECK(cuEventRecord(start, program.stream));
    for (int i = 0; i < LAUNCHES; i++)
        CHECK(cuGraphLaunch(exec, program.stream));
    CHECK(cuEventRecord(end, program.stream));
    CHECK(cuEventSynchronize(end));
    CHECK(cuEventElapsedTime(&ms, start, end));
    return ms * 1e3 / LAUNCHES;
}

static double waited_us(CUgraphExec exec) {
    double us[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++) {
        double before = now_ms();
        CHECK(cuGraphLaunch(exec, program.stream));
        CHECK(cuStreamSynchronize(program.stream));
        us[i] = (now_ms() - before) * 1e3;
    }
    return quantile_of(us, LAUNCHES, 0.5);
}

/* The error of a graph's write without a memory barrier: 0 where the driver takes it. */
static int no_barrier_error(void) {
    CUgraph graph;
    CUgraphNode empty, write;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    CUresult result =
        add_write(graph, empty, 0, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER, &write);
    CHECK(cuGraphDestroy(graph));
    return (int)result;
}

static void print_cost(void) {
    static const int every[] = {0, 20, 10, 5, 1};
    printf("{\"no_barrier_error\": %d, \"cost\": [", no_barrier_error());
    for (int leaf = 0; leaf < 2; leaf++)
        for (int i = 0; i < 5; i++) {
            CUgraphExec exec = make_chain(every[i], leaf, -1);
            printf("%s{\"every\": %d, \"place\": \"%s\", \"queued_us\": %.2f, "
                   "\"waited_us\": %.2f}", leaf || i ? ", " : "", every[i],
                   leaf ? "leaf" : "path", queued_us(exec), waited_us(exec));
            CHECK(cuGraphExecDestroy(exec));
        }
    printf("]}\n");
}

static void print_fault(int bad, int every, const char *place) {
    CUgraphExec exec = make_chain(every, !strcmp(place, "leaf"), bad);
    double before = now_ms();
    CUresult result = cuGraphLaunch(exec, program.stream);
    if (!result)
        result = cuStreamSynchronize(program.stream);
    double ms = now_ms() - before;
    int last = -1, missing = 0;
    for (int i = 0; i < NODES; i++)
        if (crumbs[i])
            last = i;
    for (int i = 0; every && i < last; i += every)
        missing += !crumbs[i];
    printf("{\"fault\": %d, \"every\": %d, \"place\": \"%s\", \"error\": %d, "
           "\"last_write\": %d, \"missing_before\": %d, \"error_after_ms\": %.1f}\n",
           bad, every, place, (int)result, last, missing, ms);
}

static void turn_dumps_on(const char *how, char *file) {
    bool on = true;
    size_t size = sizeof on, length = strlen(file) + 1;
    if (!strcmp(how, "off"))
        return;
    CHECK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &size));
    size = sizeof on;
    if (!strcmp(how, "light"))
        CHECK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &on, &size));
    CHECK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_FILE, file, &length));
}

int main(int count, char **arguments) {
    void *memory;
    if (count < 2)
        return 2;
    alarm(60);
    CHECK(cuInit(0));
    bool dump = !strcmp(arguments[1], "dump");
    if (dump && count == 4)
        turn_dumps_on(arguments[2], arguments[3]);
    open_device();
    make_program(&program, NODES);
    CHECK(cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    CHECK(cuMemHostGetDevicePointer(&crumbs_on_device, memory, 0));
    crumbs = memory;
    memset(memory, 0, 4096);
    if (dump) {
        CUgraphExec exec = make_chain(0, false, -1);
        printf("{\"dump\": \"%s\", \"queued_us\": %.2f, ", arguments[2], queued_us(exec));
        printf("\"waited_us\": %.2f, \"then\": ", waited_us(exec));
        print_fault(50, 1, "leaf");
        printf("}\n");
    } else if (!strcmp(arguments[1], "cost"))
        print_cost();
    else if (count == 5)
        print_fault(atoi(arguments[2]), atoi(arguments[3]), arguments[4]);
    else
        return 2;
    fflush(stdout);
    _exit(0);
}
