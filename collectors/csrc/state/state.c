/* The state of the process and of its threads. */
#include "state/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct options options GVIZ_HOT = {.policy_count = 20, .eager_operations = 20000, .dot_nodes = 512,
                          .eager_ns = 5000000000ull, .event_cost_fraction = 0.003};
bool in_job GVIZ_HOT;
_Atomic int run_state GVIZ_HOT = STATE_IDLE;
_Atomic bool injection_wanted;
_Atomic bool period_on GVIZ_HOT;

GVIZ_HOT_CODE struct thread_state *this_thread(void) {
    static __thread struct thread_state state;
    if (!state.thread_id)
        state.thread_id = (uint32_t)syscall(SYS_gettid);
    return &state;
}

/* Field 22 of stat, man 5 proc. With the process id it names a process for good. */
uint64_t process_start_ticks(void) {
    char text[2048];
    FILE *file = fopen("/proc/self/stat", "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = 0;
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* The same variables as in collectors/metadata.py. */
const char *process_rank(void) {
    static const char *const variables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID",
                                            "PMI_RANK", "LOCAL_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value && strlen(value) < 10 && strspn(value, "0123456789") == strlen(value))
            return value;
    }
    return NULL;
}
