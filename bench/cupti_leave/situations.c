/* Threads of a program that wait, capture, copy, load or launch while something else is done. */
#define _GNU_SOURCE
#include "common.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 3, COPY_BYTES = 256 << 20 };

static volatile int *flag; /* mapped: what spins or waits on the device */
static CUdeviceptr flag_on_device;
static volatile int there, released;
static pthread_t threads[THREADS];
static int thread_count, results[THREADS];
static CUcontext context;
static const struct situation *chosen;

struct situation {
    const char *name;
    int (*run)(struct program *p, int mode); /* sets `there`; ends after `released` */
    int mode, threads;
};

#define TRY(call)                   \
    do {                            \
        int result_ = (int)(call);  \
        if (result_)                \
            return result_;         \
    } while (0)

static CUresult launch_spin(struct program *p) {
    void *arguments[] = {&flag_on_device};
    return cuLaunchKernel(p->spin, 1, 1, 1, 1, 1, 1, 0, p->stream, arguments, NULL);
}

static void await_release(void) {
    __atomic_add_fetch(&there, 1, __ATOMIC_SEQ_CST);
    while (!released)
        pause_ms(0.2);
}

static int finish(struct program *p) {
    TRY(cuStreamSynchronize(p->stream));
    TRY(launch_graph(p));
    TRY(cuStreamSynchronize(p->stream));
    return is_exact(p) ? 0 : -2;
}

enum { BY_KERNEL, BY_GRAPH, BY_VALUE, BY_HOST };

static void CUDA_CB wait_on_host(void *unused) {
    (void)unused;
    while (!released)
        pause_ms(0.2);
}

