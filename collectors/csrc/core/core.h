/* The core, which the launch costs' library has too: the parts of CUDA's and CUPTI's interfaces
 * that gviz calls, and a clock.
 *
 * Declared here, so that building needs no CUDA toolkit; found with dlsym at run
 * time. Layouts are those of cuda.h and cupti_*.h of CUDA 13.0; the interfaces
 * used keep them in later releases.
 */
#ifndef GVIZ_CORE_H
#define GVIZ_CORE_H

#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GVIZ_EXPORT __attribute__((visibility("default")))
/* What every launch touches stands together: between two launches of a program that waits, caches and
 * address translations go cold, and each line and page apart is a trip to memory. */
#define GVIZ_HOT __attribute__((section("gviz_hot")))
#define GVIZ_HOT_CODE __attribute__((hot))

typedef int CUresult;
typedef int CUdevice;
typedef int CUptiResult;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUfunc_st *CUfunction;
typedef struct CUkern_st *CUkernel;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUmod_st *CUmodule;
typedef struct CUpti_Subscriber_st *CUpti_SubscriberHandle;

#define CU_STREAM_PER_THREAD ((CUstream)0x2)
#define CU_CAPTURE_MODE_RELAXED 2

enum { NODE_KERNEL = 0, NODE_MEMCPY = 1, NODE_MEMSET = 2, NODE_HOST = 3, NODE_GRAPH = 4,
       NODE_EMPTY = 5, NODE_WAIT_EVENT = 6, NODE_EVENT_RECORD = 7, NODE_EXT_SEMAS_SIGNAL = 8,
       NODE_EXT_SEMAS_WAIT = 9, NODE_MEM_ALLOC = 10, NODE_MEM_FREE = 11, NODE_BATCH_MEM_OP = 12,
       NODE_CONDITIONAL = 13 };

enum { FUNC_MAX_THREADS_PER_BLOCK = 0, FUNC_SHARED_SIZE_BYTES = 1, FUNC_LOCAL_SIZE_BYTES = 3,
       FUNC_NUM_REGS = 4 };

enum { DEVICE_MULTIPROCESSOR_COUNT = 16, DEVICE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
       DEVICE_CC_MAJOR = 75, DEVICE_CC_MINOR = 76 };

enum { POINTER_MEMORY_TYPE = 2, POINTER_DEVICE_ORDINAL = 9, POINTER_RANGE_START = 11,
       POINTER_RANGE_SIZE = 12 };

enum { LAUNCH_ATTRIBUTE_COOPERATIVE = 2, LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
       LAUNCH_ATTRIBUTE_PROGRAMMATIC = 6, LAUNCH_ATTRIBUTE_PRIORITY = 8,
       LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE = 13 };

typedef struct {
    CUfunction func;
    unsigned grid[3], block[3], shared_mem_bytes;
    void **kernelParams;
    void **extra;
    CUkernel kern;
    CUcontext ctx;
} KernelParams; /* CUDA_KERNEL_NODE_PARAMS_v2 */

typedef struct {
    CUdeviceptr dst;
    size_t pitch;
    unsigned value, element_size;
    size_t width, height;
} MemsetParams; /* CUDA_MEMSET_NODE_PARAMS */

typedef struct {
    size_t x, y, z, lod;
    int memory_type; /* 1 host, 2 device, 3 array, 4 unified */
    void *host;
    CUdeviceptr device;
    void *array;
    void *reserved;
    size_t pitch, height;
} CopyEnd;

typedef struct {
    CopyEnd source, destination;
    size_t width_bytes, height, depth;
} MemcpyParams; /* CUDA_MEMCPY3D */

typedef struct {
    int alloc_type, handle_types;
    int location_type, location_id;
    void *security;
    size_t max_size;
    unsigned short usage;
    unsigned char reserved[54];
    const void *access;
    size_t access_count, bytes;
    CUdeviceptr address;
} MemAllocParams; /* CUDA_MEM_ALLOC_NODE_PARAMS_v1 */

