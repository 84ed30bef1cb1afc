/* A table of blocks, in order of address.
 *
 * A trial is undone by restoring all of them. So it has to be all: what the process holds must be what
 * these calls gave it, and none of it may be seen from elsewhere.
 */
#include "blocks/blocks.h"
#include "calls/calls.h"
#include "spool/spool.h"

#include <stdlib.h>
#include <string.h>

#define MEBIBYTE (1ull << 20)
/* What may be in use besides: gviz's own copies of graphs, and what the driver took within other calls. */
#define OWN_BYTES (64 * MEBIBYTE)
/* Saving more takes longer than a slice. */
#define MOST_BYTES (4096 * MEBIBYTE)
#define GRAPH_MEMORY_USED 0 /* CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT */

enum effect { NO_EFFECT, ALLOCATES, ALLOCATES_PITCHED, MAPS, OPENS, FREES, UNMAPS, ON_HOST, FORBIDS };

static const struct {
    const char *name; /* with _ptsz and the like too */
    enum effect effect;
} effects[] = {
    {"cuMemAlloc_v2", ALLOCATES},
    {"cuMemAllocAsync", ALLOCATES},
    {"cuMemAllocFromPoolAsync", ALLOCATES},
    {"cuMemAllocPitch_v2", ALLOCATES_PITCHED},
    {"cuMemMap", MAPS},
    {"cuMemSetAccess", OPENS},
    {"cuMemFree_v2", FREES},
    {"cuMemFreeAsync", FREES},
    {"cuMemUnmap", UNMAPS},
    {"cuMemHostAlloc", ON_HOST},
    {"cuMemAllocHost_v2", ON_HOST},
    {"cuMemHostRegister_v2", ON_HOST},
    {"cuMemAllocManaged", FORBIDS},
    {"cuIpcGetMemHandle", FORBIDS},
    {"cuIpcOpenMemHandle", FORBIDS},
    {"cuIpcOpenMemHandle_v2", FORBIDS},
    {"cuMemExportToShareableHandle", FORBIDS},
    {"cuMemImportFromShareableHandle", FORBIDS},
    {"cuMemPoolExportToShareableHandle", FORBIDS},
    {"cuMemPoolImportFromShareableHandle", FORBIDS},
    {"cuMemPoolExportPointer", FORBIDS},
    {"cuMemPoolImportPointer", FORBIDS},
    {"cuMemMapArrayAsync", FORBIDS},
    {"cuMulticastCreate", FORBIDS},
    {"cuArrayCreate_v2", FORBIDS},
    {"cuArray3DCreate_v2", FORBIDS},
    {"cuMipmappedArrayCreate", FORBIDS},
    {"cuImportExternalMemory", FORBIDS},
    {"cuGraphicsMapResources", FORBIDS},
    {"cuCtxEnablePeerAccess", FORBIDS},
    {"cuGraphAddMemAllocNode", FORBIDS},
};

GVIZ_LOCK(lock);
static uint8_t effect_of[CALL_ID_LIMIT];
static struct block *blocks; /* in order of address */
static size_t count, room;
static size_t free_before; /* any was made; 0: not known */
static bool forbidden;     /* memory that is not saved */
static bool graph_memory;  /* an allocation was captured */
static bool lost;          /* a block could not be kept */
static uint64_t freed_ns;  /* when one was given back, last */
static _Atomic uint64_t changes = 1;
static _Atomic bool on;
static bool recorded;

static bool wants(uint32_t cbid, const char *name) {
    size_t length = strlen(name);
    if (length > 5 && (strcmp(name + length - 5, "_ptsz") == 0 || strcmp(name + length - 5, "_ptds") == 0))
        length -= 5;
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
        if (strlen(effects[i].name) == length && memcmp(effects[i].name, name, length) == 0)
            effect_of[cbid] = (uint8_t)effects[i].effect;
    return effect_of[cbid] != NO_EFFECT;
}

