/* copies SITUATION: every fifth launch is one of an instrumented copy, beside a situation.

   The copy is made on a thread of its own. Prints one line of JSON. */
#include "common.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NODES = 88, ROUNDS = 200, EVERY = 5 };

static struct program program;
static CUgraph copy;
static CUgraphExec copy_exec;
static CUevent before[NODES], after[NODES];
static CUgraphNode nodes[NODES];

static int clone(void) { return cuGraphClone(&copy, program.graph); }

/* Puts an event before and one after each node of the chain. */
static int instrument(void) {
    size_t count = NODES;
    CUgraphNode previous = NULL, start;
    int result = cuGraphGetNodes(copy, nodes, &count);
    for (size_t i = 0; !result && i < count; i++) {
        if (i) /* the chain was captured in this order */
            result = cuGraphRemoveDependencies(copy, &nodes[i - 1], &nodes[i], NULL, 1);
        if (!result)
            result = cuGraphAddEventRecordNode(&start, copy, previous ? &previous : NULL,
                                               previous != NULL, before[i]);
        if (!result)
            result = cuGraphAddDependencies(copy, &start, &nodes[i], NULL, 1);
        if (!result)
            result = cuGraphAddEventRecordNode(&previous, copy, &nodes[i], 1, after[i]);
    }
    return result;
}

static int instantiate(void) { return cuGraphInstantiate(&copy_exec, copy, 0); }
static int upload(void) { return cuGraphUpload(copy_exec, program.stream); }
static int destroy(void) {
    int result = cuGraphExecDestroy(copy_exec);
    return result ? result : (int)cuGraphDestroy(copy);
}

static void make_copy(void) {
    if (!run_step("clone", clone) && !run_step("instrument", instrument) &&
        !run_step("instantiate", instantiate))
        run_step("upload", upload);
}

static void destroy_copy(void) { run_step("destroy", destroy); }

static double middle_of_nodes(void) {
    double us[NODES];
    for (int i = 0; i < NODES; i++) {
        float ms;
        CHECK(cuEventElapsedTime(&ms, before[i], after[i]));
        us[i] = ms * 1e3;
    }
    return quantile_of(us, NODES, 0.5);
}

int main(int count, char **arguments) {
    double plain[ROUNDS], with_copies[ROUNDS], copied[ROUNDS / EVERY], later[ROUNDS];
    int plain_count = 0, copied_count = 0;
    if (count != 2)
        return 2;
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    alarm(40);
    CUcontext context = open_device();
    make_program(&program, NODES);
    for (int i = 0; i < NODES; i++) {
        CHECK(cuEventCreate(&before[i], CU_EVENT_DEFAULT));
        CHECK(cuEventCreate(&after[i], CU_EVENT_DEFAULT));
    }
    begin_situation(arguments[1], context);
    time_launches(&program, plain, 50);
    time_launches(&program, plain, ROUNDS);
    bool returned = watch_steps(make_copy, 2000, release_situation);
    double node_us = 0;
    for (int i = 0; returned && i < ROUNDS; i++) {
        if (i % EVERY) {
            time_launches(&program, &with_copies[plain_count++], 1);
            continue;
        }
        double start = now_ms();
        CHECK(cuGraphLaunch(copy_exec, program.stream));
        program.steps += NODES;
        CHECK(cuStreamSynchronize(program.stream));
        copied[copied_count++] = (now_ms() - start) * 1e3;
        node_us = middle_of_nodes();
    }
    returned = returned && watch_steps(destroy_copy, 2000, release_situation);
    time_launches(&program, later, ROUNDS);
    int other = end_situation();
    bool exact = is_exact(&program);
    printf("{\"situation\": \"%s\", ", arguments[1]);
    print_steps();
    printf(", \"returned\": %s, \"other\": %d, \"exact\": %s, \"plain_us\": %.1f, "
           "\"between_copies_us\": %.1f, \"copy_us\": %.1f, \"afterwards_us\": %.1f, "
           "\"plain_p99_us\": %.1f, \"afterwards_p99_us\": %.1f, \"node_us\": %.2f}\n",
           returned ? "true" : "false", other, exact ? "true" : "false",
           quantile_of(plain, ROUNDS, 0.5),
           plain_count ? quantile_of(with_copies, plain_count, 0.5) : -1,
           copied_count ? quantile_of(copied, copied_count, 0.5) : -1,
           quantile_of(later, ROUNDS, 0.5), quantile_of(plain, ROUNDS, 0.99),
           quantile_of(later, ROUNDS, 0.99), node_us);
    fflush(stdout);
    _exit(0);
}
