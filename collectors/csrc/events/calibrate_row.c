/* What two events add to the time of a kernel outside graphs, measured on a stream.
 *
 * The stream is one that the program launches kernels on, where it launches enough of them: on one of
 * gviz's own the kernels would slow the program's graphs, until others are behind them (behind.c).
 */
#include "events/parts.h"

#include <stdlib.h>

#define ON_STREAM 16 /* kernels: their calls take as long as the GPU is kept busy */

/* Launch kernels on the stream, behind one that keeps the GPU, with an event before and after each or
 * (`single`) all; wait for the last. */
static bool launch_row(const struct calibrated *device, CUstream stream, int kernels, bool single,
                       CUevent events[2 * ON_STREAM], uint64_t until_ns) {
    CUdeviceptr address = device->memory;
    void *arguments[] = {&address};
    int last = single ? 1 : 2 * kernels - 1;
    if (!calibrate_busy(device, stream))
        return false;
    for (int i = 0; i < kernels; i++) {
        bool before = !single || i == 0, after = !single || i == kernels - 1;
        if ((before && cuda.EventRecord(events[single ? 0 : 2 * i], stream) != 0) ||
            cuda.LaunchKernel(device->functions[i % CALIBRATION_FUNCTIONS], 2, 1, 1, 128, 1, 1, 0, stream,
                              arguments, NULL) != 0 ||
            (after && cuda.EventRecord(events[single ? 1 : 2 * i + 1], stream) != 0))
            return false;
    }
    return calibrate_await(events[last], until_ns);
}

/* Kernels in a row on a stream, between the first two events. */
struct row {
    const struct calibrated *device;
    CUstream stream;
    int kernels;
    CUevent *events;
};

/* `data` is a struct row. */
static bool time_row(const void *data, uint64_t until_ns, int64_t *taken_ns) {
    const struct row *row = data;
    return launch_row(row->device, row->stream, row->kernels, true, row->events, until_ns) &&
           event_distance(row->events[0], row->events[1], taken_ns);
}

static bool sample_row(const struct calibrated *device, CUstream stream, CUevent *events, struct readings *out) {
    uint64_t until_ns = now_ns() + CALIBRATION_LIMIT_NS;
    for (int round = 0; round < CALIBRATION_WARM_UP + CALIBRATION_ROUNDS; round++) {
        if (!launch_row(device, stream, ON_STREAM, false, events, until_ns))
            return false;
        for (int i = 0; round >= CALIBRATION_WARM_UP && i < ON_STREAM; i++)
            if (!event_distance(events[2 * i], events[2 * i + 1], &out->usual[out->usual_count++]))
                return false;
    }
    const struct row whole = {device, stream, ON_STREAM, events}, half = {device, stream, ON_STREAM / 2, events};
    int64_t whole_ns, half_ns;
    if (!calibrate_shortest(time_row, &whole, &whole_ns) || !calibrate_shortest(time_row, &half, &half_ns))
        return false;
    out->chain_ns = (whole_ns - half_ns) / (ON_STREAM - ON_STREAM / 2);
    return true;
}

bool calibrate_row(const struct calibrated *device, int number, CUstream stream,
                   struct calibration_record *record) {
    CUevent events[2 * ON_STREAM] = {NULL};
    struct readings *readings = calloc(1, sizeof *readings);
    bool good = readings != NULL;
    for (int i = 0; good && i < 2 * ON_STREAM; i++)
        good = cuda.EventCreate(&events[i], 0) == 0;
    if ((good = good && sample_row(device, stream, events, readings)))
        *record = calibrate_evaluate(number, OUTSIDE_GRAPHS, readings);
    for (int i = 0; i < 2 * ON_STREAM && events[i]; i++)
        cuda.EventDestroy(events[i]);
    free(readings);
    return good;
}
