/* Calls: the program's driver calls, as CUPTI reports them: what they are and which are watched,
 * the contexts and streams that they name, and the captures that they must not disturb.
 */
#ifndef GVIZ_CALLS_H
#define GVIZ_CALLS_H

#include "state/state.h"

/* ---- calls.c ------------------------------------------------------------------------ */

enum call_class {
    CALL_OTHER = 0,
    CALL_FREE,             /* watched only once a graph allocates */
    CALL_OPERATION,        /* launch, copy or memset */
    CALL_GRAPH_LAUNCH,
    CALL_BEGIN_CAPTURE,
    CALL_END_CAPTURE,
    CALL_INSTANTIATE,
    CALL_UPLOAD,
    CALL_EXEC_UPDATE,
    CALL_EXEC_DESTROY,
    CALL_ADD_NODE,         /* cuGraphAddNode: the only way to add a conditional node */
    CALL_NODE_UPDATE,      /* new parameters for one node of an executable, or on and off */
    CALL_GRAPH_CLONE,
    CALL_GRAPH_DESTROY,
    CALL_PROFILER_START,   /* cudaProfilerStart */
    CALL_PROFILER_STOP,
};

struct call_info {
    uint8_t kind;           /* enum call_class */
    int8_t stream_offset;   /* of hStream in the parameters; -1 none, -2 inside a launch config */
    bool per_thread;        /* _ptsz: stream NULL means the per-thread stream */
    bool known;             /* CUPTI has a call of this number */
    atomic_bool named;      /* its name is in the spool */
    bool kept;              /* told of always, see calls_keep */
};

#define CALL_ID_LIMIT 1400
extern struct call_info calls[CALL_ID_LIMIT];
void calls_find(void);
CUstream call_stream(uint32_t cbid, const void *params, bool *has_stream);
/* Whether a number is used for the first time, by whichever thread; it is marked as used. */
bool is_first_use(atomic_bool *used);
/* Put the call's name into the spool, when its number is first used there. */
void call_name(uint32_t cbid);

/* ---- subscription.c: CUPTI's callbacks, on and off -------------------------------------- */

/* Returns 0, or -1: gviz_error says why. */
int subscription_start(CUpti_CallbackFunc on_callback);
void subscription_stop(void);
void subscription_stays(void); /* another one, of windows: CUPTI will not be finalized */
bool subscription_active(void);
void callback_enable(bool on, int domain, uint32_t cbid);
void domain_enable(bool on, int domain);
/* Enable the callbacks of launches, copies and memsets (expensive outside windows). */
void calls_watch_operations(bool on);
/* Those of a graph's life, and of resources. */
int calls_watch_graphs(void);
void calls_watch_frees(void);
bool calls_frees_watched(void);
void calls_watch_launches(bool on);
void calls_keep_launches(bool on); /* watched whatever the above says */
void calls_keep(uint32_t id);      /* likewise one call, until the subscription ends */

/* ---- contexts.c: the contexts seen, and CUPTI's numbers of their streams ------------------ */

/* Who is to know of a context that is met for the first time, and of one about to be destroyed. */
struct context_listener {
    void (*met)(CUcontext context);
    void (*leaving)(CUcontext context);
};

void contexts_listen(const struct context_listener *listener);
void context_add(CUcontext context);
void context_remove(CUcontext context);
CUcontext context_at(int index); /* NULL past the end */
void contexts_forget(void);
uint32_t stream_id_of(CUcontext context, CUstream stream, bool per_thread);
/* A stream is about to be destroyed: its handle can come to mean another. */
void stream_ids_forget(void);

/* ---- passing.c: launches that are counted and not told of ------------------------------------ */

/* For the gate; told of are those for which it says no. */
bool launch_passes(uintptr_t exec, uintptr_t stream, uint32_t call);
void passing_reset(bool on);
struct passed {
    uint32_t count; /* of those that are counted */
    bool any;
};
/* Let no launch of an executable pass any more; returns those that did since it was said last. */
struct passed passing_end(CUgraphExec exec);
void passing_end_all(void);
/* Twice a second: of executables that are not launched any more as often as when it was granted. */
void passing_look_after(void);
void passing_forget(CUgraphExec exec); /* it is about to be destroyed */
/* A launch was told of, and `passed` others since the one before: let as many pass as come until one
 * is to be told of again, at most `most`. */
void passing_grant(CUgraphExec exec, uint32_t exec_id, struct passed passed, uint32_t most);
/* Outside periods. */
void passing_grant_uncounted(CUgraphExec exec);

/* ---- passing_updates.c: the same of updates of one node --------------------------------------- */

struct updated_node {
    uint32_t exec_id, graph_id, node_id;
};
bool update_passes(uintptr_t exec, uintptr_t node, uint32_t call); /* for the gate */
/* One was told of, of an executable that no copy stands for, now or later. */
void updates_passing_grant(CUgraphExec exec, CUgraphNode node, uint32_t call, struct updated_node named);
/* Called by those of passing.c. */
void updates_passing_reset(bool on);
void updates_passing_end_all(void);
void updates_passing_look_after(void);
void updates_passing_forget(CUgraphExec exec);

/* ---- capturing.c: whether something is being captured -------------------------------------- */

bool captures_known(void); /* a capture is in progress on some thread */
bool stream_is_capturing(CUstream stream);
/* A capture begins, or has ended; returns how many there were before. */
int capturing_begins(void);
int capturing_ended(void);
void capturing_reset(void);
void capturing_forked(void); /* those that were at it are the parent's */
/* A capture is about to begin, and captures_known() says so already: let no event slip in. */
void capturing_bars_events(void);
/* Set this thread's mode of captures, such as CU_CAPTURE_MODE_RELAXED: what it does then breaks no
 * capture. Returns the one before. */
int exchange_capture_mode(int mode);
/* Whether work of gviz's own may go into this stream: then a capture that begins waits for captures_let_in(),
 * for a moment. */
bool captures_kept_out(CUstream stream);
void captures_let_in(void);
/* Record an event, unless a capture is in progress somewhere. */
bool record_outside_captures(CUevent event, CUstream stream);

#endif
