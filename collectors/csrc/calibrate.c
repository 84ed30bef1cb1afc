/* What two events around a node measure beside the node, on this GPU.
 *
 * The time between the two events is the node's duration and a constant: the way from the first
 * event to the node and from the node to the second. The constant depends on the GPU, the driver
 * and the kind of node. It is measured on a private graph of operations whose duration is known:
 *
 *   bias(kind) = median(between the events of a known operation) - its duration
 *
 * The known durations are what CUPTI 13.0 gives for the same operations in a graph on an H100
 * (driver 580): the events collector is to say what CUPTI would. There is no shorter way: a
 * kernel that reads %globaltimer itself misses its own launch and drain, about 0.8 us, and a
 * plain chain only tells duration and gap together. On another GPU the references are off by
 * what its shortest operations differ from an H100's, a few tenths of a microsecond.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NODES_OF_A_KIND 16
#define KINDS 3
#define ROUNDS 6
#define WARM_UP_ROUNDS 2 /* the first launch uploads the graph */
#define SAMPLES (NODES_OF_A_KIND * (ROUNDS - WARM_UP_ROUNDS))
#define BYTES 1024
#define LIMIT_NS 40000000ull
#define POLL_NS 20000
/* Other work on the GPU spreads the readings; on an idle one they lie within 0.1 us. */
#define QUIET_SPREAD_NS 250
#define MAX_DEVICES 64
#define ANCHOR_LIMIT_NS 300000

struct calibration_record {
    int32_t device, kind;
    int64_t bias_ns, spread_ns, raw_ns, reference_ns;
    uint32_t samples, reserved;
};

static const struct {
    int type;
    int64_t reference_ns;
} kinds[KINDS] = {
    {NODE_KERNEL, 832}, /* 256 threads that store one word each: 800 to 833 ns */
    {NODE_MEMSET, 944}, /* of 1,024 bytes: 928 to 960 ns */
    {NODE_MEMCPY, 960}, /* of 1,024 bytes on the device */
};

/* It stores one word a thread; runs on every GPU since 2014. */
static const char ptx[] = ".version 7.0\n"
                          ".target sm_50\n"
                          ".address_size 64\n"
                          ".visible .entry gviz_store(.param .u64 gviz_store_param_0)\n"
                          "{\n"
                          ".reg .b32 %r<6>;\n"
                          ".reg .b64 %rd<5>;\n"
                          "ld.param.u64 %rd1, [gviz_store_param_0];\n"
                          "mov.u32 %r1, %ctaid.x;\n"
                          "mov.u32 %r2, %ntid.x;\n"
                          "mov.u32 %r3, %tid.x;\n"
                          "mad.lo.s32 %r4, %r1, %r2, %r3;\n"
                          "mul.wide.u32 %rd2, %r4, 4;\n"
                          "cvta.to.global.u64 %rd3, %rd1;\n"
                          "add.s64 %rd4, %rd3, %rd2;\n"
                          "st.global.u32 [%rd4], %r4;\n"
                          "ret;\n"
                          "}\n";

struct device {
    CUcontext context;
    CUstream stream;
    CUevent anchor;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    bool ready, done, failed;
};

GVIZ_LOCK(lock);
static struct device devices[MAX_DEVICES];

/* -- the private graph -------------------------------------------------------------------------- */

static bool make_ready(struct device *device, CUcontext context) {
    if (device->ready)
        return true;
    if (!cuda.StreamCreate || !cuda.ModuleLoadData || !cuda.ModuleGetFunction || !cuda.MemAlloc)
        return false;
    device->context = context;
    device->ready = cuda.StreamCreate(&device->stream, 1 /* CU_STREAM_NON_BLOCKING */) == 0 &&
                    cuda.EventCreate(&device->anchor, 0) == 0 &&
                    cuda.ModuleLoadData(&device->module, ptx) == 0 &&
                    cuda.ModuleGetFunction(&device->function, device->module, "gviz_store") == 0 &&
                    cuda.MemAlloc(&device->memory, 2 * BYTES) == 0;
    return device->ready;
}

