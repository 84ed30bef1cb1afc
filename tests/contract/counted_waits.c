/* Counts the waits with a limit of gviz's thread that flushes, preloaded: one that looks again and again shows by
 * them, however little time a busy machine gives it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int waits;

int counted_waits(void) { return waits; }

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    char name[16] = "";
    int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *) =
        (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    pthread_getname_np(pthread_self(), name, sizeof name);
    waits += strcmp(name, "gviz-flush") == 0;
    return next(condition, mutex, until);
}
