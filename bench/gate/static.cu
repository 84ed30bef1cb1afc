// A program with the runtime linked statically, without Python: launches a chain and prints its figures.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#define CHECK(call)                                                                          \
    do {                                                                                     \
        cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                          \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error));      \
            std::exit(1);                                                                    \
        }                                                                                    \
    } while (0)

__global__ void add(float *x) { x[threadIdx.x] += 1.0f; }

__global__ void spin(long long clocks) {
    for (long long start = clock64(); clock64() - start < clocks;)
        continue;
}

using Clock = std::chrono::steady_clock;

static double micros(Clock::time_point start) {
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

static double at(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<size_t>(share * (values.size() - 1))];
}

// Whether any CUPTI is loaded.
static bool has_cupti() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find("libcupti") != std::string::npos)
            return true;
    return false;
}

int main(int, char **arguments) {
    int nodes = std::atoi(arguments[1]);
    const int waits = 2000, queued = 100, limit = 1500;
    float *x, host[32];
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < nodes; i++)
        add<<<1, 32, 0, stream>>>(x);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 100; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemset(x, 0, sizeof host));
    CHECK(cudaDeviceSynchronize());
    std::vector<double> waited, calls;
    for (int i = 0; i < waits; i++) {
        auto start = Clock::now();
        CHECK(cudaGraphLaunch(exec, stream));
        calls.push_back(micros(start));
        CHECK(cudaStreamSynchronize(stream));
        waited.push_back(micros(start));
    }
    auto start = Clock::now();
    for (int i = 0; i < queued; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    double each = micros(start) / queued;
    spin<<<1, 1, 0, stream>>>(500000000);
    int depth = 0;
    for (; depth < limit; depth++) {
        auto before = Clock::now();
        CHECK(cudaGraphLaunch(exec, stream));
        if (micros(before) > 2000)
            break;
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemset(x, 0, sizeof host));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    std::printf("{\"waited p50\": %f, \"waited p99\": %f, \"call p50\": %f, \"queued\": %f, "
                "\"queue depth\": %d, \"result\": %f, \"CUPTI loaded\": %s}\n",
                at(waited, 0.5), at(waited, 0.99), at(calls, 0.5), each, depth, host[31],
                has_cupti() ? "true" : "false");
    return 0;
}
