/* What a call puts into a stream, in the words of the node that a capture would make of it. */
#include "values/parts.h"

#include <string.h>

#define UNIFIED_MEMORY 4

/* Parameters of calls, as generated_cuda_meta.h of CUDA 13.0 has them. */
struct launch {
    CUfunction function;
    unsigned grid[3], block[3], shared_mem_bytes;
    CUstream stream;
    void **parameters, **extra;
};
struct configured_launch {
    const void *config;
    CUfunction function;
    void **parameters, **extra;
};
struct line {
    CUdeviceptr to, from;
    size_t bytes;
};
struct setting {
    CUdeviceptr to;
    uint64_t value;
    size_t count;
};
struct setting_of_rows {
    CUdeviceptr to;
    size_t pitch;
    uint64_t value;
    size_t width, height;
};

static bool take_kernel(CUfunction function, void **parameters, void **extra, struct work *work) {
    *work = (struct work){.type = NODE_KERNEL};
    work->kernel = (KernelParams){.func = function, .kern = (CUkernel)function, .kernelParams = parameters,
                                  .extra = parameters ? NULL : extra};
    return true;
}

/* An end on the host is memory that no block of the device holds. */
static bool take_copy(const struct line *copy, struct work *work) {
    *work = (struct work){.type = NODE_MEMCPY};
    work->copy = (MemcpyParams){.source = {.memory_type = UNIFIED_MEMORY, .device = copy->from},
                                .destination = {.memory_type = UNIFIED_MEMORY, .device = copy->to},
                                .width_bytes = copy->bytes, .height = 1, .depth = 1};
    return true;
}

/* `width`: the name behind what all of these calls are called. */
static bool take_set(const char *width, const void *params, struct work *work) {
    bool rows = strncmp(width, "D2", 2) == 0;
    const char *bits = width + (rows ? 3 : 1);
    unsigned size = bits[0] == '8' ? 1 : bits[0] == '1' ? 2 : 4;
    const struct setting *line = params;
    const struct setting_of_rows *block = params;
    *work = (struct work){.type = NODE_MEMSET};
    work->set = rows ? (MemsetParams){.dst = block->to, .pitch = block->pitch, .element_size = size,
                                      .width = block->width, .height = block->height}
                     : (MemsetParams){.dst = line->to, .element_size = size, .width = line->count, .height = 1};
    return true;
}

static bool begins(const char *name, const char *with) { return strncmp(name, with, strlen(with)) == 0; }

bool stream_call_work(const char *name, const void *params, struct work *work) {
    const struct launch *launch = params;
    const struct configured_launch *configured = params;
    if (begins(name, "cuLaunchKernelEx"))
        return take_kernel(configured->function, configured->parameters, configured->extra, work);
    if (begins(name, "cuLaunchKernel"))
        return take_kernel(launch->function, launch->parameters, launch->extra, work);
    if (begins(name, "cuLaunchCooperativeKernel"))
        return take_kernel(launch->function, launch->parameters, NULL, work);
    if (begins(name, "cuMemset"))
        return take_set(name + strlen("cuMemset"), params, work);
    if (begins(name, "cuMemcpy3D") && !begins(name, "cuMemcpy3DPeer")) {
        *work = (struct work){.type = NODE_MEMCPY};
        work->copy = **(const MemcpyParams *const *)params;
        return true;
    }
    bool plain = begins(name, "cuMemcpyHtoD") || begins(name, "cuMemcpyDtoH") || begins(name, "cuMemcpyDtoD") ||
                 begins(name, "cuMemcpyAsync") || strcmp(name, "cuMemcpy") == 0 || strcmp(name, "cuMemcpy_ptds") == 0;
    return plain && take_copy(params, work);
}