void blocks_start(bool in_spool) {
    memset(effect_of, 0, sizeof effect_of);
    count = free_before = 0;
    forbidden = graph_memory = lost = false;
    freed_ns = 0;
    recorded = in_spool;
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++) {
        const char *name = NULL;
        if (cupti.cuptiGetCallbackName(DOMAIN_DRIVER_API, id, &name) == 0 && name && wants(id, name))
            calls_keep(id);
    }
    atomic_store(&on, true);
}

/* -- the table, with the lock ------------------------------------------------------------------------ */

/* Where the first block is that ends above an address. */
static size_t place_of(CUdeviceptr address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (blocks[middle].address + blocks[middle].bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void record(CUdeviceptr address, size_t bytes, bool freed) {
    const struct block_record made = {now_ns(), address, bytes, freed, 0};
    if (recorded)
        spool_append_one(RECORD_BLOCK, &made, sizeof made);
}

static void add(CUdeviceptr address, size_t bytes, bool closed) {
    record(address, bytes, false);
    if (count == room) {
        size_t wanted = room ? 2 * room : 256;
        struct block *grown = realloc(blocks, wanted * sizeof *grown);
        if (!grown) {
            lost = true;
            return;
        }
        blocks = grown;
        room = wanted;
    }
    size_t at = place_of(address);
    memmove(blocks + at + 1, blocks + at, (count - at) * sizeof *blocks);
    blocks[at] = (struct block){address, bytes, closed};
    count++;
}

/* Those that begin in a range. */
static void remove_from(CUdeviceptr address, size_t bytes) {
    size_t at = place_of(address), last = at;
    freed_ns = now_ns();
    record(address, bytes, true);
    while (last < count && blocks[last].address < address + bytes)
        last++;
    memmove(blocks + at, blocks + last, (count - last) * sizeof *blocks);
    count -= last - at;
}

/* As CUmemAccessDesc of cuda.h. */
struct access {
    int location_type, location_id, flags;
};
#define ON_DEVICE 1
#define READ_AND_WRITE 3

/* Of those that lie in a range whoever may read and write them is named. */
static void open_those_in(CUdeviceptr address, size_t bytes, const struct access *access, size_t descriptions) {
    bool may = false;
    for (size_t i = 0; i < descriptions; i++)
        may = may || (access[i].location_type == ON_DEVICE && access[i].flags == READ_AND_WRITE);
    for (size_t at = place_of(address); at < count && blocks[at].address < address + bytes; at++) {
        bool inside = blocks[at].address >= address && blocks[at].bytes <= address + bytes - blocks[at].address;
        blocks[at].closed = !(may && inside);
    }
}

/* -- calls ---------------------------------------------------------------------------------------------- */

/* The program's first block is about to be made: what is free now is free without any. */
static void before_first(void) {
    size_t available = 0, total = 0;
    pthread_mutex_lock(&lock);
    if (!free_before && cuda.MemGetInfo && cuda.MemGetInfo(&available, &total) == 0) {
        free_before = available;
        growth_begin();
    }
    pthread_mutex_unlock(&lock);
}

static bool is_captured(const CUpti_CallbackData *data, enum effect effect) {
    const uintptr_t *words = data->params;
    const char *name = data->function_name;
    if (!captures_known() || !strstr(name, "Async"))
        return false;
    size_t at = effect == FREES ? 1 : strstr(name, "FromPool") ? 3 : 2;
    return stream_is_capturing((CUstream)words[at]);
}

static void done(const uintptr_t *words, enum effect effect) {
    switch (effect) {
    case ALLOCATES:
        add(*(const CUdeviceptr *)words[0], words[1], false);
        break;
    case ALLOCATES_PITCHED:
        add(*(const CUdeviceptr *)words[0], *(const size_t *)words[1] * words[3], false);
        break;
    case MAPS:
        add(words[0], words[1], true);
        break;
    case OPENS:
        open_those_in(words[0], words[1], (const struct access *)words[2], words[3]);
        break;
    case FREES:
        remove_from(words[0], 1);
        break;
    case UNMAPS:
        remove_from(words[0], words[1]);
        break;
    default:
        forbidden = true;
    }
}

bool blocks_follow(uint32_t cbid) { return cbid < CALL_ID_LIMIT && effect_of[cbid] != NO_EFFECT; }

void blocks_call(const CUpti_CallbackData *data, uint32_t cbid) {
    enum effect effect = (enum effect)effect_of[cbid];
    if (effect == NO_EFFECT || !atomic_load(&on))
        return;
    atomic_fetch_add(&changes, 1);
    if (effect == ON_HOST)
        return;
    growth_disturb();
    if (data->site == 0 && effect != OPENS && effect != FREES && effect != UNMAPS)
        before_first();
    if (data->site == 0 || (data->return_value && *(const int *)data->return_value != 0))
        return;
    bool captured = data->function_name && is_captured(data, effect);
    pthread_mutex_lock(&lock);
    if (captured)
        graph_memory = true;
    else
        done(data->params, effect);
    pthread_mutex_unlock(&lock);
}

/* -- what there is ---------------------------------------------------------------------------------------- */

bool blocks_hold(CUdeviceptr address, size_t bytes) {
    pthread_mutex_lock(&lock);
    size_t at = place_of(address);
    bool holds = at < count && blocks[at].address <= address &&
                 address + bytes <= blocks[at].address + blocks[at].bytes;
    pthread_mutex_unlock(&lock);
    return holds;
}

uint64_t blocks_changes(void) { return atomic_load(&changes); }

uint64_t blocks_freed_ns(void) {
    pthread_mutex_lock(&lock);
    uint64_t ns = freed_ns;
    pthread_mutex_unlock(&lock);
    return ns;
}

static size_t sum_bytes(void) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += blocks[i].bytes;
    return bytes;
}

struct block *blocks_list(size_t *found, size_t *bytes) {
    pthread_mutex_lock(&lock);
    struct block *list = malloc((count + 1) * sizeof *list);
    if (list && count)
        memcpy(list, blocks, count * sizeof *list);
    *found = list ? count : 0;
    *bytes = list ? sum_bytes() : 0;
    pthread_mutex_unlock(&lock);
    return list;
}

static bool graphs_have_memory(int device) {
    uint64_t used = 0;
    return graph_memory || (cuda.DeviceGetGraphMemAttribute &&
                            cuda.DeviceGetGraphMemAttribute(device, GRAPH_MEMORY_USED, &used) == 0 && used);
}

static bool any_is_closed(void) {
    for (size_t i = 0; i < count; i++)
        if (blocks[i].closed)
            return true;
    return false;
}

/* Whether the context holds about what the calls gave it, and what the driver took. A program that never made
 * a block has no moment before the first. */
static bool is_all(size_t bytes) {
    size_t available = 0, total = 0, begin = free_before ? free_before : growth_free_at_first();
    if (!begin || !cuda.MemGetInfo || cuda.MemGetInfo(&available, &total) != 0)
        return false;
    return (int64_t)(available + bytes + OWN_BYTES) + growth_bytes() >= (int64_t)begin;
}

const char *blocks_obstacle(int device) {
    const char *why = NULL;
    pthread_mutex_lock(&lock);
    size_t bytes = sum_bytes();
    if (context_at(1))
        why = "the process has several contexts";
    else if (forbidden)
        why = "the process has memory that is managed, shared, imported or an array, which is not saved";
    else if (graphs_have_memory(device))
        why = "graphs of the process allocate memory, which is not saved";
    else if (any_is_closed())
        why = "the process has memory that is mapped, and that the GPU may not read and write";
    else if (bytes > MOST_BYTES)
        why = "the process has more than 4 GiB of device memory, which takes too long to save";
    else if (lost || !is_all(bytes))
        why = "more device memory is in use than the process was seen to allocate";
    pthread_mutex_unlock(&lock);
    return why;
}
