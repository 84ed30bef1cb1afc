/* The driver's core dump of a failed kernel: without memory, and without an end of the process. */
#include "blackbox/parts.h"
#include "calls/calls.h"
#include "spool/spool.h"

#include <stdio.h>
#include <string.h>

/* CUcoredumpSettings */
enum { ENABLE_ON_EXCEPTION = 1, TRIGGER_HOST = 2, DUMP_FILE = 5, GENERATION_FLAGS = 7 };
/* CUCoredumpGenerationFlags: skip images that are not relocated, memory of all kinds, and abort(). */
#define LIGHT_FLAGS (1u | 2u | 4u | 8u | 16u | 32u)
#define CONSTANT_MEMORY 32u /* not known before CUDA 12.6 */

static _Atomic bool pending; /* to be set before the first context is made */

static int set(int attribute, void *value, size_t size) {
    return cuda.CoredumpSetAttributeGlobal(attribute, value, &size);
}

/* Flags first: where they are not known, a core dump would end the process. */
static int set_all(void) {
    char path[3100];
    unsigned flags = LIGHT_FLAGS;
    bool on = true, off = false;
    snprintf(path, sizeof path, "%s/core.nvcudmp", spool_directory());
    int result = set(GENERATION_FLAGS, &flags, sizeof flags);
    flags = LIGHT_FLAGS & ~CONSTANT_MEMORY;
    if (result == 1 /* CUDA_ERROR_INVALID_VALUE */)
        result = set(GENERATION_FLAGS, &flags, sizeof flags);
    if (result == 0)
        result = set(TRIGGER_HOST, &off, sizeof off);
    if (result == 0)
        result = set(DUMP_FILE, path, strlen(path));
    return result == 0 ? set(ENABLE_ON_EXCEPTION, &on, sizeof on) : result;
}

static void refused(int result) {
    note("limit", "no core dump is written after a fault: cuCoredumpSetAttributeGlobal returned %d", result);
}

/* While the driver initialises it may not take them yet: then the first context is waited for. */
void core_dump_start(bool calls_seen) {
    atomic_store(&pending, false);
    if (!cuda.CoredumpSetAttributeGlobal) {
        note("limit", "no core dump is written after a fault: the driver has no attributes of core dumps; "
                      "CUDA 12.5 has those that are needed");
        return;
    }
    int result = set_all();
    if (result != 0 && !calls_seen)
        refused(result);
    if (result == 0 || !calls_seen)
        return;
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++) {
        const char *name = NULL;
        if (cupti.cuptiGetCallbackName(DOMAIN_DRIVER_API, id, &name) == 0 && name &&
            (strncmp(name, "cuCtxCreate", 11) == 0 || strncmp(name, "cuDevicePrimaryCtxRetain", 24) == 0))
            calls_keep(id);
    }
    atomic_store(&pending, true);
}

void core_dump_call(const CUpti_CallbackData *data) {
    const char *name = data->function_name;
    bool makes_context = name && (strncmp(name, "cuCtxCreate", 11) == 0 || strstr(name, "CtxRetain"));
    if (data->site != 0 || !makes_context || !atomic_exchange(&pending, false))
        return;
    int result = set_all();
    if (result != 0)
        refused(result);
}
