/* What the gate did in this process, for the recording. */
#include "spool/spool.h"
#include "told/told.h"

#include "gate/gate.h"

#include <dlfcn.h>

#define MOST_HOLES 16

/* What the program calls past the gate, so that nobody may close it on that ground. */
static void write_holes(const struct gate_api *gate) {
    struct gate_hole holes[MOST_HOLES];
    size_t count = gate->read_holes(holes, MOST_HOLES);
    for (size_t i = 0; i < count && i < MOST_HOLES; i++)
        note("limit", "the gate does not see behind the %s, which %s requested %llu times", holes[i].name,
             holes[i].caller[0] ? holes[i].caller : "code of no library", (unsigned long long)holes[i].count);
    counter("gate_holes", (double)count, "number",
            "measured: functions and export tables of the driver that are called past the gate");
}

void told_counters(void) {
    const struct gate_api *gate = dlsym(RTLD_DEFAULT, "gviz_gate");
    struct gate_counts counts;
    if (!gate || gate->size < sizeof *gate)
        return;
    write_holes(gate);
    gate->read_counts(&counts);
    counter("gate_closings", (double)counts.closed, "number",
            "measured: times that the gate was closed with nobody inside the driver");
    counter("gate_closings_given_up", (double)counts.busy, "number",
            "measured: times that a call, work in flight or a capture stood in the way");
    counter("gate_calls_held", (double)counts.held, "number",
            "measured: driver calls that waited for the gate to open");
    counter("gate_longest_hold_ns", (double)counts.longest_hold_ns, "ns",
            "measured: the longest that such a call waited");
    counter("gate_closings_overrun", (double)counts.overrun, "number",
            "measured: closings that held calls ended after 250 ms");
    counter("gate_waits_polled", (double)counts.polled, "number",
            "measured: waits of the program that were done as polls");
}
