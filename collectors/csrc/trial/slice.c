/* A slice: launches of a trial while nothing else runs. It leaves the memory as it was.
 *
 * Every launch begins with the memory that the program's own next launch will begin with. The first
 * pair of an experiment warms the copies up, and what they leave in memory is compared; the pairs
 * after it are timed, the edited one first in every other.
 */
#include "launch/launch.h"
#include "trial/parts.h"

#define MILLISECOND_NS 1000000
/* Launches begin no later than this, but for one pair; then memory is restored. */
#define LAUNCHES_NS (12 * MILLISECOND_NS)
/* What takes longer would take more than a slice with its pair and what restores the memory. */
#define LONGEST_LAUNCH_NS (4 * MILLISECOND_NS)

/* Of the kernel that tells the speed of the clock: about 0.1 ms. */
#define CLOCKS 200000u

static const char failed[] = "a launch of a copy failed";

static uint64_t launch(const struct slice_work *work, const struct copy *copy) {
    return bench_launch(work->bench, copy ? copy->exec : work->of->loan.exec);
}

/* Launch one, note what it wrote, restore that. `others`, unless NULL: sums to compare with. */
static bool launch_summed(struct slice_work *work, struct saved *memory, const struct copy *copy,
                          const uint64_t *others, uint64_t *ns) {
    *ns = launch(work, copy);
    bool good = *ns && saved_sum(memory, &work->bench->kernels);
    if (good && others)
        work->experiment->results = saved_differs(memory, others) ? TRIAL_DIFFERENT : TRIAL_EQUAL;
    saved_note_written(memory);
    return saved_restore(memory, !good) && good;
}

static void warm_up(struct slice_work *work, struct saved *memory, uint64_t *room) {
    struct experiment *experiment = work->experiment;
    uint64_t ns[2] = {0, 0};
    bool good = launch_summed(work, memory, experiment->unedited, NULL, &ns[0]);
    for (size_t i = 0; i < memory->count; i++)
        room[i] = memory->sums[i];
    good = good && launch_summed(work, memory, experiment->edited, room, &ns[1]);
    work->failed = !good;
    if (good && ns[0] > LONGEST_LAUNCH_NS)
        work->why = "a launch takes longer than 4 ms, too long for a slice of 20 ms";
    experiment->warm = good;
}

static void launch_pair(struct slice_work *work, struct saved *memory) {
    struct experiment *experiment = work->experiment;
    struct trial_pair *pair = &experiment->pairs[experiment->count];
    bool edited_first = experiment->count & 1;
    uint64_t ns[2];
    for (int i = 0; i < 2; i++) {
        bool edited = edited_first == (i == 0);
        ns[edited] = launch(work, edited ? experiment->edited : experiment->unedited);
        if (!saved_restore(memory, false) || !ns[edited]) {
            work->failed = true;
            work->why = failed;
            return;
        }
    }
    *pair = (struct trial_pair){ns[0], ns[1]};
    experiment->count++;
}

static void launch_pairs(struct slice_work *work, struct saved *memory, int64_t begin_ns) {
    struct experiment *experiment = work->experiment;
    uint64_t *room = memory->before + memory->count; /* see saved_make */
    if (!experiment->warm)
        warm_up(work, memory, room);
    else /* which pieces this process writes is to be known in each slice */
        work->failed = !launch_summed(work, memory, experiment->unedited, NULL, &(uint64_t){0});
    if (work->failed)
        work->why = failed;
    if (work->why)
        return;
    do /* where saving takes long, a slice without a pair would be one for nothing */
        launch_pair(work, memory);
    while (!work->why && experiment->count < MOST_PAIRS && monotonic_ns() - begin_ns < LAUNCHES_NS);
}

/* How fast the GPU's clock runs, by a kernel that spends time. */
static void measure_clock(struct bench *bench) {
    uint64_t ns[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        uint64_t clocks = (uint64_t)(i + 1) * CLOCKS;
        void *arguments[] = {&clocks};
        int64_t took = 0;
        bool good = cuda.EventRecord(bench->start, bench->stream) == 0 &&
                    cuda.LaunchKernel(bench->kernels.spin, 1, 1, 1, 1, 1, 1, 0, bench->stream, arguments, NULL) == 0 &&
                    cuda.EventRecord(bench->end, bench->stream) == 0 && cuda.StreamSynchronize(bench->stream) == 0 &&
                    event_distance(bench->start, bench->end, &took);
        ns[i] = good && took > 0 ? (uint64_t)took : 0;
    }
    if (ns[0] && ns[1] > ns[0])
        bench->kernels.clocks_per_ns = (double)CLOCKS / (double)(ns[1] - ns[0]);
}

void slice_run(void *data) {
    struct slice_work *work = data;
    struct experiment *experiment = work->experiment;
    struct saved memory;
    int64_t begin_ns = monotonic_ns();
    uint64_t begun_ns = now_ns();
    if ((work->stale = !lend_is_current(&work->of->loan)))
        return;
    work->why = blocks_obstacle(work->of->loan.device);
    if (!work->why)
        work->why = subject_obstacle(work->of);
    if (!work->why)
        work->why = saved_make(&memory, work->bench);
    if (work->why)
        return;
    work->saved_bytes = memory.bytes;
    if (!work->bench->kernels.clocks_per_ns)
        measure_clock(work->bench);
    launch_pairs(work, &memory, begin_ns);
    bool over = work->failed && experiment->kind >= TRIAL_OFF; /* nobody needs the memory any more */
    if (!over && !saved_undo(&memory, &work->bench->kernels) && !saved_undo(&memory, &work->bench->kernels))
        work->why = "memory could not be restored";
    saved_free(&memory);
    behind_keep(work->bench->context, work->bench->stream);
    experiment->begin_ns = experiment->begin_ns ? experiment->begin_ns : begun_ns;
    experiment->held_ns += (uint64_t)(monotonic_ns() - begin_ns);
}
