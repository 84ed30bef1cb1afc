/* What is tried, and when: a slice in front of a launch, until its pairs or its budget are over. */
#include "calls/calls.h"
#include "life/life.h"
#include "spool/spool.h"
#include "trial/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ended[] = "the program ended before it was tried";
static const char budget[] = "its budget (--trial-budget) was spent";
/* There may be many delays: they leave a quarter of it to the last moment. */
#define DELAYS_NS (options.trial_ns / 4 * 3)
static const char delays_budget[] = "three quarters of its budget (--trial-budget) were spent";

/* Of an experiment that the program asked for (gviz.try_edits): its pairs, or why there are none. */
struct answer {
    enum trial_kind kind;
    const char *family; /* what its kernels' name contains; empty: the edit is of no family */
    struct trial_pair *pairs;
    uint32_t count, results;
    char why[256];
};

struct tried {
    struct subject of;
    struct experiments experiments;
    struct answer *answer; /* NULL: all is tried, between launches */
    bool timed, refused;   /* its executable; as a whole */
    bool last;             /* it is to be tried in the process's last moment */
    char name[160];        /* then, of the experiment that is made; empty: its kind says it */
};

GVIZ_LOCK(lock);
static _Atomic bool memory_watched;
static struct subjects all;

/* -- records ------------------------------------------------------------------------------------------- */

static void refuse(struct tried *subject, enum trial_kind kind, const char *why) {
    uint32_t exec_id = executable_id(subject->of.exec);
    struct trial_refused_record record = {subject->of.loan.graph_id, exec_id, kind, 0};
    struct slice slices[] = {{&record, sizeof record}, {why, strlen(why)}};
    spool_append(RECORD_TRIAL_REFUSED, slices, 2);
    subject->refused = subject->refused || kind == TRIAL_ANY;
    if (subject->answer)
        snprintf(subject->answer->why, sizeof subject->answer->why, "%s", why);
}

static void write(struct tried *subject, const struct experiment *experiment, uint64_t saved_bytes) {
    enum trial_kind kind = experiment->kind;
    bool tested = kind < TRIAL_IMPLIED || (kind < TRIAL_OFF && !subject->experiments.varies);
    subject->timed = subject->timed || kind == TRIAL_EXECUTABLE;
    struct trial_record record = {
        .graph_id = subject->of.loan.graph_id, .exec_id = subject->of.loan.exec_id, .kind = kind,
        .results = tested ? experiment->results : TRIAL_NOT_TESTED, .edits = (uint32_t)experiment->edits.count,
        .pairs = experiment->count, .begin_ns = experiment->begin_ns, .held_ns = experiment->held_ns,
        .saved_bytes = saved_bytes};
    struct slice slices[] = {{&record, sizeof record},
                             {experiment->edits.edits, experiment->edits.count * sizeof(struct trial_edit)},
                             {experiment->pairs, experiment->count * sizeof(struct trial_pair)}};
    spool_append(RECORD_TRIAL, slices, 3);
    struct answer *answer = subject->answer;
    if (answer && answer->kind == kind) {
        memcpy(answer->pairs, experiment->pairs, experiment->count * sizeof *answer->pairs);
        answer->count = experiment->count;
        answer->results = record.results;
    }
}

/* -- what a subject has ---------------------------------------------------------------------------------- */

static void give_back(struct tried *subject) {
    struct experiment *current = experiments_current(&subject->experiments);
    if (current)
        experiment_drop(current);
    subject_return(&subject->of);
}

static void finish(struct tried *subject, enum trial_kind kind, const char *why) {
    if (why)
        refuse(subject, kind, why);
    give_back(subject);
    experiments_free(&subject->experiments);
    subject->of.over = true;
}

/* What an experiment was not reached before, in words; empty: its kind says it. */
static void name_left(const struct tried *subject, const struct experiment *one, char *text, size_t size) {
    const char *what = one->kind == TRIAL_OFF ? "a launch without" : one->kind == TRIAL_HALF ? "half of"
                     : one->kind == TRIAL_DELAY ? "delays behind" : NULL;
    const char *name = what ? delays_name(subject->of.loan.level, &one->edits) : NULL;
    text[0] = 0;
    if (one->kind == TRIAL_LAYER)
        snprintf(text, size, "delays behind the layer that begins with node %u", one->edits.edits[0].node_id);
    if (name)
        snprintf(text, size, "%s %.120s", what, name);
}

/* Name the next one, which is not made. */
static void leave(struct tried *subject, const char *spent) {
    struct experiment *one = experiments_current(&subject->experiments);
    char why[256], name[160];
    name_left(subject, one, name, sizeof name);
    snprintf(why, sizeof why, name[0] ? "%s before %s" : "%s", spent, name);
    refuse(subject, one->kind, why);
    experiments_next(&subject->experiments);
}

/* Name what is left. */
static void spend(struct tried *subject) {
    struct experiments *these = &subject->experiments;
    if (these->planned && !these->delays && subject->of.lent)
        experiments_plan_delays(these, subject->of.loan.level);
    bool begun = experiments_current(these);
    while (experiments_current(these))
        leave(subject, budget);
    finish(subject, TRIAL_ANY, begun ? NULL : budget);
}

