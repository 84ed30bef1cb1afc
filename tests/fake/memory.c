/* Device and pinned memory: plain pages that the fake knows the bounds of. */
#define _GNU_SOURCE
#include "fake.h"

#include <stdio.h>
#include <sys/mman.h>

struct allocation {
    CUdeviceptr address;
    size_t bytes;
    int type; /* MEMORY_DEVICE, or MEMORY_HOST for pinned */
    CUdevice device;
    uint64_t buffer_id;
};

static struct allocation *allocations;
static size_t allocation_count;

static struct allocation *find(CUdeviceptr address) {
    for (size_t i = 0; i < allocation_count; i++)
        if (address >= allocations[i].address && address < allocations[i].address + allocations[i].bytes)
            return &allocations[i];
    return NULL;
}

/* FAKE_LARGEST_BYTES: there is no room for more in one piece, whatever is free. */
static CUresult allocate_pages(CUdeviceptr *address, size_t bytes, int type) {
    static uint64_t last_buffer_id;
    if (!address || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    size_t largest = (size_t)fake_setting("FAKE_LARGEST_BYTES");
    if (largest && type == MEMORY_DEVICE && bytes > largest)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t mapped = (bytes + 4095) / 4096 * 4096;
    void *pages = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct allocation allocation = {(CUdeviceptr)(uintptr_t)pages, bytes, type,
                                    fake_context() ? fake_context()->device : 0, ++last_buffer_id};
    allocations = fake_append(allocations, allocation_count++, sizeof allocation, &allocation);
    *address = allocation.address;
    return CUDA_SUCCESS;
}

static CUresult free_pages(CUdeviceptr address, int type) {
    struct allocation *allocation = find(address);
    if (!allocation || allocation->address != address || allocation->type != type)
        return CUDA_ERROR_INVALID_VALUE;
    munmap((void *)(uintptr_t)address, (allocation->bytes + 4095) / 4096 * 4096);
    allocation->address = 0; /* the row stays, and matches nothing */
    allocation->bytes = 0;
    return CUDA_SUCCESS;
}

CUresult allocate_device(CUdeviceptr *address, size_t bytes) {
    return allocate_pages(address, bytes, MEMORY_DEVICE);
}

CUresult free_device(CUdeviceptr address) { return free_pages(address, MEMORY_DEVICE); }

int memory_type_at(CUdeviceptr address, bool *pinned) {
    struct allocation *allocation = find(address);
    if (pinned)
        *pinned = allocation && allocation->type == MEMORY_HOST;
    return allocation ? allocation->type : MEMORY_HOST;
}

/* What the driver takes for executables: one pool, at the first of them (driver 580). */
enum { GRAPH_POOL_BYTES = 16 << 20 };
static size_t graph_bytes;

void take_graph_memory(void) { graph_bytes = GRAPH_POOL_BYTES; }

/* What it takes for a module's code. */
static size_t code_bytes;

void take_code_memory(void) { code_bytes += (size_t)fake_setting("FAKE_CODE_MB") << 20; }

static CUresult memory_info(size_t *available, size_t *total) {
    CUresult result = require_context();
    if (result != CUDA_SUCCESS || !available || !total)
        return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
    long megabytes = fake_setting("FAKE_MEMORY_MB");
    *total = megabytes ? (size_t)megabytes << 20 : (size_t)80 << 30;
    *available = *total - graph_bytes - code_bytes;
    if (allocation_count) /* FAKE_UNSEEN_MB: besides the first allocation another came, by no call */
        *available -= (size_t)fake_setting("FAKE_UNSEEN_MB") << 20;
    for (size_t i = 0; i < allocation_count; i++)
        if (allocations[i].type == MEMORY_DEVICE)
            *available -= allocations[i].bytes;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
    TRACED(cuMemGetInfo_v2, { size_t *a; size_t *b; }, memory_info(available, total), available, total);
}

/* FAKE_NO_FILES: what a file beside the segments maps is refused, as on some file systems. */
static bool is_refused(const void *memory) {
    char line[512];
    uintptr_t from, to, at = (uintptr_t)memory;
    bool refused = false;
    FILE *maps = fake_setting("FAKE_NO_FILES") ? fopen("/proc/self/maps", "re") : NULL;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= at && at < to)
            refused = strstr(line, "/crumbs") != NULL;
    if (maps)
        fclose(maps);
    return refused;
}

static CUresult register_host(void *memory, size_t bytes) {
    CUresult result = !memory || !bytes ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && is_refused(memory))
        result = CUDA_ERROR_NOT_SUPPORTED;
    struct allocation allocation = {(CUdeviceptr)(uintptr_t)memory, bytes, MEMORY_HOST, 0, 0};
    if (result == CUDA_SUCCESS)
        allocations = fake_append(allocations, allocation_count++, sizeof allocation, &allocation);
    return result;
}

EXPORT CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned int flags) {
    TRACED(cuMemHostRegister_v2, { void *a; size_t b; unsigned int c; }, register_host(memory, bytes), memory, bytes,
           flags);
}

EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory, unsigned int flags) {
    (void)flags;
    *address = (CUdeviceptr)(uintptr_t)memory;
    return CUDA_SUCCESS;
}

static CUresult checked(void) {
    CUresult result = require_context();
    return result == CUDA_SUCCESS ? check_unsafe_call() : result;
}

static CUresult allocate_checked(CUdeviceptr *address, size_t bytes, int type) {
    CUresult result = checked();
    return result == CUDA_SUCCESS ? allocate_pages(address, bytes, type) : result;
}

