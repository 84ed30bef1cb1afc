/* The memory of graphs' alloc nodes: what each device has reserved for it and has in use. */
#include "native.h"

#include <string.h>

#define MAX_DEVICES 64

struct memory_record {
    uint64_t time_ns;
    int32_t device;
    uint32_t reserved;
    uint64_t amounts[4]; /* used, its high mark, reserved, its high mark: CUgraphMem_attribute */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t watched; /* devices on which a graph allocates, a bit each */
static uint64_t last[MAX_DEVICES][4];
static uint64_t sampled;         /* devices with a last sample */

void graph_memory_reset(void) {
    pthread_mutex_lock(&lock);
    atomic_store(&watched, 0);
    sampled = 0;
    memset(last, 0, sizeof last);
    pthread_mutex_unlock(&lock);
}

/* A graph with an alloc node on this device was instantiated. */
void graph_memory_watch(int device) {
    if (device >= 0 && device < MAX_DEVICES && cuda.DeviceGetGraphMemAttribute)
        atomic_fetch_or(&watched, 1ull << device);
}

static void sample(int device) {
    struct memory_record record = {.time_ns = now_ns(), .device = device};
    for (int i = 0; i < 4; i++)
        if (cuda.DeviceGetGraphMemAttribute(device, i, &record.amounts[i]) != 0)
            return;
    pthread_mutex_lock(&lock);
    bool changed = !(sampled >> device & 1) || memcmp(last[device], record.amounts, sizeof record.amounts);
    memcpy(last[device], record.amounts, sizeof record.amounts);
    sampled |= 1ull << device;
    pthread_mutex_unlock(&lock);
    if (changed)
        spool_append_one(RECORD_GRAPH_MEMORY, &record, sizeof record);
}

/* Write down what has changed; asks the driver four times a device that is watched. */
void graph_memory_sample(void) {
    uint64_t devices = atomic_load_explicit(&watched, memory_order_relaxed);
    if (!devices)
        return;
    /* Whatever the driver thinks of asking while a stream is captured: it must break nothing. */
    int mode = CU_CAPTURE_MODE_RELAXED;
    cuda.ThreadExchangeStreamCaptureMode(&mode);
    for (int device = 0; device < MAX_DEVICES; device++)
        if (devices >> device & 1)
            sample(device);
    cuda.ThreadExchangeStreamCaptureMode(&mode);
}
