/* Launch: graph launches, and how long each takes as a whole. */
#ifndef GVIZ_LAUNCH_H
#define GVIZ_LAUNCH_H

#include "calls/calls.h"
#include "state/state.h"

/* ---- launch.c ------------------------------------------------------------------------- */

/* So many launches of each executable get events whatever they cost: a short run would
 * otherwise end with hardly any. */
#define ALWAYS_TIMED_LAUNCHES 5
/* So many of each executable are recorded one by one, also where launches may pass. */
#define ALWAYS_RECORDED_LAUNCHES 100

void launch_forget_call(void); /* of this thread: its end was not seen */
void launch_enter(const CUpti_CallbackData *data, uint32_t cbid);
/* Under "all": whether a launch, given how many came before it, takes no node times. */
bool launch_left_plain(uint32_t earlier);
/* Under "every 10s": whether node times are due, given when they were wanted last; 0: never. */
bool launch_period_over(uint64_t last_ns, uint64_t time_ns);
void launch_exit(const CUpti_CallbackData *data, uint32_t cbid);

enum launch_by { BY_PROGRAM, BY_PROGRAM_ANNOUNCED, BY_COPY };
struct launch_record;
struct launch_beginning {
    CUstream stream;
    bool admitted; /* to be recorded */
    struct passed passed; /* since the launch before that was told of */
};
/* Who may make launches of watched executables in the program's place. */
struct launch_maker {
    /* A launch begins. Made by a copy, the record has times and flags; announced, ends() follows.
     * `compared`: it is to be timed as a whole. */
    enum launch_by (*begins)(int watch, const struct launch_beginning *launch, struct launch_record *record,
                             bool *compared);
    void (*ends)(int watch, bool timed);
    /* How many launches of the executable may pass now, in a period (`admitted`) or outside. */
    uint32_t (*spares)(int watch, bool admitted);
};
void launch_listen(const struct launch_maker *maker); /* NULL: nobody */

/* ---- pairs.c: pairs of events --------------------------------------------------------------- */

struct event_pair {
    CUevent start, end;
    CUcontext context;
    uint64_t token, cost_ns; /* whoever has it keeps them */
    struct event_pair *next;
};

struct event_pair *pair_take(CUcontext context); /* NULL: none can be made */
void pair_return(struct event_pair *pair);
/* Free those of a list, of one context or of all (NULL): their events have gone, or are left to it. */
void pairs_drop(struct event_pair **list, CUcontext context);
void pairs_forget(CUcontext context); /* it is about to be destroyed */
void pairs_stop(void); /* destroy those that nobody has */
/* The time between two events that have happened, also a negative one; false: the driver does not say. */
bool event_distance(CUevent from, CUevent to, int64_t *ns);

/* ---- timing.c: whole-launch GPU time, by events ------------------------------------------- */

bool timing_wanted(uint64_t time_ns);
void *timing_begin(CUcontext context, CUstream stream, uint64_t *token);
void timing_end(void *pair, CUstream stream, bool launched);
void timing_poll(void);
int timing_pending(void);
void timing_forget(CUcontext context);
void timing_stop(bool at_end);

#endif
