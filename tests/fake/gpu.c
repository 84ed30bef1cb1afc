/* The virtual GPU: each operation gets a start and an end on CLOCK_REALTIME when it is submitted,
 * and counts as finished when the clock has passed its end. Its effect on memory comes at once. */
#include "fake.h"

#include <unistd.h>

enum {
    SUBMIT_NS = 1500, /* from the call to the earliest start */
    GAP_NS = 500,     /* between operations of one stream */
};

/* The legacy stream waits for every blocking stream, and they for it. */
uint64_t earliest_start_ns(struct stream *stream) {
    uint64_t start = fake_now_ns() + SUBMIT_NS;
    struct stream *legacy = legacy_stream();
    struct stream *other;
    if (stream->tail_ns + GAP_NS > start)
        start = stream->tail_ns + GAP_NS;
    if (stream->flags & 1) /* CU_STREAM_NON_BLOCKING */
        return start;
    for (size_t i = 0; (other = stream_at(i)) != NULL; i++)
        if ((stream == legacy && !(other->flags & 1)) || other == legacy)
            if (other->tail_ns + GAP_NS > start)
                start = other->tail_ns + GAP_NS;
    return start;
}

void run_on_stream(struct stream *stream, const struct work *work) {
    struct activity activity = {
        .work = work,
        .start_ns = earliest_start_ns(stream),
        .stream_id = stream->id,
        .context_id = fake_context()->id,
        .device_id = (uint32_t)fake_context()->device,
        .correlation_id = current_correlation_id(),
    };
    bool runs = gpu_gets_to(activity.start_ns);
    activity.end_ns = kernel_ends_ns(work, activity.start_ns);
    stream->tail_ns = activity.end_ns;
    if (!runs)
        return;
    if (work->type == NODE_HOST)
        queue_host_function(stream, &work->host, activity.start_ns);
    else if (work->type <= NODE_MEMSET)
        report_activity(&activity);
    perform(work);
}

/* -- waiting ------------------------------------------------------------------------------------ */

static void wait_until(uint64_t time_ns) {
    if (plan_wait_until(time_ns))
        return;
    for (uint64_t now = fake_now_ns(); now < time_ns; now = fake_now_ns())
        usleep((useconds_t)((time_ns - now) / 1000 + 1));
}

/* -- host functions: one thread runs them in the order of their times ---------------------------- */

struct host_call {
    CUDA_HOST_NODE_PARAMS host;
    uint64_t at_ns, ticket;
    struct host_call *next;
};

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t host_changed = PTHREAD_COND_INITIALIZER;
static struct host_call *host_calls;
static uint64_t last_ticket;
static uint64_t running_ticket;
static bool host_thread_started;

static void *run_host_functions(void *unused) {
    (void)unused;
    pthread_mutex_lock(&host_lock);
    for (;;) {
        while (!host_calls)
            pthread_cond_wait(&host_changed, &host_lock);
        struct host_call *call = host_calls;
        host_calls = call->next;
        running_ticket = call->ticket;
        pthread_mutex_unlock(&host_lock);
        wait_until(call->at_ns);
        call->host.fn(call->host.userData);
        free(call);
        pthread_mutex_lock(&host_lock);
        running_ticket = 0;
        pthread_cond_broadcast(&host_changed);
    }
    return NULL;
}

void queue_host_function(struct stream *stream, const CUDA_HOST_NODE_PARAMS *host, uint64_t at_ns) {
    pthread_mutex_lock(&host_lock);
    struct host_call *call = fake_allocate(1, sizeof *call);
    *call = (struct host_call){*host, at_ns, ++last_ticket, NULL};
    stream->host_ticket = call->ticket;
    struct host_call **at = &host_calls;
    while (*at && (*at)->at_ns <= at_ns)
        at = &(*at)->next;
    call->next = *at;
    *at = call;
    if (!host_thread_started) {
        pthread_t thread;
        host_thread_started = pthread_create(&thread, NULL, run_host_functions, NULL) == 0;
        if (host_thread_started)
            pthread_detach(thread);
    }
    pthread_cond_broadcast(&host_changed);
    pthread_mutex_unlock(&host_lock);
}

static bool host_function_pending(uint64_t ticket) {
    if (ticket == 0)
        return false;
    if (running_ticket == ticket)
        return true;
    for (struct host_call *call = host_calls; call; call = call->next)
        if (call->ticket == ticket)
            return true;
    return false;
}

static void wait_for_host_function(uint64_t ticket) {
    pthread_mutex_lock(&host_lock);
    while (host_function_pending(ticket))
        pthread_cond_wait(&host_changed, &host_lock);
    pthread_mutex_unlock(&host_lock);
}

bool stream_is_done(struct stream *stream) {
    pthread_mutex_lock(&host_lock);
    bool pending = host_function_pending(stream->host_ticket);
    pthread_mutex_unlock(&host_lock);
    return !pending && stream->tail_ns <= fake_now_ns();
}

void wait_for_stream(struct stream *stream) {
    fake_lock();
    uint64_t tail_ns = stream->tail_ns;
    uint64_t ticket = stream->host_ticket;
    fake_unlock();
    wait_until(tail_ns);
    wait_for_host_function(ticket);
}

void wait_for_device(void) {
    struct stream *stream;
    for (size_t i = 0;; i++) {
        fake_lock();
        stream = stream_at(i);
        fake_unlock();
        if (!stream)
            return;
        wait_for_stream(stream);
    }
}
