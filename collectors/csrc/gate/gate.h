/* Gate: a library of its own, preloaded before libcuda, that knows which threads are inside the
 * driver and can keep them out for a moment.
 *
 * The native library finds `gviz_gate` with dlsym; where it is not there, there is no gate. Nothing
 * here needs CUDA, CUPTI or Python.
 */
#ifndef GVIZ_GATE_H
#define GVIZ_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gate_answer {
    GATE_RAN = 0,     /* nobody was inside */
    GATE_BUSY,        /* a thread stayed inside; try later */
    GATE_BACKING_OFF, /* too soon after GATE_BUSY */
    GATE_FORBIDDEN,   /* the process exits */
    GATE_UNKNOWN,     /* nobody knows who is inside: it never closes in this process */
    GATE_TAKEN,       /* another thread has closed it, or is about to */
    GATE_OVERRAN,     /* it ran, and held calls went on before its end */
};

struct gate_counts {
    uint64_t closed;          /* times that nobody was inside */
    uint64_t busy;            /* times that run_closed() gave up */
    uint64_t held;            /* calls that waited */
    uint64_t overrun;         /* closures that held calls ended, as the work took too long */
    uint64_t longest_hold_ns; /* that a call waited */
    uint64_t polled;          /* waits of the program that were done as polls */
    uint64_t without_stub;    /* addresses handed out bare */
    uint64_t without_mark;    /* calls that left no mark, for want of memory */
    char busy_with[64];       /* what run_closed() gave up for last: a call, work in flight, ... */
};

/* What the gate cannot see behind. */
struct gate_hole {
    char name[64];   /* of the function or export table */
    char caller[64]; /* file of the library that requested it, or "the program" */
    uint64_t count;
};

/* A call of the driver by the program. Functions have numbers from 1. */
struct gate_call {
    uint32_t id;
    const char *name;
    const uintptr_t *words;  /* its first arguments: 6 on x86-64, 8 on aarch64 */
    const uintptr_t *stack;  /* those after */
    uintptr_t *result;       /* NULL: not made yet */
    uint64_t *data;          /* three words of the listener's, 0 before the call */
    bool *made;              /* set before the call: the listener has made it, and it succeeded */
};
typedef void (*gate_listener)(const struct gate_call *call);
/* Whether a call, given its first two words and its number, is made without being told of. Asked within
 * every such call: it must be quick, and call nothing. Asked again after a no. */
typedef bool (*gate_filter)(uintptr_t first, uintptr_t second, uint32_t id);

/* Another profiler begins: a library calls a function of CUPTI's, and waits until this returns. */
typedef void (*gate_arrival)(const char *function, const char *caller);

/* What is done in the process's last moment, which exits with this status. Returns whether the driver can
 * still end in order. */
typedef bool (*gate_last)(int status);

struct gate_api {
    size_t size; /* of this structure: a later one has more at its end */
    /* Keep threads out, wait until nobody is inside, no work of a stream is in flight and no capture
     * open, do the work on this thread, let them in. It is tried while nobody is held, then for 5 ms.
     * The work may call the driver; it must wait for nothing that a held thread may have, such as
     * Python's GIL. */
    enum gate_answer (*run_closed)(void (*work)(void *data), void *data);
    /* Whether the calling thread is inside by the gate's knowledge. */
    bool (*is_inside)(void);
    void (*read_counts)(struct gate_counts *counts);
    /* Fill in at most `limit` holes; return how many there are. */
    size_t (*read_holes)(struct gate_hole *holes, size_t limit);
    const char *(*name_of)(uint32_t id); /* NULL: there is none of that number */
    /* Who is told of calls, within the call and on its thread; NULL: nobody. */
    void (*listen)(gate_listener listener);
    void (*tell)(uint32_t id, bool on);
    /* The driver's function of a name, for calls within a listener: without stub; NULL: none. */
    void *(*bare)(const char *name);
    /* Of calls with at most four arguments that are told of, those that a filter lets pass are not;
     * NULL: all are told of. */
    void (*filter)(uint32_t id, gate_filter passes);
    /* Whether another thread is inside a call whose name begins so. Where that thread's filter has
     * changed memory atomically before the caller did, it is seen. */
    bool (*others_in)(const char *prefix);
    /* Who is told of other profilers; NULL: nobody. Calls of CUPTI from the listener's own library go
     * through at once. */
    void (*mind_profilers)(gate_arrival listener);
    /* Calls that `defer` names wait outside, before they begin, as long as `needed` answers true;
     * `wait` lets a moment pass. Neither is asked within another call of the driver. NULL: none waits. */
    void (*set_wait)(bool (*needed)(void), void (*wait)(void));
    void (*defer)(uint32_t id, bool on);
    /* Within a listener, before a call: wait likewise, outside. */
    void (*step_aside)(bool (*needed)(void), void (*wait)(void));
    /* As run_closed, but held calls go on only after so long: for work that has to be whole before them.
     * Within a listener too, before the call. */
    enum gate_answer (*run_closed_for)(void (*work)(void *data), void *data, uint64_t limit_ns);
    /* When the process exits: have libcuda stay until all else has run, and then do the work. For the
     * program the driver ends when it would; gviz's own calls go through while the gate is closed. Returns
     * false where it cannot stay. */
    bool (*stay)(gate_last work);
};

#endif
