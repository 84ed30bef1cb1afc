/* The memory of graphs' alloc nodes: what each device has reserved for it and has in use. */
#include "calls/calls.h"
#include "graph/parts.h"
#include "spool/spool.h"

#include <string.h>

#define MAX_DEVICES 64

/* Addresses that graphs allocate: open addressing, at most half full. Frees of what finds no
 * room are not seen. */
#define ADDRESS_ROOM 8192
static CUdeviceptr addresses[ADDRESS_ROOM];
static size_t address_count;
/* Frees are to be watched: switched on where no lock is held that a callback waits for. */
static _Atomic bool frees_wanted;

GVIZ_LOCK(lock);
static _Atomic uint64_t watched; /* devices on which a graph allocates, a bit each */
static uint64_t last[MAX_DEVICES][4];
static uint64_t sampled;         /* devices with a last sample */

/* `again`: in the same recording, with graphs that allocate already. */
void graph_memory_reset(bool again) {
    pthread_mutex_lock(&lock);
    atomic_store(&frees_wanted, again && address_count);
    if (again) {
        pthread_mutex_unlock(&lock);
        return;
    }
    atomic_store(&watched, 0);
    sampled = 0;
    memset(last, 0, sizeof last);
    memset(addresses, 0, sizeof addresses);
    address_count = 0;
    pthread_mutex_unlock(&lock);
}

static CUdeviceptr *address_slot(CUdeviceptr address) {
    size_t at = (address >> 8) * 0x9E3779B97F4A7C15ull >> 51; /* 13 bits */
    while (addresses[at] && addresses[at] != address)
        at = (at + 1) % ADDRESS_ROOM;
    return &addresses[at];
}

/* A graph that allocates this address on this device was instantiated. */
void graph_memory_watch(int device, CUdeviceptr address) {
    pthread_mutex_lock(&lock);
    bool first = address_count == 0;
    if (address && address_count < ADDRESS_ROOM / 2) {
        CUdeviceptr *slot = address_slot(address);
        address_count += *slot == 0;
        *slot = address;
    }
    if (first && address_count)
        atomic_store(&frees_wanted, true);
    pthread_mutex_unlock(&lock);
    if (device >= 0 && device < MAX_DEVICES && cuda.DeviceGetGraphMemAttribute)
        atomic_fetch_or(&watched, 1ull << device);
}

static void sample(int device) {
    uint64_t amounts[4]; /* in the order of CUgraphMem_attribute */
    for (int i = 0; i < 4; i++)
        if (cuda.DeviceGetGraphMemAttribute(device, i, &amounts[i]) != 0)
            return;
    struct graph_memory_record record = {
        .time_ns = now_ns(), .device_id = device, .used = amounts[0], .used_high = amounts[1],
        .reserved = amounts[2], .reserved_high = amounts[3]};
    pthread_mutex_lock(&lock);
    bool changed = !(sampled >> device & 1) || memcmp(last[device], amounts, sizeof amounts);
    memcpy(last[device], amounts, sizeof amounts);
    sampled |= 1ull << device;
    pthread_mutex_unlock(&lock);
    if (changed)
        spool_append_one(RECORD_GRAPH_MEMORY, &record, sizeof record);
}

/* Write down what has changed; queries the driver four times a device that is watched. */
void graph_memory_sample(void) {
    uint64_t devices = atomic_load_explicit(&watched, memory_order_relaxed);
    if (atomic_exchange(&frees_wanted, false))
        calls_watch_frees();
    if (!devices)
        return;
    /* Whatever the driver thinks of asking while a stream is captured: it must break nothing. */
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    for (int device = 0; device < MAX_DEVICES; device++)
        if (devices >> device & 1)
            sample(device);
    exchange_capture_mode(mode);
}

/* cuMemFree or cuMemFreeAsync has returned. A captured one becomes a free node instead. */
void graph_memory_free(const CUpti_CallbackData *data, uint32_t cbid) {
    const void *const *params = data->params;
    if (data->site == 0 || (data->return_value && *(int *)data->return_value != 0))
        return;
    struct freed_record record = {now_ns(), (uint64_t)(uintptr_t)params[0], cbid,
                                  this_thread()->thread_id};
    pthread_mutex_lock(&lock);
    bool mine = record.address && *address_slot(record.address) == record.address;
    pthread_mutex_unlock(&lock);
    if (!mine)
        return;
    bool has_stream;
    CUstream stream = call_stream(cbid, params, &has_stream);
    if (has_stream && captures_known() && stream_is_capturing(stream))
        return;
    call_name(cbid);
    spool_append_one(RECORD_FREED, &record, sizeof record);
}
