/* Faults: wild(to) writes where no allocation is, or where one was; hang() never ends. look_up(at) reads
 * where the word there says: nowhere, if that is large. await(at) never ends while the word is 0.
 *
 * A failed GPU runs nothing that starts later, and every call that needs it returns the error.
 */
#include "fake.h"

#include <stdatomic.h>
#include <stdio.h>

enum { ILLEGAL_ADDRESS = 700 };
#define NEVER (UINT64_MAX / 2)
/* CUcoredumpSettings */
enum { ENABLE_ON_EXCEPTION = 1, TRIGGER_HOST = 2, DUMP_FILE = 5, GENERATION_FLAGS = 7, SETTINGS = 8 };
enum { SKIP_ABORT = 16 };

static uint64_t failed_ns = UINT64_MAX, hung_ns = UINT64_MAX;
static char dump_file[1024];
static unsigned int settings[SETTINGS];

static bool is_named(const struct work *work, const char *name) {
    return work->type == NODE_KERNEL && strcmp(work->function->name, name) == 0;
}

static uint64_t first_word(const struct work *work) { return **(uint64_t **)work->argument_pointers[0]; }

static bool is_wild(const struct work *work) {
    if (is_named(work, "look_up"))
        return first_word(work) > 1u << 20;
    return is_named(work, "wild") &&
           memory_type_at(*(CUdeviceptr *)work->argument_pointers[0], NULL) != MEMORY_DEVICE;
}

uint64_t kernel_ends_ns(const struct work *work, uint64_t start_ns) {
    uint64_t end_ns = start_ns + work_duration_ns(work);
    if (!gpu_gets_to(start_ns))
        return end_ns;
    if (is_wild(work))
        failed_ns = end_ns;
    if (is_named(work, "hang") || (is_named(work, "await") && first_word(work) == 0))
        hung_ns = end_ns = NEVER;
    return end_ns;
}

bool gpu_gets_to(uint64_t start_ns) { return start_ns < failed_ns && start_ns < hung_ns; }

/* -- what calls return -------------------------------------------------------------------------- */

static bool needs_gpu(const char *name) {
    static const char *const names[] = {
        "cuStreamSynchronize", "cuStreamQuery", "cuStreamCreate", "cuCtxSynchronize", "cuEventQuery",
        "cuEventSynchronize", "cuEventRecord", "cuEventCreate", "cuMem", "cuLaunch", "cuGraphLaunch",
        "cuGraphUpload", "cuGraphInstantiate", "cuModuleLoad",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Once; it is no ELF file. */
static void dump(void) {
    FILE *file = settings[ENABLE_ON_EXCEPTION] && dump_file[0] ? fopen(dump_file, "wxe") : NULL;
    if (!file)
        return;
    fputs("a core dump of the fake GPU", file);
    fclose(file);
    if (!(settings[GENERATION_FLAGS] & SKIP_ABORT))
        abort();
}

CUresult with_fault(const char *name, CUresult result) {
    if ((result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) || fake_now_ns() < failed_ns ||
        !needs_gpu(name))
        return result;
    fake_lock();
    dump();
    fake_unlock();
    return ILLEGAL_ADDRESS;
}

/* FAKE_REFUSES: a call, variable or kernel of this name is refused, and what it would do is not done;
 * "name:3": from the third on. */
bool fake_refuses(const char *name) {
    static _Atomic long seen;
    const char *refused = getenv("FAKE_REFUSES");
    size_t length = refused ? strcspn(refused, ":") : 0;
    if (!length || strncmp(refused, name, length) != 0 || name[length])
        return false;
    long from = refused[length] ? strtol(refused + length + 1, NULL, 10) : 1;
    return ++seen >= from;
}

/* FAKE_WAITS: a call of this name waits until the GPU has nothing to do, without the lock; one at a time. */
void fake_waits(const char *name) {
    static _Atomic bool waiting;
    const char *waits = getenv("FAKE_WAITS");
    if (!waits || strcmp(waits, name) != 0 || atomic_exchange(&waiting, true))
        return;
    wait_for_device();
    waiting = false;
}

/* -- core dumps ----------------------------------------------------------------------------------- */

/* FAKE_DUMP_LATE: not while the driver initialises. */
EXPORT CUresult cuCoredumpSetAttributeGlobal(int attribute, void *value, size_t *size) {
    if (fake_setting("FAKE_NO_DUMP") || attribute <= 0 || attribute >= SETTINGS || !value || !size)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (fake_setting("FAKE_DUMP_LATE") && require_device(0) != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (attribute == DUMP_FILE && *size < sizeof dump_file) {
        memcpy(dump_file, value, *size);
        dump_file[*size] = 0;
    } else {
        memcpy(&settings[attribute], value, *size < sizeof *settings ? *size : sizeof *settings);
    }
    return CUDA_SUCCESS;
}