static const char *keep_asked(struct experiments *these, const struct level *level, const struct answer *answer) {
    if (answer->kind == TRIAL_OFF)
        experiments_plan_last(these, level);
    if (experiments_keep(these, answer->kind, level, answer->family))
        return NULL;
    return answer->kind == TRIAL_OFF ? "none of its largest kernel families that may be left out has this name"
                                     : "the graph has nothing that this edit changes";
}

/* Returns whether its experiments can be made now; else it is over, or a later launch tries again. */
static bool begin(struct tried *subject) {
    static const char unknown[] = "no launch of it was timed yet, or its context is not current: launch it some times first";
    const char *why;
    bool begun = subject->of.lent, ready = subject_borrow(&subject->of, subject->answer ? unknown : NULL, &why);
    if (begun || (!ready && !why))
        return ready;
    if (!why)
        why = blocks_obstacle(subject->of.loan.device);
    if (!why && !bench_ready(&all.bench, subject->of.loan.context))
        why = "the driver lacks functions that a trial needs, or has no memory for it";
    if (!why)
        why = subject_obstacle(&subject->of);
    if (!why)
        why = arcs_obstacle(subject->of.loan.level);
    if (!why && !subject->experiments.planned)
        experiments_plan(&subject->experiments, &subject->of.loan);
    if (!why && subject->answer)
        why = keep_asked(&subject->experiments, subject->of.loan.level, subject->answer);
    if (why)
        finish(subject, TRIAL_ANY, why);
    return !why;
}

/* -- one slice --------------------------------------------------------------------------------------------- */

static bool delays_are_over(const struct tried *subject) {
    const struct subject *of = &subject->of;
    return of->spent_ns + now_ns() - of->begin_ns >= DELAYS_NS;
}

static bool is_delay(const struct experiment *one) {
    return one && (one->kind == TRIAL_DELAY || one->kind == TRIAL_LAYER);
}

static void plan_delays(struct tried *subject) {
    if (all.bench.kernels.clocks_per_ns) {
        experiments_plan_delays(&subject->experiments, subject->of.loan.level);
        return;
    }
    subject->experiments.delays = true;
    refuse(subject, TRIAL_DELAY, "the speed of the GPU's clock could not be measured, by which delays have their length");
}

/* An experiment is made, or cannot be: to the next one, or the end. */
static void go_on(struct tried *subject) {
    struct experiments *these = &subject->experiments;
    experiments_next(these);
    if (!experiments_current(these) && !these->delays)
        plan_delays(subject);
    while (is_delay(experiments_current(these)) && delays_are_over(subject))
        leave(subject, delays_budget);
    if (subject->last && !experiments_current(these) && !these->last)
        experiments_plan_last(these, subject->of.loan.level);
    if (these->last && !experiments_current(these) && !these->halves)
        experiments_plan_halves(these);
    if (!experiments_current(these))
        finish(subject, TRIAL_ANY, NULL);
}

/* Make the copies of the one that is next; of a kind that cannot be made that is said. */
static bool prepare(struct tried *subject) {
    while (!subject->of.over) {
        struct experiment *one = experiments_current(&subject->experiments);
        const char *why = experiment_prepare(one, &subject->of.loan, &all.bench.kernels);
        if (subject->last || subject->answer)
            name_left(subject, one, subject->name, sizeof subject->name);
        if (!why)
            return true;
        refuse(subject, one->kind, why);
        go_on(subject);
    }
    return false;
}

static bool context_lost; /* by what was tried in the last moment */

/* An experiment of the last moment went wrong: nothing more is to be tried. */
static void end_of_context(struct tried *subject, const char *how) {
    struct experiment *one = experiments_current(&subject->experiments);
    char why[256];
    snprintf(why, sizeof why, "%s %s, and with it the GPU's context was lost",
             subject->name[0] ? subject->name : "it", how);
    context_lost = true;
    refuse(subject, one->kind, why);
    subject->of.over = true;
}

static void after_slice(struct tried *subject, const struct slice_work *work) {
    struct experiment *experiment = work->experiment;
    const char *why = work->why;
    if (work->stale) {
        give_back(subject);
        why = subject_stale(&subject->of);
    }
    if (work->failed && experiment->kind >= TRIAL_OFF) {
        end_of_context(subject, "failed");
    } else if (why) {
        finish(subject, TRIAL_ANY, why);
    } else if (!work->stale && experiment->count == MOST_PAIRS) {
        write(subject, experiment, work->saved_bytes);
        go_on(subject);
    }
}

static void try_once(struct subject *of) {
    struct tried *subject = (struct tried *)of;
    const char *why;
    if (!begin(subject) || !prepare(subject))
        return;
    struct slice_work work = {.of = of, .bench = &all.bench,
                              .experiment = experiments_current(&subject->experiments)};
    if (subject_slice(of, slice_run, &work, &why))
        after_slice(subject, &work);
    else if (why)
        finish(subject, TRIAL_ANY, why);
}

static void finish_any(struct subject *of, const char *why) { finish((struct tried *)of, TRIAL_ANY, why); }

