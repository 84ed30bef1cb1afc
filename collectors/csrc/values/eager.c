/* What stream calls left in memory: the same work as a graph's, read call by call.
 *
 * A program that makes the same calls again (gviz.compare_stream) has them listed once, which tells what
 * memory they are given; the second time each is waited for, and the memory that it is given is probed
 * before it and after it. The next graph that is read, and whose nodes are these calls, gets the values.
 *
 * What is waited for may wait for the program: a function on the host for another thread's next call, or
 * for this one's. So no call of the program waits for the lock, and the GPU is waited for with a limit.
 */
#include "calls/calls.h"
#include "spool/spool.h"
#include "values/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For work in flight. */
#define LIMIT_NS 5000000000ull
/* Calls and nodes of one side only: with more of them they are not the same work. */
#define MOST_APART 256

enum stage { STAGE_OFF, STAGE_LIST, STAGE_READ };

GVIZ_LOCK(lock); /* of all that follows */
static _Atomic(enum stage) stage;
static CUcontext context;
static const char *why;
static struct plan calls_made;
static struct handed_out *handed_out;
static size_t handed_out_count;
static CUstream stream; /* while calls are read, as the next three */
static CUmodule module;
static CUfunction probe;
static struct probes probes;
static size_t next; /* call */
static struct probed_value *values; /* of the calls, once they were read */
static size_t value_count;
static struct values_record record;
static __thread bool reading; /* this thread's call is */
static __thread size_t reading_at;
/* Calls that came while another thread had the lock, and the first of them: no iteration of one order. */
static _Atomic uint32_t disturbing;
static _Atomic(const char *) disturbed_by;

/* What there is on the device is gone, another's, or in use for who knows how long. */
static void lose_device(void) {
    probes.memory = probes.contents = 0;
    stream = NULL;
    module = NULL;
}

/* -- waiting ---------------------------------------------------------------------------------------------- */

struct wait {
    CUcontext context;
    CUresult result;
};

static void synchronize(void *data) {
    struct wait *wait = data;
    CUcontext popped;
    exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    if ((wait->result = cuda.CtxPushCurrent(wait->context)) != 0)
        return;
    wait->result = cuda.CtxSynchronize();
    cuda.CtxPopCurrent(&popped);
}

/* Returns why not all that is in flight has ended, or NULL. */
static const char *await_gpu(void) {
    struct wait *wait = malloc(sizeof *wait);
    if (!wait || captures_known()) { /* a wait would break them */
        free(wait);
        return "a stream is captured meanwhile";
    }
    *wait = (struct wait){.context = context};
    if (!done_apart(synchronize, wait, free, LIMIT_NS)) {
        lose_device();
        return "work on the GPU did not end within 5 s, as where a function on the host waits for the program";
    }
    bool good = wait->result == 0;
    free(wait);
    return good ? NULL : "the GPU has failed";
}

/* Freeing waits in the driver, without a limit. */
static void unload(void) {
    if ((stream || module) && await_gpu())
        lose_device();
    probes_free(&probes);
    if (stream)
        cuda.StreamDestroy(stream);
    if (module)
        cuda.ModuleUnload(module);
    stream = NULL;
    module = NULL;
}

static void forget(void) {
    unload();
    plan_free(&calls_made);
    free(values);
    free(handed_out);
    values = NULL;
    handed_out = NULL;
    handed_out_count = value_count = next = 0;
    stage = STAGE_OFF;
    why = NULL;
}

/* -- one call ------------------------------------------------------------------------------------------- */

/* Whether a call is given what the call of this place was given when they were listed. */
static bool is_same(const struct plan *now, size_t at) {
    const struct site *listed = &calls_made.sites[at];
    if (now->lost || now->site_count != 1 || now->sites[0].token != listed->token ||
        now->buffer_count != listed->buffers)
        return false;
    for (size_t i = 0; i < listed->buffers; i++) {
        const struct buffer *one = &now->buffers[i], *other = &calls_made.buffers[listed->first_buffer + i];
        if (one->at != other->at || one->block_end != other->block_end || one->position != other->position ||
            one->offset != other->offset)
            return false;
    }
    return true;
}

