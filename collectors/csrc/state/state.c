/* The state of the process and of its threads. */
#include "state/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long a thread of the program waits for a lock, and how long until it looks again. */
#define LOCK_LIMIT_NS 1000000000ll
#define LOOK_NS 50000

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

void make_steady_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool lock_for_program(pthread_mutex_t *lock) {
    const struct timespec pause = {0, LOOK_NS};
    int64_t until_ns = monotonic_ns() + LOCK_LIMIT_NS;
    while (pthread_mutex_trylock(lock) != 0) {
        if (monotonic_ns() > until_ns)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* A number of a process's stat, man 5 proc; 0: not known. */
static uint64_t stat_field(const char *process, int wanted) {
    char text[2048];
    snprintf(text, sizeof text, "/proc/%s/stat", process);
    FILE *file = fopen(text, "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = 0;
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = 2; at && field < wanted; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* With the process id it names a process for good. */
uint64_t process_start_ticks(void) { return stat_field("self", 22); }

pid_t process_parent(pid_t process) {
    char name[16];
    snprintf(name, sizeof name, "%d", (int)process);
    return (pid_t)stat_field(name, 4);
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
