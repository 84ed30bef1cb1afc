/* Pairs of events, used again and again: making one takes longer than recording it. */
#include "calls/calls.h"
#include "launch/launch.h"

#include <stdlib.h>

GVIZ_LOCK(lock);
static struct event_pair *pool;

static struct event_pair *create(CUcontext context) {
    struct event_pair *pair = calloc(1, sizeof *pair);
    if (!pair)
        return NULL;
    /* Creating an event is forbidden to a thread whose other stream is being captured. */
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    CUresult result = cuda.EventCreate(&pair->start, 0);
    if (result == 0 && (result = cuda.EventCreate(&pair->end, 0)) != 0)
        cuda.EventDestroy(pair->start);
    exchange_capture_mode(mode);
    if (result != 0) {
        free(pair);
        return NULL;
    }
    pair->context = context;
    return pair;
}

struct event_pair *pair_take(CUcontext context) {
    pthread_mutex_lock(&lock);
    struct event_pair **at = &pool;
    while (*at && (*at)->context != context)
        at = &(*at)->next;
    struct event_pair *pair = *at;
    if (pair)
        *at = pair->next;
    pthread_mutex_unlock(&lock);
    return pair ? pair : create(context);
}

void pair_return(struct event_pair *pair) {
    pthread_mutex_lock(&lock);
    pair->next = pool;
    pool = pair;
    pthread_mutex_unlock(&lock);
}

void pairs_drop(struct event_pair **list, CUcontext context) {
    while (*list) {
        struct event_pair *pair = *list;
        if (context && pair->context != context) {
            list = &pair->next;
            continue;
        }
        *list = pair->next;
        free(pair); /* its events go with their context */
    }
}

void pairs_forget(CUcontext context) {
    pthread_mutex_lock(&lock);
    pairs_drop(&pool, context);
    pthread_mutex_unlock(&lock);
}

void pairs_stop(void) {
    pthread_mutex_lock(&lock);
    struct event_pair *unused = pool;
    pool = NULL;
    pthread_mutex_unlock(&lock);
    CUcontext popped;
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED); /* a capture elsewhere goes on */
    for (struct event_pair *pair = unused; pair; pair = pair->next) {
        if (cuda.CtxPushCurrent(pair->context) != 0)
            continue;
        cuda.EventDestroy(pair->start);
        cuda.EventDestroy(pair->end);
        cuda.CtxPopCurrent(&popped);
    }
    exchange_capture_mode(mode);
    pairs_drop(&unused, NULL);
}

bool event_distance(CUevent from, CUevent to, int64_t *ns) {
    float milliseconds = 0;
    if (cuda.EventElapsedTime(&milliseconds, from, to) != 0 || milliseconds != milliseconds)
        return false;
    double exact_ns = (double)milliseconds * 1e6;
    *ns = (int64_t)(exact_ns < 0 ? exact_ns - 0.5 : exact_ns + 0.5);
    return true;
}
