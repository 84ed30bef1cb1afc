/* What is read, and when: a slice in front of a launch, until all nodes were probed or the budget is
 * spent. */
#include "calls/calls.h"
#include "life/life.h"
#include "spool/spool.h"
#include "values/parts.h"

#include <stdlib.h>
#include <string.h>

#define MILLISECOND_NS 1000000ull
/* Launches of an executable before the first slice: its upload, and those that it warms up with. */
#define LAUNCHES_BEFORE 3
/* How often a launch waits in vain until nothing is in flight before no more is read. */
#define MOST_IN_VAIN 10
/* Updates of the program while a graph is read. */
#define MOST_STALE 5
/* A launch of the copy takes several times as long as one of the program. */
#define LONGEST_NS (8 * MILLISECOND_NS)

struct subject {
    int watch;
    CUgraphExec exec;
    bool over;
    uint32_t launches, in_vain, stale;
    uint64_t spent_ns;
    bool lent;
    struct loan loan;
    struct plan plan;
    struct probes probes; /* of the next slice */
    struct subject *next;
};

GVIZ_LOCK(lock); /* whoever has it reads values; others launch without */
static _Atomic bool on;
static struct subject *subjects;
static struct bench bench;
static CUmodule module;
static CUfunction probe;

/* -- records ------------------------------------------------------------------------------------------- */

static void refuse(const struct subject *subject, const char *why) {
    struct values_refused_record record = {subject->loan.graph_id, executable_id(subject->exec)};
    struct slice slices[] = {{&record, sizeof record}, {why, strlen(why)}};
    spool_append(RECORD_VALUES_REFUSED, slices, 2);
}

/* What lies beyond a buffer is left out unless it was written. */
static size_t leave_out(struct probed_value *values, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!values[i].start || values[i].hash_before != values[i].hash_after)
            values[kept++] = values[i];
    return kept;
}

static void write(const struct subject *subject, struct reading *reading) {
    struct values_record *record = &reading->record;
    record->graph_id = subject->loan.graph_id;
    record->exec_id = subject->loan.exec_id;
    record->probed_bytes = subject->probes.bytes;
    record->whole = !options.values_pattern[0] && !subject->probes.first &&
                    subject->probes.last == subject->plan.site_count;
    record->values = (uint32_t)leave_out(reading->values, record->values);
    if (!reading->pieces)
        record->pieces = 0;
    struct slice slices[] = {{record, sizeof *record},
                             {reading->values, record->values * sizeof *reading->values},
                             {reading->pieces, record->pieces * sizeof *reading->pieces}};
    spool_append(RECORD_VALUES, slices, 3);
}

/* -- what a subject has ---------------------------------------------------------------------------------- */

static void give_back(struct subject *subject) {
    probes_free(&subject->probes);
    plan_free(&subject->plan);
    if (subject->lent)
        lend_end(&subject->loan);
    subject->lent = false;
}

static void finish(struct subject *subject, const char *why) {
    if (why)
        refuse(subject, why);
    give_back(subject);
    subject->over = true;
}

/* Probes for the sites from `first` on. */
static const char *prepare(struct subject *subject, size_t first) {
    const struct plan *plan = &subject->plan;
    probes_free(&subject->probes);
    while (first < plan->site_count && !plan->sites[first].ranges)
        first++;
    subject->probes = (struct probes){.plan = plan, .first = first};
    if (first == plan->site_count)
        return NULL;
    subject->probes.last = probes_last(plan, first);
    return probes_make(&subject->probes, &subject->loan, probe);
}

static bool load_probe(void) {
    if (probe)
        return true;
    return cuda.MemcpyHtoD && cuda.ModuleLoadData(&module, probe_ptx) == 0 &&
           cuda.ModuleGetFunction(&probe, module, "gviz_probe") == 0;
}

static bool is_current(CUcontext context) {
    CUcontext current = NULL;
    return cuda.CtxGetCurrent(&current) == 0 && current == context;
}

static const char *plan_and_prepare(struct subject *subject) {
    if (!bench_ready(&bench, subject->loan.context) || !load_probe())
        return "gviz's kernels could not be loaded on this GPU";
    const char *why = graph_obstacle(subject->loan.level);
    why = why ? why : plan_make(&subject->plan, subject->loan.level, options.values_pattern);
    return why ? why : prepare(subject, 0);
}

