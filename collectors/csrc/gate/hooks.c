/* Calls for which marking is not all: lookups of functions, and the program's waits. */
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

/* Ask until the work is done, or nobody wants the gate. Then the wait itself begins, with its own
 * result. */
static void poll(struct call *call, const char *query) {
    struct entry *entry = entry_named(query);
    if (!entry || !own_mark() || !atomic_load(&entry->real))
        return;
    uint64_t start_ns = gate_now_ns();
    struct call asked = {.entry = entry, .stack = call->stack};
    atomic_fetch_add(&tallies.polled, 1);
    while (atomic_load(&phase) != PHASE_OPEN) {
        int (*request)(uintptr_t) = (int (*)(uintptr_t))call_enter(&asked);
        asked.result = (uintptr_t)request(call->words[0]);
        if ((int)call_leave(&asked) != NOT_READY)
            return;
        rest(gate_now_ns() - start_ns);
    }
}

static void poll_stream(struct call *call) { poll(call, "cuStreamQuery"); }
static void poll_stream_ptsz(struct call *call) { poll(call, "cuStreamQuery_ptsz"); }
static void poll_event(struct call *call) { poll(call, "cuEventQuery"); }

const struct hooks *hooks_of(const char *name) {
    static const struct {
        const char *name;
        struct hooks hooks;
    } table[] = {
        {"cuGetProcAddress", {.after = hand_out_stub}},
        {"cuGetProcAddress_v2", {.after = hand_out_stub}},
        {"cuGetProcAddress_v2_ptsz", {.after = hand_out_stub}},
        {"cuGetExportTable", {.after = count_table}},
        {"cuStreamSynchronize", {.wanted = poll_stream}},
        {"cuStreamSynchronize_ptsz", {.wanted = poll_stream_ptsz}},
        {"cuEventSynchronize", {.wanted = poll_event}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(name, table[i].name) == 0)
            return &table[i].hooks;
    return NULL;
}
