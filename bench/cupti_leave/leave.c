/* leave SITUATION whole|leave CYCLES relaxed|as-is: CUPTI comes and goes beside a situation.

   whole: it comes and goes while the situation lasts. leave: it came before, and goes meanwhile.
   relaxed: the thread that does it first exchanges its capture mode to relaxed.
   Prints one line of JSON. */
#include "common.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct program program;
static const char *situation;
static bool attached, relaxed, with_launch;
static int cycles;

static int launch(void) { return launch_graph(&program); }
static int wait(void) { return cuStreamSynchronize(program.stream); }

static void come_and_go(void) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (relaxed)
        cuThreadExchangeStreamCaptureMode(&mode);
    for (int i = 0; i < cycles; i++) {
        if (!attached && attach_cupti())
            return;
        if (with_launch && (run_step("launch", launch) || run_step("wait", wait)))
            return;
        attached = false;
        if (leave_cupti())
            return;
    }
}

int main(int count, char **arguments) {
    if (count != 5)
        return 2;
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    alarm(40);
    situation = arguments[1];
    bool before = !strcmp(arguments[2], "leave");
    cycles = atoi(arguments[3]);
    relaxed = !strcmp(arguments[4], "relaxed");
    with_launch = !is_capturing(situation);
    CUcontext context = open_device();
    make_program(&program, 20);
    if (before) {
        CHECK(attach_cupti());
        attached = true;
    }
    begin_situation(situation, context);
    bool returned = watch_steps(come_and_go, 2000, release_situation);
    int other = returned ? end_situation() : -1;
    long records = record_count;
    CUresult after = CUDA_ERROR_UNKNOWN;
    bool exact = false, again = false;
    if (returned && other != -1) {
        for (int i = 0; i < 20; i++)
            after = launch_graph(&program);
        if (!after)
            after = cuStreamSynchronize(program.stream);
        exact = !after && is_exact(&program);
        record_count = 0;
        again = !attach_cupti() && !launch_graph(&program) &&
                !cuStreamSynchronize(program.stream) && !leave_cupti() && record_count == 20;
    }
    printf("{\"situation\": \"%s\", \"order\": \"%s\", \"cycles\": %d, \"mode\": \"%s\", ",
           situation, arguments[2], cycles, arguments[4]);
    print_steps();
    printf(", \"returned\": %s, \"other\": %d, \"after\": %d, \"exact\": %s, \"again\": %s, "
           "\"records\": %ld, \"bad\": %ld}\n",
           returned ? "true" : "false", other, (int)after, exact ? "true" : "false",
           again ? "true" : "false", records, bad_record_count);
    fflush(stdout);
    _exit(0);
}
