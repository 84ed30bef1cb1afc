/* Failures and stalls, as they are seen while the program runs. */
#include "blackbox/parts.h"
#include "calls/calls.h"
#include "spool/spool.h"

#include <stdio.h>

static _Atomic bool on, failed;

/* CUresults that stay: the context, or the process, is lost for CUDA. */
bool is_fault(int result) {
    switch (result) {
    case 214: /* ECC_UNCORRECTABLE */
    case 700: /* ILLEGAL_ADDRESS */
    case 702: /* LAUNCH_TIMEOUT */
    case 710: /* ASSERT */
    case 714: /* HARDWARE_STACK_ERROR */
    case 715: /* ILLEGAL_INSTRUCTION */
    case 716: /* MISALIGNED_ADDRESS */
    case 717: /* INVALID_ADDRESS_SPACE */
    case 718: /* INVALID_PC */
    case 719: /* LAUNCH_FAILED */
        return true;
    default:
        return false;
    }
}

static void record(enum fault_kind kind, int result, uint32_t exec_id) {
    const struct fault_record made = {now_ns(), kind, result, exec_id, 0};
    spool_append_one(RECORD_FAULT, &made, sizeof made);
}

static void note_failure(int result, uint32_t exec_id) {
    if (is_fault(result) && !atomic_exchange(&failed, true))
        record(FAULT_ERROR, result, exec_id);
}

void blackbox_start(bool told, bool calls_seen) {
    bool wanted = options.black_box >= BLACK_BOX_LAYER, crumbs = wanted && told && watch_can_copy();
    atomic_store(&failed, false);
    ranges_reset();
    lasting_start(crumbs ? &crumbs_maker : NULL);
    atomic_store(&on, options.black_box != BLACK_BOX_OFF);
    if (options.black_box != BLACK_BOX_OFF)
        core_dump_start(calls_seen);
    if (wanted && !crumbs)
        note("limit", "launches leave no crumbs: %s",
             told ? "the driver lacks functions that copying a graph needs; CUDA 12.3 has them"
                  : "they need the gate, which is not in this process (gviz run --black-box)");
}

void blackbox_abandon(void) {
    atomic_store(&on, false);
    crumbs_abandon();
    words_abandon();
}

void blackbox_call(const CUpti_CallbackData *data, uint32_t cbid) {
    (void)cbid;
    if (atomic_load(&on))
        core_dump_call(data);
}

void blackbox_node_made(CUgraphNode node) {
    uint64_t id;
    if (atomic_load(&on) && options.black_box == BLACK_BOX_LAYER && cupti.cuptiGetGraphNodeId(node, &id) == 0)
        ranges_add(id, this_thread()->nvtx_path);
}

/* -- looking ------------------------------------------------------------------------------------------------ */

static uint64_t sum_of(const struct crumbs *crumbs) {
    uint64_t sum = atomic_load(&crumbs->launches);
    for (uint32_t i = 0; i <= crumbs->count; i++)
        sum = sum * 31 + atomic_load(words_at(crumbs->first + i));
    return sum;
}

static void look_for_stall(struct crumbs *crumbs) {
    uint64_t sum = sum_of(crumbs), time_ns = now_ns();
    if (sum != crumbs->sum) {
        crumbs->sum = sum;
        crumbs->since_ns = time_ns;
        crumbs->stalled = false;
    }
    if (!options.stall_ns || crumbs->stalled || time_ns - crumbs->since_ns < options.stall_ns)
        return;
    crumbs->stalled = true;
    record(FAULT_STALL, 0, crumbs->exec_id);
    fprintf(stderr, "gviz: a launch has made no progress for %.3g s; once the program is ended, "
                    "the recording says where it stood\n", (double)options.stall_ns * 1e-9);
}

static void look(struct crumbs *crumbs) {
    bool runs = atomic_load(words_at(crumbs->first)) == 0;
    int result = cuda.EventQuery(crumbs->end);
    note_failure(result, runs ? crumbs->exec_id : 0);
    if (runs && result == 600 /* CUDA_ERROR_NOT_READY */)
        look_for_stall(crumbs);
}

void blackbox_poll(void) {
    if (atomic_load(&on))
        crumbs_each(look);
}

void blackbox_waited(int result) {
    if (atomic_load(&on))
        note_failure(result, 0);
}

void blackbox_stop(void) {
    if (!atomic_exchange(&on, false))
        return;
    words_stop();
}