/* Queues something that lasts until release, and a step behind it. */
static int queue_wait(struct program *p, int mode) {
    if (mode == BY_KERNEL)
        TRY(launch_spin(p));
    else if (mode == BY_VALUE)
        TRY(cuStreamWaitValue32(p->stream, flag_on_device, 1, CU_STREAM_WAIT_VALUE_GEQ));
    else if (mode == BY_HOST)
        TRY(cuLaunchHostFunc(p->stream, wait_on_host, NULL));
    else {
        CUgraph graph;
        CUgraphExec exec;
        TRY(cuStreamBeginCapture(p->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        TRY(launch_spin(p));
        TRY(cuStreamEndCapture(p->stream, &graph));
        TRY(cuGraphInstantiate(&exec, graph, 0));
        TRY(cuGraphLaunch(exec, p->stream));
    }
    return launch_step(p, p->stream);
}

static int in_flight(struct program *p, int mode) {
    TRY(queue_wait(p, mode));
    await_release();
    return finish(p);
}

enum { IN_STREAM, IN_EVENT, IN_HOST, IN_COPY };

/* Waits inside the driver, and nowhere else. */
static int waiting(struct program *p, int mode) {
    unsigned word;
    CUevent event;
    TRY(cuEventCreate(&event, CU_EVENT_BLOCKING_SYNC));
    TRY(queue_wait(p, mode == IN_HOST ? BY_HOST : BY_KERNEL));
    TRY(cuEventRecord(event, p->stream));
    if (mode == IN_COPY) { /* the copy to pageable memory follows the spin through the event */
        TRY(cuStreamWaitEvent(CU_STREAM_LEGACY, event, 0));
    }
    __atomic_add_fetch(&there, 1, __ATOMIC_SEQ_CST);
    if (mode == IN_EVENT)
        TRY(cuEventSynchronize(event));
    else if (mode == IN_COPY)
        TRY(cuMemcpyDtoH(&word, p->data, sizeof word));
    else
        TRY(cuStreamSynchronize(p->stream));
    return finish(p);
}

static int capturing(struct program *p, int mode) {
    CUgraph graph;
    CUgraphExec exec;
    TRY(cuStreamBeginCapture(p->stream, mode));
    for (int i = 0; i < 5; i++)
        TRY(launch_step(p, p->stream));
    await_release();
    for (int i = 0; i < 5; i++)
        TRY(launch_step(p, p->stream));
    TRY(cuStreamEndCapture(p->stream, &graph));
    TRY(cuGraphInstantiate(&exec, graph, 0));
    TRY(cuGraphLaunch(exec, p->stream));
    return finish(p);
}

/* Copies to pageable memory without a break. */
static int copying(struct program *p, int mode) {
    CUdeviceptr from;
    unsigned char *to = malloc(COPY_BYTES);
    (void)mode;
    TRY(cuMemAlloc(&from, COPY_BYTES));
    TRY(cuMemsetD8(from, 0x5a, COPY_BYTES));
    TRY(cuCtxSynchronize());
    __atomic_add_fetch(&there, 1, __ATOMIC_SEQ_CST);
    do {
        memset(to, 0, COPY_BYTES);
        TRY(cuMemcpyDtoH(to, from, COPY_BYTES));
        if (to[0] != 0x5a || memcmp(to, to + 1, COPY_BYTES - 1))
            return -2;
    } while (!released);
    return finish(p);
}

/* Writes PTX of many kernels, some 0.3 s to compile. */
static char *long_ptx(void) {
    enum { KERNELS = 60, LINES = 300 };
    char *text = malloc(KERNELS * LINES * 48 + 4096), *end = text;
    end += sprintf(end, ".version 7.0\n.target sm_70\n.address_size 64\n");
    for (int k = 0; k < KERNELS; k++) {
        end += sprintf(end, ".visible .entry k%d(.param .u64 a)\n{\n.reg .f32 %%f<3>;\n"
                            ".reg .u64 %%p;\nld.param.u64 %%p,[a];\nld.global.f32 %%f0,[%%p];\n"
                            "mov.f32 %%f1,%%f0;\n", k);
        for (int i = 0; i < LINES; i++)
            end += sprintf(end, "fma.rn.f32 %%f%d,%%f0,%%f1,0f3F%06X;\n", i % 2, k * LINES + i);
        end += sprintf(end, "st.global.f32 [%%p],%%f1;\nret;\n}\n");
    }
    return text;
}

static int loading(struct program *p, int mode) {
    char *text = long_ptx();
    (void)mode;
    __atomic_add_fetch(&there, 1, __ATOMIC_SEQ_CST);
    do {
        CUmodule module;
        TRY(cuModuleLoadData(&module, text));
        TRY(cuModuleUnload(module));
    } while (!released);
    free(text);
    return finish(p);
}

static int launching(struct program *p, int mode) {
    (void)mode;
    __atomic_add_fetch(&there, 1, __ATOMIC_SEQ_CST);
    do {
        TRY(launch_graph(p));
        TRY(cuStreamSynchronize(p->stream));
    } while (!released);
    return finish(p);
}

static int nothing(struct program *p, int mode) {
    (void)mode;
    await_release();
    return finish(p);
}

static const struct situation situations[] = {
    {"nothing", nothing, 0, 1},
    {"spin", in_flight, BY_KERNEL, 1},
    {"spin in a graph", in_flight, BY_GRAPH, 1},
    {"wait value", in_flight, BY_VALUE, 1},
    {"host function", in_flight, BY_HOST, 1},
    {"capture global", capturing, CU_STREAM_CAPTURE_MODE_GLOBAL, 1},
    {"capture thread local", capturing, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1},
    {"capture relaxed", capturing, CU_STREAM_CAPTURE_MODE_RELAXED, 1},
    {"in cuStreamSynchronize", waiting, IN_STREAM, 1},
    {"in cuEventSynchronize", waiting, IN_EVENT, 1},
    {"in cuStreamSynchronize, GPU idle", waiting, IN_HOST, 1},
    {"in cuMemcpyDtoH", waiting, IN_COPY, 1},
    {"copying", copying, 0, 1},
    {"in cuModuleLoadData", loading, 0, 1},
    {"one thread launches", launching, 0, 1},
    {"three threads launch", launching, 0, 3},
};

static void *run_thread(void *argument) {
    int number = (int)(intptr_t)argument;
    struct program program;
    CHECK(cuCtxSetCurrent(context));
    make_program(&program, 20);
    results[number] = chosen->run(&program, chosen->mode);
    return NULL;
}

bool is_capturing(const char *name) { return !strncmp(name, "capture", 7); }

void begin_situation(const char *name, CUcontext current) {
    void *memory;
    context = current;
    CHECK(cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    CHECK(cuMemHostGetDevicePointer(&flag_on_device, memory, 0));
    flag = memory;
    *flag = 0;
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++)
        if (!strcmp(situations[i].name, name))
            chosen = &situations[i];
    if (!chosen) {
        fprintf(stderr, "no situation '%s'\n", name);
        exit(2);
    }
    thread_count = chosen->threads;
    for (int i = 0; i < thread_count; i++) {
        results[i] = -1;
        pthread_create(&threads[i], NULL, run_thread, (void *)(intptr_t)i);
    }
    while (there < thread_count) {
        pause_ms(0.2);
        for (int i = 0; i < thread_count; i++)
            if (results[i] > 0)
                check(results[i], name, __LINE__);
    }
    pause_ms(20); /* into the call that waits */
}

void release_situation(void) {
    released = 1;
    *flag = 1;
}

int end_situation(void) {
    struct timespec at;
    release_situation();
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += 5;
    for (int i = 0; i < thread_count; i++)
        if (pthread_timedjoin_np(threads[i], NULL, &at))
            return -1;
    for (int i = 0; i < thread_count; i++)
        if (results[i])
            return results[i];
    return 0;
}
