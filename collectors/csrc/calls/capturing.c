/* Whether something is being captured, and keeping gviz's own events out of it. */
#include "calls/calls.h"

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
void capturing_reset(void) { atomic_store(&in_progress, 0); }

/* Also true when the driver does not say: it refuses for the legacy stream while a capture is
 * under way that any use of that stream would break. */
bool stream_is_capturing(CUstream stream) {
    int status = 0;
    return cuda.StreamIsCapturing(stream, &status) != 0 || status != 0;
}

/* Held while an event of ours goes into a stream of the program: a capture that began there at the
 * same moment would take it in, and asking for the event would break the capture. */
GVIZ_LOCK(event_gate);

void capturing_bars_events(void) {
    pthread_mutex_lock(&event_gate);
    pthread_mutex_unlock(&event_gate);
}

/* Of captures that began before gviz attached captures_known() does not know. */
bool captures_kept_out(CUstream stream) {
    pthread_mutex_lock(&event_gate);
    if (!captures_known() && !stream_is_capturing(stream))
        return true;
    pthread_mutex_unlock(&event_gate);
    return false;
}

void captures_let_in(void) { pthread_mutex_unlock(&event_gate); }

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