static CUresult add_node(const struct device *device, int type, CUgraph graph, CUgraphNode *last) {
    CUgraphNode before = *last;
    size_t count = before ? 1 : 0;
    if (type == NODE_KERNEL) {
        CUdeviceptr address = device->memory;
        void *arguments[] = {&address};
        KernelParams params = {.func = device->function, .grid = {2, 1, 1}, .block = {128, 1, 1},
                               .kernelParams = arguments};
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

static CUgraph make_plain(const struct device *device) {
    CUgraph graph = NULL;
    CUgraphNode last = NULL;
    if (cuda.GraphCreate(&graph, 0) != 0)
        return NULL;
    for (int i = 0; i < KINDS * NODES_OF_A_KIND; i++)
        if (add_node(device, kinds[i / NODES_OF_A_KIND].type, graph, &last) != 0) {
            cuda.GraphDestroy(graph);
            return NULL;
        }
    return graph;
}

static struct copy *make_graph(const struct device *device) {
    CUgraph graph = make_plain(device);
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

static bool wait_for(struct copy *copy, uint64_t until_ns) {
    while (!copy_finished(copy)) {
        if (now_ns() > until_ns)
            return false;
        struct timespec pause = {0, POLL_NS};
        nanosleep(&pause, NULL);
    }
    return true;
}

static bool sample(const struct device *device, struct copy *copy, int64_t out[KINDS][SAMPLES]) {
    uint64_t until_ns = now_ns() + LIMIT_NS, extent_ns;
    size_t count[KINDS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct node_time times[KINDS * NODES_OF_A_KIND];
        if (copy->timed_count != KINDS * NODES_OF_A_KIND ||
            copy_launch(copy, device->stream) != 0 || copy->lost || !wait_for(copy, until_ns) ||
            !copy_read(copy, times, &extent_ns))
            return false;
        for (size_t i = 0; round >= WARM_UP_ROUNDS && i < copy->timed_count; i++) {
            size_t kind = times[i].node_id / NODES_OF_A_KIND;
            out[kind][count[kind]++] = (int64_t)times[i].between_ns;
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

/* Fill the records; return the widest spread. */
static int64_t evaluate(int number, int64_t samples[KINDS][SAMPLES],
                        struct calibration_record records[KINDS]) {
    int64_t widest = 0;
    for (int k = 0; k < KINDS; k++) {
        int64_t raw = median(samples[k], SAMPLES);
        for (size_t i = 0; i < SAMPLES; i++)
            samples[k][i] = llabs(samples[k][i] - raw);
        int64_t spread = median(samples[k], SAMPLES);
        records[k] = (struct calibration_record){
            number, kinds[k].type, raw - kinds[k].reference_ns, spread, raw,
            kinds[k].reference_ns, SAMPLES, 0};
        widest = spread > widest ? spread : widest;
    }
    return widest;
}

static void measure(struct device *device, int number, bool last_chance) {
    struct copy *copy = make_graph(device);
    int64_t samples[KINDS][SAMPLES];
    struct calibration_record records[KINDS];
    if (!copy) {
        device->failed = true;
        return;
    }
    if (sample(device, copy, samples) &&
        (evaluate(number, samples, records) <= QUIET_SPREAD_NS || last_chance)) {
        for (int k = 0; k < KINDS; k++)
            spool_append_one(RECORD_CALIBRATION, &records[k], sizeof records[k]);
        device->done = true;
    }
    copy_free(copy);
}

bool calibrate_known(int number) {
    return number >= 0 && number < MAX_DEVICES &&
           __atomic_load_n(&devices[number].done, __ATOMIC_ACQUIRE);
}

/* Whether the bias of this device is known; measures it if not. The context is current. An
 * unquiet measurement counts only as the `last_chance`: the caller comes again later. */
bool calibrate(CUcontext context, int number, bool last_chance) {
    if (calibrate_known(number))
        return true;
    if (number < 0 || number >= MAX_DEVICES)
        return false;
    struct device *device = &devices[number];
    pthread_mutex_lock(&lock);
    if (!device->done && !device->failed) {
        uint64_t begin_ns = now_ns();
        int mode = relax_capture(CU_CAPTURE_MODE_RELAXED);
        if (make_ready(device, context))
            measure(device, number, last_chance);
        else
            device->failed = true;
        relax_capture(mode);
        counter("events_calibration_ns", (double)(now_ns() - begin_ns), "ns",
                "measured: host time of the last calibration of the events collector");
        if (device->failed)
            note("warning", "the events collector could not be calibrated: nodes are not timed");
    }
    bool done = device->done;
    pthread_mutex_unlock(&lock);
    return done;
}

/* For the benchmark of accuracy: launch the private graph without events, so that the collector
 * in use, CUPTI, records what the references above are. The context is current. Returns 0 or -1. */
GVIZ_EXPORT int gviz_launch_reference(int launches) {
    struct device *device = &devices[0];
    CUcontext context = NULL;
    CUgraphExec exec = NULL;
    if (cuda.CtxGetCurrent(&context) != 0 || !make_ready(device, context))
        return -1;
    CUgraph graph = make_plain(device);
    if (!graph || cuda.GraphInstantiate(&exec, graph, 0) != 0)
        return -1;
    bool good = true;
    for (int i = 0; good && i < launches; i++) {
        good = cuda.GraphLaunch(exec, device->stream) == 0 &&
               cuda.EventRecord(device->anchor, device->stream) == 0;
        while (good && cuda.EventQuery(device->anchor) != 0) {
            struct timespec pause = {0, POLL_NS};
            nanosleep(&pause, NULL);
        }
    }
    cuda.GraphExecDestroy(exec);
    cuda.GraphDestroy(graph);
    return good ? 0 : -1;
}

/* -- positions ---------------------------------------------------------------------------------------- */

/* The host's time at a recorded event, or 0. An event on an idle stream of our own is recorded
 * at a time known to a few microseconds; the event's distance from it is measured. */
uint64_t calibrate_position(CUcontext context, int number, CUevent event) {
    struct device *device = number >= 0 && number < MAX_DEVICES ? &devices[number] : NULL;
    uint64_t position = 0;
    float milliseconds = 0;
    if (!device || pthread_mutex_trylock(&lock) != 0)
        return 0;
    if (device->ready && device->context == context) {
        int mode = relax_capture(CU_CAPTURE_MODE_RELAXED);
        uint64_t before = now_ns(), after = before;
        bool known = cuda.EventRecord(device->anchor, device->stream) == 0;
        while (known && cuda.EventQuery(device->anchor) != 0)
            known = now_ns() - before < ANCHOR_LIMIT_NS;
        after = now_ns();
        if (known && cuda.EventElapsedTime(&milliseconds, event, device->anchor) == 0)
            position = (before + after) / 2 - (uint64_t)((double)milliseconds * 1e6);
        relax_capture(mode);
    }
    pthread_mutex_unlock(&lock);
    return position;
}

/* The contexts' work has finished. */
void calibrate_reset(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_DEVICES; i++) {
        struct device *device = &devices[i];
        CUcontext popped;
        if (device->context && cuda.CtxPushCurrent(device->context) == 0) {
            if (device->memory)
                cuda.MemFree(device->memory);
            if (device->module && cuda.ModuleUnload)
                cuda.ModuleUnload(device->module);
            if (device->anchor)
                cuda.EventDestroy(device->anchor);
            if (device->stream && cuda.StreamDestroy)
                cuda.StreamDestroy(device->stream);
            cuda.CtxPopCurrent(&popped);
        }
        *device = (struct device){0};
    }
    pthread_mutex_unlock(&lock);
}