/* When all that is in flight has ended. `side` 0: before the call. */
static const char *read_memory(size_t at, size_t side) {
    const char *no = await_gpu();
    if (!no && !probes_launch(&probes, probe, stream, at, side))
        no = "gviz's kernel could not be launched";
    return no ? no : await_gpu();
}

/* Returns why not, or NULL. */
static const char *read_before(const struct work *work) {
    struct plan now = {0};
    size_t at = next++;
    plan_take_call(&now, work, handed_out, handed_out_count);
    bool same = at < calls_made.site_count && is_same(&now, at);
    plan_free(&now);
    if (!same)
        return "a second iteration makes other calls, or gives them other memory";
    reading_at = at;
    reading = at < probes.last && calls_made.sites[at].ranges;
    return reading ? read_memory(at, 0) : NULL;
}

static const char *call_begins(const CUpti_CallbackData *data) {
    struct work work = {.type = -1};
    if (data->context != context || captures_known())
        return "a call is made in another context, or while a stream is captured";
    if (!stream_call_work(data->function_name, data->params, &work) &&
        strncmp(data->function_name, "cuLaunchHostFunc", 16) == 0)
        return "it calls a function on the host, which may wait for whoever waits for it";
    if (stage == STAGE_READ)
        return read_before(&work);
    plan_take_call(&calls_made, &work, handed_out, handed_out_count);
    return calls_made.lost ? "there is no memory on the host to list its calls" : NULL;
}

bool eager_is_read(void) { return atomic_load_explicit(&stage, memory_order_relaxed) != STAGE_OFF; }

static void disturb(const CUpti_CallbackData *data) {
    if ((data->site == 0 || reading) && atomic_fetch_add(&disturbing, 1) == 0)
        atomic_store(&disturbed_by, data->function_name);
    reading = false;
}

void eager_call(const CUpti_CallbackData *data) {
    if (pthread_mutex_trylock(&lock) != 0) {
        disturb(data);
        return;
    }
    if (stage != STAGE_OFF && !why && !atomic_load(&disturbing)) {
        if (data->site == 0)
            why = call_begins(data);
        else if (reading)
            why = read_memory(reading_at, 1);
    }
    if (data->site != 0 || why)
        reading = false;
    pthread_mutex_unlock(&lock);
}

/* -- an iteration ------------------------------------------------------------------------------------------- */

static const char *list_begins(void) {
    CUdevice device;
    forget();
    if (cuda.CtxGetCurrent(&context) != 0 || !context || cuda.CtxGetDevice(&device) != 0)
        return "the thread has no context";
    handed_out = handed_out_list(device, &handed_out_count);
    return NULL;
}

static const char *read_begins(void) {
    const char *no = plan_finish(&calls_made);
    no = no ? no : await_gpu(); /* what follows waits in the driver */
    if (no)
        return no;
    growth_open();
    bool loaded = probe_load(&module, &probe) && cuda.StreamCreate(&stream, 1 /* CU_STREAM_NON_BLOCKING */) == 0;
    growth_close();
    if (!loaded)
        return "gviz's kernels could not be loaded on this GPU";
    probes = (struct probes){.plan = &calls_made, .last = probes_last(&calls_made, 0)};
    record = (struct values_record){.by_calls = 1, .begin_ns = now_ns()};
    bool good = probes_make_table(&probes) && probes_upload(&probes);
    return good ? NULL : "the GPU gave no memory for probes";
}

