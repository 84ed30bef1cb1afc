/* Graphs that are not tried: those that wait for somebody, call the host, or reach memory that is not
 * saved. */
#include "graph/graph.h"
#include "trial/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HOST_MEMORY 1
#define DEVICE_MEMORY 2
#define UNIFIED_MEMORY 4

static const char unknown_memory[] = "it is given device memory that the process was not seen to allocate";

static const char unread_arguments[] = "the arguments of a kernel cannot be read";

/* In names of kernels that wait for other GPUs or processes. */
static const char *const collectives[] = {"nccl", "nvshmem", "allreduce", "all_reduce", "allgather", "all_gather",
                                          "reducescatter", "reduce_scatter", "cross_device", "multimem", "oneshot",
                                          "one_shot", "twoshot", "two_shot", "userbuffers", "symm_mem"};

/* Any of what an address may be of, and NULL where it is none. */
static const char *address_obstacle(CUdeviceptr address, size_t bytes, const char *host) {
    unsigned type = 0;
    int ordinal = -1;
    int attributes[] = {POINTER_MEMORY_TYPE, POINTER_DEVICE_ORDINAL};
    void *values[] = {&type, &ordinal};
    if (blocks_hold(address, bytes) || images_hold(address, bytes))
        return NULL;
    if (!cuda.PointerGetAttributes)
        return unknown_memory;
    if (cuda.PointerGetAttributes(2, attributes, values, address) != 0 || !type)
        return NULL; /* a number, and no address */
    return type == HOST_MEMORY ? host : unknown_memory;
}

/* -- kernels ------------------------------------------------------------------------------------------ */

static bool is_collective(const char *name) {
    char lower[512];
    size_t i = 0;
    for (; name[i] && i < sizeof lower - 1; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    lower[i] = 0;
    for (i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (strstr(lower, collectives[i]))
            return true;
    return false;
}

static const char *code_obstacle(CUfunction function, CUkernel kernel) {
    const char *name = NULL;
    if (!(function && cuda.FuncGetName && cuda.FuncGetName(&name, function) == 0 && name) &&
        !(kernel && cuda.KernelGetName && cuda.KernelGetName(&name, kernel) == 0 && name))
        return "the name of a kernel cannot be read";
    return is_collective(name) ? "it holds a collective" : images_obstacle(function, name);
}

/* Every word of an argument that could be an address. */
static const char *argument_obstacle(const void *value, size_t bytes) {
    const char *why = NULL;
    for (size_t at = 0; at + sizeof(CUdeviceptr) <= bytes && !why; at += sizeof(CUdeviceptr)) {
        CUdeviceptr word;
        memcpy(&word, (const char *)value + at, sizeof word);
        if (word > 4096)
            why = address_obstacle(word, 1, "a kernel of it is given host memory");
    }
    return why;
}

static const char *kernel_obstacle(CUgraphNode node) {
    KernelParams params;
    memset(&params, 0, sizeof params);
    if (cuda.GraphKernelNodeGetParams(node, &params) != 0)
        return "the parameters of a kernel node cannot be read";
    CUfunction function = params.func;
    if (!function && params.kern && cuda.KernelGetFunction)
        cuda.KernelGetFunction(&function, params.kern);
    const char *why = code_obstacle(function, params.kern);
    if (!why && !cuda.FuncGetParamInfo)
        why = unread_arguments;
    size_t offset, bytes;
    for (size_t i = 0; !why && cuda.FuncGetParamInfo(function, i, &offset, &bytes) == 0; i++) {
        const char *value = kernel_argument(&params, i, offset);
        why = value ? argument_obstacle(value, bytes) : unread_arguments;
    }
    return why;
}

/* -- copies and memsets ---------------------------------------------------------------------------------- */

/* Of an end, from its first byte to its last. */
static size_t extent(const CopyEnd *end, const MemcpyParams *params) {
    size_t pitch = end->pitch ? end->pitch : params->width_bytes;
    size_t height = end->height ? end->height : params->height;
    return ((end->z + params->depth - 1) * height + end->y + params->height - 1) * pitch + end->x +
           params->width_bytes;
}

static const char *copy_obstacle(CUgraphNode node) {
    static const char to_host[] = "a copy of it writes to host memory";
    MemcpyParams params;
    memset(&params, 0, sizeof params);
    if (cuda.GraphMemcpyNodeGetParams(node, &params) != 0)
        return "the parameters of a copy cannot be read";
    const CopyEnd *to = &params.destination;
    if (to->memory_type == HOST_MEMORY)
        return to_host;
    if (to->memory_type != DEVICE_MEMORY && to->memory_type != UNIFIED_MEMORY)
        return "a copy of it writes to an array";
    if (blocks_hold(to->device, extent(to, &params)))
        return NULL;
    const char *why = address_obstacle(to->device, extent(to, &params), to_host);
    return why ? why : unknown_memory;
}

static const char *memset_obstacle(CUgraphNode node) {
    MemsetParams params;
    memset(&params, 0, sizeof params);
    if (cuda.GraphMemsetNodeGetParams(node, &params) != 0)
        return "the parameters of a memset cannot be read";
    size_t row = params.width * params.element_size;
    size_t bytes = params.height > 1 ? (params.height - 1) * params.pitch + row : row;
    return blocks_hold(params.dst, bytes) ? NULL : unknown_memory;
}

/* -- */

static const char *node_obstacle(const struct level *level, size_t i) {
    switch (level->types[i]) {
    case NODE_KERNEL:
        return kernel_obstacle(level->nodes[i]);
    case NODE_MEMCPY:
        return copy_obstacle(level->nodes[i]);
    case NODE_MEMSET:
        return memset_obstacle(level->nodes[i]);
    case NODE_GRAPH:
        return level->children[i] ? graph_obstacle(level->children[i]) : "a child graph cannot be read";
    case NODE_EMPTY:
        return NULL;
    case NODE_HOST:
        return "it calls functions of the host";
    case NODE_WAIT_EVENT:
    case NODE_EVENT_RECORD:
        return "it records events of the program or waits for them";
    case NODE_EXT_SEMAS_SIGNAL:
    case NODE_EXT_SEMAS_WAIT:
        return "it signals semaphores or waits for them";
    case NODE_BATCH_MEM_OP:
        return "it has batch memory operations, which may wait for the host";
    default:
        return "it has nodes that are not copied";
    }
}

uint64_t graph_reach(void) { return blocks_changes() + images_changes(); }

const char *graph_obstacle(const struct level *level) {
    const char *why = NULL;
    for (size_t i = 0; i < level->count && !why; i++)
        why = node_obstacle(level, i);
    return why;
}
