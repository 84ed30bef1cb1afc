/* Kernels of the trials: one that sums memory up, and one that spends time. */
#include "trial/parts.h"

/* They run on every GPU since 2014. gviz_sum: a block of threads a piece of 2 MiB. */
static const char ptx[] =
    ".version 7.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry gviz_sum(.param .u64 at, .param .u64 words, .param .u64 to) {\n"
    ".reg .pred %p;\n"
    ".reg .b32 %r<4>;\n"
    ".reg .b64 %i, %end, %words, %at, %to, %x, %y, %sum;\n"
    "ld.param.u64 %at, [at];\n"
    "ld.param.u64 %words, [words];\n"
    "ld.param.u64 %to, [to];\n"
    "cvta.to.global.u64 %at, %at;\n"
    "cvta.to.global.u64 %to, %to;\n"
    "mov.u32 %r1, %ctaid.x;\n"
    "mov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %i, %r1, 262144;\n"
    "add.u64 %end, %i, 262144;\n"
    "min.u64 %end, %end, %words;\n"
    "cvt.u64.u32 %x, %r2;\n"
    "add.u64 %i, %i, %x;\n"
    "mul.wide.u32 %x, %r1, 8;\n"
    "add.u64 %to, %to, %x;\n"
    "mov.u64 %sum, 0;\n"
    "again:\n"
    "setp.ge.u64 %p, %i, %end;\n"
    "@%p bra done;\n"
    "shl.b64 %y, %i, 3;\n"
    "add.u64 %y, %at, %y;\n"
    "ld.global.u64 %x, [%y];\n"
    "add.u64 %y, %i, 1;\n"
    "mul.lo.u64 %y, %y, 0x9E3779B97F4A7C15;\n"
    "add.u64 %x, %x, %y;\n"
    "shr.u64 %y, %x, 30;\n"
    "xor.b64 %x, %x, %y;\n"
    "mul.lo.u64 %x, %x, 0xBF58476D1CE4E5B9;\n"
    "shr.u64 %y, %x, 27;\n"
    "xor.b64 %x, %x, %y;\n"
    "mul.lo.u64 %x, %x, 0x94D049BB133111EB;\n"
    "shr.u64 %y, %x, 31;\n"
    "xor.b64 %x, %x, %y;\n"
    "add.u64 %sum, %sum, %x;\n"
    "add.u64 %i, %i, 256;\n"
    "bra again;\n"
    "done:\n"
    "red.global.add.u64 [%to], %sum;\n"
    "ret;\n"
    "}\n"
    ".visible .entry gviz_spin(.param .u64 clocks) {\n"
    ".reg .pred %p;\n"
    ".reg .b64 %clocks, %since, %now;\n"
    "ld.param.u64 %clocks, [clocks];\n"
    "mov.u64 %since, %clock64;\n"
    "again:\n"
    "mov.u64 %now, %clock64;\n"
    "sub.s64 %now, %now, %since;\n"
    "setp.lt.u64 %p, %now, %clocks;\n"
    "@%p bra again;\n"
    "ret;\n"
    "}\n";

bool kernels_load(struct kernels *kernels) {
    if (!cuda.ModuleLoadData || !cuda.ModuleGetFunction || !cuda.LaunchKernel || !cuda.MemAlloc || !cuda.MemFree ||
        !cuda.MemcpyDtoDAsync || !cuda.MemcpyDtoH || !cuda.MemsetD32Async || !cuda.StreamSynchronize)
        return false;
    return cuda.ModuleLoadData(&kernels->module, ptx) == 0 &&
           cuda.ModuleGetFunction(&kernels->sum, kernels->module, "gviz_sum") == 0 &&
           cuda.ModuleGetFunction(&kernels->spin, kernels->module, "gviz_spin") == 0;
}
