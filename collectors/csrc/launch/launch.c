/* Graph launches: which are recorded node by node, and how long each takes as a whole. */
#include "calls/calls.h"
#include "launch/launch.h"
#include "life/life.h"
#include "spool/spool.h"
#include "told/told.h"
#include "window/window.h"

#include <string.h>

/* Under "all", this launch of each executable and those after it are left plain, and timed as a
 * whole: without them nobody could say how much longer the others take for being recorded. */
#define PLAIN_FROM 50
#define PLAIN_LAUNCHES 5

/* The launch that this thread is making. */
static __thread struct {
    uint64_t start_ns;
    uint64_t token;         /* of the event pair, 0: none */
    void *event_pair;
    uint32_t exec_id;
    uint32_t stream_id;
    uint32_t flags;
    bool wanted;
    bool last; /* of its period */
    int watch;              /* told of the launch's beginning, 0: none */
    int exec_watch;         /* of the executable */
    uint64_t copied_ns;     /* when the call returned that a copy made, 0: none did */
    uint64_t free_before;   /* device memory, before the first launch; 0: not queried */
    CUgraphExec exec;       /* launches of it may pass after this one; NULL: none */
    struct passed passed;   /* since the launch before */
} slot;

static _Atomic(const struct launch_maker *) maker GVIZ_HOT;

void launch_listen(const struct launch_maker *listener) { atomic_store(&maker, listener); }

void launch_forget_call(void) {
    slot.start_ns = 0;
    slot.watch = 0;
}

bool launch_left_plain(uint32_t earlier) {
    return options.policy == POLICY_ALL && earlier >= PLAIN_FROM &&
           earlier < PLAIN_FROM + PLAIN_LAUNCHES;
}

/* Ranks of a job take their times at the same ones of the wall clock's multiples. */
bool launch_period_over(uint64_t last_ns, uint64_t time_ns) {
    uint64_t period_ns = options.policy_count * 1000000ull;
    if (in_job)
        return time_ns / period_ns != last_ns / period_ns;
    return !last_ns || time_ns - last_ns >= period_ns;
}

static bool wants_nodes(const struct executable *exec, uint64_t time_ns) {
    if (exec->unwanted || !(activity_can_open() || visits_on()))
        return false;
    switch (options.policy) {
    case POLICY_ALL:
        return !launch_left_plain(exec->launches);
    case POLICY_PERIOD:
        return launch_period_over(exec->wanted_ns, time_ns);
    case POLICY_EVERY:
        return visits_on() ? (uint64_t)exec->recorded * options.policy_count <= exec->launches
                           : exec->launches % options.policy_count == 0;
    default:
        return exec->recorded < options.policy_count;
    }
}

/* -- launches ------------------------------------------------------------------------------------ */

/* What an executable was when this thread began to launch it. */
struct entered {
    uint32_t exec_id;
    uint32_t launches; /* before this one, in this period */
    uint32_t recorded; /* of those, with node times wanted */
    bool late, wanted;
    int watch;
};

GVIZ_HOT_CODE static struct entered exec_enter(CUgraphExec handle, bool admitted, uint32_t passed,
                                               uint64_t time_ns) {
    struct entered entered = {0};
    struct executable *exec = executable_hold(handle);
    if (exec && exec->period != period_number()) {
        exec->period = period_number();
        exec->launches = exec->recorded = 0;
        exec->watch = exec->watch ? exec->watch : exec->resting;
        exec->resting = 0;
    } else if (exec) {
        exec->launches += passed;
    }
    if (exec) {
        bool wanted = admitted && wants_nodes(exec, time_ns) && (!visits_on() || activity_is_open());
        entered = (struct entered){exec->exec_id, exec->launches, exec->recorded, exec->late, wanted,
                                   exec->watch};
        exec->launches++;
        exec->launched = true;
        exec->recorded += wanted;
        exec->wanted_ns = wanted ? time_ns : exec->wanted_ns;
    }
    executable_release();
    return entered;
}

