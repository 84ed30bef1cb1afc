/* The laboratory's context, kernels, streams and memory. */
#include "launchcost.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MEMORY_BYTES 4096
#define COPY_BYTES 1024

struct laboratory lab;
struct lab_functions lab_cuda;
static char error_text[1200];

/* gviz_wait waits in the stream until the host lets it go, or gives up after `limit` nanoseconds:
 * a stream launch of more operations than a queue holds would wait for it for ever. */
static const char ptx[] =
    ".version 7.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry gviz_empty() {\n"
    "ret;\n"
    "}\n"
    ".visible .entry gviz_spin(.param .u64 clocks) {\n"
    ".reg .b64 %rd<5>;\n"
    ".reg .pred %p;\n"
    "ld.param.u64 %rd1, [clocks];\n"
    "mov.u64 %rd2, %clock64;\n"
    "again:\n"
    "mov.u64 %rd3, %clock64;\n"
    "sub.s64 %rd4, %rd3, %rd2;\n"
    "setp.lt.u64 %p, %rd4, %rd1;\n"
    "@%p bra again;\n"
    "ret;\n"
    "}\n"
    ".visible .entry gviz_wait(.param .u64 latch, .param .u64 limit) {\n"
    ".reg .b32 %r<3>;\n"
    ".reg .b64 %rd<7>;\n"
    ".reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [latch];\n"
    "ld.param.u64 %rd2, [limit];\n"
    "cvta.to.global.u64 %rd3, %rd1;\n"
    "mov.u64 %rd4, %globaltimer;\n"
    "again:\n"
    "ld.volatile.global.u32 %r1, [%rd3];\n"
    "setp.ne.u32 %p1, %r1, 0;\n"
    "@%p1 bra done;\n"
    "mov.u64 %rd5, %globaltimer;\n"
    "sub.s64 %rd6, %rd5, %rd4;\n"
    "setp.lt.u64 %p2, %rd6, %rd2;\n"
    "@%p2 bra again;\n"
    "mov.u32 %r2, 1;\n"
    "st.volatile.global.u32 [%rd3+4], %r2;\n"
    "done:\n"
    "ret;\n"
    "}\n";

int lab_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error_text, sizeof error_text, format, arguments);
    va_end(arguments);
    return -1;
}

int lab_check(CUresult result, const char *call) {
    const char *name = NULL;
    if (result == 0)
        return 0;
    if (lab_cuda.GetErrorName)
        lab_cuda.GetErrorName(result, &name);
    return lab_fail("%s failed: %s (%d)", call, name ? name : "unknown error", result);
}

GVIZ_EXPORT const char *gviz_lab_error(void) { return error_text; }

/* -- what was missing when it was opened ------------------------------------------------------------ */

