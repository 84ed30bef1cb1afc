/* Memory of a slice: saved, summed up, restored, all on the device.
 *
 * Pieces are summed up rather than compared: that needs no room for a second copy. A sum is of words
 * that were mixed with their places (splitmix64), so that changes do not cancel each other out. All are
 * saved by one launch, and summed up by one: programs have hundreds of blocks, and each call takes
 * microseconds.
 *
 * Reference: Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators.
 */
#include "calls/calls.h"
#include "trial/parts.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (2u << 20)
#define THREADS 512 /* as kernels.c has it */
#define SUM_BYTES sizeof(uint64_t)

/* Of a piece, as kernels.c reads it. */
struct row {
    CUdeviceptr at;
    uint64_t words;
    CUdeviceptr saved;
};

/* -- pieces ----------------------------------------------------------------------------------------- */

static size_t whole_words(size_t bytes) { return (bytes + 7) / 8 * 8; }

static size_t pieces_of(size_t bytes) { return (bytes + PIECE_BYTES - 1) / PIECE_BYTES; }

/* Blocks become pieces, with a place for each in the scratch. */
static bool cut(struct saved *memory, const struct block *blocks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        memory->bytes += whole_words(blocks[i].bytes);
        memory->count += pieces_of(blocks[i].bytes);
    }
    memory->pieces = calloc(memory->count + 1, sizeof *memory->pieces);
    memory->before = calloc(2 * memory->count + 1, SUM_BYTES); /* and others to compare with */
    memory->sums = calloc(memory->count + 1, SUM_BYTES);
    if (!memory->pieces || !memory->before || !memory->sums)
        return false;
    size_t offset = 0, n = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t at = 0; at < blocks[i].bytes; at += PIECE_BYTES) {
            size_t rest = blocks[i].bytes - at;
            memory->pieces[n++] = (struct piece){blocks[i].address + at, offset + at,
                                                 rest < PIECE_BYTES ? rest : PIECE_BYTES, i, false};
        }
        offset += whole_words(blocks[i].bytes);
    }
    return true;
}

/* Twice what is needed: other processes want some, too. */
static bool has_room(size_t bytes) {
    size_t available = 0, total = 0;
    return cuda.MemGetInfo && cuda.MemGetInfo(&available, &total) == 0 && available / 2 > bytes;
}

void saved_free(struct saved *memory) {
    if (memory->scratch)
        cuda.MemFree(memory->scratch);
    free(memory->pieces);
    free(memory->before);
    free(memory->sums);
    memset(memory, 0, sizeof *memory);
}

/* Of pieces of one block, one after the other. */
static bool restore_run(const struct saved *memory, const struct piece *first, const struct piece *last) {
    size_t bytes = last->at + last->bytes - first->at;
    return cuda.MemcpyDtoDAsync(first->at, memory->scratch + first->saved, bytes, memory->stream) == 0;
}

/* A copy takes microseconds to request, whatever it copies: a hundred of 2 MiB take five times as long as one. */
static bool restore_pieces(const struct saved *memory, bool all) {
    const struct piece *pieces = memory->pieces;
    bool good = true;
    for (size_t first = 0, next; first < memory->count; first = next) {
        next = first + 1;
        if (!all && !pieces[first].written)
            continue;
        while (next < memory->count && pieces[next].block == pieces[first].block && (all || pieces[next].written))
            next++;
        good = restore_run(memory, &pieces[first], &pieces[next - 1]) && good;
    }
    return good;
}

static CUdeviceptr sums_of(const struct saved *memory) { return memory->scratch + memory->bytes; }

static CUdeviceptr table_of(const struct saved *memory) { return sums_of(memory) + (memory->count + 1) * SUM_BYTES; }

