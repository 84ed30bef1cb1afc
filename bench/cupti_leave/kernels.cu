// Kernels of the experiments. Built with nvcc -cubin, loaded with cuModuleLoad.

// One step of a linear congruential generator: n steps are known in closed form, so results of any
// number of launches are checked to the last bit.
extern "C" __global__ void step(unsigned *data, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = data[i] * 1664525u + 1013904223u;
}

// Spins until the host writes to `flag`, in mapped memory.
extern "C" __global__ void spin(volatile int *flag) {
    while (!*flag)
        ;
}

// Writes far outside of every allocation.
extern "C" __global__ void fault(unsigned *data) { data[1ull << 44] = 1; }

// Hashes each piece of 2 MiB: one block a piece, position-dependent, order of threads irrelevant.
extern "C" __global__ void hash_pieces(const uint4 *data, unsigned long long *hashes) {
    const int words = (2 << 20) / sizeof(uint4);
    const uint4 *piece = data + (size_t)blockIdx.x * words;
    unsigned long long sum = 0;
    for (int i = threadIdx.x; i < words; i += blockDim.x) {
        uint4 w = piece[i];
        unsigned long long low = w.x | (unsigned long long)w.y << 32;
        unsigned long long high = w.z | (unsigned long long)w.w << 32;
        unsigned long long at = (i + 1) * 0x9E3779B97F4A7C15ull;
        unsigned long long mixed = ((low ^ at) * 0xD6E8FEB86659FD93ull) ^ (high + at);
        mixed ^= mixed >> 32;
        sum += mixed * 0xC2B2AE3D27D4EB4Full;
    }
    for (int offset = 16; offset; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    __shared__ unsigned long long warps[32];
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x / 32; i++)
            sum += warps[i];
        hashes[blockIdx.x] = sum;
    }
}
