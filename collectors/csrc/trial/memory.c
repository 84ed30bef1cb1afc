/* Memory of a slice: saved, summed up, restored, all on the device.
 *
 * Pieces are summed up rather than compared: that needs no room for a second copy. A sum is of words
 * that were mixed with their places (splitmix64), so that changes do not cancel each other out.
 *
 * Reference: Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators.
 */
#include "calls/calls.h"
#include "trial/parts.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (2u << 20)
#define THREADS 256
#define SUM_BYTES sizeof(uint64_t)

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
static bool copy_run(const struct saved *memory, const struct piece *first, const struct piece *last, bool back) {
    CUdeviceptr saved = memory->scratch + first->saved;
    size_t bytes = last->at + last->bytes - first->at;
    return cuda.MemcpyDtoDAsync(back ? first->at : saved, back ? saved : first->at, bytes, memory->stream) == 0;
}

/* A copy takes microseconds to request, whatever it copies: a hundred of 2 MiB take five times as long as one. */
static bool copy_pieces(const struct saved *memory, bool all, bool back) {
    const struct piece *pieces = memory->pieces;
    bool good = true;
    for (size_t first = 0, next; first < memory->count; first = next) {
        next = first + 1;
        if (!all && !pieces[first].written)
            continue;
        while (next < memory->count && pieces[next].block == pieces[first].block && (all || pieces[next].written))
            next++;
        good = copy_run(memory, &pieces[first], &pieces[next - 1], back) && good;
    }
    return good;
}

static bool save(struct saved *memory, const struct kernels *kernels) {
    if (!copy_pieces(memory, true, false) || !saved_sum(memory, kernels))
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
        why = "there is no memory on the host to save the device's with";
    else if (!has_room(memory->bytes))
        why = "the GPU has too little free memory to save what the process has";
    else if (cuda.MemAlloc(&memory->scratch, memory->bytes + (memory->count + 1) * SUM_BYTES) != 0)
        why = "the GPU gave no memory to save what the process has";
    else if (!save(memory, &bench->kernels))
        why = "the memory of the process could not be saved";
    free(blocks);
    if (why)
        saved_free(memory);
    return why;
}

/* -- sums ---------------------------------------------------------------------------------------------- */

/* Of pieces that lie one after the other: of one block, or of neighbours. */
static bool sum_run(const struct saved *memory, const struct kernels *kernels, size_t first, size_t last) {
    CUdeviceptr at = memory->pieces[first].at;
    CUdeviceptr to = memory->scratch + memory->bytes + first * SUM_BYTES;
    const struct piece *end = &memory->pieces[last - 1];
    uint64_t words = whole_words(end->at + end->bytes - at) / 8;
    void *arguments[] = {&at, &words, &to};
    return cuda.LaunchKernel(kernels->sum, (unsigned)(last - first), 1, 1, THREADS, 1, 1, 0, memory->stream,
                             arguments, NULL) == 0;
}

bool saved_sum(struct saved *memory, const struct kernels *kernels) {
    CUdeviceptr sums = memory->scratch + memory->bytes;
    bool good = cuda.MemsetD32Async(sums, 0, memory->count * SUM_BYTES / 4 + 1, memory->stream) == 0;
    for (size_t first = 0, i = 1; good && i <= memory->count; i++) {
        const struct piece *before = &memory->pieces[i - 1];
        bool goes_on = i < memory->count && before->bytes == PIECE_BYTES &&
                       memory->pieces[i].at == before->at + PIECE_BYTES;
        if (goes_on)
            continue;
        good = sum_run(memory, kernels, first, i);
        first = i;
    }
    return good && cuda.StreamSynchronize(memory->stream) == 0 &&
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
    bool good = copy_pieces(memory, all, true);
    return cuda.StreamSynchronize(memory->stream) == 0 && good;
}

bool saved_undo(struct saved *memory, const struct kernels *kernels) {
    return saved_restore(memory, true) && saved_sum(memory, kernels) && !saved_differs(memory, memory->before);
}
