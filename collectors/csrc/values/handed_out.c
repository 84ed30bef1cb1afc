/* Blocks that allocators of the program handed out: Python asks their own bookkeeping.
 *
 * A thread of gviz's own asks, so that no Python runs on the program's; who waits for it has a limit,
 * as the interpreter may be busy, or wait for whoever waits here.
 */
#include "state/state.h"
#include "values/parts.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define LIMIT_NS 50000000
/* More are not asked for: each is an object of Python's. */
#define MOST_BLOCKS 65536

/* Fills in addresses and bytes of at most `room` blocks of a device; returns how many, -1: not known. */
typedef int64_t (*lister_t)(int32_t device, struct handed_out *blocks, uint64_t room);

struct question {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    lister_t lister;
    CUdevice device;
    int owners; /* the thread and who waits: the last frees it */
    int64_t count;
    bool done;
    struct handed_out *blocks;
};

static _Atomic(lister_t) lister;

/* NULL: nobody can be asked any more; the last one must stay callable, a thread may be in it. */
GVIZ_EXPORT void gviz_set_block_lister(void *function) { atomic_store(&lister, (lister_t)function); }

/* With its lock held, which is released. */
static void leave(struct question *question) {
    bool last = --question->owners == 0;
    pthread_mutex_unlock(&question->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&question->lock);
    pthread_cond_destroy(&question->answered);
    free(question->blocks);
    free(question);
}

static void *ask(void *data) {
    struct question *question = data;
    this_thread()->inside = 1;
    int64_t count = question->lister(question->device, question->blocks, MOST_BLOCKS);
    pthread_mutex_lock(&question->lock);
    question->count = count;
    question->done = true;
    pthread_cond_signal(&question->answered);
    leave(question);
    return NULL;
}

static struct question *begin(lister_t asked, CUdevice device) {
    struct question *question = calloc(1, sizeof *question);
    struct handed_out *blocks = calloc(MOST_BLOCKS, sizeof *blocks);
    if (!question || !blocks) {
        free(question);
        free(blocks);
        return NULL;
    }
    *question = (struct question){.lister = asked, .device = device, .owners = 2, .blocks = blocks};
    pthread_mutex_init(&question->lock, NULL);
    make_steady_condition(&question->answered);
    return question;
}

/* Signals are the program's: its handlers do not run here. */
static bool start(struct question *question) {
    pthread_t thread;
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    bool started = pthread_create(&thread, NULL, ask, question) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}

static int compare(const void *a, const void *b) {
    const CUdeviceptr x = ((const struct handed_out *)a)->address, y = ((const struct handed_out *)b)->address;
    return (x > y) - (x < y);
}

struct handed_out *handed_out_list(CUdevice device, size_t *count) {
    lister_t asked = atomic_load(&lister);
    struct question *question = asked ? begin(asked, device) : NULL;
    struct handed_out *blocks = NULL;
    struct timespec until;
    *count = 0;
    if (!question)
        return NULL;
    pthread_mutex_lock(&question->lock);
    if (!start(question))
        question->owners--;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t at = (uint64_t)until.tv_nsec + LIMIT_NS;
    until.tv_sec += (time_t)(at / 1000000000ull);
    until.tv_nsec = (long)(at % 1000000000ull);
    int status = question->owners == 2 ? 0 : 1;
    while (!question->done && status == 0)
        status = pthread_cond_timedwait(&question->answered, &question->lock, &until);
    if (question->done && question->count > 0 && question->count <= MOST_BLOCKS) {
        blocks = question->blocks;
        question->blocks = NULL;
        *count = (size_t)question->count;
        qsort(blocks, *count, sizeof *blocks, compare);
    }
    leave(question);
    return blocks;
}
