/* Another tool that is preloaded: its own cuInit and dlsym, which go on to the next. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static int calls;

__attribute__((destructor)) static void report(void) { printf("other tool saw %d calls\n", calls); }

int cuInit(unsigned flags) {
    int (*next)(unsigned) = (int (*)(unsigned))dlsym(RTLD_NEXT, "cuInit");
    calls++;
    return next ? next(flags) : 99;
}
