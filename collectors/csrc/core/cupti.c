/* Finding libcupti's functions at run time, and its clock. */
#include "core/core.h"

#include <dlfcn.h>
#include <stdio.h>

struct cupti_functions cupti;

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
    *(void **)&cupti.name = find_symbol(library, #name, true, why, size);
    CUPTI_FUNCTIONS(X)
#undef X
    return why[0] ? -1 : 0;
}

uint64_t now_ns(void) {
    uint64_t time = 0;
    cupti.cuptiGetTimestamp(&time);
    return time;
}
