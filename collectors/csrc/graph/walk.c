/* A graph's nodes and edges, read while the template is alive (inside GRAPHEXEC_CREATED). */
#include "graph/parts.h"
#include "spool/spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ARGUMENTS 256
#define MAX_ARGUMENT_BYTES 4096
#define ALL_DOT_DETAILS 1u /* CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE */
#define MAX_DEPTH 16
#define MAX_BRANCHES 4096 /* of a SWITCH */

struct function_info {
    CUfunction function;
    uint32_t argument_count;
    uint32_t offsets[MAX_ARGUMENTS], sizes[MAX_ARGUMENTS];
};

GVIZ_LOCK(lock);
static struct function_info **functions;
static size_t function_count, function_room;
static _Atomic uint64_t devices_seen;

void walk_reset(void) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < function_room; i++)
        free(functions[i]);
    free(functions);
    functions = NULL;
    function_count = function_room = 0;
    devices_seen = 0;
    pthread_mutex_unlock(&lock);
}

/* Describe a device, the first time it is met. */
static void device_write(CUdevice device) {
    if (device < 0 || device > 63 || devices_seen >> device & 1 ||
        atomic_fetch_or(&devices_seen, 1ull << device) >> device & 1)
        return;
    struct device_record record = {.ordinal = device};
    char name[256] = "";
    size_t memory = 0;
    cuda.DeviceGetName(name, sizeof name, device);
    cuda.DeviceGetAttribute(&record.major, DEVICE_CC_MAJOR, device);
    cuda.DeviceGetAttribute(&record.minor, DEVICE_CC_MINOR, device);
    cuda.DeviceGetAttribute(&record.multiprocessors, DEVICE_MULTIPROCESSOR_COUNT, device);
    cuda.DeviceGetAttribute(&record.max_threads, DEVICE_MAX_THREADS_PER_MULTIPROCESSOR, device);
    cuda.DeviceTotalMem(&memory, device);
    record.memory_bytes = memory;
    if (cuda.DeviceGetPCIBusId)
        cuda.DeviceGetPCIBusId(record.bus_id, sizeof record.bus_id, device);
    struct slice slices[] = {{&record, sizeof record}, {name, strlen(name)}};
    spool_append(RECORD_DEVICE, slices, 2);
}

void walk_device(CUcontext context) {
    devices_forget(); /* a new context may have the handle of one that is gone */
    device_write(device_of_context(context, -1));
}

/* -- functions: looked up once each ------------------------------------------------------- */

static size_t function_slot(struct function_info **table, size_t room, CUfunction function) {
    size_t at = handle_place(function, room);
    while (table[at] && table[at]->function != function)
        at = (at + 1) & (room - 1);
    return at;
}

static bool functions_grow(void) {
    size_t room = function_room ? function_room * 2 : 256;
    struct function_info **table = calloc(room, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < function_room; i++)
        if (functions[i])
            table[function_slot(table, room, functions[i]->function)] = functions[i];
    free(functions);
    functions = table;
    function_room = room;
    return true;
}

static void function_write(CUfunction function, CUkernel kernel) {
    const char *name = NULL;
    struct function_record record = {(uint64_t)(uintptr_t)function, -1, -1, -1, -1};
    if (!cuda.FuncGetName || cuda.FuncGetName(&name, function) != 0 || !name) {
        if (!cuda.KernelGetName || !kernel || cuda.KernelGetName(&name, kernel) != 0 || !name)
            name = "?";
        else if (kernel == (CUkernel)function && cuda.KernelGetFunction)
            cuda.KernelGetFunction(&function, kernel);
    }
    cuda.FuncGetAttribute(&record.registers, FUNC_NUM_REGS, function);
    cuda.FuncGetAttribute(&record.static_shared_bytes, FUNC_SHARED_SIZE_BYTES, function);
    cuda.FuncGetAttribute(&record.local_bytes, FUNC_LOCAL_SIZE_BYTES, function);
    cuda.FuncGetAttribute(&record.max_threads, FUNC_MAX_THREADS_PER_BLOCK, function);
    struct slice slices[] = {{&record, sizeof record}, {name, strlen(name)}};
    spool_append(RECORD_FUNCTION, slices, 2);
}

