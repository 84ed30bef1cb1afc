/* Time that passes only where threads wait, preloaded before the gate: the same in each run, however busy
 * the machine. One thread runs at a time, until it sleeps, waits for a futex or joins; then the next that
 * is ready runs, or the one whose wait ends first, and time goes on to its end. A look at the clock takes
 * 50 ns. It knows the calls by which the gate, the driver and the programs of these tests wait. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 64
#define LOOK_NS 50
#define SECOND_NS 1000000000u
#define FOR_EVER UINT64_MAX

enum state { NONE, READY, WAITING, JOINING };

struct thread {
    enum state state;
    uint64_t until_ns;    /* WAITING */
    const void *word;     /* WAITING for this futex; NULL: asleep */
    bool woken;
    pthread_cond_t turn;
    void *(*function)(void *);
    void *data;
};

static struct thread threads[THREADS];
static __thread struct thread *own;
static struct thread *running;
static uint64_t now_ns = 1000 * (uint64_t)SECOND_NS;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char *what) {
    fprintf(stderr, "stepped time: %s\n", what);
    _exit(1);
}

static void *next_of(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        fail(name);
    return found;
}

__attribute__((constructor)) static void begin(void) {
    own = running = threads;
    own->state = READY;
}

/* Let another thread run. `lock` is held. */
static void hand_over(void) {
    struct thread *next = NULL;
    bool joining = false;
    for (struct thread *thread = threads; thread < threads + THREADS; thread++) {
        joining |= thread->state == JOINING;
        if (thread->state == READY) {
            next = thread;
            break;
        }
        if (thread->state == WAITING && (!next || thread->until_ns < next->until_ns))
            next = thread;
    }
    if (next && next->state == WAITING) {
        if (next->until_ns == FOR_EVER)
            fail("all threads wait for ever");
        now_ns = next->until_ns > now_ns ? next->until_ns : now_ns;
        next->state = READY;
    }
    if (!next && !joining)
        return; /* the last one ends */
    running = next;
    if (next && next != own)
        pthread_cond_signal(&next->turn);
}

static void await_turn(void) {
    while (running != own)
        pthread_cond_wait(&own->turn, &lock);
}

/* Returns whether another thread ended the wait. */
static bool wait_until(uint64_t until_ns, const void *word) {
    pthread_mutex_lock(&lock);
    own->state = WAITING;
    own->until_ns = until_ns;
    own->word = word;
    own->woken = false;
    hand_over();
    await_turn();
    own->word = NULL;
    pthread_mutex_unlock(&lock);
    return own->woken;
}

static uint64_t in_ns(const struct timespec *time) {
    return (uint64_t)time->tv_sec * SECOND_NS + (uint64_t)time->tv_nsec;
}

/* -- what stands before libc ------------------------------------------------------------------- */

int clock_gettime(clockid_t clock, struct timespec *time) {
    (void)clock;
    pthread_mutex_lock(&lock);
    now_ns += LOOK_NS;
    *time = (struct timespec){(time_t)(now_ns / SECOND_NS), (long)(now_ns % SECOND_NS)};
    pthread_mutex_unlock(&lock);
    return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left) {
    (void)left;
    wait_until(now_ns + in_ns(time), NULL);
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    (void)clock;
    (void)left;
    wait_until(flags == TIMER_ABSTIME ? in_ns(time) : now_ns + in_ns(time), NULL);
    return 0;
}

static long wake(const void *word, int most) {
    int woken = 0;
    pthread_mutex_lock(&lock);
    for (struct thread *thread = threads; thread < threads + THREADS; thread++) {
        if (woken >= most || thread->state != WAITING || thread->word != word)
            continue;
        thread->state = READY;
        thread->woken = true;
        woken++;
    }
    pthread_mutex_unlock(&lock);
    return woken;
}

static long wait_for(const uint32_t *word, uint32_t value, const struct timespec *limit) {
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value)
        return -1; /* EAGAIN */
    return wait_until(limit ? now_ns + in_ns(limit) : FOR_EVER, word) ? 0 : -1;
}

long syscall(long number, ...) {
    static long (*next)(long, ...);
    long given[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        given[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex && (given[1] & FUTEX_CMD_MASK) == FUTEX_WAKE)
        return wake((void *)given[0], (int)given[2]);
    if (number == SYS_futex && (given[1] & FUTEX_CMD_MASK) == FUTEX_WAIT)
        return wait_for((uint32_t *)given[0], (uint32_t)given[2], (struct timespec *)given[3]);
    if (number == SYS_futex)
        fail("another call of futex");
    if (!next)
        next = (long (*)(long, ...))next_of("syscall");
    return next(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

static void *run(void *thread) {
    own = thread;
    pthread_mutex_lock(&lock);
    await_turn();
    pthread_mutex_unlock(&lock);
    void *result = own->function(own->data);
    pthread_mutex_lock(&lock);
    own->state = NONE;
    hand_over();
    pthread_mutex_unlock(&lock);
    return result;
}

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*function)(void *), void *data) {
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))next_of("pthread_create");
    pthread_mutex_lock(&lock);
    struct thread *thread = threads;
    while (thread < threads + THREADS && thread->state != NONE)
        thread++;
    if (thread == threads + THREADS)
        fail("too many threads");
    *thread = (struct thread){
        .state = READY, .turn = PTHREAD_COND_INITIALIZER, .function = function, .data = data};
    pthread_mutex_unlock(&lock);
    return next(id, attributes, run, thread);
}

int pthread_join(pthread_t id, void **result) {
    int (*next)(pthread_t, void **) = (int (*)(pthread_t, void **))next_of("pthread_join");
    pthread_mutex_lock(&lock);
    own->state = JOINING;
    hand_over();
    pthread_mutex_unlock(&lock);
    int answer = next(id, result);
    pthread_mutex_lock(&lock);
    own->state = READY;
    if (!running)
        running = own;
    await_turn();
    pthread_mutex_unlock(&lock);
    return answer;
}
