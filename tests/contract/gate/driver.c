/* A driver for the gate's tests: libcuda.so.1 with the calling conventions that matter and streams
 * whose queues have an end, which counts the threads inside it. What a program calls is in program.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define NOT_READY 600
#define NOT_FOUND 500

typedef int CUresult;
typedef struct {
    char reserved[64];
} CUipcMemHandle;

#define STREAMS 8
#define QUEUE_ROOM 64

static atomic_int inside, waits, queries;
/* By the number of a stream, which one thread uses: when its last graph ends. */
static uint64_t tails_ns[STREAMS];
static _Atomic uint64_t busy_until_ns;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* -- what tests ask: not CUDA's, so the gate leaves it alone -- */
EXPORT int driver_inside(void) { return inside; }
EXPORT void driver_forget_inside(void) { inside = 0; }
EXPORT void driver_work(uint64_t ns) { busy_until_ns = now_ns() + ns; }
EXPORT int driver_waits(void) { return waits; }
EXPORT int driver_queries(void) { return queries; }

/* As libcuda does: from its handler on, which was left when it was loaded, calls find it ended; and from
 * each of its destructors on (DT_FINI_ARRAY, DT_FINI), where the handler has not run. */
static atomic_int ended;
static void end(void) { ended = 1; }
__attribute__((constructor)) static void begin(void) { atexit(end); }
__attribute__((destructor)) static void end_of_array(void) { ended = 1; }
void end_of_library(void);
void end_of_library(void) { ended = 1; }
EXPORT int driver_ended(void) { return ended; }

EXPORT CUresult cuInit(unsigned flags) { return ended ? 4 : flags == 0 ? 0 : 1; }

EXPORT CUresult cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, void *stream,
                               void **arguments, void **extra) {
    inside++;
    for (volatile int i = 0; i < 200; i++)
        continue;
    int ok = gx == 1 && gy == 2 && gz == 3 && bx == 4 && by == 5 && bz == 6 && shared == 7 &&
             stream == (void *)8 && arguments == (void *)9 && extra == (void *)10;
    inside--;
    return ok ? (CUresult)(uintptr_t)function : 1;
}

static void rest(void) {
    struct timespec pause = {0, 50000};
    nanosleep(&pause, NULL);
}

/* The node has the number of the arguments after it less two and three. */
EXPORT CUresult cuGraphExecMemcpyNodeSetParams(void *exec, char *node, char *params, char *context) {
    return exec && params == node + 2 && context == node + 3 ? 0 : 1;
}

/* The same for streams of their thread: an address that no symbol has. */
static CUresult set_params_of_thread(void *exec, char *node, char *params, char *context) {
    return cuGraphExecMemcpyNodeSetParams(exec, node, params, context);
}

/* A graph is the nanoseconds that it takes. The call waits until there is room for it. */
EXPORT CUresult cuGraphLaunch(void *graph, void *stream) {
    uint64_t takes_ns = (uintptr_t)graph, *tail_ns = &tails_ns[(uintptr_t)stream % STREAMS];
    inside++;
    while (*tail_ns > now_ns() + QUEUE_ROOM * takes_ns)
        rest();
    *tail_ns = (*tail_ns > now_ns() ? *tail_ns : now_ns()) + takes_ns;
    inside--;
    return 0;
}

EXPORT CUresult cuTensorMapEncodeIm2colWide(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                            uint64_t f, uint64_t g, uint64_t h, uint64_t i, uint64_t j,
                                            uint64_t k, uint64_t l, uint64_t m, uint64_t n, uint64_t o,
                                            uint64_t p) {
    uint64_t all[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p};
    for (uint64_t number = 0; number < 16; number++)
        if (all[number] != number + 100)
            return 1;
    return 77;
}

EXPORT CUresult cuTexRefSetMipmapLevelClamp(void *texture, float least, float most) {
    return texture == (void *)1 && least == 0.5f && most == 2.5f ? 0 : 1;
}

EXPORT CUresult cuIpcOpenMemHandle_v2(uint64_t *address, CUipcMemHandle handle, unsigned flags) {
    for (int i = 0; i < 64; i++)
        if (handle.reserved[i] != (char)(i + 1))
            return 1;
    *address = flags;
    return 0;
}

/* Calls back within the call, as real drivers do. */
EXPORT CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *function,
                                                 size_t (*memory)(int), size_t size, int limit) {
    inside++;
    *grid = (int)memory(limit);
    *block = function && size ? 1 : 0;
    inside--;
    return 0;
}

EXPORT CUresult cuStreamSynchronize(void *stream) {
    (void)stream;
    inside++;
    waits++;
    while (now_ns() < busy_until_ns)
        rest();
    inside--;
    return 0;
}

EXPORT CUresult cuStreamQuery(void *stream) {
    (void)stream;
    queries++;
    return now_ns() < busy_until_ns ? NOT_READY : 0;
}

EXPORT CUresult cuMemAlloc(unsigned *address, unsigned size) {
    *address = size;
    return 1;
}

EXPORT CUresult cuMemAlloc_v2(uint64_t *address, size_t size) {
    *address = size;
    return 2;
}

static CUresult unexported(int x) { return 1000 + x; }

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                    int *status);

EXPORT CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    Dl_info self;
    char versioned[128];
    void *library = dladdr((void *)cuInit, &self) ? dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    strcpy(versioned, name);
    if (strcmp(name, "cuGraphExecMemcpyNodeSetParams") == 0 && flags == 2) {
        *function = (void *)set_params_of_thread;
        return 0;
    }
    if (strcmp(name, "cuUnexported") == 0) {
        *function = (void *)unexported;
        return 0;
    }
    if ((strcmp(name, "cuMemAlloc") == 0 && version >= 3020) ||
        (strcmp(name, "cuGetProcAddress") == 0 && version >= 12000))
        strcat(versioned, "_v2");
    *function = dlsym(library, versioned);
    return *function ? 0 : NOT_FOUND;
}

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
    CUresult result = cuGetProcAddress(name, function, version, flags);
    if (status)
        *status = result ? 1 : 0;
    return result;
}

EXPORT CUresult cuGetExportTable(const void **table, const void *id) {
    static const void *functions[] = {(void *)unexported};
    (void)id;
    *table = functions;
    return 0;
}
