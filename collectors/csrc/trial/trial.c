/* What is tried, and when: a slice in front of a launch, until its pairs or its budget are over. */
#include "calls/calls.h"
#include "life/life.h"
#include "spool/spool.h"
#include "trial/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLISECOND_NS 1000000ull
/* Launches of an executable before the first slice: its upload, and those that it warms up with. */
#define LAUNCHES_BEFORE 3
/* How often a launch waits in vain until nothing is in flight before no more are tried. */
#define MOST_IN_VAIN 10
/* Updates of the program while a graph is tried. */
#define MOST_STALE 5
/* As an instrumented copy takes it, twice what the graph takes. */
#define LONGEST_NS (8 * MILLISECOND_NS)
static const char budget[] = "its budget (--trial-budget) was spent";

/* Of an experiment that the program asked for (gviz.try_edits): its pairs, or why there are none. */
struct answer {
    enum trial_kind kind;
    struct trial_pair *pairs;
    uint32_t count, results;
    char why[256];
};

struct subject {
    int watch;
    CUgraphExec exec;
    bool over;
    uint32_t launches, in_vain, stale;
    uint64_t spent_ns;
    bool lent;
    struct loan loan;
    struct experiments experiments;
    struct answer *answer; /* NULL: all is tried, between launches */
    struct subject *next;
};

GVIZ_LOCK(lock); /* whoever has it makes a trial; others launch without one */
static _Atomic bool on;
static _Atomic bool memory_watched;
static struct subject *subjects;
static struct bench bench;

/* -- records ------------------------------------------------------------------------------------------- */

static void refuse(struct subject *subject, enum trial_kind kind, const char *why) {
    uint32_t exec_id = executable_id(subject->exec);
    struct trial_refused_record record = {subject->loan.graph_id, exec_id, kind, 0};
    struct slice slices[] = {{&record, sizeof record}, {why, strlen(why)}};
    spool_append(RECORD_TRIAL_REFUSED, slices, 2);
    if (subject->answer)
        snprintf(subject->answer->why, sizeof subject->answer->why, "%s", why);
}

static void write(const struct subject *subject, const struct experiment *experiment, uint64_t saved_bytes) {
    bool tested = experiment->kind < TRIAL_IMPLIED || !subject->experiments.varies;
    struct trial_record record = {
        .graph_id = subject->loan.graph_id, .exec_id = subject->loan.exec_id, .kind = experiment->kind,
        .results = tested ? experiment->results : TRIAL_NOT_TESTED, .edits = (uint32_t)experiment->edits.count,
        .pairs = experiment->count, .begin_ns = experiment->begin_ns, .held_ns = experiment->held_ns,
        .saved_bytes = saved_bytes};
    struct slice slices[] = {{&record, sizeof record},
                             {experiment->edits.edits, experiment->edits.count * sizeof(struct trial_edit)},
                             {experiment->pairs, experiment->count * sizeof(struct trial_pair)}};
    spool_append(RECORD_TRIAL, slices, 3);
    struct answer *answer = subject->answer;
    if (answer && answer->kind == experiment->kind) {
        memcpy(answer->pairs, experiment->pairs, experiment->count * sizeof *answer->pairs);
        answer->count = experiment->count;
        answer->results = record.results;
    }
}

/* -- what a subject has ---------------------------------------------------------------------------------- */

static void give_back(struct subject *subject) {
    struct experiment *current = experiments_current(&subject->experiments);
    if (current)
        experiment_drop(current);
    if (subject->lent)
        lend_end(&subject->loan);
    subject->lent = false;
}

static void finish(struct subject *subject, enum trial_kind kind, const char *why) {
    if (why)
        refuse(subject, kind, why);
    give_back(subject);
    experiments_free(&subject->experiments);
    subject->over = true;
}

/* Name what is left. */
static void spend(struct subject *subject) {
    struct experiments *these = &subject->experiments;
    if (these->planned && !these->delays && subject->lent)
        experiments_plan_delays(these, subject->loan.level);
    bool begun = experiments_current(these);
    for (struct experiment *one; (one = experiments_current(these)); experiments_next(these)) {
        char why[256];
        const char *name = one->kind == TRIAL_DELAY ? delays_name(subject->loan.level, &one->edits) : NULL;
        snprintf(why, sizeof why, name ? "%s before delays behind %.120s" : "%s", budget, name);
        refuse(subject, one->kind, why);
    }
    finish(subject, TRIAL_ANY, begun ? NULL : budget);
}

