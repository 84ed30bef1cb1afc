/* The device, its context, versions and error names. */
#define _GNU_SOURCE
#include "fake.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

enum { MAX_DEVICES = 2 };

static struct context primary[MAX_DEVICES] = {{.id = 1, .device = 0}, {.id = 2, .device = 1}};
static atomic_bool initialized;
static bool context_made[MAX_DEVICES];
static atomic_int retained[MAX_DEVICES];
static __thread struct context *stack[64];
static __thread size_t depth;

static struct context *current(void) { return depth ? stack[depth - 1] : NULL; }

/* The calling thread's, else the first that was made. */
struct context *fake_context(void) {
    for (int i = 0; i < MAX_DEVICES && !current(); i++)
        if (context_made[i])
            return &primary[i];
    return current();
}

/* FAKE_DEVICES: how many there are, one unless set. */
static int device_count(void) { return fake_setting("FAKE_DEVICES") == 2 ? 2 : 1; }

CUresult require_context(void) {
    if (!initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    return current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult require_device(CUdevice device) {
    if (!initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    return device >= 0 && device < device_count() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* Load the library of CUDA_INJECTION64_PATH, as the real driver does during cuInit. */
static void inject(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path && *path ? dlopen(path, RTLD_NOW) : NULL;
    if (!library)
        return;
    int (*start)(void) = (int (*)(void))dlsym(library, "InitializeInjection");
    if (start)
        start();
}

/* Under a lock of its own: nobody waits for the driver's while a tool begins. */
static CUresult init(void) {
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    if (fake_setting("FAKE_NO_GPU"))
        return CUDA_ERROR_NO_DEVICE;
    pthread_mutex_lock(&once);
    if (!initialized) {
        initialized = true;
        inject();
        notify(RESOURCE_CU_INIT_FINISHED, NULL, NULL);
    }
    pthread_mutex_unlock(&once);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuInit(unsigned int flags) {
    TRACED_UNLOCKED(cuInit, { unsigned int a; }, flags ? CUDA_ERROR_INVALID_VALUE : init(), flags);
}

EXPORT CUresult cuDriverGetVersion(int *version) {
    TRACED(cuDriverGetVersion, { int *a; },
           version ? (*version = 13000, CUDA_SUCCESS) : CUDA_ERROR_INVALID_VALUE, version);
}

static CUresult get_count(int *count) {
    if (!initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    *count = device_count();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *count) {
    TRACED(cuDeviceGetCount, { int *a; }, get_count(count), count);
}

static CUresult get_device(CUdevice *device, int ordinal) {
    CUresult result = require_device(ordinal);
    if (result == CUDA_SUCCESS)
        *device = ordinal;
    return result;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    TRACED(cuDeviceGet, { CUdevice *a; int b; }, get_device(device, ordinal), device, ordinal);
}

static CUresult get_text(char *text, int size, CUdevice device, const char *value) {
    CUresult result = require_device(device);
    if (result == CUDA_SUCCESS)
        snprintf(text, (size_t)size, "%s", value);
    return result;
}

EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    TRACED(cuDeviceGetName, { char *a; int b; CUdevice c; },
           get_text(name, size, device, "gviz fake GPU"), name, size, device);
}

EXPORT CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device) {
    /* Not in the table of callbacks: nothing watches it. */
    return get_text(id, size, device, device ? "0000:5E:00.0" : "0000:3B:00.0");
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    CUresult result = require_device(device);
    if (result == CUDA_SUCCESS)
        *bytes = (size_t)16 << 30;
    return result;
}

static CUresult get_attribute(int *value, int attribute, CUdevice device) {
    static const struct {
        int attribute, value;
    } known[] = {
        {1, 1024},    /* MAX_THREADS_PER_BLOCK */
        {8, 49152},   /* MAX_SHARED_MEMORY_PER_BLOCK */
        {10, 32},     /* WARP_SIZE */
        {12, 65536},  /* MAX_REGISTERS_PER_BLOCK */
        {13, 1980000},/* CLOCK_RATE, kHz */
        {16, MULTIPROCESSORS}, /* MULTIPROCESSOR_COUNT */
        {36, 2619000},/* MEMORY_CLOCK_RATE, kHz */
        {37, 5120},   /* GLOBAL_MEMORY_BUS_WIDTH */
        {38, 52428800},/* L2_CACHE_SIZE */
        {39, 2048},   /* MAX_THREADS_PER_MULTIPROCESSOR */
        {41, 1},      /* UNIFIED_ADDRESSING */
        {75, 9},      /* COMPUTE_CAPABILITY_MAJOR */
        {76, 0},      /* COMPUTE_CAPABILITY_MINOR */
        {81, 233472}, /* MAX_SHARED_MEMORY_PER_MULTIPROCESSOR */
        {82, 65536},  /* MAX_REGISTERS_PER_MULTIPROCESSOR */
        {97, 232448}, /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
        {106, 32},    /* MAX_BLOCKS_PER_MULTIPROCESSOR */
        {115, 1},     /* MEMORY_POOLS_SUPPORTED */
    };
    CUresult result = require_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (attribute <= 0 || attribute > 150)
        return CUDA_ERROR_INVALID_VALUE;
    *value = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].attribute == attribute)
            *value = known[i].value;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    TRACED(cuDeviceGetAttribute, { int *a; int b; CUdevice c; },
           get_attribute(value, attribute, device), value, attribute, device);
}

/* -- contexts: the primary one ------------------------------------------------------------------- */

static CUresult retain(CUcontext *context, CUdevice device) {
    CUresult result = require_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (!context_made[device]) {
        context_made[device] = true;
        add_object(&primary[device], OBJECT_CONTEXT);
        notify(RESOURCE_CONTEXT_CREATED, NULL, NULL);
    }
    retained[device]++;
    *context = &primary[device];
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    TRACED(cuDevicePrimaryCtxRetain, { CUcontext *a; CUdevice b; }, retain(context, device), context,
           device);
}

static CUresult release(CUdevice device) {
    CUresult result = require_device(device);
    if (result == CUDA_SUCCESS && retained[device] > 0)
        retained[device]--;
    return result;
}

/* The context stays: what a program does after the last release is not modelled. */
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    TRACED(cuDevicePrimaryCtxRelease_v2, { CUdevice a; }, release(device), device);
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    CUresult result = require_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    *flags = 0;
    *active = retained[device] > 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
    TRACED(cuCtxGetCurrent, { CUcontext *a; },
           initialized ? (*context = current(), CUDA_SUCCESS) : CUDA_ERROR_NOT_INITIALIZED, context);
}

static CUresult set_current(CUcontext context) {
    if (!initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (context && !fake_is(context, OBJECT_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (depth)
        depth--;
    if (context)
        stack[depth++] = context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
    TRACED(cuCtxSetCurrent, { CUcontext a; }, set_current(context), context);
}

static CUresult push(CUcontext context) {
    if (!initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!fake_is(context, OBJECT_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (depth == sizeof stack / sizeof *stack)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
    TRACED(cuCtxPushCurrent_v2, { CUcontext a; }, push(context), context);
}

static CUresult pop(CUcontext *context) {
    CUresult result = require_context();
    if (result != CUDA_SUCCESS)
        return result;
    depth--;
    if (context)
        *context = stack[depth];
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    TRACED(cuCtxPopCurrent_v2, { CUcontext *a; }, pop(context), context);
}

EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
    TRACED(cuCtxGetDevice, { CUdevice *a; },
           require_context() == CUDA_SUCCESS ? (*device = current()->device, CUDA_SUCCESS) : require_context(), device);
}

static CUresult synchronize(void) {
    fake_lock();
    CUresult result = require_context();
    if (result == CUDA_SUCCESS)
        result = check_no_capture();
    fake_unlock();
    if (result == CUDA_SUCCESS)
        wait_for_device();
    return result;
}

EXPORT CUresult cuCtxSynchronize(void) {
    TRACED_UNLOCKED(cuCtxSynchronize, { int unused; }, synchronize(), 0);
}

EXPORT CUresult cuGetExportTable(const void **table, const void *id) {
    static const void *const nothing[1];
    (void)id;
    *table = nothing;
    return CUDA_SUCCESS;
}

/* What a profiler makes of them is its own affair. */
EXPORT CUresult cuProfilerStart(void) {
    TRACED_UNLOCKED(cuProfilerStart, { int unused; }, CUDA_SUCCESS, 0);
}

EXPORT CUresult cuProfilerStop(void) {
    TRACED_UNLOCKED(cuProfilerStop, { int unused; }, CUDA_SUCCESS, 0);
}

/* -- names and entry points ------------------------------------------------------------------------ */

static const char *error_name(CUresult error) {
#define NAME(name) \
    case name:     \
        return #name
    switch (error) {
        NAME(CUDA_SUCCESS);
        NAME(CUDA_ERROR_INVALID_VALUE);
        NAME(CUDA_ERROR_OUT_OF_MEMORY);
        NAME(CUDA_ERROR_NOT_INITIALIZED);
        NAME(CUDA_ERROR_NO_DEVICE);
        NAME(CUDA_ERROR_INVALID_DEVICE);
        NAME(CUDA_ERROR_INVALID_IMAGE);
        NAME(CUDA_ERROR_INVALID_CONTEXT);
        NAME(CUDA_ERROR_INVALID_PTX);
        NAME(CUDA_ERROR_INVALID_HANDLE);
        NAME(CUDA_ERROR_LOSSY_QUERY);
        NAME(CUDA_ERROR_NOT_FOUND);
        NAME(CUDA_ERROR_NOT_READY);
        NAME(CUDA_ERROR_NOT_SUPPORTED);
        NAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        NAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        NAME(CUDA_ERROR_STREAM_CAPTURE_MERGE);
        NAME(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        NAME(CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        NAME(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
        NAME(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        NAME(CUDA_ERROR_CAPTURED_EVENT);
        NAME(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        NAME(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    }
#undef NAME
    return NULL;
}

EXPORT CUresult cuGetErrorName(CUresult error, const char **name) {
    *name = error_name(error);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGetErrorString(CUresult error, const char **text) { return cuGetErrorName(error, text); }

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                                    int *status) {
    static const char *const suffixes[] = {"_v3", "_v2", "WithFlags", ""};
    (void)version, (void)flags;
    Dl_info self;
    void *library = dladdr((void *)cuInit, &self) ? dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    *function = NULL;
    for (size_t i = 0; library && !*function && i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", symbol, suffixes[i]);
        /* Only the graph instantiation lost its plain name; other WithFlags are other functions. */
        if (i == 2 && strcmp(symbol, "cuGraphInstantiate") != 0)
            continue;
        *function = dlsym(library, name);
    }
    if (library)
        dlclose(library);
    if (status)
        *status = *function ? 0 : 1; /* CU_GET_PROC_ADDRESS_SUCCESS, SYMBOL_NOT_FOUND */
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
