/* A reading: one slice, in which a copy with probes is launched twice, and what it wrote is undone.
 *
 * Before it the program's executable is launched likewise: what that leaves in memory is what the copy
 * must leave.
 */
#include "calls/calls.h"
#include "values/parts.h"

#include <stdlib.h>

#define MILLISECOND_NS 1000000
/* The second launch begins no later than this; then memory is restored. */
#define LAUNCHES_NS (12 * MILLISECOND_NS)

static const char failed[] = "a launch of a copy failed";

/* Pieces that a launch has written, neighbours as one. */
static void note_pieces(struct reading *reading, const struct saved *memory) {
    reading->pieces = calloc(memory->count + 1, sizeof *reading->pieces);
    for (size_t i = 0; reading->pieces && i < memory->count; i++) {
        const struct piece *piece = &memory->pieces[i];
        struct written_piece *last = &reading->pieces[reading->record.pieces];
        if (!piece->written)
            continue;
        if (reading->record.pieces && last[-1].address + last[-1].bytes == piece->at)
            last[-1].bytes += piece->bytes;
        else {
            *last = (struct written_piece){piece->at, piece->bytes};
            reading->record.pieces++;
        }
    }
}

/* Launch, sum up what it left, restore that. `sums`, unless NULL: a place for them. */
static bool launch(struct reading *reading, struct saved *memory, CUgraphExec exec, uint64_t *sums, uint64_t *ns) {
    const struct kernels *kernels = &reading->bench->kernels;
    *ns = bench_launch(reading->bench, exec);
    bool good = *ns && saved_sum(memory, kernels);
    for (size_t i = 0; sums && i < memory->count; i++)
        sums[i] = memory->sums[i];
    saved_note_written(memory);
    return good;
}

static bool launch_probed(struct reading *reading, struct saved *memory, uint64_t *ns) {
    struct probes *probes = reading->probes;
    return launch(reading, memory, probes->copy->exec, NULL, ns) && probes_read(probes);
}

/* Whether two launches of the copy read the same is noted for each value. */
static bool repeat(struct reading *reading, struct saved *memory) {
    size_t count = reading->record.values;
    struct probed_value *again = calloc(count + 1, sizeof *again);
    uint64_t ns;
    bool good = again && launch_probed(reading, memory, &ns);
    reading->record.repeats = TRIAL_EQUAL;
    if (good)
        probes_values(reading->probes, again);
    for (size_t i = 0; good && i < count; i++) {
        struct probed_value *value = &reading->values[i];
        value->flags |= (value->hash_before != again[i].hash_before ? VALUE_VARIES_BEFORE : 0) |
                        (value->hash_after != again[i].hash_after ? VALUE_VARIES_AFTER : 0);
        if (value->flags & (VALUE_VARIES_BEFORE | VALUE_VARIES_AFTER))
            reading->record.repeats = TRIAL_DIFFERENT;
    }
    free(again);
    return good && saved_restore(memory, false);
}

static void read_values(struct reading *reading, struct saved *memory, int64_t begin_ns) {
    uint64_t *expected = memory->before + memory->count; /* see saved_make */
    struct values_record *record = &reading->record;
    bool good = probes_upload(reading->probes) &&
                launch(reading, memory, reading->of->loan.exec, expected, &record->plain_ns);
    if (good)
        note_pieces(reading, memory);
    good = good && saved_restore(memory, false) && launch_probed(reading, memory, &record->probed_ns) &&
           probes_read_contents(reading->probes);
    if (good) {
        record->results = saved_differs(memory, expected) ? TRIAL_DIFFERENT : TRIAL_EQUAL;
        record->values = (uint32_t)probes_values(reading->probes, reading->values);
        good = saved_restore(memory, false);
    }
    if (good && monotonic_ns() - begin_ns < LAUNCHES_NS)
        good = repeat(reading, memory);
    if (!good)
        reading->why = failed;
}

void reading_run(void *data) {
    struct reading *reading = data;
    struct loan *loan = &reading->of->loan;
    struct saved memory;
    int64_t begin_ns = monotonic_ns();
    reading->record.begin_ns = now_ns();
    if ((reading->stale = !lend_is_current(loan)))
        return;
    reading->why = blocks_obstacle(loan->device);
    if (!reading->why)
        reading->why = subject_obstacle(reading->of);
    if (!reading->why)
        reading->why = saved_make(&memory, reading->bench);
    if (reading->why)
        return;
    reading->record.saved_bytes = memory.bytes;
    read_values(reading, &memory, begin_ns);
    if (!saved_undo(&memory, &reading->bench->kernels) && !saved_undo(&memory, &reading->bench->kernels))
        reading->why = "memory could not be restored";
    saved_free(&memory);
    reading->record.held_ns = (uint64_t)(monotonic_ns() - begin_ns);
}
