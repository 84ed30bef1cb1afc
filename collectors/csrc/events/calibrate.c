/* The time between two events around a node beyond the node's own time, on this GPU.
 *
 * It depends on the GPU, the driver, the kind of node, and on whether the launch call has
 * returned: while the host is still writing the launch's commands, the GPU is longer on its way
 * from one to the next. It is measured on private chains of operations, which are launched as they
 * are and with events around each node:
 *
 *   chain(kind) = (time of the plain chain - time of half of it) / (nodes of the other half)
 *   bias(kind)  = median(between the events of a node) - chain(kind)
 *
 * in launches behind a kernel that keeps the GPU until the call has returned, and `early` in
 * launches on an idle GPU, of nodes that began before the call returned. So a node's time includes
 * the way to the next node, and the times of a chain add up to what the chain takes without events.
 * The kernels of a chain alternate, as those of a program do: one kernel again and again has
 * 0.2 us less.
 *
 * All of it is launched as graphs, on a stream of gviz's own, also the kernel that keeps the GPU: six ordinary
 * launches there would make each node of every graph of the process slower (behind.c).
 *
 * Nodes of programs have more beside them than those of the chains, which write little memory and
 * come from one small module. The fold finds how much from what each graph's copies take longer
 * than its plain launches (gviz/spool/folding/event_bias.py).
 */
#include "calls/calls.h"
#include "events/parts.h"
#include "spool/spool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NODES CALIBRATION_NODES
#define KINDS 3
#define BYTES 1024
#define POLL_NS 20000
/* How long the GPU is kept busy, in its clocks: about 0.3 ms; the call takes 0.1 ms. */
#define BUSY_CLOCKS 600000ull
/* Where the start event is on the host's clock is known to a few microseconds. */
#define POSITION_NS 5000
/* Other work on the GPU spreads the readings; on an idle one they lie within 0.1 us. */
#define QUIET_SPREAD_NS 250
#define MAX_DEVICES 64
/* From this attempt on, readings that other work on the GPU spreads are taken. */
#define UNQUIET_ATTEMPT 2
#define MOST_DOUBLED 3 /* so often the limit of time is doubled: a recording that ends waits for it */
#define OUTSIDE_TRIES 2 /* in calls of the program */
#define ANCHOR_LIMIT_NS 300000

static const int kinds[KINDS] = {NODE_KERNEL, NODE_MEMSET, NODE_MEMCPY};

/* They store one word a thread; they run on every GPU since 2014. */
#define STORE(number)                                        \
    ".visible .entry gviz_store" number "(.param .u64 to) {\n" \
    ".reg .b32 %r<7>;\n"                                     \
    ".reg .b64 %rd<5>;\n"                                    \
    "ld.param.u64 %rd1, [to];\n"                             \
    "mov.u32 %r1, %ctaid.x;\n"                               \
    "mov.u32 %r2, %ntid.x;\n"                                \
    "mov.u32 %r3, %tid.x;\n"                                 \
    "mad.lo.s32 %r4, %r1, %r2, %r3;\n"                       \
    "add.s32 %r5, %r4, " number ";\n"                        \
    "mul.wide.u32 %rd2, %r4, 4;\n"                           \
    "cvta.to.global.u64 %rd3, %rd1;\n"                       \
    "add.s64 %rd4, %rd3, %rd2;\n"                            \
    "st.global.u32 [%rd4], %r5;\n"                           \
    "ret;\n"                                                 \
    "}\n"
static const char ptx[] = ".version 7.0\n"
                          ".target sm_50\n"
                          ".address_size 64\n"
                          STORE("0") STORE("1") STORE("2") STORE("3")
                          ".visible .entry gviz_nothing() { ret; }\n"
                          ".visible .entry gviz_busy(.param .u64 clocks) {\n"
                          ".reg .b64 %rd<5>;\n"
                          ".reg .pred %p;\n"
                          "ld.param.u64 %rd1, [clocks];\n"
                          "mov.u64 %rd2, %clock64;\n"
                          "again:\n"
                          "mov.u64 %rd3, %clock64;\n"
                          "sub.s64 %rd4, %rd3, %rd2;\n"
                          "setp.lt.u64 %p, %rd4, %rd1;\n"
                          "@%p bra again;\n"
                          "ret;\n"
                          "}\n";