/* Keep what was read. */
static const char *read_ends(void) {
    if (next != calls_made.site_count)
        return "a second iteration makes fewer calls";
    const char *no = await_gpu();
    if (no)
        return no;
    size_t count = probes_ranges(&probes);
    values = calloc(count + 1, sizeof *values);
    if (!values || !probes_read(&probes))
        return "what its calls left could not be read";
    value_count = probes_values(&probes, values);
    record.probed_bytes = probes.bytes;
    record.held_ns = now_ns() - record.begin_ns;
    return NULL;
}

/* Returns what calls came at the same time, or NULL. */
static const char *disturbance(void) {
    static char sentence[200];
    uint32_t count = atomic_load(&disturbing);
    const char *name = atomic_load(&disturbed_by);
    if (!count)
        return NULL;
    snprintf(sentence, sizeof sentence, "disturbed: %u call%s of other threads came while one was looked at, %s%s",
             count, count == 1 ? "" : "s", count == 1 ? "" : "the first is ", name ? name : "of unknown name");
    return sentence;
}

/* The stage that goes on ends; returns why there is nothing to go on with, or NULL. */
static const char *stage_ends(void) {
    enum stage ended = stage;
    stage = STAGE_OFF;
    if (ended == STAGE_OFF)
        return NULL;
    calls_watch_operations(false);
    if (!why)
        why = disturbance();
    if (ended == STAGE_READ && !why)
        why = read_ends();
    unload();
    return why;
}

static const char *stage_begins(enum stage wanted) {
    const char *no = wanted == STAGE_LIST ? list_begins() : wanted == STAGE_READ ? read_begins() : NULL;
    if (!no && wanted != STAGE_OFF) {
        atomic_store(&disturbing, 0);
        calls_watch_operations(true);
        stage = wanted;
    }
    return no;
}

/* For Python: 1 before an iteration that is listed, 2 before the same that is read, 0 after it. Returns why
 * nothing is read, or NULL. */
GVIZ_EXPORT const char *gviz_read_calls(uint32_t wanted) {
    static __thread const char *answer;
    bool inside = this_thread()->inside;
    this_thread()->inside = true; /* calls of its own are no calls of the program */
    pthread_mutex_lock(&lock);
    answer = values_are_read() ? NULL : "the program was not started by 'gviz run --values'";
    if (!answer)
        answer = stage_ends();
    if (!answer)
        answer = stage_begins((enum stage)wanted);
    if (answer) {
        if (values_are_read())
            note("limit", "values of stream calls were not read: %s", answer);
        stage_ends();
        forget();
    }
    pthread_mutex_unlock(&lock);
    this_thread()->inside = inside;
    return answer;
}

/* -- the graph that they are the nodes of ------------------------------------------------------------------------- */

static int by_node(const void *a, const void *b) {
    const struct site *x = a, *y = b;
    return (x->node_id > y->node_id) - (x->node_id < y->node_id);
}

/* The nodes of a graph in the order in which they were created, to be freed; NULL: no memory. */
static struct site *created_order(const struct plan *plan, uint32_t graph_id, size_t *count) {
    struct site *sites = calloc(plan->site_count + 1, sizeof *sites);
    *count = 0;
    for (size_t i = 0; sites && i < plan->site_count; i++)
        if (plan->sites[i].graph_id == graph_id)
            sites[(*count)++] = plan->sites[i];
    if (sites)
        qsort(sites, *count, sizeof *sites, by_node);
    return sites;
}

/* How far each diagonal (calls less nodes) was come by each number of steps over what only one side has. */
struct edits {
    int reached[MOST_APART + 1][2 * MOST_APART + 1];
};

/* Where a diagonal is entered by one step more, and from which. */
static int enter(const int *reached, int apart, int diagonal, int *from) {
    const int *at = reached + MOST_APART + diagonal;
    *from = diagonal == -apart || (diagonal != apart && at[-1] < at[1]) ? diagonal + 1 : diagonal - 1;
    return *from > diagonal ? at[1] : at[-1] + 1;
}

/* The least number of steps from the first call and node behind the last of both, -1: more than MOST_APART.
 * That of Myers, Algorithmica 1 (1986). */