static bool is_current(CUcontext context) {
    CUcontext current = NULL;
    return cuda.CtxGetCurrent(&current) == 0 && current == context;
}

/* Returns whether its experiments can be made now; else it is over, or a later launch tries again. */
static bool begin(struct subject *subject) {
    if (subject->lent)
        return is_current(subject->loan.context);
    const char *why = lend_begin(subject->watch, &subject->loan);
    subject->lent = !why;
    bool known = !why && subject->loan.extent_ns && is_current(subject->loan.context);
    if (!why && !known && subject->answer)
        why = "no launch of it was timed yet, or its context is not current: launch it some times first";
    if (!why && !known) {
        lend_end(&subject->loan); /* how long it takes is not known yet */
        subject->lent = false;
        return false;
    }
    if (!why && subject->loan.extent_ns > LONGEST_NS)
        why = "a launch takes longer than 4 ms, too long for a slice of 20 ms";
    if (!why && !bench_ready(&bench, subject->loan.context))
        why = "the driver lacks functions that a trial needs";
    if (!why)
        why = blocks_obstacle(subject->loan.device);
    if (!why)
        why = graph_obstacle(subject->loan.level);
    if (!why && !subject->experiments.planned)
        experiments_plan(&subject->experiments, &subject->loan);
    if (!why && subject->answer && !experiments_keep(&subject->experiments, subject->answer->kind))
        why = "the graph has nothing that this edit changes";
    if (why)
        finish(subject, TRIAL_ANY, why);
    return !why;
}

/* -- one slice --------------------------------------------------------------------------------------------- */

/* An experiment is made, or cannot be: to the next one, or the end. */
static void go_on(struct subject *subject) {
    struct experiments *these = &subject->experiments;
    experiments_next(these);
    if (!experiments_current(these) && !these->delays && bench.kernels.clocks_per_ns)
        experiments_plan_delays(these, subject->loan.level);
    if (!experiments_current(these))
        finish(subject, TRIAL_ANY, NULL);
}

/* Make the copies of the one that is next; of a kind that cannot be made that is said. */
static bool prepare(struct subject *subject) {
    while (!subject->over) {
        struct experiment *one = experiments_current(&subject->experiments);
        const char *why = experiment_prepare(one, &subject->loan, &bench.kernels);
        if (!why)
            return true;
        refuse(subject, one->kind, why);
        go_on(subject);
    }
    return false;
}

static void after_slice(struct subject *subject, const struct slice_work *work) {
    struct experiment *experiment = work->experiment;
    if (work->stale) {
        give_back(subject);
        if (++subject->stale >= MOST_STALE)
            finish(subject, TRIAL_ANY, "the program updates its executable between its launches");
    } else if (work->why) {
        finish(subject, TRIAL_ANY, work->why);
    } else if (experiment->count == MOST_PAIRS) {
        write(subject, experiment, work->saved_bytes);
        go_on(subject);
    }
}

/* With the lock, and the context current. */
static void try_once(struct subject *subject) {
    uint64_t begin_ns = now_ns();
    bool never = false;
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    if (begin(subject) && prepare(subject)) {
        struct slice_work work = {.loan = &subject->loan, .bench = &bench,
                                  .experiment = experiments_current(&subject->experiments)};
        if (bench_close(slice_run, &work, &never))
            after_slice(subject, &work);
        else if (never || ++subject->in_vain >= MOST_IN_VAIN)
            finish(subject, TRIAL_ANY, "work of the process was in flight before each launch, or its calls are not seen");
    }
    subject->spent_ns += now_ns() - begin_ns;
    if (!subject->over && subject->spent_ns >= options.trial_ns)
        spend(subject);
    exchange_capture_mode(mode);
}

/* -- launches --------------------------------------------------------------------------------------------- */

/* With the lock; NULL without memory. */
static struct subject *subject_of(int watch, CUgraphExec exec) {
    for (struct subject *one = subjects; one; one = one->next)
        if (one->watch == watch)
            return one;
    struct subject *made = calloc(1, sizeof *made);
    if (made) {
        made->watch = watch;
        made->exec = exec;
        made->next = subjects;
        subjects = made;
    }
    return made;
}

