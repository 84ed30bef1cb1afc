/* Finding libcuda's functions at run time, and the time. */
#include "core/core.h"

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

struct cuda_functions cuda;
static void *driver;

void *find_symbol(void *library, const char *symbol, bool needed, char *why, size_t size) {
    void *address = dlsym(library, symbol);
    if (!address && needed && !why[0])
        snprintf(why, size, "%s is missing; a newer CUDA driver and CUPTI are needed", symbol);
    return address;
}

int cuda_load(char *why, size_t size) {
    why[0] = 0;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        snprintf(why, size, "no CUDA driver (libcuda.so.1 was not found)");
        return -1;
    }
#define X(field, symbol, parameters, needed) \
    *(void **)&cuda.field = find_symbol(driver, #symbol, needed, why, size);
    CUDA_FUNCTIONS(X)
#undef X
    if (!cuda.EventElapsedTime)
        cuda.EventElapsedTime = cuda.EventElapsedTimeOld;
    return why[0] ? -1 : 0;
}

void *cuda_symbol(const char *name) { return driver ? dlsym(driver, name) : NULL; }

int64_t monotonic_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
