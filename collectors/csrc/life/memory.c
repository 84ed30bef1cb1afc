/* Device memory that graphs take, estimated from the free memory around the calls that may take it.
 *
 * The driver takes memory for graphs in pieces of its own and keeps what is given back, and other
 * threads and processes allocate meanwhile: a difference shows how much went at that moment, not
 * whose it was. It is queried around the instantiation, upload and first launch of the first
 * executables only, never while a stream is captured, and outside the times that are recorded.
 */
#include "calls/calls.h"
#include "life/parts.h"
#include "spool/spool.h"

/* So many questions in one recording: each costs host time, and a program that makes thousands of
 * executables is not to pay for it thousands of times. */
#define MAX_QUESTIONS 256

static _Atomic uint32_t questions;
static _Atomic uint64_t question_ns;

void memory_reset(void) {
    atomic_store(&questions, 0);
    atomic_store(&question_ns, 0);
}

static uint64_t query(void) {
    size_t available = 0, total = 0;
    uint64_t begin_ns = now_ns();
    /* A global-mode capture elsewhere, begun before gviz attached, must not be broken by it. */
    int mode = exchange_capture_mode(CU_CAPTURE_MODE_RELAXED);
    CUresult result = cuda.MemGetInfo(&available, &total);
    exchange_capture_mode(mode);
    atomic_fetch_add(&question_ns, now_ns() - begin_ns);
    return result == 0 ? available : 0;
}

uint64_t memory_free(void) {
    CUcontext context = NULL;
    if (!cuda.MemGetInfo || captures_known() || cuda.CtxGetCurrent(&context) != 0 || !context ||
        atomic_fetch_add(&questions, 2) >= MAX_QUESTIONS)
        return 0;
    return query();
}

void memory_taken(uint32_t exec_id, enum memory_step step, uint64_t free_before) {
    if (!free_before || !exec_id || captures_known())
        return;
    struct device_memory_record record = {exec_id, step, free_before, query()};
    if (record.free_after)
        spool_append_one(RECORD_DEVICE_MEMORY, &record, sizeof record);
}

void memory_counters(void) {
    uint32_t count = atomic_load(&questions);
    counter("memory_questions", count < MAX_QUESTIONS ? count : MAX_QUESTIONS, "number",
            "measured: calls of cuMemGetInfo around instantiation, upload and first launch");
    counter("memory_questions_ns", (double)atomic_load(&question_ns), "ns",
            "measured: host time of these calls, total");
}
