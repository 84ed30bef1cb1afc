/* Activity records, laid out as CUPTI 13.0.85's Kernel10, Memcpy6 and Memset4. */
#include "cupti.h"

#include <assert.h>

struct kernel_record { /* CUpti_ActivityKernel10 */
    uint32_t kind;
    uint8_t cache_config, shared_memory_config;
    uint16_t registers;
    uint32_t cache_requested, cache_executed;
    uint64_t start, end, completed;
    uint32_t device_id, context_id, stream_id;
    int32_t grid[3], block[3], static_shared, dynamic_shared;
    uint32_t local_memory, local_memory_total, correlation_id;
    int64_t grid_id;
    const char *name;
    void *reserved0;
    uint64_t queued, submitted;
    uint8_t launch_type, carveout_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t graph_node_id;
    uint32_t shared_limit, graph_id;
    void *access_policy;
    uint32_t channel_id, channel_type, cluster[3], cluster_policy;
    uint64_t local_memory_total_v2;
    uint32_t max_potential_cluster, max_active_clusters;
    uint8_t device_launched, padding3[7];
};

struct memcpy_record { /* CUpti_ActivityMemcpy6 */
    uint32_t kind;
    uint8_t copy_kind, source_kind, destination_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device_id, context_id, stream_id, correlation_id, runtime_correlation_id, pad;
    void *reserved0;
    uint64_t graph_node_id;
    uint32_t graph_id, channel_id, channel_type;
    uint8_t device_launched, pad2[3];
    uint64_t copy_count;
};

struct memset_record { /* CUpti_ActivityMemset4 */
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device_id, context_id, stream_id, correlation_id;
    uint16_t flags, memory_kind;
    uint32_t pad;
    void *reserved0;
    uint64_t graph_node_id;
    uint32_t graph_id, channel_id, channel_type;
    uint8_t device_launched, pad2[3];
};

struct host_node_record { /* CUpti_ActivityGraphHostNode, from CUPTI 13.1 */
    uint32_t kind, stream_id, context_id, device_id, correlation_id, graph_id;
    uint64_t graph_node_id;
    uint32_t process_id, thread_id;
    uint64_t start, end;
};

static_assert(sizeof(struct host_node_record) == 56 && offsetof(struct host_node_record, start) == 40,
              "CUpti_ActivityGraphHostNode");
static_assert(sizeof(struct kernel_record) == 216 && offsetof(struct kernel_record, graph_node_id) == 144 &&
                  offsetof(struct kernel_record, name) == 104 && offsetof(struct kernel_record, graph_id) == 156,
              "CUpti_ActivityKernel10");
static_assert(sizeof(struct memcpy_record) == 96 && offsetof(struct memcpy_record, graph_node_id) == 64 &&
                  offsetof(struct memcpy_record, correlation_id) == 44,
              "CUpti_ActivityMemcpy6");
static_assert(sizeof(struct memset_record) == 88 && offsetof(struct memset_record, graph_node_id) == 64 &&
                  offsetof(struct memset_record, correlation_id) == 44,
              "CUpti_ActivityMemset4");

int kind_of(const struct activity *activity) {
    switch (activity->work->type) {
    case NODE_MEMCPY:
        return KIND_MEMCPY;
    case NODE_MEMSET:
        return KIND_MEMSET;
    case NODE_HOST:
        return KIND_GRAPH_HOST_NODE;
    default:
        return KIND_CONCURRENT_KERNEL;
    }
}

size_t record_bytes(uint32_t kind) {
    switch (kind) {
    case KIND_MEMCPY:
        return sizeof(struct memcpy_record);
    case KIND_MEMSET:
        return sizeof(struct memset_record);
    case KIND_CONCURRENT_KERNEL:
        return sizeof(struct kernel_record);
    case KIND_GRAPH_HOST_NODE:
        return sizeof(struct host_node_record);
    default:
        return 0;
    }
}

