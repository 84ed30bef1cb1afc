/* A file of words that the GPU writes while it runs: what was written outlives the process.
 *
 * It lies beside the spool's segments. Where the driver takes no memory of that file system, it lies in
 * the memory of the machine, with a link to it, and is copied at the end. There it says behind its words
 * in which namespace of processes its process is, and where the link is: who finds it later can tell
 * whether anybody still wants it (gviz/spool/processes/removal.py).
 */
#include "blackbox/parts.h"
#include "calls/calls.h"
#include "spool/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS (1u << 18)
#define BYTES (WORDS * sizeof(uint32_t))
#define ORIGIN_BYTES 4096u
#define PORTABLE_AND_MAPPED 3u /* CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP */

struct rest {
    uint32_t first, count;
    struct rest *next;
};

GVIZ_LOCK(lock);
static _Atomic uint32_t *words;
static CUdeviceptr device;
static uint32_t used;
static struct rest *rests; /* given back */
static char path[3100], elsewhere[64];
static char why[160];

static bool take_mapping(void *memory, size_t bytes) {
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    int result = cuda.MemHostRegister(memory, BYTES, PORTABLE_AND_MAPPED);
    if (result == 0)
        result = cuda.MemHostGetDevicePointer(&device, memory, 0);
    exchange_capture_mode(mode);
    if (result == 0) {
        words = memory;
        return true;
    }
    snprintf(why, sizeof why, "the GPU cannot write the file of crumbs (cuMemHostRegister returned %d)", result);
    munmap(memory, bytes);
    return false;
}

static bool open_at(const char *at, size_t bytes) {
    void *memory = spool_map(at, bytes);
    if (!memory) {
        snprintf(why, sizeof why, "the file of crumbs cannot be made (%s)", strerror(errno));
        return false;
    }
    if (take_mapping(memory, bytes))
        return true;
    unlink(at);
    return false;
}

static void say_origin(char *text) {
    char space[64];
    ssize_t size = readlink("/proc/self/ns/pid", space, sizeof space);
    snprintf(text, ORIGIN_BYTES, "%.*s\n%s", size > 0 ? (int)size : 0, space, path);
}

static bool open_elsewhere(void) {
    snprintf(elsewhere, sizeof elsewhere, "/dev/shm/gviz-crumbs-%d-%llu", (int)getpid(),
             (unsigned long long)process_start_ticks());
    if (open_at(elsewhere, BYTES + ORIGIN_BYTES)) {
        say_origin((char *)words + BYTES);
        if (symlink(elsewhere, path) == 0)
            return true;
    }
    if (words) {
        snprintf(why, sizeof why, "the file of crumbs cannot be linked (%s)", strerror(errno));
        unlink(elsewhere);
    }
    words = NULL;
    elsewhere[0] = 0;
    return false;
}

const char *words_open(void) {
    if (!lock_for_program(&lock))
        return "the driver does not hand out the memory of crumbs";
    if (!words && !why[0]) {
        snprintf(path, sizeof path, "%s/crumbs", spool_directory());
        if (!cuda.MemHostRegister || !cuda.MemHostGetDevicePointer || !cuda.GraphAddBatchMemOpNode)
            snprintf(why, sizeof why, "the driver lacks functions that crumbs need; CUDA 11.7 has them");
        else if (open_at(path, BYTES) || open_elsewhere())
            why[0] = 0;
    }
    pthread_mutex_unlock(&lock);
    return words ? NULL : why;
}

uint32_t words_take(uint32_t count) {
    uint32_t first = UINT32_MAX;
    pthread_mutex_lock(&lock);
    struct rest **at = &rests;
    while (*at && (*at)->count != count)
        at = &(*at)->next;
    if (*at) {
        struct rest *found = *at;
        first = found->first;
        *at = found->next;
        free(found);
    } else if (count <= WORDS - used) {
        first = used;
        used += count;
    }
    pthread_mutex_unlock(&lock);
    return first;
}

void words_give_back(uint32_t first, uint32_t count) {
    struct rest *rest = malloc(sizeof *rest);
    if (!rest)
        return;
    pthread_mutex_lock(&lock);
    *rest = (struct rest){first, count, rests};
    rests = rest;
    pthread_mutex_unlock(&lock);
}

_Atomic uint32_t *words_at(uint32_t first) { return words + first; }

CUdeviceptr words_on_device(uint32_t first) { return device + first * sizeof(uint32_t); }

static bool copy_to(const char *to) {
    FILE *file = fopen(to, "wxe");
    bool good = file && fwrite((const void *)words, sizeof(uint32_t), WORDS, file) == WORDS;
    return file && fclose(file) == 0 && good;
}

/* Let nothing stay in the memory of the machine. The mapping stays: the GPU may write it still. */
void words_stop(void) {
    char copy[sizeof path + 8];
    pthread_mutex_lock(&lock);
    if (words && elsewhere[0]) {
        snprintf(copy, sizeof copy, "%s.copy", path);
        if (copy_to(copy) && rename(copy, path) == 0)
            unlink(elsewhere);
        elsewhere[0] = 0;
    }
    pthread_mutex_unlock(&lock);
}

/* After fork(): the mapping is the parent's. */
void words_abandon(void) {
    words = NULL;
    rests = NULL;
    used = 0;
    why[0] = elsewhere[0] = 0;
}
