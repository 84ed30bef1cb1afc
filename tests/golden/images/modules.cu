// nvcc -fatbin -gencode arch=compute_90,code=sm_90 modules.cu -o plain.fatbin --no-compress; zstd.fatbin with
// --compress-mode=size; lz4.fatbin from its cubin: fatbinary -64 --compress-all --compress-mode=speed
// --create=lz4.fatbin --image3=kind=elf,sm=90,file=modules.cubin.
#include <cassert>
#include <cstdio>
__device__ int counter;
__device__ int table[4] = {1, 2, 3, 4};
static __device__ float hidden;
__global__ void pure(float *y, int n) { y[threadIdx.x] *= n; }
__global__ void asserts(float *y, int n) { assert(n > 3); y[0] = n; }
__global__ void counts(float *y) { y[0] = atomicAdd(&counter, 1) + table[threadIdx.x]; }
__global__ void hides(float *y) { hidden += y[0]; y[1] = hidden; }
__global__ void prints(float *y) { printf("%f\n", y[0]); }
__global__ void allocates(float **y) { *y = (float *)malloc(16); }
__device__ __noinline__ void inner(float *y) { printf("%f", y[0]); }
__global__ void prints_by_call(float *y) { if (y[0] > 3) inner(y); }
__device__ float quiet(float a) { return a + 1; }
__device__ float loud(float a) { printf("x"); return a * 2; }
__device__ float (*functions[2])(float) = {quiet, loud};
__global__ void prints_by_pointer(float *y, int n) { y[0] = functions[n](y[1]); }
