/* Calls for which marking is not all: lookups of functions, the program's waits, and what quiet.c
 * follows. */
#define _GNU_SOURCE
#include "gate/parts.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#define NOT_READY 600           /* CUDA_ERROR_NOT_READY */
#define SECOND_LOOKUP 12000     /* from here on "cuGetProcAddress" has five parameters */
#define PER_THREAD_STREAM 2     /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
/* The driver spins when it waits, too; a pause takes 50 us more than it says. */
#define SPIN_NS 2000000
#define PAUSES_OF_WAIT 32
#define LAST_PAUSE_NS 100000
#define NAME_LIMIT 128

static bool has_suffix(const char *text, const char *suffix) {
    size_t length = strlen(text), end = strlen(suffix);
    return length > end && strcmp(text + length - end, suffix) == 0;
}

/* -- lookups ----------------------------------------------------------------------------------- */

/* cuGetProcAddress(symbol, *function, version, flags), and _v2 with one more. The address says which
 * function it is; the name leads to the hooks of one that libcuda does not export. */
static void hand_out_stub(struct call *call) {
    const char *symbol = (const char *)call->words[0];
    void **function = (void **)call->words[1];
    if ((int)call->result != 0 || !symbol || !function || !*function ||
        is_of_driver_or_tool(call->caller) || !driver_has(*function))
        return;
    char name[NAME_LIMIT] = "";
    strncpy(name, symbol, sizeof name - sizeof "_ptsz");
    if (strcmp(symbol, "cuGetProcAddress") == 0 && (int)call->words[2] >= SECOND_LOOKUP)
        strcat(name, "_v2");
    else if (call->words[3] & PER_THREAD_STREAM)
        strcat(name, "_ptsz");
    void *stub = stub_of(*function, entry_named(name) ? name : symbol);
    if (stub) {
        *function = stub;
        return;
    }
    atomic_fetch_add(&tallies.without_stub, 1);
    hole_add(symbol, call->caller);
}

/* Tables hold functions of the driver that no header describes: they stay bare. */
static void count_table(struct call *call) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *id = (const unsigned char *)call->words[1];
    char name[sizeof "export table " + 32] = "export table ";
    if ((int)call->result != 0 || !id || is_of_driver_or_tool(call->caller))
        return;
    char *end = name + strlen(name);
    for (size_t i = 0; i < 16; i++) {
        *end++ = digits[id[i] >> 4];
        *end++ = digits[id[i] & 15];
    }
    *end = 0;
    hole_add(name, call->caller);
}

/* -- waits --------------------------------------------------------------------------------------- */

/* Between two polls, outside the driver: a wait is to end at most 3% late. */
static void rest(uint64_t waited_ns) {
    int error = errno;
    if (waited_ns < SPIN_NS) {
        sched_yield();
    } else {
        uint64_t pause_ns = waited_ns / PAUSES_OF_WAIT;
        struct timespec pause = {0, (long)(pause_ns < LAST_PAUSE_NS ? pause_ns : LAST_PAUSE_NS)};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    errno = error;
}

static bool is_done(const struct call *call, int (*query)(uintptr_t)) {
    return query(call->words[0]) != NOT_READY;
}

static bool context_is_done(const struct call *call, int (*query)(uintptr_t)) {
    (void)call;
    (void)query;
    return quiet_current_is_over();
}

/* Ask until the work is done, or nobody wants the gate. Then the wait itself begins, with its own
 * result. */
static void poll(const struct call *call, const char *query,
                 bool (*done)(const struct call *call, int (*query)(uintptr_t))) {
    struct entry *entry = entry_named(query);
    if (!entry || !own_mark() || !atomic_load(&entry->real))
        return;
    uint64_t start_ns = gate_now_ns();
    struct call asked = {.entry = entry, .stack = call->stack};
    atomic_fetch_add(&tallies.polled, 1);
    while (atomic_load(&phase) != PHASE_OPEN) {
        int (*request)(uintptr_t) = (int (*)(uintptr_t))call_enter(&asked);
        int mode = quiet_exchange_mode(RELAXED_CAPTURE); /* another thread may capture, and a query break that */
        bool over = done(call, request);
        quiet_exchange_mode(mode);
        call_leave(&asked);
        if (over)
            return;
        rest(gate_now_ns() - start_ns);
    }
}

static void poll_stream(struct call *call) {
    bool per_thread = has_suffix(call->entry->name, "_ptsz");
    poll(call, per_thread ? "cuStreamQuery_ptsz" : "cuStreamQuery", is_done);
}
static void poll_event(struct call *call) { poll(call, "cuEventQuery", is_done); }
static void poll_context(struct call *call) { poll(call, "cuStreamQuery", context_is_done); }

/* -- the table ------------------------------------------------------------------------------------- */

/* Forms for the per-thread stream have the hooks of the plain name. */
const struct hooks *hooks_of(const char *name) {
    static const struct {
        const char *name;
        struct hooks hooks;
    } table[] = {
        {"cuGetProcAddress", {.after = hand_out_stub}},
        {"cuGetProcAddress_v2", {.after = hand_out_stub}},
        {"cuGetExportTable", {.after = count_table}},
        {"cuStreamSynchronize", {.wanted = poll_stream}},
        {"cuEventSynchronize", {.wanted = poll_event}},
        {"cuCtxSynchronize", {.wanted = poll_context}},
        {"cuCtxCreate", {.after = quiet_context_created}},
        {"cuCtxCreate_v2", {.after = quiet_context_created}},
        {"cuCtxCreate_v3", {.after = quiet_context_created}},
        {"cuCtxCreate_v4", {.after = quiet_context_created}},
        {"cuCtxDestroy", {.before = quiet_context_ends}},
        {"cuCtxDestroy_v2", {.before = quiet_context_ends}},
        {"cuDevicePrimaryCtxRetain", {.after = quiet_primary_retained}},
        {"cuDevicePrimaryCtxRelease", {.before = quiet_primary_released, .after = quiet_primary_stays}},
        {"cuDevicePrimaryCtxRelease_v2", {.before = quiet_primary_released, .after = quiet_primary_stays}},
        {"cuDevicePrimaryCtxReset", {.before = quiet_primary_reset}},
        {"cuDevicePrimaryCtxReset_v2", {.before = quiet_primary_reset}},
        {"cuStreamCreate", {.after = quiet_stream_created}},
        {"cuStreamCreateWithPriority", {.after = quiet_stream_created}},
        {"cuGreenCtxStreamCreate", {.after = quiet_stream_created}},
        {"cuStreamDestroy", {.before = quiet_stream_ends}},
        {"cuStreamDestroy_v2", {.before = quiet_stream_ends}},
        {"cuStreamBeginCapture", {.before = quiet_capture_begins, .after = quiet_capture_begun}},
        {"cuStreamBeginCapture_v2", {.before = quiet_capture_begins, .after = quiet_capture_begun}},
        {"cuStreamBeginCaptureToGraph", {.before = quiet_capture_begins, .after = quiet_capture_begun}},
        {"cuStreamBeginRecaptureToGraph", {.before = quiet_capture_begins, .after = quiet_capture_begun}},
        {"cuStreamEndCapture", {.after = quiet_capture_ended}},
    };
    size_t length = strlen(name) - (has_suffix(name, "_ptsz") ? strlen("_ptsz") : 0);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == length && memcmp(name, table[i].name, length) == 0)
            return &table[i].hooks;
    return NULL;
}