typedef struct {
    int operation;
    uint32_t reserved;
    CUdeviceptr address;
    uint64_t value;
    unsigned flags;
    CUdeviceptr alias;
    uint64_t padding;
} MemoryWrite; /* CUstreamBatchMemOpParams, of a write */

typedef struct {
    CUcontext ctx;
    unsigned count;
    MemoryWrite *operations;
    unsigned flags;
} BatchMemOpParams; /* CUDA_BATCH_MEM_OP_NODE_PARAMS */

typedef struct {
    unsigned char from_port, to_port, type, reserved[5];
} EdgeData; /* CUgraphEdgeData */

typedef union {
    char pad[64];
    int value;
} LaunchAttributeValue;

typedef struct {
    int id, reserved;
    LaunchAttributeValue of;
} LaunchAttribute; /* CUlaunchAttribute */

typedef struct {
    unsigned grid[3], block[3], shared_mem_bytes;
    CUstream stream;
    LaunchAttribute *attributes;
    unsigned count;
} LaunchConfig; /* CUlaunchConfig */

typedef struct {
    int site; /* 0 enter, 1 exit */
    const char *function_name;
    const void *params;
    void *return_value;
    const char *symbol_name;
    CUcontext context;
    uint32_t context_uid;
    uint64_t *correlation_data;
    uint32_t correlation_id;
} CUpti_CallbackData;

typedef struct {
    CUgraph graph, original_graph;
    CUgraphNode node, original_node;
    int node_type;
    CUgraphNode dependency;
    CUgraphExec graph_exec;
} CUpti_GraphData;

typedef struct {
    CUcontext context;
    void *handle;
    void *descriptor;
} CUpti_ResourceData;

typedef void (*CUpti_CallbackFunc)(void *, int, uint32_t, const void *);
typedef void (*CUpti_BuffersRequested)(uint8_t **, size_t *, size_t *);
typedef void (*CUpti_BuffersCompleted)(CUcontext, uint32_t, uint8_t *, size_t, size_t);

enum { DOMAIN_DRIVER_API = 1, DOMAIN_RUNTIME_API = 2, DOMAIN_RESOURCE = 3 };
enum { RESOURCE_CONTEXT_CREATED = 1, RESOURCE_CONTEXT_DESTROY_STARTING = 2,
       RESOURCE_STREAM_DESTROY_STARTING = 4,
       RESOURCE_GRAPH_CREATED = 9, RESOURCE_GRAPH_DESTROY_STARTING = 10,
       RESOURCE_GRAPHNODE_CREATED = 13, RESOURCE_GRAPHEXEC_CREATED = 18,
       RESOURCE_GRAPHNODE_CLONED = 20 };
enum { ACTIVITY_MEMCPY = 1, ACTIVITY_MEMSET = 2, ACTIVITY_CONCURRENT_KERNEL = 10,
       ACTIVITY_MEMCPY2 = 22, ACTIVITY_GRAPH_HOST_NODE = 56 };

/* X(name, result, parameters): libcupti, all of them needed. */
#define CUPTI_FUNCTIONS(X)                                                                     \
    X(cuptiGetVersion, CUptiResult, (uint32_t *))                                              \
    X(cuptiGetTimestamp, CUptiResult, (uint64_t *))                                            \
    X(cuptiGetResultString, CUptiResult, (CUptiResult, const char **))                         \
    X(cuptiSubscribe, CUptiResult, (CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *))     \
    X(cuptiUnsubscribe, CUptiResult, (CUpti_SubscriberHandle))                                 \
    X(cuptiEnableCallback, CUptiResult, (uint32_t, CUpti_SubscriberHandle, int, uint32_t))     \
    X(cuptiEnableDomain, CUptiResult, (uint32_t, CUpti_SubscriberHandle, int))                 \
    X(cuptiGetCallbackName, CUptiResult, (int, uint32_t, const char **))                       \
    X(cuptiActivityRegisterCallbacks, CUptiResult,                                             \
      (CUpti_BuffersRequested, CUpti_BuffersCompleted))                                        \
    X(cuptiActivityEnable, CUptiResult, (int))                                                 \
    X(cuptiActivityDisable, CUptiResult, (int))                                                \
    X(cuptiActivityFlushAll, CUptiResult, (uint32_t))                                          \
    X(cuptiActivityGetNextRecord, CUptiResult, (uint8_t *, size_t, uint8_t **))                \
    X(cuptiActivityGetNumDroppedRecords, CUptiResult, (CUcontext, uint32_t, size_t *))         \
    X(cuptiGetGraphId, CUptiResult, (CUgraph, uint32_t *))                                     \
    X(cuptiGetGraphExecId, CUptiResult, (CUgraphExec, uint32_t *))                             \
    X(cuptiGetGraphNodeId, CUptiResult, (CUgraphNode, uint64_t *))                             \
    X(cuptiGetStreamIdEx, CUptiResult, (CUcontext, CUstream, uint8_t, uint32_t *))