GVIZ_LOCK(lock);
static struct calibrated devices[MAX_DEVICES];
static uint64_t limit_ns = CALIBRATION_LIMIT_NS; /* of what is measured now */

/* -- the private graph -------------------------------------------------------------------------- */

static bool find_functions(struct calibrated *device) {
    char name[] = "gviz_store0";
    for (int i = 0; i < CALIBRATION_FUNCTIONS; i++) {
        name[sizeof name - 2] = (char)('0' + i);
        if (cuda.ModuleGetFunction(&device->functions[i], device->module, name) != 0)
            return false;
    }
    return cuda.ModuleGetFunction(&device->nothing, device->module, "gviz_nothing") == 0;
}

/* A graph of one kernel that keeps the GPU. */
static bool make_busy(struct calibrated *device) {
    uint64_t clocks = BUSY_CLOCKS;
    void *arguments[] = {&clocks};
    KernelParams params = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .kernelParams = arguments};
    CUgraph graph = NULL;
    CUgraphNode node;
    if (cuda.ModuleGetFunction(&params.func, device->module, "gviz_busy") != 0 ||
        cuda.GraphCreate(&graph, 0) != 0)
        return false;
    bool made = cuda.GraphAddKernelNode(&node, graph, NULL, 0, &params) == 0 &&
                cuda.GraphInstantiate(&device->busy, graph, 0) == 0;
    cuda.GraphDestroy(graph);
    return made;
}

/* What places events on the host's clock. */
static bool make_anchor(struct calibrated *device, CUcontext context) {
    if (device->context)
        return device->anchor && device->context == context;
    device->context = context;
    return cuda.StreamCreate && cuda.StreamCreate(&device->stream, 1 /* CU_STREAM_NON_BLOCKING */) == 0 &&
           cuda.EventCreate(&device->anchor, 0) == 0;
}

static bool make_ready(struct calibrated *device, CUcontext context) {
    if (device->ready || device->module) /* what could not be made once is not made again */
        return device->ready;
    if (!cuda.ModuleLoadData || !cuda.ModuleGetFunction || !cuda.MemAlloc)
        return false;
    device->ready = make_anchor(device, context) &&
                    cuda.ModuleLoadData(&device->module, ptx) == 0 && find_functions(device) &&
                    make_busy(device) &&
                    cuda.MemAlloc(&device->memory, 2 * BYTES) == 0;
    return device->ready;
}

static CUresult add_node(const struct calibrated *device, int type, int place, CUgraph graph,
                         CUgraphNode *last) {
    CUgraphNode before = *last;
    size_t count = before ? 1 : 0;
    if (type == NODE_KERNEL) {
        CUdeviceptr address = device->memory;
        void *arguments[] = {&address};
        KernelParams params = {.func = device->functions[place % CALIBRATION_FUNCTIONS], .grid = {2, 1, 1},
                               .block = {128, 1, 1}, .kernelParams = arguments};
        return cuda.GraphAddKernelNode(last, graph, &before, count, &params);
    }
    if (type == NODE_MEMSET) {
        MemsetParams params = {.dst = device->memory, .element_size = 1, .width = BYTES,
                               .height = 1};
        return cuda.GraphAddMemsetNode(last, graph, &before, count, &params, device->context);
    }
    MemcpyParams params = {.source = {.memory_type = 2, .device = device->memory},
                           .destination = {.memory_type = 2, .device = device->memory + BYTES},
                           .width_bytes = BYTES, .height = 1, .depth = 1};
    return cuda.GraphAddMemcpyNode(last, graph, &before, count, &params, device->context);
}

static CUgraph make_plain(const struct calibrated *device, int type, int nodes) {
    CUgraph graph = NULL;
    CUgraphNode last = NULL;
    if (cuda.GraphCreate(&graph, 0) != 0)
        return NULL;
    for (int i = 0; i < nodes; i++)
        if (add_node(device, type, i, graph, &last) != 0) {
            cuda.GraphDestroy(graph);
            return NULL;
        }
    return graph;
}