/* The first launch of an executable waits for CUPTI to go, one whose nodes are to be timed for it to
 * come. */
static void wait_as_windows_need(CUgraphExec handle, bool admitted, uint64_t time_ns) {
    const struct executable *exec = executable_hold(handle);
    bool is_first = !exec || !exec->launched;
    bool due = exec && (exec->period != period_number() || wants_nodes(exec, time_ns));
    executable_release();
    if (is_first)
        visits_keep_out();
    else if (admitted && due && !activity_is_open())
        visits_await();
}

/* Whether a launch is timed as a whole whatever it costs: the first of an executable, plain and
 * recorded, so that both have a time, whichever launches the policy records. */
static bool always_timed(const struct entered *entered) {
    return entered->launches < ALWAYS_TIMED_LAUNCHES || launch_left_plain(entered->launches) ||
           (entered->wanted && entered->recorded < ALWAYS_TIMED_LAUNCHES);
}

/* Say to the maker of copies that a launch begins; returns whether it has made it. */
static bool made_by_copy(const struct entered *entered, const CUpti_CallbackData *data,
                         CUstream stream, bool admitted, bool *compared) {
    const struct launch_beginning launch = {stream, admitted, slot.passed};
    const struct launch_maker *to = atomic_load(&maker);
    struct launch_record record = {.exec_id = entered->exec_id, .correlation = data->correlation_id};
    enum launch_by by = BY_PROGRAM;
    if (to && entered->watch)
        by = to->begins(entered->watch, &launch, &record, compared);
    slot.watch = by == BY_PROGRAM_ANNOUNCED ? entered->watch : 0;
    if (by != BY_COPY)
        return false;
    slot.start_ns = record.start_ns;
    slot.copied_ns = record.end_ns;
    slot.flags |= record.flags;
    this_thread()->call_made = true;
    return true;
}

/* Not recorded: only the order of launches is seen to. */
static void launch_outside_period(const CUpti_CallbackData *data, CUgraphExec handle, CUstream stream) {
    const struct launch_maker *to = atomic_load(&maker);
    if (!to)
        return;
    struct executable *exec = executable_hold(handle);
    struct entered entered = {.watch = exec ? exec->watch : 0};
    bool compared;
    executable_release();
    made_by_copy(&entered, data, stream, false, &compared);
    if (paused() && (!entered.watch || to->spares(entered.watch, false)))
        passing_grant_uncounted(handle);
}

/* Whether enough launches of an executable are recorded one by one. */
static bool may_pass(const struct entered *entered) {
    return !options.max_launches && !activity_is_open() && entered->exec_id &&
           entered->launches >= ALWAYS_RECORDED_LAUNCHES;
}

static void let_pass(void) {
    const struct launch_maker *to = atomic_load(&maker);
    uint32_t most = slot.exec_watch && to ? to->spares(slot.exec_watch, true) : UINT32_MAX;
    passing_grant(slot.exec, slot.exec_id, slot.passed, most);
}