static struct function_info *function_known(CUfunction function) {
    pthread_mutex_lock(&lock);
    struct function_info *found =
        function_room ? functions[function_slot(functions, function_room, function)] : NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Take a description into the table; return the one that stands there, another thread's if that
 * was first, or NULL without memory. */
static struct function_info *function_keep(struct function_info *info) {
    struct function_info *kept = NULL;
    pthread_mutex_lock(&lock);
    if (function_count * 2 < function_room || functions_grow()) {
        size_t at = function_slot(functions, function_room, info->function);
        if (!functions[at]) {
            functions[at] = info;
            function_count++;
        }
        kept = functions[at];
    }
    pthread_mutex_unlock(&lock);
    return kept;
}

static struct function_info *function_look_up(CUfunction function, CUkernel kernel) {
    struct function_info *info = function_known(function);
    if (info)
        return info;
    info = calloc(1, sizeof *info);
    if (!info)
        return NULL;
    info->function = function;
    size_t offset, size;
    while (info->argument_count < MAX_ARGUMENTS && cuda.FuncGetParamInfo &&
           cuda.FuncGetParamInfo(function, info->argument_count, &offset, &size) == 0) {
        info->offsets[info->argument_count] = (uint32_t)offset;
        info->sizes[info->argument_count++] = (uint32_t)size;
    }
    struct function_info *kept = function_keep(info);
    if (kept == info)
        function_write(function, kernel);
    else
        free(info);
    return kept;
}

/* A launch may name a kernel in its place: of that the resources are the function's. */
void walk_function(CUfunction function) { function_look_up(function, (CUkernel)function); }

/* -- arguments -------------------------------------------------------------------------------- */

/* Where an 8-byte argument points into, if the driver knows such an allocation. */
static void find_allocation(const void *value, struct argument_record *record) {
    uint64_t address;
    memcpy(&address, value, sizeof address);
    if (!cuda.PointerGetAttributes || address < 1u << 16 || address >> 57)
        return;
    CUdeviceptr start = 0;
    size_t size = 0;
    int attributes[] = {POINTER_RANGE_START, POINTER_RANGE_SIZE};
    void *values[] = {&start, &size};
    if (cuda.PointerGetAttributes(2, attributes, values, address) == 0 && start) {
        record->allocation = start;
        record->allocation_bytes = size;
    }
}

static const char *extra_buffer(void **extra) {
    /* extra: CU_LAUNCH_PARAM_BUFFER_POINTER (1), pointer, BUFFER_SIZE (2), size, END (0) */
    for (int i = 0; extra && i < 8 && extra[i]; i += 2)
        if (extra[i] == (void *)1)
            return extra[i + 1];
    return NULL;
}

const char *kernel_argument(const KernelParams *params, size_t index, size_t offset) {
    const char *packed = params->kernelParams ? NULL : extra_buffer(params->extra);
    return packed ? packed + offset : params->kernelParams ? params->kernelParams[index] : NULL;
}

static size_t write_arguments(const KernelParams *params, const struct function_info *info,
                              char *out, uint32_t *count) {
    size_t at = 0;
    *count = 0;
    for (uint32_t i = 0; info && i < info->argument_count; i++) {
        const char *value = kernel_argument(params, i, info->offsets[i]);
        uint32_t size = info->sizes[i], padded = (size + 7) & ~7u;
        if (!value || at + sizeof(struct argument_record) + padded > MAX_ARGUMENT_BYTES)
            break;
        struct argument_record record = {size, (uint16_t)padded, (uint16_t)(info->offsets[i] + 1), 0, 0};
        if (size == 8)
            find_allocation(value, &record);
        memcpy(out + at, &record, sizeof record);
        at += sizeof record;
        memset(out + at, 0, padded);
        memcpy(out + at, value, size);
        at += padded;
        (*count)++;
    }
    return at;
}

/* -- nodes ---------------------------------------------------------------------------------------- */

static int kernel_attribute(CUgraphNode node, int attribute, int missing) {
    LaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    if (!cuda.GraphKernelNodeGetAttribute ||
        cuda.GraphKernelNodeGetAttribute(node, attribute, &value) != 0)
        return missing;
    return value.value;
}

static size_t fill_kernel(CUgraphNode node, struct node_record *record, char *arguments) {
    KernelParams params;
    memset(&params, 0, sizeof params);
    if (cuda.GraphKernelNodeGetParams(node, &params) != 0)
        return 0;
    CUfunction function = params.func;
    if (!function && params.kern && cuda.KernelGetFunction)
        cuda.KernelGetFunction(&function, params.kern);
    memcpy(record->grid, params.grid, sizeof record->grid);
    memcpy(record->block, params.block, sizeof record->block);
    record->shared_mem_bytes = params.shared_mem_bytes;
    record->device_id = device_of_context(params.ctx, record->device_id);
    record->priority = kernel_attribute(node, LAUNCH_ATTRIBUTE_PRIORITY, INT32_MIN);
    record->cooperative = kernel_attribute(node, LAUNCH_ATTRIBUTE_COOPERATIVE, -1);
    if (!function)
        return 0;
    record->function = (uint64_t)(uintptr_t)function;
    struct function_info *info = function_look_up(function, params.kern);
    int threads = (int)(params.block[0] * params.block[1] * params.block[2]);
    if (cuda.OccupancyMaxActiveBlocks(&record->max_blocks, function, threads,
                                      params.shared_mem_bytes) != 0)
        record->max_blocks = -1;
    return write_arguments(&params, info, arguments, &record->argument_count);
}

static uint64_t copy_address(const CopyEnd *end) {
    switch (end->memory_type) {
    case 1:
        return (uint64_t)(uintptr_t)end->host;
    case 3:
        return (uint64_t)(uintptr_t)end->array;
    default:
        return end->device;
    }
}

static void fill_memcpy(CUgraphNode node, struct node_record *record) {
    MemcpyParams params;
    memset(&params, 0, sizeof params);
    if (cuda.GraphMemcpyNodeGetParams(node, &params) != 0)
        return;
    record->source_type = params.source.memory_type;
    record->destination_type = params.destination.memory_type;
    record->source = copy_address(&params.source);
    record->destination = copy_address(&params.destination);
    size_t height = params.height ? params.height : 1, depth = params.depth ? params.depth : 1;
    record->bytes = params.width_bytes * height * depth;
    int device = device_of_address(record->source, record->device_id);
    record->device_id = device_of_address(record->destination, device);
}

static void fill_memset(CUgraphNode node, struct node_record *record) {
    MemsetParams params;
    memset(&params, 0, sizeof params);
    if (cuda.GraphMemsetNodeGetParams(node, &params) != 0)
        return;
    record->destination = params.dst;
    record->device_id = device_of_address(params.dst, record->device_id);
    record->value = params.value;
    record->element_bytes = params.element_size;
    record->bytes = params.width * (params.height ? params.height : 1) * params.element_size;
}

static void fill_memory(CUgraphNode node, struct node_record *record) {
    if (record->type == NODE_MEM_FREE) {
        CUdeviceptr address = 0;
        if (cuda.GraphMemFreeNodeGetParams && cuda.GraphMemFreeNodeGetParams(node, &address) == 0)
            record->destination = address;
        return;
    }
    MemAllocParams params;
    memset(&params, 0, sizeof params);
    if (cuda.GraphMemAllocNodeGetParams && cuda.GraphMemAllocNodeGetParams(node, &params) == 0) {
        record->destination = params.address;
        record->bytes = params.bytes;
        if (params.location_type == 1 /* CU_MEM_LOCATION_TYPE_DEVICE */)
            record->device_id = params.location_id;
        graph_memory_watch(record->device_id, record->destination);
    }
}

struct walk {
    uint32_t exec_id;
    int device;
    int depth;
    uint32_t branch; /* of the conditional node that holds this level */
};

static void walk_level(CUgraph graph, struct walk walk, uint32_t parent_graph,
                       uint32_t parent_node);

static void walk_body(CUgraph body, struct walk walk, uint32_t branch, uint32_t graph_id,
                      uint32_t node_id) {
    if (!body || walk.depth >= MAX_DEPTH)
        return;
    walk.depth++;
    walk.branch = branch;
    walk_level(body, walk, graph_id, node_id);
}

static void walk_conditional(uint32_t graph_id, uint32_t node_id, struct walk walk) {
    struct body_list list;
    if (!bodies_of(graph_id, node_id, &list))
        return; /* added before gviz attached */
    struct conditional_record record = {graph_id, node_id, list.type, list.size, list.handle, 0, 0};
    for (uint32_t i = 0; i < list.size; i++)
        record.bodies += list.bodies[i] != NULL;
    spool_append_one(RECORD_CONDITIONAL, &record, sizeof record);
    for (uint32_t i = 0; i < list.size && i < MAX_BRANCHES; i++)
        walk_body(list.bodies[i], walk, i, graph_id, node_id);
    free(list.bodies);
}

static void walk_node(CUgraphNode node, uint32_t graph_id, struct walk walk) {
    char arguments[MAX_ARGUMENT_BYTES];
    uint64_t id = 0;
    struct node_record record = {.graph_id = graph_id, .type = -1, .device_id = walk.device,
                                 .max_blocks = -1, .priority = INT32_MIN, .cooperative = -1};
    cupti.cuptiGetGraphNodeId(node, &id);
    record.node_id = (uint32_t)id;
    cuda.GraphNodeGetType(node, &record.type);
    size_t size = 0;
    CUgraph child = NULL;
    switch (record.type) {
    case NODE_KERNEL:
        size = fill_kernel(node, &record, arguments);
        break;
    case NODE_MEMCPY:
        fill_memcpy(node, &record);
        break;
    case NODE_MEMSET:
        fill_memset(node, &record);
        break;
    case NODE_MEM_ALLOC:
    case NODE_MEM_FREE:
        fill_memory(node, &record);
        break;
    case NODE_GRAPH:
        if (cuda.GraphChildGraphNodeGetGraph(node, &child) == 0 && child)
            cupti.cuptiGetGraphId(child, &record.child_graph_id);
        break;
    default:
        break;
    }
    device_write(record.device_id);
    struct slice slices[] = {{&record, sizeof record}, {arguments, size}};
    spool_append(RECORD_NODE, slices, 2);
    parameters_of(node, graph_id, record.node_id, record.type);
    if (record.type == NODE_CONDITIONAL)
        walk_conditional(graph_id, record.node_id, walk);
    walk_body(child, walk, 0, graph_id, record.node_id);
}

/* -- edges ------------------------------------------------------------------------------------------ */

size_t graph_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, EdgeData *data,
                   size_t count) {
    CUresult result = cuda.GraphGetEdges ? cuda.GraphGetEdges(graph, from, to, data, &count)
                                         : cuda.GraphGetEdgesOld(graph, from, to, &count);
    return result == 0 ? count : 0;
}