static void write_kernel(struct kernel_record *record, const struct activity *activity) {
    static int64_t last_grid_id;
    const struct work *work = activity->work;
    *record = (struct kernel_record){
        .kind = KIND_CONCURRENT_KERNEL,
        .registers = 16,
        .start = activity->start_ns,
        .end = activity->end_ns,
        .device_id = activity->device_id,
        .context_id = activity->context_id,
        .stream_id = activity->stream_id,
        .dynamic_shared = (int32_t)work->shared_mem_bytes,
        .correlation_id = activity->correlation_id,
        .grid_id = ++last_grid_id,
        .name = work->function->name, /* functions live as long as the process */
        .graph_node_id = activity->graph_node_id,
        .graph_id = activity->graph_id,
    };
    for (int i = 0; i < 3; i++) {
        record->grid[i] = (int32_t)work->grid[i];
        record->block[i] = (int32_t)work->block[i];
    }
}

/* CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind (1 pageable, 2 pinned, 3 device). */
static uint8_t copy_kind(const CUDA_MEMCPY3D *copy) {
    bool from_host = copy->srcMemoryType == MEMORY_HOST, to_host = copy->dstMemoryType == MEMORY_HOST;
    return from_host ? (to_host ? 9 : 1) : (to_host ? 2 : 8);
}

static void write_memcpy(struct memcpy_record *record, const struct activity *activity) {
    const CUDA_MEMCPY3D *copy = &activity->work->copy;
    *record = (struct memcpy_record){
        .kind = KIND_MEMCPY,
        .copy_kind = copy_kind(copy),
        .source_kind = copy->srcMemoryType == MEMORY_HOST ? 1 : 3,
        .destination_kind = copy->dstMemoryType == MEMORY_HOST ? 1 : 3,
        .flags = 1, /* asynchronous */
        .bytes = copy->WidthInBytes * copy->Height * copy->Depth,
        .start = activity->start_ns,
        .end = activity->end_ns,
        .device_id = activity->device_id,
        .context_id = activity->context_id,
        .stream_id = activity->stream_id,
        .correlation_id = activity->correlation_id,
        .graph_node_id = activity->graph_node_id,
        .graph_id = activity->graph_id,
        .copy_count = 1,
    };
}

static void write_memset(struct memset_record *record, const struct activity *activity) {
    const CUDA_MEMSET_NODE_PARAMS *set = &activity->work->memset;
    *record = (struct memset_record){
        .kind = KIND_MEMSET,
        .value = set->value,
        .bytes = set->width * set->elementSize * set->height,
        .start = activity->start_ns,
        .end = activity->end_ns,
        .device_id = activity->device_id,
        .context_id = activity->context_id,
        .stream_id = activity->stream_id,
        .correlation_id = activity->correlation_id,
        .flags = 1, /* asynchronous */
        .memory_kind = 3,
        .graph_node_id = activity->graph_node_id,
        .graph_id = activity->graph_id,
    };
}

static void write_host_node(struct host_node_record *record, const struct activity *activity) {
    *record = (struct host_node_record){
        .kind = KIND_GRAPH_HOST_NODE,
        .stream_id = activity->stream_id,
        .context_id = activity->context_id,
        .device_id = activity->device_id,
        .correlation_id = activity->correlation_id,
        .graph_id = activity->graph_id,
        .graph_node_id = activity->graph_node_id,
        .process_id = 1,
        .thread_id = 2,
        .start = activity->start_ns,
        .end = activity->end_ns,
    };
}

size_t write_record(void *record, const struct activity *activity) {
    int kind = kind_of(activity);
    if (kind == KIND_MEMCPY)
        write_memcpy(record, activity);
    else if (kind == KIND_MEMSET)
        write_memset(record, activity);
    else if (kind == KIND_GRAPH_HOST_NODE)
        write_host_node(record, activity);
    else
        write_kernel(record, activity);
    return record_bytes((uint32_t)kind);
}

/* Start and end stand side by side in every kind. */
static uint64_t *times_of(void *record) {
    uint32_t kind = *(uint32_t *)record;
    return kind == KIND_CONCURRENT_KERNEL ? &((struct kernel_record *)record)->start
           : kind == KIND_GRAPH_HOST_NODE ? &((struct host_node_record *)record)->start
           : kind == KIND_MEMCPY          ? &((struct memcpy_record *)record)->start
                                          : &((struct memset_record *)record)->start;
}

void clear_times(void *record) {
    uint64_t *times = times_of(record);
    times[0] = times[1] = 0;
}

void turn_times(void *record) {
    uint64_t *times = times_of(record), start = times[0];
    times[0] = times[1];
    times[1] = start;
}
