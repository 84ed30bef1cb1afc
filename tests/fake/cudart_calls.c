/* The inside of the fake libcudart.so.13: a few runtime functions, each around a driver call. */
#include "fake.h"
#include "runtime_cbids.h"

typedef int cudaError_t;

extern CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
extern CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
extern CUresult cuStreamSynchronize(CUstream stream);
extern CUresult cuCtxSynchronize(void);
extern CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
extern CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph);

static __thread cudaError_t last_error;

/* Results of the runtime that matter here have the driver's numbers. */
#define RUNTIME(name, fields, expression, ...)                                     \
    do {                                                                           \
        struct fields params_ = {__VA_ARGS__};                                     \
        fake_runtime_call(runtime_cbid_##name, #name, &params_, NULL);             \
        cudaError_t result_ = (expression);                                        \
        if (result_ != 0)                                                          \
            last_error = result_;                                                  \
        fake_runtime_call(runtime_cbid_##name, #name, &params_, &result_);         \
        return result_;                                                            \
    } while (0)

EXPORT cudaError_t cudaMalloc(void **address, size_t bytes) {
    RUNTIME(cudaMalloc, { void **a; size_t b; }, cuMemAlloc_v2((CUdeviceptr *)address, bytes), address, bytes);
}

static CUresult copy(void *to, const void *from, size_t bytes) {
    CUresult result = cuMemcpyAsync((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes, NULL);
    return result == CUDA_SUCCESS ? cuStreamSynchronize(NULL) : result;
}

EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    RUNTIME(cudaMemcpy, { void *a; const void *b; size_t c; int d; }, copy(to, from, bytes), to, from, bytes,
            kind);
}

EXPORT cudaError_t cudaStreamSynchronize(CUstream stream) {
    RUNTIME(cudaStreamSynchronize, { CUstream a; }, cuStreamSynchronize(stream), stream);
}

EXPORT cudaError_t cudaDeviceSynchronize(void) {
    RUNTIME(cudaDeviceSynchronize, { int unused; }, cuCtxSynchronize(), 0);
}

EXPORT cudaError_t cudaStreamBeginCapture(CUstream stream, int mode) {
    RUNTIME(cudaStreamBeginCapture, { CUstream a; int b; }, cuStreamBeginCapture_v2(stream, mode), stream, mode);
}

EXPORT cudaError_t cudaStreamEndCapture(CUstream stream, CUgraph *graph) {
    RUNTIME(cudaStreamEndCapture, { CUstream a; CUgraph *b; }, cuStreamEndCapture(stream, graph), stream, graph);
}

static cudaError_t take_last_error(void) {
    cudaError_t error = last_error;
    last_error = 0;
    return error;
}

EXPORT cudaError_t cudaGetLastError(void) {
    RUNTIME(cudaGetLastError, { int unused; }, take_last_error(), 0);
}
