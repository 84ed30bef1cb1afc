/* Which of its two speeds the driver runs graphs at (H100, driver 580; bench/gpu_speeds.py).
 *
 * A stream counts from the sixth kernel in a row that it is given in the ordinary way. One that may begin before the
 * kernel ahead of it has ended makes it count no more, unless an event or a copy is between the two. Where two streams
 * count, each node of every graph takes longer.
 */
#include "fake.h"

#define ROW 6

void speed_work(struct stream *stream, const struct work *work) {
    bool kernel = work->type == NODE_KERNEL;
    if (kernel)
        stream->ordinary = work->programmatic && !stream->apart ? 0 : stream->ordinary + 1;
    stream->apart = !kernel;
}

void speed_event(struct stream *stream) { stream->apart = true; }

void speed_ended(struct stream *stream) { stream->apart = false; }

EXPORT int fake_graphs_are_slow(void) {
    int counting = 0;
    struct stream *stream;
    fake_lock();
    for (size_t i = 0; (stream = stream_at(i)) != NULL; i++)
        counting += stream->ordinary >= ROW;
    fake_unlock();
    return counting > 1;
}