static struct copy *make_graph(const struct calibrated *device, int type) {
    CUgraph graph = make_plain(device, type, NODES);
    struct level *level = graph ? level_read(graph, 0) : NULL;
    if (!graph)
        return NULL;
    if (!level) {
        cuda.GraphDestroy(graph);
        return NULL;
    }
    struct copy *copy = copy_make(graph, level, 0, 0, level->count);
    level_free(level);
    return copy;
}

/* -- measuring ------------------------------------------------------------------------------------- */

/* The host's time at a recorded event, or 0. An event on an idle stream of our own is recorded
 * at a time known to a few microseconds; the event's distance from it is measured. */
static uint64_t position(const struct calibrated *device, CUevent event) {
    int64_t since_ns;
    uint64_t before = now_ns();
    bool known = cuda.EventRecord(device->anchor, device->stream) == 0;
    while (known && cuda.EventQuery(device->anchor) != 0)
        known = now_ns() - before < ANCHOR_LIMIT_NS;
    uint64_t after = now_ns();
    if (!known || !event_distance(event, device->anchor, &since_ns))
        return 0;
    return (before + after) / 2 - (uint64_t)since_ns;
}

bool calibrate_busy(const struct calibrated *device, CUstream stream) {
    return cuda.GraphLaunch(device->busy, stream) == 0;
}

/* Sleep between two looks; false: it is past the limit. */
static bool rest(uint64_t until_ns) {
    const struct timespec pause = {0, POLL_NS};
    if (now_ns() > until_ns)
        return false;
    nanosleep(&pause, NULL);
    return true;
}

static bool wait_for(struct copy *copy, uint64_t until_ns) {
    while (!copy_finished(copy))
        if (!rest(until_ns))
            return false;
    return true;
}

/* Launch once; `*returned_ns`: when the call returned, after the start event. */
static bool launch_once(const struct calibrated *device, struct copy *copy, bool behind,
                        uint64_t until_ns, struct node_time times[NODES], int64_t *returned_ns) {
    uint64_t extent_ns;
    uint32_t timed;
    if (behind && !calibrate_busy(device, device->stream))
        return false;
    if (copy_launch(copy, device->stream) != 0)
        return false;
    uint64_t returned = now_ns();
    if (copy->lost || !wait_for(copy, until_ns) || !copy_read(copy, times, &timed, &extent_ns))
        return false;
    uint64_t start = position(device, copy->start);
    *returned_ns = start ? (int64_t)(returned - start) : 0;
    return true;
}

