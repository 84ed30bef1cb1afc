/* What is read, and when: a slice in front of a launch, until all nodes were probed or the budget is
 * spent. */
#include "calls/calls.h"
#include "life/life.h"
#include "spool/spool.h"
#include "values/parts.h"

#include <stdlib.h>
#include <string.h>

struct probed {
    struct subject of;
    struct plan plan;
    struct probes probes; /* of the next slice */
    size_t left_out;      /* ranges whose contents are not kept, though they are wanted */
};

GVIZ_LOCK(lock);
static struct subjects all;
static CUmodule module;
static CUfunction probe;

/* -- records ------------------------------------------------------------------------------------------- */

static void refuse(const struct probed *subject, const char *why) {
    struct values_refused_record record = {subject->of.loan.graph_id, executable_id(subject->of.exec)};
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

static void write(struct probed *subject, struct reading *reading) {
    struct values_record *record = &reading->record;
    subject->left_out += contents_keep(&subject->probes, reading->values);
    record->graph_id = subject->of.loan.graph_id;
    record->exec_id = subject->of.loan.exec_id;
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

static void give_back(struct probed *subject) {
    probes_free(&subject->probes);
    plan_free(&subject->plan);
    subject_return(&subject->of);
}

static void finish(struct probed *subject, const char *why) {
    if (why)
        refuse(subject, why);
    if (subject->left_out)
        note("limit", "the contents of %zu range%s of memory are not kept: those of a graph take at most "
             "--dump-limit (%llu MiB), and there must be room on the disk", subject->left_out,
             subject->left_out == 1 ? "" : "s", (unsigned long long)(options.dump_bytes >> 20));
    give_back(subject);
    subject->of.over = true;
}

/* Probes for the sites from `first` on. */
static const char *prepare(struct probed *subject, size_t first) {
    const struct plan *plan = &subject->plan;
    probes_free(&subject->probes);
    while (first < plan->site_count && !plan->sites[first].ranges)
        first++;
    subject->probes = (struct probes){.plan = plan, .first = first};
    if (first == plan->site_count)
        return NULL;
    subject->probes.last = probes_last(plan, first);
    return probes_make(&subject->probes, &subject->of.loan, probe);
}

bool values_are_read(void) { return atomic_load(&all.on); }

static const char *plan_and_prepare(struct probed *subject) {
    const char *why = blocks_obstacle(subject->of.loan.device);
    if (why)
        return why;
    if (!bench_ready(&all.bench, subject->of.loan.context) || (!probe && !probe_load(&module, &probe)))
        return "gviz's kernels could not be loaded on this GPU";
    why = subject_obstacle(&subject->of);
    why = why ? why : arcs_obstacle(subject->of.loan.level);
    why = why ? why : plan_make(&subject->plan, &subject->of.loan);
    return why ? why : prepare(subject, 0);
}

/* Returns whether its copy is there; else it is over, or a later launch tries again. */
static bool begin(struct probed *subject) {
    const char *why;
    bool begun = subject->of.lent, ready = subject_borrow(&subject->of, NULL, &why);
    if (begun || (!ready && !why))
        return ready;
    why = why ? why : plan_and_prepare(subject);
    if (why)
        finish(subject, why);
    return !why;
}

/* -- one slice --------------------------------------------------------------------------------------------- */

static void after_slice(struct probed *subject, struct reading *reading) {
    const char *why = reading->why;
    if (reading->stale) {
        give_back(subject);
        if ((why = subject_stale(&subject->of)))
            finish(subject, why);
        return;
    }
    if (!why) {
        write(subject, reading);
        eager_match(&subject->plan, subject->of.loan.graph_id, subject->of.loan.exec_id);
        why = prepare(subject, subject->probes.last);
    }
    if (why || !subject->probes.copy)
        finish(subject, why);
}

static void read_once(struct subject *of) {
    struct probed *subject = (struct probed *)of;
    const char *why;
    if (!begin(subject) || of->spent_ns + now_ns() - of->begin_ns >= options.values_ns)
        return;
    struct reading reading = {.of = of, .bench = &all.bench, .probes = &subject->probes};
    reading.values = calloc(probes_ranges(&subject->probes) + 1, sizeof *reading.values);
    if (!reading.values)
        finish(subject, "there is no memory on the host for what is read");
    else if (subject_slice(of, reading_run, &reading, &why))
        after_slice(subject, &reading);
    else if (why)
        finish(subject, why);
    free(reading.values);
    free(reading.pieces);
}

static void finish_any(struct subject *of, const char *why) { finish((struct probed *)of, why); }

static void spend(struct subject *of) { finish_any(of, "its budget (--values-budget) was spent"); }

static void unload(void) {
    if (probe)
        cuda.ModuleUnload(module);
    probe = NULL;
}

static struct subjects all = {.lock = &lock, .bytes = sizeof(struct probed), .budget_ns = &options.values_ns,
                              .once = read_once, .finish = finish_any, .spend = spend, .unload = unload};

/* -- events ------------------------------------------------------------------------------------------------- */

void values_launch(CUgraphExec exec, CUstream launched_on) { subjects_launch(&all, exec, launched_on); }

void values_start(void) {
    if (!bench_find_gate())
        return;
    types_prepare();
    atomic_store(&all.on, true);
}

void values_stop(void) { subjects_stop(&all, "the program ended before all of it was read"); }

void values_context_ends(CUcontext context) {
    eager_context_ends(context);
    subjects_context_ends(&all, context, "its context was destroyed before all of it was read");
}

void values_destroyed(CUgraphExec exec) {
    subjects_destroyed(&all, exec, "the program destroyed it before all of it was read");
}

/* In a forked child: what there is belongs to the parent. */
void values_abandon(void) {
    probe = NULL;
    eager_abandon();
    subjects_abandon(&all);
}