static bool put_table(const struct saved *memory) {
    struct row *rows = calloc(memory->count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < memory->count; i++) {
        const struct piece *piece = &memory->pieces[i];
        rows[i] = (struct row){piece->at, whole_words(piece->bytes) / 8, memory->scratch + piece->saved};
    }
    bool good = rows && (!memory->count ||
                         cuda.MemcpyHtoD(table_of(memory), rows, memory->count * sizeof *rows) == 0);
    free(rows);
    return good;
}

/* A block of threads for each piece. */
static bool launch(const struct saved *memory, CUfunction kernel) {
    CUdeviceptr table = table_of(memory), sums = sums_of(memory);
    void *arguments[] = {&table, &sums};
    return !memory->count || cuda.LaunchKernel(kernel, (unsigned)memory->count, 1, 1, THREADS, 1, 1, 0,
                                               memory->stream, arguments, NULL) == 0;
}

static bool save(struct saved *memory, const struct kernels *kernels) {
    if (!put_table(memory) || !launch(memory, kernels->copy) || !saved_sum(memory, kernels))
        return false;
    memcpy(memory->before, memory->sums, memory->count * SUM_BYTES);
    return true;
}

/* What was allocated, and the variables of modules; NULL without memory. */
static struct block *all_blocks(size_t *count) {
    size_t bytes, more;
    struct block *blocks = blocks_list(count, &bytes), *variables = images_blocks(&more);
    struct block *all = blocks && variables ? realloc(blocks, (*count + more + 1) * sizeof *all) : NULL;
    if (all) {
        memcpy(all + *count, variables, more * sizeof *all);
        *count += more;
    } else {
        free(blocks);
    }
    free(variables);
    return all;
}

const char *saved_make(struct saved *memory, const struct bench *bench) {
    size_t count;
    const char *why = NULL;
    *memory = (struct saved){.stream = bench->stream};
    struct block *blocks = all_blocks(&count);
    if (!blocks || !cut(memory, blocks, count))
        why = "there is no memory on the host to save the device's with, or its modules are not all known";
    else if (!has_room(memory->bytes))
        why = "the GPU has too little free memory to save what the process has";
    else if (cuda.MemAlloc(&memory->scratch, memory->bytes + (memory->count + 1) * (SUM_BYTES + sizeof(struct row))) != 0)
        why = "the GPU gave no memory to save what the process has";
    else if (!save(memory, &bench->kernels))
        why = "the memory of the process could not be saved";
    free(blocks);
    if (why)
        saved_free(memory);
    return why;
}

/* -- sums ---------------------------------------------------------------------------------------------- */

bool saved_sum(struct saved *memory, const struct kernels *kernels) {
    CUdeviceptr sums = sums_of(memory);
    return cuda.MemsetD32Async(sums, 0, memory->count * SUM_BYTES / 4 + 1, memory->stream) == 0 &&
           launch(memory, kernels->sum) && cuda.StreamSynchronize(memory->stream) == 0 &&
           (!memory->count || cuda.MemcpyDtoH(memory->sums, sums, memory->count * SUM_BYTES) == 0);
}

bool saved_differs(const struct saved *memory, const uint64_t *others) {
    for (size_t i = 0; i < memory->count; i++)
        if (memory->sums[i] != others[i])
            return true;
    return false;
}

void saved_note_written(struct saved *memory) {
    for (size_t i = 0; i < memory->count; i++)
        memory->pieces[i].written = memory->pieces[i].written || memory->sums[i] != memory->before[i];
}

bool saved_restore(struct saved *memory, bool all) {
    bool good = restore_pieces(memory, all);
    return cuda.StreamSynchronize(memory->stream) == 0 && good;
}

static bool is_as_before(struct saved *memory, const struct kernels *kernels) {
    return saved_sum(memory, kernels) && !saved_differs(memory, memory->before);
}

/* After each launch what it wrote was restored: to look takes less than to copy all once more. */
bool saved_undo(struct saved *memory, const struct kernels *kernels) {
    return is_as_before(memory, kernels) || (saved_restore(memory, true) && is_as_before(memory, kernels));
}