static void spend_any(struct subject *of) { spend((struct tried *)of); }

static struct subjects all = {.lock = &lock, .bytes = sizeof(struct tried), .budget_ns = &options.trial_ns,
                              .once = try_once, .finish = finish_any, .spend = spend_any};

void trial_launch(CUgraphExec exec, CUstream launched_on) { subjects_launch(&all, exec, launched_on); }

/* -- asked for by the program -------------------------------------------------------------------------------- */

/* With the lock. */
static void make_now(CUgraphExec exec, struct answer *answer) {
    struct tried subject = {.of = {.watch = executable_watch_of(exec), .exec = exec, .requested = true},
                            .answer = answer};
    if (!subject.of.watch)
        snprintf(answer->why, sizeof answer->why, "it is no executable that gviz has seen instantiated");
    while (subject.of.watch && !subject.of.over)
        subject_once(&all, &subject.of);
}

/* For Python: `pairs` has room for MOST_PAIRS; valid until the thread calls again. NULL: it was tried. */
GVIZ_EXPORT const char *gviz_try(CUgraphExec exec, uint32_t kind, const char *family, struct trial_pair *pairs,
                                 uint32_t *count, uint32_t *results) {
    static __thread struct answer answer;
    answer = (struct answer){.kind = (enum trial_kind)kind, .family = family, .pairs = pairs};
    *count = *results = 0;
    if (!atomic_load(&all.on))
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

/* -- in the process's last moment ------------------------------------------------------------------------------ */

static struct tried *current;

/* Whether a subject is one for it. Its loan is as the executable is now. */
static bool keep(struct tried *subject) {
    const char *why = NULL;
    bool begun = !subject->of.over;
    if (!subject->timed || subject->refused)
        return false;
    if (!subject->of.lent)
        why = lend_begin(subject->of.watch, &subject->of.loan);
    subject->of.lent = subject->of.lent || !why;
    if (why || !lend_settle(&subject->of.loan)) {
        give_back(subject);
        return false;
    }
    struct experiments *these = &subject->experiments;
    these->planned = true;
    these->delays = these->delays || !begun;
    subject->of.over = false;
    subject->last = true;
    if (!experiments_current(these))
        experiments_plan_last(these, subject->of.loan.level);
    if (!experiments_current(these))
        finish(subject, TRIAL_ANY, NULL);
    return !subject->of.over;
}

bool tries_keep(void) {
    bool any = false;
    CUcontext popped;
    pthread_mutex_lock(&lock);
    bool in_context = all.bench.context && cuda.CtxPushCurrent(all.bench.context) == 0;
    for (struct subject *one = all.first; one && in_context; one = one->next) {
        struct tried *subject = (struct tried *)one;
        bool kept = keep(subject);
        if (!kept && subject_open(one))
            finish(subject, TRIAL_ANY, ended);
        any = any || kept;
    }
    if (in_context)
        cuda.CtxPopCurrent(&popped);
    pthread_mutex_unlock(&lock);
    return any;
}

void tries_refuse(const char *why) {
    pthread_mutex_lock(&lock);
    for (struct subject *one = all.first; one; one = one->next) {
        struct tried *subject = (struct tried *)one;
        if (!subject->of.over && subject->last)
            finish(subject, TRIAL_OFF, why);
    }
    pthread_mutex_unlock(&lock);
}

void tries_make(bool (*go_on)(void)) {
    CUcontext popped;
    for (struct subject *one = all.first; one; one = one->next) {
        if (one->over || context_lost || cuda.CtxPushCurrent(one->loan.context) != 0)
            continue;
        current = (struct tried *)one;
        if (blocks_freed_ns() > one->launched_ns) /* its nodes may be given what is not there any more */
            finish(current, TRIAL_OFF, "the program gave back memory after its last launch");
        while (!one->over && go_on())
            subject_once(&all, one);
        current = NULL;
        cuda.CtxPopCurrent(&popped);
    }
}

bool tries_lost_context(void) { return context_lost; }

void tries_hang(void) {
    if (current)
        end_of_context(current, "did not end");
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
        atomic_store(&all.on, true);
}

/* Of what was begun it is said that it did not end. */
void trial_stop(bool exits) {
    bool inside = this_thread()->inside;
    this_thread()->inside = true; /* calls of its own are no calls of the program */
    if (exits && atomic_load(&all.on) && tries_keep() && last_begin()) {
        atomic_store(&all.on, false);
    } else {
        tries_refuse("the driver cannot stay to the end of this process");
        atomic_store(&memory_watched, false);
        subjects_stop(&all, ended);
    }
    this_thread()->inside = inside;
}

void trial_context_ends(CUcontext context) {
    subjects_context_ends(&all, context, "its context was destroyed before it was tried");
}

void trial_destroyed(CUgraphExec exec) {
    subjects_destroyed(&all, exec, "the program destroyed it before it was tried");
}

/* In a forked child: what there is belongs to the parent. */
void trial_abandon(void) {
    atomic_store(&memory_watched, false);
    last_abandon();
    subjects_abandon(&all);
}
