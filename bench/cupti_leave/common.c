/* A program with exact results, and steps that are timed on a thread of their own. */
#define _GNU_SOURCE
#include "common.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void check(CUresult result, const char *call, int line) {
    if (result == CUDA_SUCCESS)
        return;
    printf("{\"failed\": \"%.60s\", \"line\": %d, \"error\": %d}\n", call, line, (int)result);
    fflush(stdout);
    _Exit(4);
}

double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

void pause_ms(double ms) {
    struct timespec t = {(time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000L};
    nanosleep(&t, NULL);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double quantile_of(double *values, int count, double quantile) {
    qsort(values, count, sizeof *values, compare_doubles);
    int at = (int)(quantile * count);
    return values[at < count ? at : count - 1];
}

/* -- a program -------------------------------------------------------------------------------- */

CUcontext open_device(void) {
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    return context;
}

CUresult launch_step(struct program *p, CUstream stream) {
    int count = DATA_WORDS;
    void *arguments[] = {&p->data, &count};
    p->steps++;
    return cuLaunchKernel(p->step, DATA_WORDS / 256, 1, 1, 256, 1, 1, 0, stream, arguments, NULL);
}

void make_program(struct program *p, int nodes) {
    const char *kernels = getenv("CUPTI_LEAVE_KERNELS");
    memset(p, 0, sizeof *p);
    p->nodes = nodes;
    CHECK(cuCtxGetCurrent(&p->context));
    CHECK(cuModuleLoad(&p->module, kernels ? kernels : "kernels.cubin"));
    CHECK(cuModuleGetFunction(&p->step, p->module, "step"));
    CHECK(cuModuleGetFunction(&p->spin, p->module, "spin"));
    CHECK(cuModuleGetFunction(&p->fault, p->module, "fault"));
    CHECK(cuModuleGetFunction(&p->hash_pieces, p->module, "hash_pieces"));
    CHECK(cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&p->data, DATA_WORDS * sizeof(unsigned)));
    unsigned *first = malloc(DATA_WORDS * sizeof *first);
    for (unsigned i = 0; i < DATA_WORDS; i++)
        first[i] = i;
    CHECK(cuMemcpyHtoD(p->data, first, DATA_WORDS * sizeof *first));
    free(first);
    CHECK(cuStreamBeginCapture(p->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < nodes; i++)
        CHECK(launch_step(p, p->stream));
    CHECK(cuStreamEndCapture(p->stream, &p->graph));
    CHECK(cuGraphInstantiate(&p->exec, p->graph, 0));
    p->steps = 0;
    CHECK(launch_graph(p));
    CHECK(cuStreamSynchronize(p->stream));
}

CUresult launch_graph(struct program *p) {
    p->steps += p->nodes;
    return cuGraphLaunch(p->exec, p->stream);
}

void time_launches(struct program *p, double *us, int count) {
    for (int i = 0; i < count; i++) {
        double before = now_ms();
        CHECK(launch_graph(p));
        CHECK(cuStreamSynchronize(p->stream));
        us[i] = (now_ms() - before) * 1e3;
    }
}

bool is_exact(const struct program *p) {
    unsigned factor = 1, constant = 0;
    for (long i = 0; i < p->steps; i++) {
        factor *= 1664525u;
        constant = constant * 1664525u + 1013904223u;
    }
    unsigned *data = malloc(DATA_WORDS * sizeof *data);
    bool exact = cuMemcpyDtoH(data, p->data, DATA_WORDS * sizeof *data) == CUDA_SUCCESS;
    for (unsigned i = 0; exact && i < DATA_WORDS; i++)
        exact = data[i] == factor * i + constant;
    free(data);
    return exact;
}

/* -- steps ------------------------------------------------------------------------------------ */

enum { STEPS = 24, TIMES = 1024 };

static struct step {
    const char *name;
    int result, count;
    double ms[TIMES];
} steps[STEPS];
static int step_count;
static const char *volatile current;
static volatile double current_since;
static const char *blocked;

static struct step *step_named(const char *name) {
    for (int i = 0; i < step_count; i++)
        if (!strcmp(steps[i].name, name))
            return &steps[i];
    steps[step_count].name = name;
    return &steps[step_count++];
}

int run_step(const char *name, int (*call)(void)) {
    struct step *step = step_named(name);
    double before = now_ms();
    current_since = before;
    current = name;
    int result = call();
    current = NULL;
    if (step->count < TIMES)
        step->ms[step->count++] = now_ms() - before;
    if (!step->result)
        step->result = result;
    return result;
}

struct stepping {
    void (*steps)(void);
    CUcontext context;
};

static void *thread_of_steps(void *argument) {
    struct stepping *stepping = argument;
    cuCtxSetCurrent(stepping->context);
    stepping->steps();
    return NULL;
}

bool watch_steps(void (*all)(void), double limit_ms, void (*release)(void)) {
    struct stepping stepping = {all, NULL};
    pthread_t thread;
    bool released = false;
    CHECK(cuCtxGetCurrent(&stepping.context));
    pthread_create(&thread, NULL, thread_of_steps, &stepping);
    for (;;) {
        struct timespec at;
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_nsec += 10000000;
        if (at.tv_nsec >= 1000000000) {
            at.tv_sec++;
            at.tv_nsec -= 1000000000;
        }
        if (!pthread_timedjoin_np(thread, NULL, &at))
            return true;
        const char *name = current;
        double waited = now_ms() - current_since;
        if (name && !released && waited > limit_ms) {
            blocked = name;
            released = true;
            release();
        } else if (name && released && waited > 3 * limit_ms) {
            blocked = name;
            return false;
        }
    }
}

void print_steps(void) {
    printf("\"steps\": {");
    for (int i = 0; i < step_count; i++) {
        struct step *s = &steps[i];
        double middle = s->count ? quantile_of(s->ms, s->count, 0.5) : -1;
        double most = s->count ? quantile_of(s->ms, s->count, 1) : -1;
        printf("%s\"%s\": [%d, %.3f, %.3f]", i ? ", " : "", s->name, s->result, middle, most);
    }
    printf("}, \"blocked\": ");
    printf(blocked ? "\"%s\"" : "null", blocked);
}