void trial_launch(CUgraphExec exec, CUstream launched_on) {
    int watch = atomic_load(&on) && !paused() ? executable_watch_of(exec) : 0;
    if (!watch || captures_known() || stream_is_capturing(launched_on) || pthread_mutex_trylock(&lock) != 0)
        return;
    struct subject *subject = subject_of(watch, exec);
    if (subject && !subject->over && ++subject->launches > LAUNCHES_BEFORE)
        try_once(subject);
    pthread_mutex_unlock(&lock);
}

/* -- asked for by the program -------------------------------------------------------------------------------- */

/* With the lock. */
static void make_now(CUgraphExec exec, struct answer *answer) {
    struct subject subject = {.watch = executable_watch_of(exec), .exec = exec, .answer = answer};
    if (!subject.watch)
        snprintf(answer->why, sizeof answer->why, "it is no executable that gviz has seen instantiated");
    while (subject.watch && !subject.over)
        try_once(&subject);
}

/* For Python: `pairs` has room for MOST_PAIRS; valid until the thread calls again. NULL: it was tried. */
GVIZ_EXPORT const char *gviz_try(CUgraphExec exec, uint32_t kind, struct trial_pair *pairs, uint32_t *count,
                                 uint32_t *results) {
    static __thread struct answer answer;
    answer = (struct answer){.kind = (enum trial_kind)kind, .pairs = pairs};
    *count = *results = 0;
    if (!atomic_load(&on))
        return "trials need the gate from the program's start: run it with 'gviz run --trials'";
    if (paused() || captures_known())
        return "recording is paused, or a stream is captured";
    pthread_mutex_lock(&lock);
    bool inside = this_thread()->inside;
    this_thread()->inside = true; /* calls of its own are no calls of the program */
    make_now(exec, &answer);
    this_thread()->inside = inside;
    pthread_mutex_unlock(&lock);
    *count = answer.count;
    *results = answer.results;
    return answer.count ? NULL : answer.why;
}

/* -- on and off ---------------------------------------------------------------------------------------------- */

void trial_call(const CUpti_CallbackData *data, uint32_t cbid) {
    if (!atomic_load(&memory_watched) || !data->function_name)
        return;
    growth_call(data, cbid);
    images_call(data, cbid);
}

void trial_watch_memory(void) {
    images_reset();
    growth_reset();
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++) {
        const char *name = NULL;
        if (cupti.cuptiGetCallbackName(DOMAIN_DRIVER_API, id, &name) != 0 || !name)
            continue;
        bool wanted[] = {images_want(id, name), growth_wants(id, name)};
        if (wanted[0] || wanted[1])
            calls_keep(id);
    }
    atomic_store(&memory_watched, true);
}

void trial_start(void) {
    if (bench_find_gate())
        atomic_store(&on, true);
}

/* With the lock. */
static void end_all(const char *why) {
    CUcontext popped, context = bench.context;
    bool current = context && cuda.CtxPushCurrent(context) == 0;
    for (struct subject *subject = subjects, *next; subject; subject = next) {
        next = subject->next;
        if (!subject->over)
            finish(subject, TRIAL_ANY, why);
        free(subject);
    }
    subjects = NULL;
    if (current) {
        bench_end(&bench);
        cuda.CtxPopCurrent(&popped);
    }
}

/* Of what was begun it is said that it did not end. */
void trial_stop(void) {
    atomic_store(&memory_watched, false);
    if (!atomic_exchange(&on, false))
        return;
    pthread_mutex_lock(&lock);
    end_all("the program ended before it was tried");
    pthread_mutex_unlock(&lock);
}

void trial_context_ends(CUcontext context) {
    pthread_mutex_lock(&lock);
    if (bench.context == context)
        end_all("its context was destroyed before it was tried");
    pthread_mutex_unlock(&lock);
}

void trial_destroyed(CUgraphExec exec) {
    if (!atomic_load(&on))
        return;
    pthread_mutex_lock(&lock);
    for (struct subject *one = subjects; one; one = one->next)
        if (one->exec == exec && !one->over)
            finish(one, TRIAL_ANY, "the program destroyed it before it was tried");
    pthread_mutex_unlock(&lock);
}

/* In a forked child: what there is belongs to the parent. */
void trial_abandon(void) {
    atomic_store(&on, false);
    atomic_store(&memory_watched, false);
    subjects = NULL;
    memset(&bench, 0, sizeof bench);
}