/* What the events collector needs besides (csrc/events); none without it. */
#define WATCH_FUNCTIONS(X)                                                                     \
    X(StreamGetCaptureInfo, cuStreamGetCaptureInfo_v3,                                         \
      (CUstream, int *, uint64_t *, CUgraph *, const CUgraphNode **, const EdgeData **,        \
       size_t *), 0)                                                                           \
    X(StreamGetCaptureInfoOld, cuStreamGetCaptureInfo_v2,                                      \
      (CUstream, int *, uint64_t *, CUgraph *, const CUgraphNode **, size_t *), 0)             \
    X(StreamGetId, cuStreamGetId, (CUstream, unsigned long long *), 0)                         \
    X(StreamWaitEvent, cuStreamWaitEvent, (CUstream, CUevent, unsigned), 0)                    \
    X(StreamCreate, cuStreamCreate, (CUstream *, unsigned), 0)                                 \
    X(StreamDestroy, cuStreamDestroy_v2, (CUstream), 0)                                        \
    X(GraphCreate, cuGraphCreate, (CUgraph *, unsigned), 0)                                    \
    X(GraphClone, cuGraphClone, (CUgraph *, CUgraph), 0)                                       \
    X(GraphDestroy, cuGraphDestroy, (CUgraph), 0)                                              \
    X(GraphNodeFindInClone, cuGraphNodeFindInClone, (CUgraphNode *, CUgraphNode, CUgraph), 0)  \
    X(GraphAddEventRecordNode, cuGraphAddEventRecordNode,                                      \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent), 0)                       \
    X(GraphAddKernelNode, cuGraphAddKernelNode_v2,                                             \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const KernelParams *), 0)          \
    X(GraphAddMemsetNode, cuGraphAddMemsetNode,                                                \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const MemsetParams *, CUcontext),  \
      0)                                                                                       \
    X(GraphAddMemcpyNode, cuGraphAddMemcpyNode,                                                \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const MemcpyParams *, CUcontext),  \
      0)                                                                                       \
    X(GraphAddEmptyNode, cuGraphAddEmptyNode,                                                  \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t), 0)                                \
    X(GraphDestroyNode, cuGraphDestroyNode, (CUgraphNode), 0)                                  \
    X(GraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes,                          \
      (CUgraphNode, CUgraphNode), 0)                                                           \
    X(GraphAddDependencies, cuGraphAddDependencies_v2,                                         \
      (CUgraph, const CUgraphNode *, const CUgraphNode *, const EdgeData *, size_t), 0)        \
    X(GraphAddDependenciesOld, cuGraphAddDependencies,                                         \
      (CUgraph, const CUgraphNode *, const CUgraphNode *, size_t), 0)                          \
    X(GraphRemoveDependencies, cuGraphRemoveDependencies_v2,                                   \
      (CUgraph, const CUgraphNode *, const CUgraphNode *, const EdgeData *, size_t), 0)        \
    X(GraphRemoveDependenciesOld, cuGraphRemoveDependencies,                                   \
      (CUgraph, const CUgraphNode *, const CUgraphNode *, size_t), 0)                          \
    X(GraphInstantiate, cuGraphInstantiateWithFlags,                                           \
      (CUgraphExec *, CUgraph, unsigned long long), 0)                                         \
    X(GraphExecGetFlags, cuGraphExecGetFlags, (CUgraphExec, uint64_t *), 0)                    \
    X(GraphExecDestroy, cuGraphExecDestroy, (CUgraphExec), 0)                                  \
    X(GraphLaunch, cuGraphLaunch, (CUgraphExec, CUstream), 0)                                  \
    X(ModuleLoadData, cuModuleLoadData, (CUmodule *, const void *), 0)                         \
    X(ModuleUnload, cuModuleUnload, (CUmodule), 0)                                             \
    X(ModuleGetFunction, cuModuleGetFunction, (CUfunction *, CUmodule, const char *), 0)       \
    X(MemAlloc, cuMemAlloc_v2, (CUdeviceptr *, size_t), 0)                                     \
    X(MemFree, cuMemFree_v2, (CUdeviceptr), 0)                                                 \
    X(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream), 0)  \
    X(MemcpyDtoH, cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), 0)                           \
    X(MemcpyHtoD, cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t), 0)                     \
    X(MemsetD32Async, cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream), 0)          \
    X(StreamSynchronize, cuStreamSynchronize, (CUstream), 0)                                   \
    X(GraphAddBatchMemOpNode, cuGraphAddBatchMemOpNode,                                        \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const BatchMemOpParams *), 0)      \
    X(MemHostRegister, cuMemHostRegister_v2, (void *, size_t, unsigned), 0)                    \
    X(MemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, (CUdeviceptr *, void *, unsigned), \
      0)                                                                                       \
    X(CoredumpSetAttributeGlobal, cuCoredumpSetAttributeGlobal, (int, void *, size_t *), 0)    \
    X(FuncGetModule, cuFuncGetModule, (CUmodule *, CUfunction), 0)                             \
    X(DevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *), 0)  \
    X(ModuleGetGlobal, cuModuleGetGlobal_v2,                                                   \
      (CUdeviceptr *, size_t *, CUmodule, const char *), 0)

