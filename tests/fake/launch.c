/* Launching kernels and host functions, and stream-ordered allocation. */
#include "fake.h"

static CUresult launch(struct work *work, CUstream stream, void **parameters, void **extra) {
    CUresult result = require_context();
    if (result != CUDA_SUCCESS)
        return result;
    if (!fake_is(work->function, OBJECT_FUNCTION))
        return CUDA_ERROR_INVALID_HANDLE;
    result = set_kernel_arguments(work, parameters, extra);
    if (result == CUDA_SUCCESS)
        result = submit(stream, work);
    free_work(work);
    return result;
}

/* Streams that cuLaunchKernel was given, beside the legacy one. */
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static CUstream streams[64];

static void note_stream(CUstream stream) {
    pthread_mutex_lock(&streams_lock);
    int at = 0;
    while (at < 63 && streams[at] && streams[at] != stream)
        at++;
    if (stream)
        streams[at] = stream;
    pthread_mutex_unlock(&streams_lock);
}

EXPORT int fake_streams_with_kernels(void) {
    int count = 0;
    while (count < 64 && streams[count])
        count++;
    return count;
}

static CUresult launch_shape(CUfunction function, const unsigned int shape[6], unsigned int shared,
                             CUstream stream, void **parameters, void **extra) {
    struct work work = kernel_work(function, shape, shape + 3, shared);
    if (fake_refuses(function->name))
        return CUDA_ERROR_OUT_OF_MEMORY;
    note_stream(stream);
    return launch(&work, stream, parameters, extra);
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz,
                               unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                               CUstream stream, void **parameters, void **extra) {
    unsigned int shape[] = {gx, gy, gz, bx, by, bz};
    TRACED(cuLaunchKernel,
           {
               CUfunction f;
               unsigned int shape[6];
               unsigned int shared;
               CUstream stream;
               void **parameters;
               void **extra;
           },
           launch_shape(function, shape, shared, stream, parameters, extra), function,
           {gx, gy, gz, bx, by, bz}, shared, stream, parameters, extra);
}

static CUresult launch_config(const CUlaunchConfig *config, CUfunction function, void **parameters,
                              void **extra) {
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    struct work work = kernel_work(function, config->grid, config->block, config->sharedMemBytes);
    for (unsigned int i = 0; i < config->numAttrs; i++) {
        if (config->attrs[i].id == ATTRIBUTE_COOPERATIVE)
            work.cooperative = config->attrs[i].value.value;
        if (config->attrs[i].id == ATTRIBUTE_PROGRAMMATIC)
            work.programmatic = config->attrs[i].value.value != 0;
        if (config->attrs[i].id == ATTRIBUTE_PRIORITY)
            work.priority = config->attrs[i].value.value;
    }
    return launch(&work, config->hStream, parameters, extra);
}

EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                                 void **extra) {
    TRACED(cuLaunchKernelEx, { const CUlaunchConfig *a; CUfunction b; void **c; void **d; },
           launch_config(config, function, parameters, extra), config, function, parameters, extra);
}

static CUresult launch_host(CUstream stream, CUhostFn fn, void *data) {
    if (!fn)
        return CUDA_ERROR_INVALID_VALUE;
    struct work work = {.type = NODE_HOST, .host = {fn, data}};
    return submit(stream, &work);
}

EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data) {
    TRACED(cuLaunchHostFunc, { CUstream a; CUhostFn b; void *c; }, launch_host(stream, fn, data), stream, fn,
           data);
}

/* -- stream-ordered allocation: alloc and free nodes when captured --------------------------------- */

static CUresult allocate_async(CUdeviceptr *address, size_t bytes, CUstream handle) {
    struct stream *stream = resolve_stream(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = allocate_device(address, bytes);
    if (result != CUDA_SUCCESS || !stream->capture)
        return result;
    struct work work = {.type = NODE_MEM_ALLOC};
    work.alloc = (CUDA_MEM_ALLOC_NODE_PARAMS){
        .allocType = 1, .locationType = 1, .bytesize = bytes, .dptr = *address};
    return capture_work(stream, &work);
}

EXPORT CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
    TRACED(cuMemAllocAsync, { CUdeviceptr *a; size_t b; CUstream c; }, allocate_async(address, bytes, stream),
           address, bytes, stream);
}

static CUresult free_async(CUdeviceptr address, CUstream handle) {
    struct stream *stream = resolve_stream(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!stream->capture) {
        graph_memory_freed(address);
        return free_device(address);
    }
    struct work work = {.type = NODE_MEM_FREE, .freed = address};
    return capture_work(stream, &work);
}

EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    TRACED(cuMemFreeAsync, { CUdeviceptr a; CUstream b; }, free_async(address, stream), address, stream);
}
