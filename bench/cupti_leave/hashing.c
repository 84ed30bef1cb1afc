/* hashing GIB: device memory hashed in pieces of 2 MiB, beside a copy on the device. */
#include "common.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 2 << 20, TIMES = 9 };

static struct program program;

static double elapsed(CUevent start, CUevent end) {
    float ms;
    CHECK(cuEventRecord(end, program.stream));
    CHECK(cuEventSynchronize(end));
    CHECK(cuEventElapsedTime(&ms, start, end));
    return ms;
}

int main(int count, char **arguments) {
    if (count != 2)
        return 2;
    size_t bytes = (size_t)atoi(arguments[1]) << 30, pieces = bytes / PIECE;
    uint64_t *first = malloc(pieces * 8), *second = malloc(pieces * 8);
    double hashed[TIMES], copied[TIMES];
    CUdeviceptr data, hashes;
    CUevent start, end;
    open_device();
    make_program(&program, 1);
    CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    CHECK(cuMemAlloc(&data, bytes));
    CHECK(cuMemAlloc(&hashes, pieces * 8));
    CHECK(cuMemsetD32(data, 0x12345678, bytes / 4));
    for (int i = 0; i < TIMES; i++) {
        void *given[] = {&data, &hashes};
        CHECK(cuEventRecord(start, program.stream));
        CHECK(cuLaunchKernel(program.hash_pieces, pieces, 1, 1, 512, 1, 1, 0, program.stream, given,
                             NULL));
        hashed[i] = elapsed(start, end);
        CHECK(cuEventRecord(start, program.stream));
        CHECK(cuMemcpyDtoDAsync(data, data + bytes / 2, bytes / 2, program.stream));
        copied[i] = elapsed(start, end);
    }
    CHECK(cuMemcpyDtoH(first, hashes, pieces * 8));
    CHECK(cuMemsetD8(data + bytes / 2 + 12345, 0x79, 1)); /* 0x12345678 has no such byte there */
    void *given[] = {&data, &hashes};
    CHECK(cuLaunchKernel(program.hash_pieces, pieces, 1, 1, 512, 1, 1, 0, program.stream, given,
                         NULL));
    CHECK(cuStreamSynchronize(program.stream));
    CHECK(cuMemcpyDtoH(second, hashes, pieces * 8));
    size_t changed = 0;
    for (size_t i = 0; i < pieces; i++)
        changed += first[i] != second[i];
    printf("{\"gib\": %s, \"hash_gb_per_s\": %.0f, \"copy_gb_per_s_read_and_written\": %.0f, "
           "\"pieces\": %zu, \"changed_by_one_byte\": %zu}\n",
           arguments[1], bytes / quantile_of(hashed, TIMES, 0.5) / 1e6,
           bytes / quantile_of(copied, TIMES, 0.5) / 1e6, pieces, changed);
    return 0;
}