static bool sample(const struct calibrated *device, struct copy *copy, struct readings *out) {
    uint64_t until_ns = now_ns() + limit_ns;
    if (copy->timed_count != NODES)
        return false;
    for (int round = 0; round < CALIBRATION_WARM_UP + 2 * CALIBRATION_ROUNDS; round++) {
        struct node_time times[NODES];
        bool behind = round >= CALIBRATION_WARM_UP + CALIBRATION_ROUNDS;
        int64_t returned_ns;
        if (!launch_once(device, copy, behind, until_ns, times, &returned_ns))
            return false;
        for (size_t i = 0; round >= CALIBRATION_WARM_UP && i < NODES; i++) {
            int64_t between = (int64_t)times[i].between_ns;
            int64_t ended = (int64_t)times[i].start_ns + between;
            if (behind)
                out->usual[out->usual_count++] = between;
            else if (ended < returned_ns - POSITION_NS)
                out->early[out->early_count++] = between;
        }
    }
    return true;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median(int64_t *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* The median deviation from the median; changes the values. */
static int64_t spread(int64_t *values, size_t count, int64_t middle) {
    for (size_t i = 0; i < count; i++)
        values[i] = llabs(values[i] - middle);
    return median(values, count);
}

bool calibrate_await(CUevent event, uint64_t until_ns) {
    while (cuda.EventQuery(event) != 0)
        if (!rest(until_ns))
            return false;
    return true;
}

bool calibrate_shortest(calibrate_timed launch, const void *data, int64_t *shortest_ns) {
    uint64_t until_ns = now_ns() + limit_ns;
    *shortest_ns = INT64_MAX;
    for (int round = 0; round < CALIBRATION_WARM_UP + CALIBRATION_PLAIN_ROUNDS; round++) {
        int64_t taken_ns;
        if (!launch(data, until_ns, &taken_ns))
            return false;
        if (round >= CALIBRATION_WARM_UP && taken_ns < *shortest_ns)
            *shortest_ns = taken_ns;
    }
    return true;
}

/* A plain chain between two events. */
struct chain {
    const struct calibrated *device;
    CUgraphExec exec;
    CUevent start, end;
};

/* Behind a kernel; `data` is a struct chain. */
static bool time_launch(const void *data, uint64_t until_ns, int64_t *taken_ns) {
    const struct chain *chain = data;
    CUstream stream = chain->device->stream;
    return calibrate_busy(chain->device, stream) && cuda.EventRecord(chain->start, stream) == 0 &&
           cuda.GraphLaunch(chain->exec, stream) == 0 && cuda.EventRecord(chain->end, stream) == 0 &&
           calibrate_await(chain->end, until_ns) && event_distance(chain->start, chain->end, taken_ns);
}

static bool time_chain(const struct calibrated *device, int type, int nodes, int64_t *shortest_ns) {
    struct chain chain = {.device = device};
    CUgraph graph = make_plain(device, type, nodes);
    bool good = graph && cuda.GraphInstantiate(&chain.exec, graph, 0) == 0 &&
                cuda.EventCreate(&chain.start, 0) == 0 && cuda.EventCreate(&chain.end, 0) == 0 &&
                calibrate_shortest(time_launch, &chain, shortest_ns);
    if (chain.exec)
        cuda.GraphExecDestroy(chain.exec);
    if (graph)
        cuda.GraphDestroy(graph);
    if (chain.start)
        cuda.EventDestroy(chain.start);
    if (chain.end)
        cuda.EventDestroy(chain.end);
    return good;
}

/* The time of one node and the way to the next: two lengths differ by nothing else. */
static bool time_node(const struct calibrated *device, int type, int64_t *chain_ns) {
    int64_t whole_ns, half_ns;
    if (!time_chain(device, type, NODES, &whole_ns) ||
        !time_chain(device, type, NODES / 2, &half_ns))
        return false;
    *chain_ns = (whole_ns - half_ns) / (NODES - NODES / 2);
    return true;
}

struct calibration_record calibrate_evaluate(int number, int type, struct readings *readings) {
    int64_t raw = median(readings->usual, readings->usual_count);
    int64_t early = readings->early_count ? median(readings->early, readings->early_count) : raw;
    return (struct calibration_record){
        .device_id = number, .type = type,
        .bias_ns = raw - readings->chain_ns, .early_bias_ns = early - readings->chain_ns,
        .spread_ns = spread(readings->usual, readings->usual_count, raw),
        .raw_ns = raw, .chain_ns = readings->chain_ns,
        .samples = (uint32_t)readings->usual_count,
        .early_samples = (uint32_t)readings->early_count};
}

/* Returns whether the kind was measured; `*quiet`: and evenly. */
static bool measure_kind(struct calibrated *device, int number, int kind,
                         struct calibration_record *record, bool *quiet) {
    struct copy *copy = make_graph(device, kinds[kind]);
    struct readings *readings = calloc(1, sizeof *readings);
    bool good = copy && readings;
    device->failed = device->failed || !good;
    if (good && (good = sample(device, copy, readings) &&
                        time_node(device, kinds[kind], &readings->chain_ns))) {
        *record = calibrate_evaluate(number, kinds[kind], readings);
        *quiet = *quiet && record->spread_ns <= QUIET_SPREAD_NS;
    }
    if (copy)
        copy_free(copy);
    free(readings);
    return good;
}

static void measure(struct calibrated *device, int number, bool takes_unquiet) {
    struct calibration_record records[KINDS];
    bool good = true, quiet = true;
    for (int k = 0; good && k < KINDS; k++)
        good = measure_kind(device, number, k, &records[k], &quiet);
    if (!good || !(quiet || takes_unquiet))
        return;
    for (int k = 0; k < KINDS; k++)
        spool_append_one(RECORD_CALIBRATION, &records[k], sizeof records[k]);
    __atomic_store_n(&device->done, true, __ATOMIC_RELEASE); /* calibrate_known reads it unlocked */
}

bool calibrate_known(int number) {
    return number >= 0 && number < MAX_DEVICES &&
           __atomic_load_n(&devices[number].done, __ATOMIC_ACQUIRE);
}

/* Whether the bias of this device is known; measures it if not. The context is current. An
 * unquiet measurement counts only after some that failed: the caller comes again later. */
bool calibrate(CUcontext context, int number, int failed, bool *busy) {
    *busy = false;
    if (calibrate_known(number))
        return true;
    if (number < 0 || number >= MAX_DEVICES)
        return false;
    struct calibrated *device = &devices[number];
    if (pthread_mutex_trylock(&lock) != 0) {
        *busy = true;
        return false;
    }
    if (!device->done && !device->failed) {
        uint64_t begin_ns = now_ns();
        limit_ns = CALIBRATION_LIMIT_NS << (failed < MOST_DOUBLED ? failed : MOST_DOUBLED);
        int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
        if (make_ready(device, context))
            measure(device, number, failed >= UNQUIET_ATTEMPT);
        else
            device->failed = true;
        exchange_capture_mode(mode);
        limit_ns = CALIBRATION_LIMIT_NS;
        counter("events_calibration_ns", (double)(now_ns() - begin_ns), "ns",
                "measured: host time of the last calibration of the events collector");
        if (device->failed)
            note("warning", "the events collector could not be calibrated: nodes are not timed");
    }
    bool done = device->done;
    pthread_mutex_unlock(&lock);
    return done;
}

/* -- outside graphs --------------------------------------------------------------------------------- */

bool calibrate_outside_over(int number) {
    return number < 0 || number >= MAX_DEVICES ||
           __atomic_load_n(&devices[number].outside_tries, __ATOMIC_ACQUIRE) >= OUTSIDE_TRIES;
}

void calibrate_outside(CUcontext context, int number, const CUstream *stream) {
    struct calibrated *device = number >= 0 && number < MAX_DEVICES ? &devices[number] : NULL;
    if (!device || pthread_mutex_trylock(&lock) != 0)
        return;
    struct calibration_record record;
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    bool measured = !device->outside_done && !device->failed && make_ready(device, context) &&
                    calibrate_row(device, number, stream ? *stream : device->stream, &record);
    if (!stream && device->context == context)
        behind_launch(device->nothing, device->stream);
    exchange_capture_mode(mode);
    if (measured)
        spool_append_one(RECORD_CALIBRATION, &record, sizeof record);
    device->outside_done = device->outside_done || measured;
    int tries = device->outside_done ? OUTSIDE_TRIES : device->outside_tries + 1;
    __atomic_store_n(&device->outside_tries, tries, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

CUfunction calibrate_nothing(CUcontext context, int number) {
    struct calibrated *device = number >= 0 && number < MAX_DEVICES ? &devices[number] : NULL;
    if (!device || pthread_mutex_trylock(&lock) != 0)
        return NULL;
    CUfunction found = device->ready && device->context == context ? device->nothing : NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

/* -- positions ---------------------------------------------------------------------------------------- */

/* The host's time at a recorded event, or 0. */
uint64_t calibrate_position(CUcontext context, int number, CUevent event) {
    struct calibrated *device = number >= 0 && number < MAX_DEVICES ? &devices[number] : NULL;
    uint64_t found = 0;
    if (!device || pthread_mutex_trylock(&lock) != 0)
        return 0;
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    if (make_anchor(device, context))
        found = position(device, event);
    exchange_capture_mode(mode);
    pthread_mutex_unlock(&lock);
    return found;
}

/* The contexts' work has finished. */
void calibrate_reset(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_DEVICES; i++) {
        struct calibrated *device = &devices[i];
        CUcontext popped;
        if (device->context && cuda.CtxPushCurrent(device->context) == 0) {
            if (device->memory)
                cuda.MemFree(device->memory);
            if (device->busy)
                cuda.GraphExecDestroy(device->busy);
            if (device->module && cuda.ModuleUnload)
                cuda.ModuleUnload(device->module);
            if (device->anchor)
                cuda.EventDestroy(device->anchor);
            if (device->stream && cuda.StreamDestroy)
                cuda.StreamDestroy(device->stream);
            cuda.CtxPopCurrent(&popped);
        }
        *device = (struct calibrated){0};
    }
    pthread_mutex_unlock(&lock);
}
