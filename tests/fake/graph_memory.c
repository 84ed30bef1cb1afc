/* The memory of alloc nodes: what is in use, and what the device holds ready for it. */
#include "fake.h"

enum { USED_CURRENT = 0, USED_HIGH = 1, RESERVED_CURRENT = 2, RESERVED_HIGH = 3 };
enum { BLOCK_BYTES = 2 << 20 };

struct block {
    CUdeviceptr address;
    size_t bytes;
};

static struct block *blocks; /* in use */
static size_t block_count;
static uint64_t amounts[4];

static void count(void) {
    uint64_t reserved = 0;
    amounts[USED_CURRENT] = 0;
    for (size_t i = 0; i < block_count; i++) {
        amounts[USED_CURRENT] += blocks[i].bytes;
        reserved += (blocks[i].bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    }
    if (reserved > amounts[RESERVED_CURRENT]) /* kept until it is trimmed */
        amounts[RESERVED_CURRENT] = reserved;
    for (int i = USED_CURRENT; i <= RESERVED_CURRENT; i += 2)
        if (amounts[i] > amounts[i + 1])
            amounts[i + 1] = amounts[i];
}

void graph_memory_freed(CUdeviceptr address) {
    for (size_t i = 0; i < block_count; i++)
        if (blocks[i].address == address) {
            blocks[i] = blocks[--block_count];
            break;
        }
    count();
}

void graph_memory_run(const struct work *work) {
    if (work->type == NODE_MEM_FREE)
        graph_memory_freed(work->freed);
    if (work->type != NODE_MEM_ALLOC)
        return;
    graph_memory_freed(work->alloc.dptr); /* launched again without being freed */
    struct block block = {work->alloc.dptr, work->alloc.bytesize};
    blocks = fake_append(blocks, block_count++, sizeof block, &block);
    count();
}

static CUresult get(CUdevice device, int attribute, void *value) {
    CUresult result = require_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value || attribute < USED_CURRENT || attribute > RESERVED_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    *(uint64_t *)value = amounts[attribute];
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, void *value) {
    TRACED(cuDeviceGetGraphMemAttribute, { CUdevice a; int b; void *c; }, get(device, attribute, value), device,
           attribute, value);
}
