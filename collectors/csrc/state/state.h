/* State: what every wing knows of the process, of what is to be recorded, and of its own thread. */
#ifndef GVIZ_STATE_H
#define GVIZ_STATE_H

#include "core/core.h"

#include <pthread.h>
#include <stdatomic.h>

/* A lock. A forked child makes all of them new: in the parent, another thread may hold one. */
#define GVIZ_LOCK(name) GVIZ_LOCK_IN(, name)
#define GVIZ_LOCK_IN(where, name)                                  \
    static pthread_mutex_t name where = PTHREAD_MUTEX_INITIALIZER; \
    static pthread_mutex_t *const name##_in_table                  \
        __attribute__((section("gviz_locks"), used)) = &name

enum capture_range { RANGE_NONE = 0, RANGE_PROFILER = 1, RANGE_NVTX = 2 };
enum black_box { BLACK_BOX_OFF = 0, BLACK_BOX_CORE = 1, BLACK_BOX_LAYER = 2, BLACK_BOX_NODE = 3 };
enum policy { POLICY_FIRST = 0, POLICY_EVERY = 1, POLICY_ALL = 2, POLICY_PERIOD = 3 };

struct options {
    uint32_t policy;             /* enum policy */
    uint32_t policy_count;       /* N of first N, K of every Kth, milliseconds between two */
    uint32_t eager_operations;   /* eager budget, operations */
    uint32_t dot_nodes;          /* DOT text is kept for graphs up to this many nodes */
    uint64_t eager_ns;           /* eager budget, nanoseconds of activity */
    double event_cost_fraction;  /* share of wall time that launch events may take */
    uint64_t delay_ns;           /* from attaching to the first period, see window/pause.c */
    uint64_t duration_ns;        /* of a period, 0: to the end */
    uint32_t max_launches;       /* of a period, 0: no limit */
    int32_t toggle_signal;       /* starts and ends a period, 0: none does */
    uint32_t paused;             /* the first period waits for a call or the signal */
    uint32_t capture_range;      /* enum capture_range: the program's own ranges are periods */
    uint32_t cupti_windows;      /* without CUPTI but for moments, behind the gate */
    uint64_t trial_ns;           /* host time that trials of a graph may take, 0: there are none */
    uint64_t stall_ns;           /* without progress of a launch that leaves crumbs, 0: never said */
    uint32_t black_box;          /* enum black_box */
    uint64_t values_ns;          /* the same of what reads the values of its nodes */
    char values_pattern[128];    /* of the names of kernels, "": all nodes */
    uint64_t dump_bytes;         /* of contents that are kept of a graph, 0: none are */
    char dump_pattern[128];      /* of those of the nodes that are read, "": all */
};

/* LEFT: another profiler has CUPTI, the spool is open. */
enum run_state { STATE_IDLE = 0, STATE_RECORDING = 1, STATE_DETACHED = 2, STATE_LEFT = 3 };

extern struct options options;
extern bool in_job; /* one rank of several */
extern _Atomic int run_state;
extern _Atomic bool injection_wanted; /* start when the driver initialises */
extern _Atomic bool period_on;        /* a period is under way, see window/pause.c */

static inline bool recording(void) {
    return atomic_load_explicit(&run_state, memory_order_acquire) == STATE_RECORDING;
}

/* Prepared, and the driver has not initialised yet. */
static inline bool awaiting_injection(void) { return atomic_load(&injection_wanted); }

static inline bool paused(void) {
    return !atomic_load_explicit(&period_on, memory_order_relaxed);
}

/* The place of a handle in a table of open addressing, whose size is a power of two. */
static inline size_t handle_place(const void *handle, size_t size) {
    return ((uintptr_t)handle >> 4) * 0x9E3779B97F4A7C15ull & (size - 1);
}

/* What this thread is doing; see subscriber/callbacks.c. */
struct thread_state {
    uint32_t thread_id;
    uint32_t session;         /* the recording that the rest is about */
    int inside;               /* our own driver calls are not to be recorded */
    bool instantiating;       /* nodes created now are the driver's copies */
    CUgraph instantiate_graph;
    CUstream call_stream;     /* stream of the driver call under way */
    bool call_has_stream;
    bool created_node;        /* the call under way created a graph node */
    bool call_made;           /* gviz made the call under way, which is not to be made again */
    uint32_t launch_exec_id; /* of the launch under way that the gate told of, 0: none */
    uint32_t launch_correlation;
    uint32_t nvtx_path;
    uint32_t nvtx_depth;
};

struct thread_state *this_thread(void);
/* A condition whose waits are by CLOCK_MONOTONIC: the clock of the wall may jump. */
void make_steady_condition(pthread_cond_t *condition);
/* For a thread of the program, where whoever has a lock may be in a call of the driver that waits for the GPU,
 * and the GPU for a function on the host that waits for this thread. Returns whether it has the lock. */
bool lock_for_program(pthread_mutex_t *lock);
/* Start of this process in clock ticks since boot; 0: not known. */
uint64_t process_start_ticks(void);
/* The process that started another; 0: not known. */
pid_t process_parent(pid_t process);
/* The rank in a distributed job, or NULL. */
const char *process_rank(void);

/* Keep a sentence for gviz_error; always returns -1. */
int error_keep(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same with CUPTI's own words for a result. */
int cupti_failed(const char *call, CUptiResult result);
void error_forget(void);
GVIZ_EXPORT const char *gviz_error(void);

#endif
