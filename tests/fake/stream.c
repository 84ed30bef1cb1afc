/* Streams and the operations sent to them. */
#include "fake.h"

static struct stream legacy = {.id = 7};
static struct stream per_thread = {.id = 8};
static struct stream **streams;
static size_t stream_count;

struct stream *legacy_stream(void) { return &legacy; }

struct stream *stream_at(size_t index) {
    if (index == 0)
        return &legacy;
    if (index == 1)
        return &per_thread;
    return index - 2 < stream_count ? streams[index - 2] : NULL;
}

struct stream *resolve_stream(CUstream handle) {
    if ((uintptr_t)handle <= 1) /* NULL and CU_STREAM_LEGACY */
        return &legacy;
    if ((uintptr_t)handle == 2) /* CU_STREAM_PER_THREAD */
        return &per_thread;
    return fake_is(handle, OBJECT_STREAM) ? handle : NULL;
}

uint32_t fake_stream_id(struct stream *handle) {
    struct stream *stream = resolve_stream(handle);
    return stream ? stream->id : 0;
}

CUresult submit(CUstream handle, const struct work *work) {
    struct stream *stream = resolve_stream(handle);
    CUresult result = require_context();
    if (result != CUDA_SUCCESS)
        return result;
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture)
        return capture_work(stream, work);
    result = check_legacy_stream(stream);
    if (result == CUDA_SUCCESS) {
        run_on_stream(stream, work);
        speed_work(stream, work);
    }
    return result;
}

/* -- life ------------------------------------------------------------------------------------------ */

static CUresult create(CUstream *out, unsigned int flags, int priority) {
    CUresult result = require_context();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    struct stream *stream = fake_allocate(1, sizeof *stream);
    *stream = (struct stream){.id = next_stream_id(), .flags = flags, .priority = priority};
    streams = fake_append(streams, stream_count++, sizeof stream, &stream);
    add_object(stream, OBJECT_STREAM);
    notify(RESOURCE_STREAM_CREATED, stream, NULL);
    *out = stream;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
    TRACED(cuStreamCreate, { CUstream *a; unsigned int b; }, create(stream, flags, 0), stream, flags);
}

EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
    TRACED(cuStreamCreateWithPriority, { CUstream *a; unsigned int b; int c; }, create(stream, flags, priority),
           stream, flags, priority);
}

/* The memory stays: its work may still be running, and the list above keeps its times. */
static CUresult destroy(CUstream stream) {
    if (!fake_is(stream, OBJECT_STREAM))
        return CUDA_ERROR_INVALID_HANDLE;
    notify(RESOURCE_STREAM_DESTROY_STARTING, stream, NULL);
    if (stream->capture)
        invalidate(stream->capture);
    stream->capture = NULL;
    remove_object(stream);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
    TRACED(cuStreamDestroy_v2, { CUstream a; }, destroy(stream), stream);
}

EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    TRACED(cuStreamGetCtx, { CUstream a; CUcontext *b; },
           resolve_stream(stream) ? (*context = fake_context(), CUDA_SUCCESS) : CUDA_ERROR_INVALID_HANDLE,
           stream, context);
}

/* Asking about a capturing stream, or waiting for it, breaks the capture. */
static CUresult check_wait(CUstream handle) {
    struct stream *stream = resolve_stream(handle);
    CUresult result = require_context();
    if (result != CUDA_SUCCESS)
        return result;
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) {
        invalidate(stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return check_legacy_stream(stream);
}

/* Measured on an H100 (driver 580), in every mode. */
EXPORT CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
    /* Not in the table of callbacks: nothing watches it. */
    fake_lock();
    CUresult result = id ? check_wait(handle) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *id = resolve_stream(handle)->id;
    fake_unlock();
    return result;
}

static CUresult synchronize(CUstream handle) {
    fake_lock();
    CUresult result = check_wait(handle);
    fake_unlock();
    if (result == CUDA_SUCCESS) {
        if (resolve_stream(handle) == &legacy)
            wait_for_device();
        else
            wait_for_stream(resolve_stream(handle));
        fake_lock();
        speed_ended(resolve_stream(handle));
        fake_unlock();
    }
    return result;
}

EXPORT CUresult cuStreamSynchronize(CUstream stream) {
    TRACED_UNLOCKED(cuStreamSynchronize, { CUstream a; }, synchronize(stream), stream);
}

