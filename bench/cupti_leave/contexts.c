/* contexts COUNT CYCLES: CUPTI comes and goes in one thread that uses several contexts.

   Prints one line of JSON: times, records, correlation ids of each window, memory. */
#include "common.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>

enum { MOST = 8, LAUNCHES = 4, NODES = 20 };

static struct program programs[MOST];

static long resident_kib(void) {
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}

static int thread_count(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count - 2;
}

static void print_memory(int cycle, const char *before) {
    size_t free_bytes, total;
    CHECK(cuMemGetInfo(&free_bytes, &total));
    printf("%s{\"cycle\": %d, \"resident_kib\": %ld, \"device_kib\": %zu, \"threads\": %d}", before,
           cycle, resident_kib(), (total - free_bytes) >> 10, thread_count());
}

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    int contexts = atoi(arguments[1]), cycles = atoi(arguments[2]), failed = 0, wrong = 0;
    uint32_t first = 0, last = 0, repeated = 0, lowest = UINT32_MAX;
    CUdevice device;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    for (int i = 0; i < contexts; i++) {
        CUcontext context;
        CHECK(cuCtxCreate(&context, NULL, 0, device));
        make_program(&programs[i], NODES);
    }
    printf("{\"contexts\": %d, \"cycles\": %d, \"memory\": [", contexts, cycles);
    print_memory(0, "");
    for (int cycle = 0; cycle < cycles && !failed; cycle++) {
        record_count = 0;
        failed = attach_cupti();
        for (int i = 0; i < contexts * LAUNCHES; i++) {
            struct program *p = &programs[i % contexts];
            CHECK(cuCtxSetCurrent(p->context));
            CHECK(launch_graph(p));
            CHECK(cuStreamSynchronize(p->stream));
        }
        failed = failed ? failed : leave_cupti();
        wrong += record_count != (long)contexts * LAUNCHES * NODES;
        first = correlations[0];
        repeated += cycle && first <= last;
        lowest = first < lowest ? first : lowest;
        last = correlations[contexts * LAUNCHES - 1];
        if (cycle + 1 == 10 || (cycle + 1) % 100 == 0)
            print_memory(cycle + 1, ", ");
    }
    bool exact = true;
    for (int i = 0; i < contexts; i++) {
        CHECK(cuCtxSetCurrent(programs[i].context));
        exact = exact && is_exact(&programs[i]);
    }
    printf("], ");
    print_steps();
    printf(", \"failed\": %d, \"windows_with_other_records\": %d, \"bad\": %ld, \"exact\": %s, "
           "\"lowest_correlation\": %u, \"last_correlation\": %u, "
           "\"windows_that_repeat_correlations\": %u}\n",
           failed, wrong, bad_record_count, exact ? "true" : "false", lowest, last, repeated);
    return 0;
}
