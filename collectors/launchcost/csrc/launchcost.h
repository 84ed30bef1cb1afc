/* The laboratory: what graphs cost on this GPU (gviz bench).
 *
 * Python says what to do (programs of operations, how often), this side does it in a tight loop
 * and reads the clock, so that Python's call cost is in no figure. One laboratory a process, used
 * by one thread; nothing here runs in a watched program.
 */
#ifndef GVIZ_LAUNCHCOST_H
#define GVIZ_LAUNCHCOST_H

#include "core/core.h"

/* X(field, symbol, parameters): what the laboratory needs of libcuda besides core's `cuda`. */
#define LAB_FUNCTIONS(X)                                                                       \
    X(Init, cuInit, (unsigned))                                                                \
    X(DeviceGetCount, cuDeviceGetCount, (int *))                                               \
    X(DeviceGet, cuDeviceGet, (CUdevice *, int))                                               \
    X(PrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                     \
    X(PrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice))                             \
    X(CtxSetCurrent, cuCtxSetCurrent, (CUcontext))                                             \
    X(GetErrorName, cuGetErrorName, (CUresult, const char **))                                 \
    X(MemHostAlloc, cuMemHostAlloc, (void **, size_t, unsigned))                               \
    X(MemFreeHost, cuMemFreeHost, (void *))                                                    \
    X(StreamSynchronize, cuStreamSynchronize, (CUstream))                                      \
    X(StreamBeginCapture, cuStreamBeginCapture_v2, (CUstream, int))                            \
    X(StreamEndCapture, cuStreamEndCapture, (CUstream, CUgraph *))                             \
    X(MemsetD8Async, cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))          \
    X(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream))     \
    X(GraphUpload, cuGraphUpload, (CUgraphExec, CUstream))                                     \
    X(GraphExecUpdate, cuGraphExecUpdate_v2, (CUgraphExec, CUgraph, void *))                   \
    X(GraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2,                         \
      (CUgraphExec, CUgraphNode, const KernelParams *))                                        \
    X(GraphNodeSetEnabled, cuGraphNodeSetEnabled, (CUgraphExec, CUgraphNode, unsigned))        \
    X(LinkCreate, cuLinkCreate_v2, (unsigned, int *, void **, void **))                        \
    X(LinkAddData, cuLinkAddData_v2,                                                           \
      (void *, int, void *, size_t, const char *, unsigned, int *, void **))                   \
    X(LinkAddFile, cuLinkAddFile_v2, (void *, int, const char *, unsigned, int *, void **))    \
    X(LinkComplete, cuLinkComplete, (void *, void **, size_t *))                               \
    X(LinkDestroy, cuLinkDestroy, (void *))

struct lab_functions {
#define X(field, symbol, parameters) CUresult(*field) parameters;
    LAB_FUNCTIONS(X)
#undef X
};

extern struct lab_functions lab_cuda;

#define LAB_STREAMS 65 /* the widest graph has 64 branches behind one entry */
#define LAB_EVENTS 65
#define LAB_LATCH_BYTES 64

enum lab_kind { LAB_EMPTY = 0, LAB_SPIN = 1, LAB_MEMSET = 2, LAB_MEMCPY = 3, LAB_RECORD = 4,
                LAB_WAIT = 5 };

/* One call: `kind` into stream number `stream`; for LAB_RECORD and LAB_WAIT of event `event`. */
struct lab_operation {
    int32_t kind, stream, event;
};

/* Stream 0 is the first and the last: the others wait for it, and it waits for them. */
struct lab_program {
    const struct lab_operation *operations;
    int64_t count;
    uint64_t clocks; /* how long LAB_SPIN kernels take, in the multiprocessor's clocks */
};

/* One launch of a program or of a graph, in nanoseconds. */
struct lab_reading {
    int64_t host;   /* in the launch call or calls */
    int64_t finish; /* from before the first call until a synchronisation returned */
    int64_t device; /* between events before and after; -1: it was not waiting in the queue */
};

/* The calls of one executable's life, in nanoseconds; -1: not made. */
struct lab_life {
    int64_t instantiate, upload, upload_finish, first_host, first_finish, again_host, again_finish,
        destroy;
};

struct laboratory {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction empty, spin, wait;
    CUstream streams[LAB_STREAMS];
    CUevent events[LAB_EVENTS], before, after;
    CUdeviceptr memory;
    /* Host memory that kernels reach. [0]: the waiting kernel may end; [1]: it gave up waiting;
     * [2]: self-launches left; [4] and [5]: nanoseconds that launching from the device took. */
    volatile uint32_t *latch;
    bool open;
};

extern struct laboratory lab;

/* -1, and the sentence that gviz_lab_error returns. */
int lab_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* 0, or lab_fail with CUDA's name of the result. */
int lab_check(CUresult result, const char *call);
CUresult lab_launch(CUfunction function, CUstream stream, void **arguments);
/* Send the operations, those of program stream 0 to `first` in place of lab.streams[0]. */
CUresult lab_send(const struct lab_program *program, CUstream first);
int lab_capture(const struct lab_program *program, CUgraph *graph);

#endif
