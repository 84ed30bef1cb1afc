"""A CuPy fork-join pipeline: one frame, four filters side by side, one merge.

    python cupy_pipeline.py cupy_pipeline.gviz

The pipeline runs three times on plain streams and then as a CUDA graph; gviz records both.
"""

import sys

import cupy as cp
import nvtx

import gviz

SIZE = 1024
BRANCHES = 4
LAUNCHES = 50

blur = cp.RawKernel(
    r"""
extern "C" __global__ void blur(const float* in, float* out, int size, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size || y >= size) return;
    float sum = 0.0f;
    int count = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            int u = x + dx, v = y + dy;
            if (u >= 0 && u < size && v >= 0 && v < size) { sum += in[v * size + u]; count++; }
        }
    out[y * size + x] = sum / count;
}
""",
    "blur",
)


class Pipeline:
    """Buffers and streams of the pipeline; ``run`` enqueues one frame on ``main``."""

    def __init__(self) -> None:
        self.main = cp.cuda.Stream(non_blocking=True)
        self.branches = [cp.cuda.Stream(non_blocking=True) for _ in range(BRANCHES)]
        self.frame = cp.random.default_rng(7).random((SIZE, SIZE), dtype=cp.float32)
        self.normal = cp.empty_like(self.frame)
        self.filtered = [cp.empty_like(self.frame) for _ in range(BRANCHES)]
        self.detail = [cp.empty_like(self.frame) for _ in range(BRANCHES)]
        self.histogram = cp.zeros(256, dtype=cp.int32)
        self.result = cp.empty_like(self.frame)
        self.host = cp.cuda.alloc_pinned_memory(self.result.nbytes)

    def run(self) -> None:
        grid, block = (SIZE // 16, SIZE // 16), (16, 16)
        fork, joins = cp.cuda.Event(disable_timing=True), []
        with self.main, nvtx.annotate("normalise"):
            self.histogram.data.memset_async(0, self.histogram.nbytes, self.main)
            cp.multiply(self.frame, cp.float32(1.5), out=self.normal)
            fork.record(self.main)
        for i, stream in enumerate(self.branches):
            stream.wait_event(fork)
            with stream, nvtx.annotate(f"filter {i}"):
                blur(grid, block, (self.normal, self.filtered[i], SIZE, i + 1), stream=stream)
                cp.subtract(self.normal, self.filtered[i], out=self.detail[i])
                cp.multiply(self.detail[i], cp.float32(1.0 / (i + 1)), out=self.detail[i])
                joins.append(cp.cuda.Event(disable_timing=True))
                joins[-1].record(stream)
        with self.main, nvtx.annotate("merge"):
            for join in joins:
                self.main.wait_event(join)
            cp.add(self.detail[0], self.detail[1], out=self.result)
            for detail in self.detail[2:]:
                cp.add(self.result, detail, out=self.result)
            cp.clip(self.result, cp.float32(0), cp.float32(1), out=self.result)
            # CuPy refuses copy_to_host_async during capture; the runtime call is captured.
            cp.cuda.runtime.memcpyAsync(
                self.host.ptr, self.result.data.ptr, self.result.nbytes, 2, self.main.ptr
            )


def main(output: str) -> None:
    with gviz.profile(output, name="CuPy fork-join pipeline"):
        pipeline = Pipeline()
        for _ in range(3):
            with nvtx.annotate("eager frame"):
                pipeline.run()
            pipeline.main.synchronize()
        with pipeline.main:
            pipeline.main.begin_capture()
            pipeline.run()
            graph = pipeline.main.end_capture()
        graph.upload(pipeline.main)
        for _ in range(LAUNCHES):
            graph.launch(pipeline.main)
            pipeline.main.synchronize()  # the frame is on the host


if __name__ == "__main__":
    main(sys.argv[1])