static CUresult query(CUstream handle) {
    CUresult result = check_wait(handle);
    if (result == CUDA_SUCCESS)
        result = check_unsafe_call();
    if (result != CUDA_SUCCESS)
        return result;
    return stream_is_done(resolve_stream(handle)) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

EXPORT CUresult cuStreamQuery(CUstream stream) {
    TRACED(cuStreamQuery, { CUstream a; }, query(stream), stream);
}

/* -- copies and memsets ---------------------------------------------------------------------------- */

static CUresult copy(int to_type, CUdeviceptr to, int from_type, CUdeviceptr from, size_t bytes, CUstream stream) {
    if (bytes == 0)
        return CUDA_SUCCESS;
    if (!to || !from)
        return CUDA_ERROR_INVALID_VALUE;
    struct work work = {.type = NODE_MEMCPY};
    work.copy = (CUDA_MEMCPY3D){
        .srcMemoryType = from_type,
        .srcHost = from_type == MEMORY_HOST ? (void *)(uintptr_t)from : NULL,
        .srcDevice = from_type == MEMORY_HOST ? 0 : from,
        .dstMemoryType = to_type,
        .dstHost = to_type == MEMORY_HOST ? (void *)(uintptr_t)to : NULL,
        .dstDevice = to_type == MEMORY_HOST ? 0 : to,
        .WidthInBytes = bytes,
        .Height = 1,
        .Depth = 1,
    };
    return submit(stream, &work);
}

EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    TRACED(cuMemcpyAsync, { CUdeviceptr a; CUdeviceptr b; size_t c; CUstream d; },
           copy(memory_type_at(to, NULL), to, memory_type_at(from, NULL), from, bytes, stream), to, from, bytes,
           stream);
}

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    TRACED(cuMemcpyHtoDAsync_v2, { CUdeviceptr a; const void *b; size_t c; CUstream d; },
           copy(MEMORY_DEVICE, to, MEMORY_HOST, (CUdeviceptr)(uintptr_t)from, bytes, stream), to, from, bytes,
           stream);
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    TRACED(cuMemcpyDtoHAsync_v2, { void *a; CUdeviceptr b; size_t c; CUstream d; },
           copy(MEMORY_HOST, (CUdeviceptr)(uintptr_t)to, MEMORY_DEVICE, from, bytes, stream), to, from, bytes,
           stream);
}

EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    TRACED(cuMemcpyDtoDAsync_v2, { CUdeviceptr a; CUdeviceptr b; size_t c; CUstream d; },
           copy(MEMORY_DEVICE, to, MEMORY_DEVICE, from, bytes, stream), to, from, bytes, stream);
}

static CUresult copy_and_wait(int to_type, CUdeviceptr to, int from_type, CUdeviceptr from, size_t bytes) {
    fake_lock();
    CUresult result = copy(to_type, to, from_type, from, bytes, NULL);
    fake_unlock();
    if (result == CUDA_SUCCESS)
        wait_for_stream(&legacy);
    return result;
}

EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
    TRACED_UNLOCKED(cuMemcpyHtoD_v2, { CUdeviceptr a; const void *b; size_t c; },
                    copy_and_wait(MEMORY_DEVICE, to, MEMORY_HOST, (CUdeviceptr)(uintptr_t)from, bytes), to,
                    from, bytes);
}

EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
    TRACED_UNLOCKED(cuMemcpyDtoH_v2, { void *a; CUdeviceptr b; size_t c; },
                    copy_and_wait(MEMORY_HOST, (CUdeviceptr)(uintptr_t)to, MEMORY_DEVICE, from, bytes), to,
                    from, bytes);
}

static CUresult set(CUdeviceptr to, unsigned int value, unsigned int element_bytes, size_t count,
                    CUstream stream) {
    if (!to)
        return CUDA_ERROR_INVALID_VALUE;
    struct work work = {.type = NODE_MEMSET};
    work.memset = (CUDA_MEMSET_NODE_PARAMS){
        .dst = to, .value = value, .elementSize = element_bytes, .width = count, .height = 1};
    return submit(stream, &work);
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    TRACED(cuMemsetD8Async, { CUdeviceptr a; unsigned char b; size_t c; CUstream d; },
           set(to, value, 1, count, stream), to, value, count, stream);
}

EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    TRACED(cuMemsetD16Async, { CUdeviceptr a; unsigned short b; size_t c; CUstream d; },
           set(to, value, 2, count, stream), to, value, count, stream);
}

EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
    TRACED(cuMemsetD32Async, { CUdeviceptr a; unsigned int b; size_t c; CUstream d; },
           set(to, value, 4, count, stream), to, value, count, stream);
}
