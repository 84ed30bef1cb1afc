/* Threads that Python does not know: each captures, instantiates and launches a graph of its own,
 * through driver functions whose addresses it is given. No CUDA header is needed. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct driver {
    int (*CtxSetCurrent)(void *);
    int (*StreamBeginCapture)(void *, int);
    int (*StreamEndCapture)(void *, void **);
    int (*LaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                        void **, void **);
    int (*GraphInstantiateWithFlags)(void **, void *, unsigned long long);
    int (*GraphLaunch)(void *, void *);
    int (*StreamSynchronize)(void *);
};

struct job {
    const struct driver *driver;
    void *context, *function, *stream;
    int launches, result;
};

static void *work(void *opaque) {
    struct job *job = opaque;
    const struct driver *d = job->driver;
    uint64_t duration_ns = 2000;
    void *parameters[] = {&duration_ns}, *graph = NULL, *exec = NULL;
    int bad = d->CtxSetCurrent(job->context);
    bad |= d->StreamBeginCapture(job->stream, 1 /* thread local */);
    for (int i = 0; i < 3; i++)
        bad |= d->LaunchKernel(job->function, 1, 1, 1, 32, 1, 1, 0, job->stream, parameters, NULL);
    bad |= d->StreamEndCapture(job->stream, &graph);
    bad |= d->GraphInstantiateWithFlags(&exec, graph, 0);
    for (int i = 0; i < job->launches && !bad; i++)
        bad |= d->GraphLaunch(exec, job->stream);
    job->result = bad | d->StreamSynchronize(job->stream);
    return NULL;
}

/* Returns 0, or a CUresult (or several, or-ed). */
__attribute__((visibility("default"))) int run_threads(const struct driver *driver, void *context, void *function,
                                                       void **streams, int count, int launches) {
    enum { MOST = 16 };
    pthread_t threads[MOST];
    struct job jobs[MOST];
    int result = 0;
    if (count > MOST)
        return -1;
    for (int i = 0; i < count; i++) {
        jobs[i] = (struct job){driver, context, function, streams[i], launches, 0};
        if (pthread_create(&threads[i], NULL, work, &jobs[i]) != 0)
            return -1;
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        result |= jobs[i].result;
    }
    return result;
}
