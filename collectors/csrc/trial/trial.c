/* What is tried, and when: a slice in front of a launch, until its pairs or its budget are over. */
#include "calls/calls.h"
#include "life/life.h"
#include "spool/spool.h"
#include "trial/parts.h"

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
/* Families of kernels that are delayed, and by which part of the launch all in all, at least so much each. */
#define FAMILIES 6
#define DELAYED_PART 20
#define LEAST_DELAY_NS 500
#define EXPERIMENTS (3 + FAMILIES)

struct subject {
    int watch;
    CUgraphExec exec;
    bool over;
    uint32_t launches, in_vain, stale;
    uint64_t spent_ns;
    bool lent;
    struct loan loan;
    struct experiment experiments[EXPERIMENTS];
    size_t count, at;
    bool delays; /* the experiments after the others are there */
    struct subject *next;
};

GVIZ_LOCK(lock); /* whoever has it makes a trial; others launch without one */
static _Atomic bool on;
static struct subject *subjects;
static struct bench bench;

/* -- records ------------------------------------------------------------------------------------------- */

static void refuse(struct subject *subject, enum trial_kind kind, const char *why) {
    uint32_t exec_id = executable_id(subject->exec);
    struct trial_refused_record record = {subject->loan.graph_id, exec_id, kind, 0};
    struct slice slices[] = {{&record, sizeof record}, {why, strlen(why)}};
    spool_append(RECORD_TRIAL_REFUSED, slices, 2);
}

/* What was launched without the edit against itself tells whether results can be compared at all. */
static bool repeats_itself(const struct subject *subject) {
    for (size_t i = 0; i < subject->count; i++)
        if (subject->experiments[i].kind < TRIAL_IMPLIED && subject->experiments[i].results == TRIAL_DIFFERENT)
            return false;
    return true;
}

static void write(const struct subject *subject, const struct experiment *experiment, uint64_t saved_bytes) {
    bool tested = experiment->kind < TRIAL_IMPLIED || repeats_itself(subject);
    struct trial_record record = {
        .graph_id = subject->loan.graph_id, .exec_id = subject->loan.exec_id, .kind = experiment->kind,
        .results = tested ? experiment->results : TRIAL_NOT_TESTED, .edits = (uint32_t)experiment->edits.count,
        .pairs = experiment->count, .begin_ns = experiment->begin_ns, .held_ns = experiment->held_ns,
        .saved_bytes = saved_bytes};
    struct slice slices[] = {{&record, sizeof record},
                             {experiment->edits.edits, experiment->edits.count * sizeof(struct trial_edit)},
                             {experiment->pairs, experiment->count * sizeof(struct trial_pair)}};
    spool_append(RECORD_TRIAL, slices, 3);
}

/* -- what a subject has ---------------------------------------------------------------------------------- */

static void give_back(struct subject *subject) {
    growth_open();
    for (size_t i = 0; i < subject->count; i++) {
        copy_free(subject->experiments[i].unedited);
        copy_free(subject->experiments[i].edited);
        free(subject->experiments[i].edits.edits);
    }
    growth_close();
    memset(subject->experiments, 0, sizeof subject->experiments);
    subject->count = 0;
    if (subject->lent)
        lend_end(&subject->loan);
    subject->lent = false;
}

static void finish(struct subject *subject, enum trial_kind kind, const char *why) {
    if (why)
        refuse(subject, kind, why);
    give_back(subject);
    subject->over = true;
}

/* `unedited`: whether a copy stands for the executable. */
static bool prepare_one(struct subject *subject, enum trial_kind kind, bool unedited, struct edits edits) {
    struct experiment *experiment = &subject->experiments[subject->count++];
    *experiment = (struct experiment){.kind = kind, .edits = edits};
    if (unedited && !(experiment->unedited = lend_copy(&subject->loan, NULL, NULL)))
        return false;
    experiment->edited = lend_copy(&subject->loan, edits.count ? edits_apply : NULL, &experiment->edits);
    return experiment->edited != NULL;
}

static const char *prepare(struct subject *subject) {
    const struct edits none = {0};
    struct edits implied = edits_implied(subject->loan.level);
    growth_open();
    bool good = prepare_one(subject, TRIAL_EXECUTABLE, false, none) &&
                prepare_one(subject, TRIAL_CONTROL, true, none);
    if (good && implied.count)
        good = prepare_one(subject, TRIAL_IMPLIED, true, implied);
    else
        free(implied.edits);
    growth_close();
    return good ? NULL : copy_error()[0] ? copy_error() : "a copy of it could not be made";
}