static uint32_t local_id(CUgraphNode node) {
    uint64_t id = 0;
    cupti.cuptiGetGraphNodeId(node, &id);
    return (uint32_t)id;
}

static void walk_edges(CUgraph graph, uint32_t graph_id, size_t count) {
    if (!count)
        return;
    CUgraphNode *from = calloc(count, sizeof *from), *to = calloc(count, sizeof *to);
    EdgeData *data = calloc(count, sizeof *data);
    struct edge_record *edges = calloc(count, sizeof *edges);
    if (from && to && data && edges) {
        count = graph_edges(graph, from, to, data, count);
        for (size_t i = 0; i < count; i++)
            edges[i] = (struct edge_record){local_id(from[i]), local_id(to[i]), data[i].from_port,
                                            data[i].to_port, data[i].type, {0}};
        struct edges_record record = {graph_id, (uint32_t)count};
        struct slice slices[] = {{&record, sizeof record}, {edges, count * sizeof *edges}};
        spool_append(RECORD_EDGES, slices, 2);
    }
    free(from);
    free(to);
    free(data);
    free(edges);
}

/* -- levels ----------------------------------------------------------------------------------------- */

static void write_dot(CUgraph graph, uint32_t graph_id) {
    char path[3200];
    snprintf(path, sizeof path, "%s/graph_%u.dot", spool_directory(), graph_id);
    if (access(path, F_OK) == 0) /* the same template instantiated again */
        return;
    if (cuda.GraphDebugDotPrint && cuda.GraphDebugDotPrint(graph, path, ALL_DOT_DETAILS) == 0)
        spool_append_one(RECORD_DOT, &(struct dot_record){graph_id}, sizeof(struct dot_record));
}