/* Returns whether its copy is there; else it is over, or a later launch tries again. */
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
    why = why ? why : plan_and_prepare(subject);
    if (why)
        finish(subject, why);
    return !why;
}

/* -- one slice --------------------------------------------------------------------------------------------- */

static void after_slice(struct subject *subject, struct reading *reading) {
    if (reading->stale) {
        give_back(subject);
        if (++subject->stale >= MOST_STALE)
            finish(subject, "the program updates its executable between its launches");
        return;
    }
    const char *why = reading->why;
    if (!why) {
        write(subject, reading);
        why = prepare(subject, subject->probes.last);
    }
    if (why || !subject->probes.copy)
        finish(subject, why);
}

/* With the lock, and the context current. */
static void read_once(struct subject *subject) {
    uint64_t begin_ns = now_ns();
    bool never = false;
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    bool begun = begin(subject);
    if (begun && subject->spent_ns + now_ns() - begin_ns < options.values_ns) {
        struct reading reading = {.loan = &subject->loan, .bench = &bench, .probes = &subject->probes};
        reading.values = calloc(probes_ranges(&subject->probes) + 1, sizeof *reading.values);
        if (!reading.values)
            finish(subject, "there is no memory on the host for what is read");
        else if (bench_close(reading_run, &reading, &never))
            after_slice(subject, &reading);
        else if (never || ++subject->in_vain >= MOST_IN_VAIN)
            finish(subject, "work of the process was in flight before each launch, or its calls are not seen");
        free(reading.values);
        free(reading.pieces);
    }
    subject->spent_ns += now_ns() - begin_ns;
    if (!subject->over && subject->spent_ns >= options.values_ns)
        finish(subject, "its budget (--values-budget) was spent");
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

void values_launch(CUgraphExec exec, CUstream launched_on) {
    int watch = atomic_load(&on) && !paused() ? executable_watch_of(exec) : 0;
    if (!watch || captures_known() || stream_is_capturing(launched_on) || pthread_mutex_trylock(&lock) != 0)
        return;
    struct subject *subject = subject_of(watch, exec);
    if (subject && !subject->over && ++subject->launches > LAUNCHES_BEFORE)
        read_once(subject);
    pthread_mutex_unlock(&lock);
}

/* -- on and off ---------------------------------------------------------------------------------------------- */

void values_start(void) {
    if (!bench_find_gate())
        return;
    types_prepare();
    atomic_store(&on, true);
}

/* With the lock. */
static void end_all(const char *why) {
    CUcontext popped, context = bench.context;
    bool current = context && cuda.CtxPushCurrent(context) == 0;
    for (struct subject *subject = subjects, *next; subject; subject = next) {
        next = subject->next;
        if (!subject->over)
            finish(subject, why);
        free(subject);
    }
    subjects = NULL;
    if (current) {
        if (probe)
            cuda.ModuleUnload(module);
        probe = NULL;
        bench_end(&bench);
        cuda.CtxPopCurrent(&popped);
    }
}

void values_stop(void) {
    if (!atomic_exchange(&on, false))
        return;
    pthread_mutex_lock(&lock);
    end_all("the program ended before all of it was read");
    pthread_mutex_unlock(&lock);
}

void values_context_ends(CUcontext context) {
    pthread_mutex_lock(&lock);
    if (bench.context == context)
        end_all("its context was destroyed before all of it was read");
    pthread_mutex_unlock(&lock);
}

void values_destroyed(CUgraphExec exec) {
    if (!atomic_load(&on))
        return;
    pthread_mutex_lock(&lock);
    for (struct subject *one = subjects; one; one = one->next)
        if (one->exec == exec && !one->over)
            finish(one, "the program destroyed it before all of it was read");
    pthread_mutex_unlock(&lock);
}

/* In a forked child: what there is belongs to the parent. */
void values_abandon(void) {
    atomic_store(&on, false);
    subjects = NULL;
    probe = NULL;
    memset(&bench, 0, sizeof bench);
}
