/* A program linked with -lcuda, as Triton's is; and with a reference that may stay unresolved. */
#include <stdio.h>

extern int cuInit(unsigned);
extern int cuMemAlloc_v2(unsigned long *address, unsigned long size);
extern int cuCtxDestroy_v2(void *context) __attribute__((weak)); /* this driver has none */


int main(void) {
    unsigned long address = 0;
    if (cuInit(0) != 0 || cuInit(1) != 1 || cuMemAlloc_v2(&address, 1ul << 40) != 2 || address != 1ul << 40)
        return 1;
    if (cuCtxDestroy_v2)
        printf("without a driver's function: %d\n", cuCtxDestroy_v2(NULL));
    return 0;
}
