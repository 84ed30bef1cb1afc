/* The runtime functions that the fake reports to CUPTI, numbered and named as CUPTI 13.0 does. */
#ifndef FAKE_RUNTIME_CBIDS_H
#define FAKE_RUNTIME_CBIDS_H

#define RUNTIME_CBIDS(X) \
    X(10, cudaGetLastError, "cudaGetLastError_v3020") \
    X(20, cudaMalloc, "cudaMalloc_v3020") \
    X(31, cudaMemcpy, "cudaMemcpy_v3020") \
    X(131, cudaStreamSynchronize, "cudaStreamSynchronize_v3020") \
    X(165, cudaDeviceSynchronize, "cudaDeviceSynchronize_v3020") \
    X(315, cudaStreamBeginCapture, "cudaStreamBeginCapture_v10000") \
    X(319, cudaStreamEndCapture, "cudaStreamEndCapture_v10000") \

enum runtime_cbid {
#define RUNTIME_CBID_ENUM(number, name, told) runtime_cbid_##name = number,
    RUNTIME_CBIDS(RUNTIME_CBID_ENUM)
#undef RUNTIME_CBID_ENUM
};

#endif
