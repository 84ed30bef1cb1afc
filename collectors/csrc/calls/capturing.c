/* Whether something is being captured, and keeping gviz's own events out of it.
 *
 * An event that goes into a full stream waits for the GPU in the driver, and the GPU may wait for a thread of the
 * program: so no lock is held meanwhile. Threads count themselves, and who begins a capture waits with a limit.
 */
#include "calls/calls.h"

#include <time.h>

/* How long a capture that begins waits, and how long until it looks again. */
#define LIMIT_NS 250000000ll
#define LOOK_NS 20000

static _Atomic int in_progress GVIZ_HOT; /* captures begun and not ended, those without an entry included */

GVIZ_HOT_CODE bool captures_known(void) {
    return atomic_load_explicit(&in_progress, memory_order_relaxed) > 0;
}

int capturing_begins(void) {
    int before = atomic_fetch_add(&in_progress, 1);
    passing_end_all(); /* a launch may break a capture */
    return before;
}
int capturing_ended(void) { return atomic_fetch_sub(&in_progress, 1); }

/* Threads that put an event of ours into a stream of the program: a capture that began there at the
 * same moment would take it in, and asking for the event would break the capture. */
static _Atomic int recorders;

void capturing_reset(void) { atomic_store(&in_progress, 0); }

void capturing_forked(void) { atomic_store(&recorders, 0); }

/* Also true when the driver does not say: it refuses for the legacy stream while a capture is
 * under way that any use of that stream would break. */
bool stream_is_capturing(CUstream stream) {
    int status = 0;
    return cuda.StreamIsCapturing(stream, &status) != 0 || status != 0;
}

/* Whoever counts itself from here on sees that a capture is in progress. */
void capturing_bars_events(void) {
    const struct timespec pause = {0, LOOK_NS};
    int64_t until_ns = monotonic_ns() + LIMIT_NS;
    while (atomic_load(&recorders) > 0 && monotonic_ns() < until_ns)
        nanosleep(&pause, NULL);
}

/* Of captures that began before gviz attached captures_known() does not know. */
bool captures_kept_out(CUstream stream) {
    atomic_fetch_add(&recorders, 1);
    if (atomic_load(&in_progress) == 0 && !stream_is_capturing(stream))
        return true;
    captures_let_in();
    return false;
}

void captures_let_in(void) { atomic_fetch_sub(&recorders, 1); }

bool record_outside_captures(CUevent event, CUstream stream) {
    if (!captures_kept_out(stream))
        return false;
    bool recorded = cuda.EventRecord(event, stream) == 0;
    captures_let_in();
    return recorded;
}

int exchange_capture_mode(int mode) {
    cuda.ThreadExchangeStreamCaptureMode(&mode);
    return mode;
}