static CUresult free_checked(CUdeviceptr address, int type) {
    CUresult result = checked();
    if (result != CUDA_SUCCESS || address == 0)
        return result;
    graph_memory_freed(address);
    wait_for_device(); /* freeing waits for the work that may use the memory */
    return free_pages(address, type);
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    TRACED(cuMemAlloc_v2, { CUdeviceptr *a; size_t b; }, allocate_checked(address, bytes, MEMORY_DEVICE),
           address, bytes);
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
    TRACED(cuMemFree_v2, { CUdeviceptr a; }, free_checked(address, MEMORY_DEVICE), address);
}

EXPORT CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned int flags) {
    TRACED(cuMemHostAlloc, { void **a; size_t b; unsigned int c; },
           allocate_checked((CUdeviceptr *)address, bytes, MEMORY_HOST), address, bytes, flags);
}

EXPORT CUresult cuMemAllocHost_v2(void **address, size_t bytes) {
    TRACED(cuMemAllocHost_v2, { void **a; size_t b; },
           allocate_checked((CUdeviceptr *)address, bytes, MEMORY_HOST), address, bytes);
}

EXPORT CUresult cuMemFreeHost(void *address) {
    TRACED(cuMemFreeHost, { void *a; }, free_checked((CUdeviceptr)(uintptr_t)address, MEMORY_HOST), address);
}

/* -- addresses and memory by themselves --------------------------------------------------------------- */

/* As CUmemAccessDesc. */
struct access {
    int location_type, location_id, flags; /* 0: none, 1: reading, 3: both */
};

EXPORT CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                                    unsigned long long flags) {
    (void)alignment, (void)wanted, (void)flags;
    void *pages = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *address = (CUdeviceptr)(uintptr_t)pages;
    return pages == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

EXPORT CUresult cuMemCreate(unsigned long long *handle, size_t bytes, const void *properties, unsigned long long flags) {
    static _Atomic unsigned long long last;
    (void)bytes, (void)properties, (void)flags;
    *handle = ++last;
    return CUDA_SUCCESS;
}

/* Nobody may reach it yet. */
EXPORT CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, unsigned long long handle,
                         unsigned long long flags) {
    struct allocation allocation = {address, bytes, MEMORY_DEVICE, 0, 0};
    (void)offset, (void)handle, (void)flags;
    fake_lock();
    allocations = fake_append(allocations, allocation_count++, sizeof allocation, &allocation);
    fake_unlock();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const struct access *access, size_t count) {
    int may = PROT_NONE;
    for (size_t i = 0; i < count; i++)
        may |= access[i].flags == 3 ? PROT_READ | PROT_WRITE : access[i].flags == 1 ? PROT_READ : PROT_NONE;
    return mprotect((void *)(uintptr_t)address, bytes, may) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
    fake_lock();
    struct allocation *allocation = find(address);
    bool good = allocation && allocation->address == address && allocation->bytes == bytes &&
                mprotect((void *)(uintptr_t)address, bytes, PROT_NONE) == 0;
    if (good)
        *allocation = (struct allocation){0};
    fake_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* -- pointer attributes ------------------------------------------------------------------------- */

/* Write one attribute of an allocation; its null value when there is none. */
static CUresult write_attribute(void *data, int attribute, const struct allocation *allocation) {
    bool device = allocation && allocation->type == MEMORY_DEVICE;
    CUdeviceptr address = allocation ? allocation->address : 0;
    switch (attribute) {
    case 1: /* CONTEXT */
        *(CUcontext *)data = allocation ? fake_context() : NULL;
        return CUDA_SUCCESS;
    case 2: /* MEMORY_TYPE */
        *(unsigned int *)data = allocation ? (unsigned int)allocation->type : 0;
        return CUDA_SUCCESS;
    case 3: /* DEVICE_POINTER */
        *(CUdeviceptr *)data = address;
        return CUDA_SUCCESS;
    case 4: /* HOST_POINTER */
        *(void **)data = allocation && !device ? (void *)(uintptr_t)address : NULL;
        return CUDA_SUCCESS;
    case 7: /* BUFFER_ID */
        *(uint64_t *)data = allocation ? allocation->buffer_id : 0;
        return CUDA_SUCCESS;
    case 8: /* IS_MANAGED */
        *(unsigned int *)data = 0;
        return CUDA_SUCCESS;
    case 9: /* DEVICE_ORDINAL: -2 where the pointer is not CUDA's */
        *(int *)data = allocation ? allocation->device : -2;
        return CUDA_SUCCESS;
    case 11: /* RANGE_START_ADDR */
        *(CUdeviceptr *)data = address;
        return CUDA_SUCCESS;
    case 12: /* RANGE_SIZE */
        *(size_t *)data = allocation ? allocation->bytes : 0;
        return CUDA_SUCCESS;
    case 13: /* MAPPED */
        *(unsigned int *)data = allocation != NULL;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult get_attribute(void *data, int attribute, CUdeviceptr address) {
    const struct allocation *allocation = find(address);
    if (!data || !allocation)
        return CUDA_ERROR_INVALID_VALUE;
    return write_attribute(data, attribute, allocation);
}

EXPORT CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr address) {
    TRACED(cuPointerGetAttribute, { void *a; int b; CUdeviceptr c; }, get_attribute(data, attribute, address),
           data, attribute, address);
}

/* Unlike the singular function, an unknown pointer is no error here. */
static CUresult get_attributes(unsigned int count, const int *attributes, void **data, CUdeviceptr address) {
    const struct allocation *allocation = find(address);
    if (!attributes || !data || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count; i++) {
        CUresult result = write_attribute(data[i], attributes[i], allocation);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

EXPORT CUresult cuPointerGetAttributes(unsigned int count, int *attributes, void **data, CUdeviceptr address) {
    TRACED(cuPointerGetAttributes, { unsigned int a; int *b; void **c; CUdeviceptr d; },
           get_attributes(count, attributes, data, address), count, attributes, data, address);
}
