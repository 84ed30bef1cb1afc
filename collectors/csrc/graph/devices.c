/* Which device a context, or an address, belongs to. */
#include "graph/parts.h"

#define CACHED 8

/* The current context's device; -1: none. */
int device_current(void) {
    CUdevice device = -1;
    return cuda.CtxGetDevice(&device) == 0 ? device : -1;
}

/* Programs have a context a device; the last ones looked up are kept, by thread. A context's
 * handle may come to mean another once it is destroyed: the caller forgets between walks. */
static __thread struct {
    CUcontext context;
    int device;
} cache[CACHED];
static __thread unsigned cache_next;

void devices_forget(void) {
    for (int i = 0; i < CACHED; i++)
        cache[i].context = NULL;
}

int device_of_context(CUcontext context, int missing) {
    CUcontext popped;
    if (!context)
        return missing;
    for (int i = 0; i < CACHED; i++)
        if (cache[i].context == context)
            return cache[i].device;
    if (cuda.CtxPushCurrent(context) != 0)
        return missing;
    int device = device_current();
    cuda.CtxPopCurrent(&popped);
    if (device < 0)
        return missing;
    unsigned at = cache_next++ % CACHED;
    cache[at].context = context;
    cache[at].device = device;
    return device;
}

/* Of device memory that the driver knows; host memory does not show who copies it. */
int device_of_address(uint64_t address, int missing) {
    int ordinal = -1;
    unsigned type = 0;
    int attributes[] = {POINTER_DEVICE_ORDINAL, POINTER_MEMORY_TYPE};
    void *values[] = {&ordinal, &type};
    if (!address || !cuda.PointerGetAttributes ||
        cuda.PointerGetAttributes(2, attributes, values, address) != 0)
        return missing;
    return type == 2 /* CU_MEMORYTYPE_DEVICE */ && ordinal >= 0 ? ordinal : missing;
}