/* X(field, symbol, result, parameters, needed): libcuda. */
#define CUDA_FUNCTIONS(X)                                                                      \
    X(DriverGetVersion, cuDriverGetVersion, (int *), 1)                                        \
    X(DeviceGetName, cuDeviceGetName, (char *, int, CUdevice), 1)                              \
    X(DeviceGetAttribute, cuDeviceGetAttribute, (int *, int, CUdevice), 1)                     \
    X(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t *, CUdevice), 1)                            \
    X(DeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *, int, CUdevice), 0)                      \
    X(CtxGetCurrent, cuCtxGetCurrent, (CUcontext *), 1)                                        \
    X(CtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext), 1)                                     \
    X(CtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext *), 1)                                     \
    X(CtxSynchronize, cuCtxSynchronize, (void), 1)                                             \
    X(CtxGetDevice, cuCtxGetDevice, (CUdevice *), 1)                                           \
    X(GraphGetNodes, cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *), 1)                   \
    X(GraphGetEdges, cuGraphGetEdges_v2,                                                       \
      (CUgraph, CUgraphNode *, CUgraphNode *, EdgeData *, size_t *), 0)                        \
    X(GraphGetEdgesOld, cuGraphGetEdges, (CUgraph, CUgraphNode *, CUgraphNode *, size_t *), 0) \
    X(GraphNodeGetType, cuGraphNodeGetType, (CUgraphNode, int *), 1)                           \
    X(GraphKernelNodeGetParams, cuGraphKernelNodeGetParams_v2, (CUgraphNode, KernelParams *),  \
      1)                                                                                       \
    X(GraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute,                              \
      (CUgraphNode, int, LaunchAttributeValue *), 0)                                           \
    X(GraphMemcpyNodeGetParams, cuGraphMemcpyNodeGetParams, (CUgraphNode, MemcpyParams *), 1)  \
    X(GraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams, (CUgraphNode, MemsetParams *), 1)  \
    X(GraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph, (CUgraphNode, CUgraph *), 1) \
    X(GraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams,                                \
      (CUgraphNode, MemAllocParams *), 0)                                                      \
    X(GraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams, (CUgraphNode, CUdeviceptr *), 0) \
    X(GraphHostNodeGetParams, cuGraphHostNodeGetParams, (CUgraphNode, void *), 0)             \
    X(GraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent,                            \
      (CUgraphNode, CUevent *), 0)                                                             \
    X(GraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent, (CUgraphNode, CUevent *), 0)   \
    X(GraphExternalSemaphoresSignalNodeGetParams,                                              \
      cuGraphExternalSemaphoresSignalNodeGetParams, (CUgraphNode, void *), 0)                  \
    X(GraphExternalSemaphoresWaitNodeGetParams, cuGraphExternalSemaphoresWaitNodeGetParams,    \
      (CUgraphNode, void *), 0)                                                                \
    X(GraphBatchMemOpNodeGetParams, cuGraphBatchMemOpNodeGetParams, (CUgraphNode, void *), 0)  \
    X(DeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute, (CUdevice, int, void *), 0)    \
    X(GraphDebugDotPrint, cuGraphDebugDotPrint, (CUgraph, const char *, unsigned), 0)          \
    X(FuncGetName, cuFuncGetName, (const char **, CUfunction), 0)                              \
    X(KernelGetName, cuKernelGetName, (const char **, CUkernel), 0)                            \
    X(KernelGetFunction, cuKernelGetFunction, (CUfunction *, CUkernel), 0)                     \
    X(FuncGetAttribute, cuFuncGetAttribute, (int *, int, CUfunction), 1)                       \
    X(FuncGetParamInfo, cuFuncGetParamInfo, (CUfunction, size_t, size_t *, size_t *), 0)       \
    X(OccupancyMaxActiveBlocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,                   \
      (int *, CUfunction, int, size_t), 1)                                                     \
    X(PointerGetAttributes, cuPointerGetAttributes,                                            \
      (unsigned, int *, void **, CUdeviceptr), 0)                                              \
    X(EventCreate, cuEventCreate, (CUevent *, unsigned), 1)                                    \
    X(EventDestroy, cuEventDestroy_v2, (CUevent), 1)                                           \
    X(EventRecord, cuEventRecord, (CUevent, CUstream), 1)                                      \
    X(EventQuery, cuEventQuery, (CUevent), 1)                                                  \
    X(EventElapsedTime, cuEventElapsedTime_v2, (float *, CUevent, CUevent), 0)                 \
    X(EventElapsedTimeOld, cuEventElapsedTime, (float *, CUevent, CUevent), 0)                 \
    X(StreamIsCapturing, cuStreamIsCapturing, (CUstream, int *), 1)                            \
    X(StreamQuery, cuStreamQuery, (CUstream), 0)                                               \
    WATCH_FUNCTIONS(X)                                                                         \
    X(LaunchKernel, cuLaunchKernel,                                                            \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
       CUstream, void **, void **), 0)                                                         \
    X(LaunchKernelEx, cuLaunchKernelEx, (const LaunchConfig *, CUfunction, void **, void **), 0) \
    X(MemGetInfo, cuMemGetInfo_v2, (size_t *, size_t *), 0)                                    \
    X(ThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, (int *), 1)

struct cupti_functions {
#define X(name, result, parameters) result(*name) parameters;
    CUPTI_FUNCTIONS(X)
#undef X
};

struct cuda_functions {
#define X(field, symbol, parameters, needed) CUresult(*field) parameters;
    CUDA_FUNCTIONS(X)
#undef X
};

extern struct cupti_functions cupti;
extern struct cuda_functions cuda;

/* Both return 0, or fill `why` with a sentence. cuda_load needs the driver to be loadable. */
int cupti_load(const char *path, char *why, size_t size);
int cuda_load(char *why, size_t size);
/* A function of the loaded driver, or NULL. */
void *cuda_symbol(const char *name);
/* The same of any library; where one that is `needed` lacks, the first fills an empty `why`. */
void *find_symbol(void *library, const char *symbol, bool needed, char *why, size_t size);

uint64_t now_ns(void);       /* CUPTI's clock: that of its records */
int64_t monotonic_ns(void);  /* CLOCK_MONOTONIC */

#endif
