/* Work that may not return: a thread of gviz's own does it, and who needs it waits with a limit. */
#include "state/state.h"
#include "values/parts.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct errand {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    void (*work)(void *data);
    void (*release)(void *data);
    void *data;
    bool done, abandoned; /* by who waited */
};

static void free_errand(struct errand *errand) {
    pthread_mutex_destroy(&errand->lock);
    pthread_cond_destroy(&errand->ended);
    free(errand);
}

static void *errand_main(void *data) {
    struct errand *errand = data;
    this_thread()->inside = 1;
    errand->work(errand->data);
    pthread_mutex_lock(&errand->lock);
    bool abandoned = errand->abandoned;
    errand->done = true;
    pthread_cond_signal(&errand->ended);
    pthread_mutex_unlock(&errand->lock);
    if (abandoned) {
        errand->release(errand->data);
        free_errand(errand);
    }
    return NULL;
}

/* Signals are the program's: its handlers do not run here. */
static bool start(struct errand *errand, pthread_t *thread) {
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    bool started = pthread_create(thread, NULL, errand_main, errand) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Returns whether it is done; else it is abandoned. */
static bool await(struct errand *errand, uint64_t limit_ns) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t at = (uint64_t)until.tv_nsec + limit_ns;
    until.tv_sec += (time_t)(at / 1000000000ull);
    until.tv_nsec = (long)(at % 1000000000ull);
    pthread_mutex_lock(&errand->lock);
    int status = 0;
    while (!errand->done && status == 0)
        status = pthread_cond_timedwait(&errand->ended, &errand->lock, &until);
    bool done = errand->done;
    errand->abandoned = !done;
    pthread_mutex_unlock(&errand->lock);
    return done;
}

bool done_apart(void (*work)(void *data), void *data, void (*release)(void *data), uint64_t limit_ns) {
    struct errand *errand = malloc(sizeof *errand);
    if (errand) {
        *errand = (struct errand){.work = work, .release = release, .data = data};
        pthread_mutex_init(&errand->lock, NULL);
        make_steady_condition(&errand->ended);
    }
    pthread_t thread;
    bool started = errand && start(errand, &thread), done = started && await(errand, limit_ns);
    if (started && !done) {
        pthread_detach(thread);
        return false;
    }
    if (done)
        pthread_join(thread, NULL);
    else
        release(data);
    if (errand)
        free_errand(errand);
    return done;
}
