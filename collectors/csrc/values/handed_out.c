/* Blocks that allocators of the program handed out: Python asks their own bookkeeping.
 *
 * A thread of gviz's own asks, so that no Python runs on the program's; who waits for it has a limit,
 * as the interpreter may be busy, or wait for whoever waits here.
 */
#include "state/state.h"
#include "values/parts.h"

#include <stdlib.h>

#define LIMIT_NS 50000000
/* More are not asked for: each is an object of Python's. */
#define MOST_BLOCKS 65536

/* Fills in addresses and bytes of at most `room` blocks of a device; returns how many, -1: not known. */
typedef int64_t (*lister_t)(int32_t device, struct handed_out *blocks, uint64_t room);

struct question {
    lister_t lister;
    CUdevice device;
    int64_t count;
    struct handed_out *blocks;
};

static _Atomic(lister_t) lister;

/* NULL: nobody can be asked any more; the last one must stay callable, a thread may be in it. */
GVIZ_EXPORT void gviz_set_block_lister(void *function) { atomic_store(&lister, (lister_t)function); }

static void release(void *data) {
    struct question *question = data;
    free(question->blocks);
    free(question);
}

static void ask(void *data) {
    struct question *question = data;
    question->count = question->lister(question->device, question->blocks, MOST_BLOCKS);
}

static struct question *begin(lister_t asked, CUdevice device) {
    struct question *question = calloc(1, sizeof *question);
    struct handed_out *blocks = calloc(MOST_BLOCKS, sizeof *blocks);
    if (!question || !blocks) {
        free(question);
        free(blocks);
        return NULL;
    }
    *question = (struct question){.lister = asked, .device = device, .blocks = blocks};
    return question;
}

static int compare(const void *a, const void *b) {
    const CUdeviceptr x = ((const struct handed_out *)a)->address, y = ((const struct handed_out *)b)->address;
    return (x > y) - (x < y);
}

struct handed_out *handed_out_list(CUdevice device, size_t *count) {
    lister_t asked = atomic_load(&lister);
    struct question *question = asked ? begin(asked, device) : NULL;
    struct handed_out *blocks = NULL;
    *count = 0;
    if (!question || !done_apart(ask, question, release, LIMIT_NS))
        return NULL;
    if (question->count > 0 && question->count <= MOST_BLOCKS) {
        blocks = question->blocks;
        question->blocks = NULL;
        *count = (size_t)question->count;
        qsort(blocks, *count, sizeof *blocks, compare);
    }
    release(question);
    return blocks;
}