static int find_edits(struct edits *edits, const struct site *nodes, int node_count, int call_count) {
    for (int apart = 0; apart <= MOST_APART; apart++)
        for (int diagonal = -apart; diagonal <= apart; diagonal += 2) {
            int from, call = apart ? enter(edits->reached[apart - 1], apart, diagonal, &from) : 0;
            int node = call - diagonal;
            while (call < call_count && node < node_count && calls_made.sites[call].token == nodes[node].token)
                call++, node++;
            edits->reached[apart][MOST_APART + diagonal] = call;
            if (call >= call_count && node >= node_count)
                return apart;
        }
    return -1;
}

/* Give calls their nodes, back from behind the last; returns how many have one. */
static size_t pair_up(const struct edits *edits, int apart, const struct site *nodes, int node, int call) {
    size_t found = 0;
    for (; apart >= 0; apart--) {
        int from = 0, reached = 0;
        if (apart) {
            enter(edits->reached[apart - 1], apart, call - node, &from);
            reached = edits->reached[apart - 1][MOST_APART + from];
        }
        for (; call > reached && node > reached - from; found++) {
            struct site *made = &calls_made.sites[--call];
            made->graph_id = nodes[--node].graph_id;
            made->node_id = nodes[node].node_id;
        }
        call = reached;
        node = reached - from;
    }
    return found;
}

static size_t align(const struct site *nodes, size_t count) {
    struct edits *edits = calloc(1, sizeof *edits);
    size_t calls = calls_made.site_count;
    for (size_t i = 0; i < calls; i++)
        calls_made.sites[i].graph_id = 0;
    int apart = edits ? find_edits(edits, nodes, (int)count, (int)calls) : -1;
    size_t found = apart < 0 ? 0 : pair_up(edits, apart, nodes, (int)count, (int)calls);
    free(edits);
    return found;
}

static void note_calls_without_node(size_t found) {
    size_t first = 0, count = calls_made.site_count;
    while (first < count && calls_made.sites[first].graph_id)
        first++;
    if (found < count)
        note("limit", "%zu of %zu stream calls that were read are no node of the graph, the first is call %zu: "
             "what they left is compared with nothing", count - found, count, first + 1);
}

/* Values of calls that are nodes; of the others there is nothing to compare. */
static void write(uint32_t graph_id, uint32_t exec_id) {
    size_t kept = 0;
    for (size_t i = 0; i < value_count; i++) {
        const struct site *site = &calls_made.sites[values[i].place];
        struct probed_value value = values[i];
        value.graph_id = site->graph_id;
        value.node_id = site->node_id;
        if (site->graph_id && (!value.start || value.hash_before != value.hash_after))
            values[kept++] = value;
    }
    record.graph_id = graph_id;
    record.exec_id = exec_id;
    record.values = (uint32_t)kept;
    struct slice slices[] = {{&record, sizeof record}, {values, kept * sizeof *values}};
    spool_append(RECORD_VALUES, slices, 2);
}

void eager_match(const struct plan *plan, uint32_t graph_id, uint32_t exec_id) {
    size_t count = 0;
    if (pthread_mutex_trylock(&lock) != 0) /* the program's launch waits for nobody */
        return;
    struct site *nodes = values && stage == STAGE_OFF ? created_order(plan, graph_id, &count) : NULL;
    size_t found = nodes ? align(nodes, count) : 0;
    if (found && 2 * found >= count) {
        note_calls_without_node(found);
        write(graph_id, exec_id);
        forget();
    }
    free(nodes);
    pthread_mutex_unlock(&lock);
}

void eager_context_ends(CUcontext ending) {
    pthread_mutex_lock(&lock);
    if (ending == context) {
        lose_device();
        why = "its context was destroyed";
    }
    if (ending == context && stage == STAGE_OFF)
        forget();
    pthread_mutex_unlock(&lock);
}

void eager_abandon(void) {
    lose_device();
    forget();
}