static int check_functions(void) {
    char why[1200];
    if (cuda_load(why, sizeof why) != 0)
        return lab_fail("%s", why);
#define X(field, symbol, parameters)                                                        \
    *(void **)&lab_cuda.field = cuda_symbol(#symbol);                                       \
    if (!lab_cuda.field && strncmp(#field, "Link", 4) != 0)                                 \
        return lab_fail("%s is missing; a newer CUDA driver is needed", #symbol);
    LAB_FUNCTIONS(X)
#undef X
    if (!cuda.StreamCreate || !cuda.StreamWaitEvent || !cuda.ModuleLoadData || !cuda.LaunchKernel ||
        !cuda.GraphInstantiate || !cuda.GraphLaunch || !cuda.MemAlloc)
        return lab_fail("this CUDA driver is too old for graphs; a newer one is needed");
    return 0;
}

static int open_context(int device) {
    int count = 0;
    CUresult result = lab_cuda.Init(0);
    if (result == 0)
        result = lab_cuda.DeviceGetCount(&count);
    if (result != 0)
        return lab_check(result, "cuInit");
    if (device < 0 || device >= count)
        return lab_fail("there is no device %d; this machine has %d", device, count);
    if (lab_check(lab_cuda.DeviceGet(&lab.device, device), "cuDeviceGet") != 0)
        return -1;
    result = lab_cuda.PrimaryCtxRetain(&lab.context, lab.device);
    if (result == 0)
        result = lab_cuda.CtxSetCurrent(lab.context);
    return lab_check(result, "cuDevicePrimaryCtxRetain");
}

static int find_kernels(void) {
    CUresult result = cuda.ModuleLoadData(&lab.module, ptx);
    if (result != 0)
        return lab_check(result, "cuModuleLoadData");
    result = cuda.ModuleGetFunction(&lab.empty, lab.module, "gviz_empty");
    if (result == 0)
        result = cuda.ModuleGetFunction(&lab.spin, lab.module, "gviz_spin");
    if (result == 0)
        result = cuda.ModuleGetFunction(&lab.wait, lab.module, "gviz_wait");
    return lab_check(result, "cuModuleGetFunction");
}

static int make_objects(void) {
    CUresult result = 0;
    for (int i = 0; i < LAB_STREAMS && result == 0; i++)
        result = cuda.StreamCreate(&lab.streams[i], 1 /* CU_STREAM_NON_BLOCKING */);
    for (int i = 0; i < LAB_EVENTS && result == 0; i++)
        result = cuda.EventCreate(&lab.events[i], 2 /* CU_EVENT_DISABLE_TIMING */);
    if (result == 0)
        result = cuda.EventCreate(&lab.before, 0);
    if (result == 0)
        result = cuda.EventCreate(&lab.after, 0);
    if (result == 0)
        result = cuda.MemAlloc(&lab.memory, MEMORY_BYTES);
    if (result == 0)
        result = lab_cuda.MemHostAlloc((void **)&lab.latch, LAB_LATCH_BYTES, 0);
    return lab_check(result, "making streams and events");
}

GVIZ_EXPORT int gviz_lab_open(int device) {
    if (lab.open)
        return lab_fail("a laboratory is open in this process already");
    if (check_functions() != 0 || open_context(device) != 0)
        return -1;
    lab.open = true; /* what was made is taken back by gviz_lab_close */
    return find_kernels() == 0 ? make_objects() : -1;
}

GVIZ_EXPORT void gviz_lab_close(void) {
    if (!lab.open)
        return;
    cuda.CtxSynchronize();
    for (int i = 0; i < LAB_STREAMS; i++)
        if (lab.streams[i])
            cuda.StreamDestroy(lab.streams[i]);
    for (int i = 0; i < LAB_EVENTS; i++)
        if (lab.events[i])
            cuda.EventDestroy(lab.events[i]);
    if (lab.before)
        cuda.EventDestroy(lab.before);
    if (lab.after)
        cuda.EventDestroy(lab.after);
    if (lab.memory)
        cuda.MemFree(lab.memory);
    if (lab.latch)
        lab_cuda.MemFreeHost((void *)lab.latch);
    if (lab.module)
        cuda.ModuleUnload(lab.module);
    lab_cuda.PrimaryCtxRelease(lab.device);
    lab = (struct laboratory){0};
}

struct lab_description {
    char name[256], bus[32];
    int32_t major, minor, multiprocessors, threads, driver;
    uint64_t memory;
};

/* What the GPU is. */
GVIZ_EXPORT void gviz_lab_describe(struct lab_description *out) {
    size_t bytes = 0;
    *out = (struct lab_description){0};
    cuda.DeviceGetName(out->name, sizeof out->name - 1, lab.device);
    if (cuda.DeviceGetPCIBusId)
        cuda.DeviceGetPCIBusId(out->bus, sizeof out->bus - 1, lab.device);
    cuda.DeviceGetAttribute(&out->major, DEVICE_CC_MAJOR, lab.device);
    cuda.DeviceGetAttribute(&out->minor, DEVICE_CC_MINOR, lab.device);
    cuda.DeviceGetAttribute(&out->multiprocessors, DEVICE_MULTIPROCESSOR_COUNT, lab.device);
    cuda.DeviceGetAttribute(&out->threads, DEVICE_MAX_THREADS_PER_MULTIPROCESSOR, lab.device);
    cuda.DriverGetVersion(&out->driver);
    cuda.DeviceTotalMem(&bytes, lab.device);
    out->memory = bytes;
}

/* -- what is sent ------------------------------------------------------------------------------------- */

CUresult lab_launch(CUfunction function, CUstream stream, void **arguments) {
    return cuda.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

CUresult lab_send(const struct lab_program *program, CUstream first) {
    uint64_t clocks = program->clocks;
    void *spin_arguments[] = {&clocks};
    CUresult result = 0;
    for (int64_t i = 0; i < program->count && result == 0; i++) {
        const struct lab_operation *operation = &program->operations[i];
        CUstream stream = operation->stream ? lab.streams[operation->stream] : first;
        switch (operation->kind) {
        case LAB_EMPTY:
            result = lab_launch(lab.empty, stream, NULL);
            break;
        case LAB_SPIN:
            result = lab_launch(lab.spin, stream, spin_arguments);
            break;
        case LAB_MEMSET:
            result = lab_cuda.MemsetD8Async(lab.memory, 0, COPY_BYTES, stream);
            break;
        case LAB_MEMCPY:
            result = lab_cuda.MemcpyDtoDAsync(lab.memory + COPY_BYTES, lab.memory, COPY_BYTES, stream);
            break;
        case LAB_RECORD:
            result = cuda.EventRecord(lab.events[operation->event], stream);
            break;
        default:
            result = cuda.StreamWaitEvent(stream, lab.events[operation->event], 0);
        }
    }
    return result;
}

int lab_capture(const struct lab_program *program, CUgraph *graph) {
    CUstream stream = lab.streams[0];
    *graph = NULL;
    CUresult result = lab_cuda.StreamBeginCapture(stream, CU_CAPTURE_MODE_RELAXED);
    if (result != 0)
        return lab_check(result, "cuStreamBeginCapture");
    CUresult sent = lab_send(program, stream);
    result = lab_cuda.StreamEndCapture(stream, graph);
    return lab_check(sent ? sent : result, "capturing");
}
