/* What the gate did in this process, for the recording. */
#include "spool/spool.h"
#include "told/told.h"

#include "gate/gate.h"

#include <dlfcn.h>
#include <string.h>

#define MOST_HOLES 64

static bool is_table(const struct gate_hole *hole) { return strncmp(hole->name, "export table", 12) == 0; }

static const char *caller_of(const struct gate_hole *hole) {
    return hole->caller[0] ? hole->caller : "code of no library";
}

/* How many tables the caller of holes[at] requested; 0: an earlier hole says so. */
static size_t tables_of_caller(const struct gate_hole *holes, size_t count, size_t at) {
    size_t tables = 0;
    for (size_t i = 0; i < count; i++) {
        bool same = is_table(&holes[i]) && strcmp(holes[i].caller, holes[at].caller) == 0;
        if (same && i < at)
            return 0;
        tables += same;
    }
    return tables;
}

/* What the program calls past the gate, so that nobody may close it on that ground: tables count where
 * it is to be closed. CUDA's libraries request seven each: these are a note a library. */
static void write_holes(const struct gate_api *gate) {
    struct gate_hole holes[MOST_HOLES];
    size_t count = gate->read_holes(holes, MOST_HOLES);
    size_t shown = count < MOST_HOLES ? count : MOST_HOLES;
    for (size_t i = 0; i < shown; i++) {
        if (is_table(&holes[i]) && !options.cupti_windows)
            continue;
        size_t tables = is_table(&holes[i]) ? tables_of_caller(holes, shown, i) : 1;
        if (tables > 1)
            note("limit", "the gate does not see behind %zu export tables of the driver, which %s requested",
                 tables, caller_of(&holes[i]));
        else if (tables)
            note("limit", "the gate does not see behind the %s, which %s requested %llu times",
                 holes[i].name, caller_of(&holes[i]), (unsigned long long)holes[i].count);
    }
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
