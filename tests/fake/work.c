/* Operations: what they hold, how long they take, and what they do to memory. */
#include "fake.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum {
    KERNEL_NS = 2000, /* a kernel whose name and arguments say nothing */
    SHORTEST_KERNEL_NS = 800, /* one that stores a word a thread, as on an H100 */
    COPY_NS = 1000,
    HOST_FUNCTION_NS = 5000,
    BYTES_PER_NS = 20,
};

struct work kernel_work(struct function *function, const unsigned int grid[3], const unsigned int block[3],
                        unsigned int shared_mem_bytes) {
    struct work work = {.type = NODE_KERNEL, .context = fake_context(), .function = function,
                        .shared_mem_bytes = shared_mem_bytes};
    memcpy(work.grid, grid, sizeof work.grid);
    memcpy(work.block, block, sizeof work.block);
    return work;
}

static void point_at_arguments(struct work *work) {
    size_t count = work->function->parameter_count;
    work->argument_pointers = fake_allocate(count, sizeof(void *));
    for (size_t i = 0; i < count; i++)
        work->argument_pointers[i] = work->arguments + work->function->parameters[i].offset;
    work->packed[1] = work->arguments;
}

/* CU_LAUNCH_PARAM_BUFFER_POINTER (1) and _BUFFER_SIZE (2), ended by 0. */
static CUresult copy_packed(struct work *work, void **extra) {
    const void *buffer = NULL;
    size_t bytes = 0;
    for (; *extra; extra += 2) {
        if ((uintptr_t)extra[0] == 1)
            buffer = extra[1];
        else if ((uintptr_t)extra[0] == 2)
            bytes = *(size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (!buffer || bytes > work->function->parameter_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(work->arguments, buffer, bytes);
    work->packed[0] = (void *)1;
    work->packed[2] = (void *)2;
    work->packed[3] = &work->function->parameter_bytes;
    return CUDA_SUCCESS;
}

CUresult set_kernel_arguments(struct work *work, void **parameters, void **extra) {
    const struct function *function = work->function;
    for (int i = 0; i < 3; i++)
        if (work->grid[i] == 0 || work->block[i] == 0)
            return CUDA_ERROR_INVALID_VALUE;
    if (work->block[0] * work->block[1] * work->block[2] > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    if (function->parameter_count && !parameters && !extra)
        return CUDA_ERROR_INVALID_VALUE;
    work->arguments = fake_allocate(function->parameter_bytes, 1);
    point_at_arguments(work);
    if (!parameters && extra)
        return copy_packed(work, extra);
    for (size_t i = 0; i < function->parameter_count; i++)
        memcpy(work->argument_pointers[i], parameters[i], function->parameters[i].size);
    return CUDA_SUCCESS;
}

void copy_work(struct work *to, const struct work *from) {
    *to = *from;
    if (from->type == NODE_KERNEL) {
        to->arguments = fake_allocate(from->function->parameter_bytes, 1);
        memcpy(to->arguments, from->arguments, from->function->parameter_bytes);
        point_at_arguments(to);
    }
}

void free_work(struct work *work) {
    free(work->arguments);
    free(work->argument_pointers);
    work->arguments = NULL;
    work->argument_pointers = NULL;
}

size_t copied_bytes(const CUDA_MEMCPY3D *copy) { return copy->WidthInBytes * copy->Height * copy->Depth; }

static uint64_t kernel_duration_ns(const struct work *work) {
    const struct function *function = work->function;
    /* spin(ns): waits as long as its argument says, like the real kernel of that text. */
    if (strcmp(function->name, "spin") == 0 && function->parameter_bytes >= 8)
        return *(const uint64_t *)work->arguments;
    if (strncmp(function->name, "gviz_store", 10) == 0)
        return SHORTEST_KERNEL_NS;
    if (strcmp(function->name, "gviz_empty") == 0)
        return SHORTEST_KERNEL_NS;
    /* An H100 has about two clocks a nanosecond. */
    if (strcmp(function->name, "gviz_busy") == 0 || strcmp(function->name, "gviz_spin") == 0)
        return *(const uint64_t *)work->arguments / 2;
    const char *digits = strrchr(function->name, '_');
    char *end = NULL;
    if (digits && isdigit((unsigned char)digits[1])) {
        unsigned long us = strtoul(digits + 1, &end, 10);
        if (strcmp(end, "us") == 0)
            return us * 1000;
    }
    return KERNEL_NS;
}

uint64_t work_duration_ns(const struct work *work) {
    switch (work->type) {
    case NODE_KERNEL:
        return plan_duration_ns(kernel_duration_ns(work));
    case NODE_MEMCPY:
        return COPY_NS + copied_bytes(&work->copy) / BYTES_PER_NS;
    case NODE_MEMSET:
        return COPY_NS + work->memset.width * work->memset.elementSize * work->memset.height / BYTES_PER_NS;
    case NODE_HOST:
        return HOST_FUNCTION_NS;
    default:
        return 0;
    }
}

/* -- effects ------------------------------------------------------------------------------------- */

static char *address_of(int type, const void *host, CUdeviceptr device) {
    return type == MEMORY_HOST ? (char *)(uintptr_t)host : (char *)(uintptr_t)device;
}

static void perform_copy(const CUDA_MEMCPY3D *copy) {
    char *from = address_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice);
    char *to = address_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice);
    size_t from_pitch = copy->srcPitch ? copy->srcPitch : copy->WidthInBytes;
    size_t to_pitch = copy->dstPitch ? copy->dstPitch : copy->WidthInBytes;
    size_t from_height = copy->srcHeight ? copy->srcHeight : copy->Height;
    size_t to_height = copy->dstHeight ? copy->dstHeight : copy->Height;
    for (size_t z = 0; z < copy->Depth; z++)
        for (size_t y = 0; y < copy->Height; y++)
            memmove(to + ((copy->dstZ + z) * to_height + copy->dstY + y) * to_pitch + copy->dstXInBytes,
                    from + ((copy->srcZ + z) * from_height + copy->srcY + y) * from_pitch + copy->srcXInBytes,
                    copy->WidthInBytes);
}

static void perform_memset(const CUDA_MEMSET_NODE_PARAMS *set) {
    size_t row_bytes = set->width * set->elementSize;
    for (size_t y = 0; y < set->height; y++) {
        char *row = (char *)(uintptr_t)set->dst + y * (set->height > 1 ? set->pitch : row_bytes);
        for (size_t x = 0; x < set->width; x++)
            memcpy(row + x * set->elementSize, &set->value, set->elementSize);
    }
}

/* A row of what gviz_sum and gviz_copy read, as their PTX in collectors/csrc/trial/kernels.c. */
struct piece_row {
    const uint64_t *at;
    uint64_t words;
    uint64_t *saved;
};

/* gviz_sum(table, to): of each row the sum of its words, mixed with their places. */
static void perform_sum(const struct work *work) {
    const struct piece_row *rows = *(const struct piece_row **)work->argument_pointers[0];
    uint64_t *to = *(uint64_t **)work->argument_pointers[1];
    for (unsigned row = 0; row < work->grid[0]; row++)
        for (uint64_t i = 0; i < rows[row].words; i++) {
            uint64_t x = rows[row].at[i] + (i + 1) * 0x9E3779B97F4A7C15u;
            x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
            x = (x ^ x >> 27) * 0x94D049BB133111EBu;
            to[row] += x ^ x >> 31;
        }
}

/* gviz_copy(table) */
static void perform_saving(const struct work *work) {
    const struct piece_row *rows = *(const struct piece_row **)work->argument_pointers[0];
    for (unsigned row = 0; row < work->grid[0]; row++)
        memcpy(rows[row].saved, rows[row].at, rows[row].words * sizeof(uint64_t));
}

enum { BYTES, BOOL, I8, U8, I16, U16, I32, U32, I64, U64, HALF, BFLOAT16, F32, F64 }; /* element_type */

static double element_at(const void *at, uint32_t type) {
    switch (type) {
    case I8:
        return *(const int8_t *)at;
    case I16:
        return *(const int16_t *)at;
    case U16:
        return *(const uint16_t *)at;
    case I32:
        return *(const int32_t *)at;
    case U32:
        return *(const uint32_t *)at;
    case I64:
        return (double)*(const int64_t *)at;
    case U64:
        return (double)*(const uint64_t *)at;
    case F32:
        return *(const float *)at;
    case F64:
        return *(const double *)at;
    default:
        return *(const uint8_t *)at;
    }
}

static size_t element_bytes(uint32_t type) {
    static const unsigned char bytes[] = {1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return type < sizeof bytes ? bytes[type] : 1;
}

/* As collectors/csrc/values/probe.cu has them. */
struct probe_range {
    uint64_t at, bytes;
    struct probe_part *to;
    uint32_t type, parts;
};
struct probe_part {
    uint64_t hash, nan, infinite, zero;
    double least, greatest, sum;
    uint64_t finite;
};

static uint64_t hash_of(const unsigned char *at, size_t bytes) {
    uint64_t hash = 0;
    for (uint64_t i = 0; i < bytes; i += 8) {
        uint64_t x = 0;
        memcpy(&x, at + i, bytes - i < 8 ? bytes - i : 8);
        x += (i / 8 + 1) * 0x9E3779B97F4A7C15u;
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
        x = (x ^ x >> 27) * 0x94D049BB133111EBu;
        hash += x ^ x >> 31;
    }
    return hash;
}

/* gviz_probe(table), for the blocks of its grid: what its first part of a range tells is of all. Halves
 * are not known here. */
static void perform_probe(const struct work *work) {
    const struct probe_range *ranges = *(const struct probe_range **)work->argument_pointers[0];
    for (unsigned i = 0; i < work->grid[1]; i++) {
        const struct probe_range *range = &ranges[i];
        const unsigned char *at = (const unsigned char *)(uintptr_t)range->at;
        struct probe_part part = {.least = INFINITY, .greatest = -INFINITY};
        part.hash = hash_of(at, range->bytes);
        size_t bytes = element_bytes(range->type);
        for (size_t j = 0; range->type != BYTES && j + bytes <= range->bytes; j += bytes) {
            double value = element_at(at + j, range->type);
            part.nan += isnan(value) != 0;
            part.infinite += isinf(value) != 0;
            if (!isfinite(value))
                continue;
            part.zero += value == 0;
            part.finite++;
            part.sum += value;
            part.least = value < part.least ? value : part.least;
            part.greatest = value > part.greatest ? value : part.greatest;
        }
        for (unsigned j = 0; j < range->parts; j++)
            range->to[j] = j ? (struct probe_part){.least = INFINITY, .greatest = -INFINITY} : part;
    }
}

/* mix(float* out, const float* a, const float* b, float factor, unsigned n): out = factor a + b, which
 * stays small. */
static void perform_mix(const struct work *work) {
    float *out = *(float **)work->argument_pointers[0];
    const float *a = *(const float **)work->argument_pointers[1];
    const float *b = *(const float **)work->argument_pointers[2];
    float factor = *(float *)work->argument_pointers[3];
    uint32_t count = *(uint32_t *)work->argument_pointers[4];
    for (uint32_t i = 0; i < count; i++)
        out[i] = fmodf(factor * a[i] + b[i], 101.0f);
}

/* axpy(n, a, x, y): y = a * x + y, so that programs can check that their results are untouched. */
static void perform_kernel(const struct work *work) {
    perform_conditional_kernel(work);
    if (strcmp(work->function->name, "gviz_sum") == 0)
        perform_sum(work);
    if (strcmp(work->function->name, "gviz_copy") == 0)
        perform_saving(work);
    if (strcmp(work->function->name, "gviz_probe") == 0)
        perform_probe(work);
    if (strcmp(work->function->name, "_Z3mixPfPKfS1_fj") == 0)
        perform_mix(work);
    if (strcmp(work->function->name, "put") == 0) /* what look_up and await read */
        **(uint64_t **)work->argument_pointers[0] = 1;
    if (strcmp(work->function->name, "stamp") == 0) /* never the same twice */
        **(uint64_t **)work->argument_pointers[0] = fake_now_ns();
    if (strcmp(work->function->name, "tally") == 0) /* y[0] += its module's count, which it adds to */
        **(float **)work->argument_pointers[0] += (float)++*(uint32_t *)module_variable(work->function->module, "count");
    if (strcmp(work->function->name, "axpy") != 0 || work->function->parameter_count != 4)
        return;
    uint32_t count = *(uint32_t *)work->argument_pointers[0];
    float a = *(float *)work->argument_pointers[1];
    const float *x = *(const float **)work->argument_pointers[2];
    float *y = *(float **)work->argument_pointers[3];
    uint64_t threads = (uint64_t)work->grid[0] * work->block[0];
    for (uint32_t i = 0; i < count && i < threads; i++)
        y[i] += a * x[i];
}

enum { WRITE_VALUE_32 = 2 };

static void perform_memory_operations(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    const CUstreamBatchMemOpParams *operations = params->paramArray;
    for (unsigned int i = 0; i < params->count; i++)
        if (operations[i].operation == WRITE_VALUE_32)
            __atomic_store_n((uint32_t *)(uintptr_t)operations[i].address, (uint32_t)operations[i].value,
                             __ATOMIC_SEQ_CST);
}

void perform(const struct work *work) {
    if (work->type == NODE_BATCH_MEM_OP)
        perform_memory_operations(&work->memory_operations);
    if (work->type == NODE_MEMCPY)
        perform_copy(&work->copy);
    else if (work->type == NODE_MEMSET)
        perform_memset(&work->memset);
    else if (work->type == NODE_KERNEL)
        perform_kernel(work);
}