/* -- delays, once it is known how long a launch takes ------------------------------------------------------ */

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median_launch(const struct experiment *experiment) {
    uint64_t ns[MOST_PAIRS];
    for (uint32_t i = 0; i < experiment->count; i++)
        ns[i] = experiment->pairs[i].unedited_ns;
    qsort(ns, experiment->count, sizeof *ns, compare);
    return ns[experiment->count / 2];
}

static bool prepare_delay(struct subject *subject, struct edits edits, uint64_t launch_ns) {
    struct experiment *experiment = &subject->experiments[subject->count++];
    uint64_t ns = launch_ns / DELAYED_PART / edits.count;
    *experiment = (struct experiment){.kind = TRIAL_DELAY, .edits = edits};
    for (size_t i = 0; i < edits.count; i++)
        edits.edits[i].value_ns = ns > LEAST_DELAY_NS ? ns : LEAST_DELAY_NS;
    const struct delays idle = {&experiment->edits, &bench.kernels, true};
    const struct delays delays = {&experiment->edits, &bench.kernels, false};
    experiment->unedited = lend_copy(&subject->loan, delays_apply, &idle);
    experiment->edited = experiment->unedited ? lend_copy(&subject->loan, delays_apply, &delays) : NULL;
    return experiment->edited != NULL;
}

/* Returns whether all copies could be made. */
static bool prepare_delays(struct subject *subject) {
    struct edits families[FAMILIES];
    size_t count = bench.kernels.clocks_per_ns ? delays_find(subject->loan.level, families, FAMILIES) : 0;
    bool good = true;
    growth_open();
    for (size_t i = 0; i < count; i++) {
        if (good)
            good = prepare_delay(subject, families[i], median_launch(&subject->experiments[0]));
        else
            free(families[i].edits);
    }
    growth_close();
    return good;
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
    if (!why)
        why = prepare(subject);
    if (why)
        finish(subject, TRIAL_ANY, why);
    return !why;
}

/* -- one slice --------------------------------------------------------------------------------------------- */

/* An experiment is made: to the next one, or the end. */
static void go_on(struct subject *subject) {
    if (++subject->at < subject->count)
        return;
    bool good = true;
    if (!subject->delays) {
        subject->delays = true;
        good = prepare_delays(subject);
    }
    if (!good)
        finish(subject, TRIAL_DELAY, "a copy of it with delays could not be made");
    else if (subject->at == subject->count)
        finish(subject, TRIAL_ANY, NULL);
}

static void after_slice(struct subject *subject, const struct slice_work *work) {
    struct experiment *experiment = &subject->experiments[subject->at];
    if (work->stale) {
        give_back(subject);
        subject->at = 0;
        subject->delays = false;
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
    if (begin(subject)) {
        struct slice_work work = {.loan = &subject->loan, .bench = &bench,
                                  .experiment = &subject->experiments[subject->at]};
        if (bench_close(slice_run, &work, &never))
            after_slice(subject, &work);
        else if (never || ++subject->in_vain >= MOST_IN_VAIN)
            finish(subject, TRIAL_ANY, "work of the process was in flight before each launch, or its calls are not seen");
    }
    subject->spent_ns += now_ns() - begin_ns;
    if (!subject->over && subject->spent_ns >= options.trial_ns)
        finish(subject, TRIAL_ANY, "its budget (--trial-budget) was spent");
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

/* -- on and off ---------------------------------------------------------------------------------------------- */

void trial_call(const CUpti_CallbackData *data, uint32_t cbid) {
    if (!atomic_load(&on) || !data->function_name)
        return;
    growth_call(data, cbid);
    images_call(data, cbid);
    blocks_call(data, cbid);
}

void trial_start(void) {
    if (!bench_find_gate())
        return;
    blocks_reset();
    images_reset();
    growth_reset();
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++) {
        const char *name = NULL;
        if (cupti.cuptiGetCallbackName(DOMAIN_DRIVER_API, id, &name) != 0 || !name)
            continue;
        bool wanted[] = {blocks_wants(id, name), images_want(id, name), growth_wants(id, name)};
        if (wanted[0] || wanted[1] || wanted[2])
            calls_keep(id);
    }
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
    subjects = NULL;
    memset(&bench, 0, sizeof bench);
}