static void walk_level(CUgraph graph, struct walk walk, uint32_t parent_graph,
                       uint32_t parent_node) {
    size_t node_count = 0, edge_count = 0;
    uint32_t graph_id = 0;
    if (cupti.cuptiGetGraphId(graph, &graph_id) != 0 ||
        cuda.GraphGetNodes(graph, NULL, &node_count) != 0) {
        note("warning", "a graph could not be read; its nodes are known from their times only");
        return;
    }
    edge_count = graph_edges(graph, NULL, NULL, NULL, 0);
    struct graph_record record = {graph_id, walk.exec_id, parent_graph, parent_node, walk.branch,
                                  (uint32_t)node_count, (uint32_t)edge_count, 0};
    spool_append_one(RECORD_GRAPH, &record, sizeof record);
    CUgraphNode *nodes = calloc(node_count ? node_count : 1, sizeof *nodes);
    if (nodes && cuda.GraphGetNodes(graph, nodes, &node_count) == 0)
        for (size_t i = 0; i < node_count; i++)
            walk_node(nodes[i], graph_id, walk);
    free(nodes);
    walk_edges(graph, graph_id, edge_count);
    if (!parent_graph && node_count <= options.dot_nodes && walk.exec_id != WALK_FAILED)
        write_dot(graph, graph_id);
}

void walk_graph(CUgraph graph, uint32_t exec_id) {
    struct walk walk = {exec_id, device_current(), 0, 0};
    devices_forget();
    walk_level(graph, walk, 0, 0);
}
