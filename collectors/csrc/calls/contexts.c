/* The contexts that the program uses, and what CUPTI calls their streams. */
#include "calls/calls.h"

#include <string.h>

#define MAX_CONTEXTS 64

GVIZ_LOCK(context_lock);
static CUcontext contexts[MAX_CONTEXTS];
static const struct context_listener *listener;
static _Atomic uint32_t stream_generation GVIZ_HOT = 1;

void contexts_listen(const struct context_listener *to) { listener = to; }

void context_add(CUcontext context) {
    if (!context)
        return;
    bool added = false;
    pthread_mutex_lock(&context_lock);
    for (int i = 0; i < MAX_CONTEXTS; i++) {
        if (contexts[i] == context)
            break;
        if (!contexts[i]) {
            contexts[i] = context;
            added = true;
            break;
        }
    }
    pthread_mutex_unlock(&context_lock);
    if (added && listener)
        listener->met(context);
}

void context_remove(CUcontext context) {
    pthread_mutex_lock(&context_lock);
    int count = 0;
    for (int i = 0; i < MAX_CONTEXTS; i++)
        if (contexts[i] && contexts[i] != context)
            contexts[count++] = contexts[i];
    for (int i = count; i < MAX_CONTEXTS; i++)
        contexts[i] = NULL;
    pthread_mutex_unlock(&context_lock);
    if (listener)
        listener->leaving(context);
}

void contexts_forget(void) {
    pthread_mutex_lock(&context_lock);
    memset(contexts, 0, sizeof contexts);
    pthread_mutex_unlock(&context_lock);
}

CUcontext context_at(int index) {
    pthread_mutex_lock(&context_lock);
    CUcontext context = index < MAX_CONTEXTS ? contexts[index] : NULL;
    pthread_mutex_unlock(&context_lock);
    return context;
}

/* Asking CUPTI takes longer than the rest of a launch callback: the last answer is kept, until
 * a stream is destroyed and its handle can come to mean another. */
GVIZ_HOT_CODE uint32_t stream_id_of(CUcontext context, CUstream stream, bool per_thread) {
    static __thread struct {
        CUcontext context;
        CUstream stream;
        bool per_thread;
        uint32_t generation, id;
    } last;
    uint32_t generation = atomic_load_explicit(&stream_generation, memory_order_relaxed);
    if (last.generation == generation && last.context == context && last.stream == stream &&
        last.per_thread == per_thread)
        return last.id;
    uint32_t id = UINT32_MAX;
    bool own = per_thread || stream == CU_STREAM_PER_THREAD;
    CUstream handle = stream == CU_STREAM_PER_THREAD ? NULL : stream;
    if (cupti.cuptiGetStreamIdEx(context, handle, own, &id) != 0)
        return UINT32_MAX;
    last.context = context;
    last.stream = stream;
    last.per_thread = per_thread;
    last.generation = generation;
    last.id = id;
    return id;
}

void stream_ids_forget(void) { atomic_fetch_add(&stream_generation, 1); }
