/* Finding libcupti and libcuda at run time. */
#include "native.h"

#include <dlfcn.h>
#include <stdio.h>

struct cupti_functions cupti;
struct cuda_functions cuda;

static void *find(void *library, const char *symbol, int needed, char *why, size_t size) {
    void *address = dlsym(library, symbol);
    if (!address && needed && !why[0])
        snprintf(why, size, "%s is missing; a newer CUDA driver and CUPTI are needed", symbol);
    return address;
}

bool symbol_exists(const char *name) { return dlsym(RTLD_DEFAULT, name) != NULL; }

int cupti_load(const char *path, char *why, size_t size) {
    why[0] = 0;
    /* A copy that the program already loaded wins: two CUPTIs in one process do not work. */
    void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        library = dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);
    if (!library && path && path[0])
        library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        snprintf(why, size, "libcupti.so.13 was not found; pip install nvidia-cuda-cupti");
        return -1;
    }
#define X(name, result, parameters) \
    *(void **)&cupti.name = find(library, #name, 1, why, size);
    CUPTI_FUNCTIONS(X)
#undef X
    return why[0] ? -1 : 0;
}

int cuda_load(char *why, size_t size) {
    why[0] = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        snprintf(why, size, "no CUDA driver (libcuda.so.1 was not found)");
        return -1;
    }
#define X(field, symbol, parameters, needed) \
    *(void **)&cuda.field = find(library, #symbol, needed, why, size);
    CUDA_FUNCTIONS(X)
#undef X
    if (!cuda.EventElapsedTime)
        cuda.EventElapsedTime = cuda.EventElapsedTimeOld;
    return why[0] ? -1 : 0;
}