GVIZ_HOT_CODE void launch_enter(const CUpti_CallbackData *data, uint32_t cbid) {
    const void *const *params = data->params;
    bool has_stream;
    CUstream stream = call_stream(cbid, params, &has_stream);
    memset(&slot, 0, sizeof slot);
    this_thread()->call_stream = stream;
    this_thread()->call_has_stream = true;
    uint64_t time = now_ns();
    /* The driver refuses a launch into a capture (CUDA 13.0); it runs nothing. */
    if (captures_known() && stream_is_capturing(stream)) {
        slot.flags = LAUNCH_CAPTURED;
        return;
    }
    pause_launch_begins(); /* before the check whether this is a period */
    bool admitted = pause_admits(&slot.last);
    slot.passed = passing_end((CUgraphExec)params[0]);
    if (!admitted) {
        if (!visits_on())
            window_launch(false, data->context, stream); /* to close it */
        if (!activity_is_open()) { /* else it is recorded by CUPTI in any case */
            launch_outside_period(data, (CUgraphExec)params[0], stream);
            pause_launch_ended();
            return;
        }
    }
    if (visits_on()) {
        wait_as_windows_need((CUgraphExec)params[0], admitted, time);
        time = now_ns();
    }
    struct entered entered = exec_enter((CUgraphExec)params[0], admitted, slot.passed.count, time);
    slot.wanted = entered.wanted;
    slot.exec_id = entered.exec_id;
    slot.stream_id = stream_id_of(data->context, stream, calls[cbid].per_thread);
    slot.flags = entered.late ? LAUNCH_LATE : 0;
    this_thread()->launch_exec_id = entered.exec_id;
    this_thread()->launch_correlation = data->correlation_id;
    slot.exec = admitted && may_pass(&entered) ? (CUgraphExec)params[0] : NULL;
    slot.exec_watch = entered.watch;
    bool compared = false;
    if (made_by_copy(&entered, data, stream, admitted, &compared))
        return;
    bool timed = always_timed(&entered) || compared || timing_wanted(time);
    if (launch_left_plain(entered.launches))
        window_close_soon();
    /* Checked only where an event could end up in a capture that gviz did not see begin: it costs
     * as much as the rest of this function. */
    timed = timed && !stream_is_capturing(stream);
    if (admitted && !visits_on())
        window_launch(slot.wanted, data->context, stream);
    slot.flags |= activity_is_open() ? LAUNCH_NODE_LEVEL : 0;
    slot.start_ns = time;
    if (entered.launches == 0 && !entered.late && timed)
        slot.free_before = memory_free(); /* before the first event: it takes host time */
    if (timed)
        slot.event_pair = timing_begin(data->context, stream, &slot.token);
    if (timed || slot.wanted)
        slot.start_ns = now_ns(); /* the call's own time, without what was done for it here */
}

GVIZ_HOT_CODE void launch_exit(const CUpti_CallbackData *data, uint32_t cbid) {
    uint64_t end_ns = now_ns();
    this_thread()->call_has_stream = false;
    this_thread()->launch_exec_id = 0;
    const struct launch_maker *to = atomic_load(&maker);
    if (slot.watch && to)
        to->ends(slot.watch, slot.event_pair != NULL);
    slot.watch = 0;
    if (slot.flags & LAUNCH_CAPTURED || !slot.start_ns)
        return;
    end_ns = slot.copied_ns ? slot.copied_ns : end_ns;
    int result = data->return_value ? *(int *)data->return_value : 0;
    bool has_stream;
    CUstream stream = call_stream(cbid, data->params, &has_stream);
    if (slot.event_pair) {
        timing_end(slot.event_pair, stream, result == 0);
        slot.flags |= LAUNCH_EVENTS;
    }
    if (slot.free_before)
        memory_taken(slot.exec_id, MEMORY_FIRST_LAUNCH, slot.free_before);
    if (told_in_place() && window_eager_left() && !(slot.flags & LAUNCH_NODE_LEVEL))
        window_launched_plain(1 + slot.passed.count);
    if (!visits_on())
        window_launched(slot.wanted);
    else if (slot.flags & LAUNCH_NODE_LEVEL)
        visits_launched(slot.wanted);
    pause_launch_ended();
    struct launch_record record = {
        .exec_id = slot.exec_id, .correlation = data->correlation_id,
        .start_ns = slot.start_ns, .end_ns = end_ns, .thread_id = this_thread()->thread_id,
        .result = result, .stream_id = slot.stream_id, .flags = slot.flags,
        .token = slot.event_pair ? slot.token : 0};
    slot.start_ns = 0;
    call_name(cbid);
    spool_append_one(RECORD_LAUNCH, &record, sizeof record);
    if (slot.exec && result == 0)
        let_pass();
    if (slot.last)
        pause_after_last();
}
