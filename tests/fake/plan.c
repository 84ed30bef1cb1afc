/* Planted times: a clock that nothing but the program's calls moves, and what calls and nodes take.
 *
 * Tests that know the truth of a time plant it here. While a plan is set, reading the clock takes no
 * time, waiting for work moves it to that work's end, and each call of the thread that set the plan
 * moves it by what is planted: what other threads do in between is not the same in every run.
 */
#include "fake.h"

enum { OTHER_CALL_NS = 300 }; /* calls that launch nothing: polling must come to an end */

static struct plan plan;
static bool planned;
static uint64_t clock_ns, begin_ns, random_state;
static uint32_t operations, launches; /* calls since the plan was set */
static bool keeps_records;
static pthread_t program;

EXPORT void fake_set_plan(const struct plan *new_plan) {
    fake_lock();
    uint64_t now = fake_now_ns();
    planned = new_plan != NULL;
    if (planned) {
        plan = *new_plan;
        __atomic_store_n(&clock_ns, now, __ATOMIC_SEQ_CST);
        begin_ns = now;
        random_state = plan.seed * 0x9E3779B97F4A7C15ull + 1;
        operations = launches = 0;
        program = pthread_self();
    }
    fake_unlock();
}

bool records_are_kept(void) { return __atomic_load_n(&keeps_records, __ATOMIC_SEQ_CST); }

EXPORT void fake_keeps_records(bool on) { __atomic_store_n(&keeps_records, on, __ATOMIC_SEQ_CST); }

/* How many times as long as at the beginning everything takes by now. */
EXPORT double fake_drift(void) {
    return 1.0 + plan.drift_per_s * 1e-9 * (double)(fake_now_ns() - begin_ns);
}

bool plan_clock(uint64_t *time_ns) {
    if (!__atomic_load_n(&planned, __ATOMIC_SEQ_CST))
        return false;
    *time_ns = __atomic_load_n(&clock_ns, __ATOMIC_SEQ_CST);
    return true;
}

bool plan_wait_until(uint64_t time_ns) {
    uint64_t now;
    if (!plan_clock(&now))
        return false;
    while (now < time_ns && !__atomic_compare_exchange_n(&clock_ns, &now, time_ns, false,
                                                         __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return true;
}

/* xorshift64*, and the sum of twelve uniform numbers: normal enough, and of mean 0 (Irwin-Hall). */
static double noise(void) {
    double sum = -6.0;
    for (int i = 0; i < 12; i++) {
        random_state ^= random_state >> 12;
        random_state ^= random_state << 25;
        random_state ^= random_state >> 27;
        sum += (double)((random_state * 0x2545F4914F6CDD1Dull) >> 11) / 9007199254740992.0;
    }
    return 1.0 + plan.noise * sum;
}

uint64_t plan_duration_ns(uint64_t duration_ns) {
    if (!planned)
        return duration_ns;
    return (uint64_t)((double)duration_ns * plan.scale * fake_drift() * noise());
}

/* The host's time in a call. */
void plan_call(int cbid, bool has_tool) {
    if (!__atomic_load_n(&planned, __ATOMIC_SEQ_CST) || !pthread_equal(pthread_self(), program))
        return;
    bool is_launch = cbid == cbid_cuGraphLaunch;
    bool is_operation = cbid == cbid_cuLaunchKernel || cbid == cbid_cuLaunchKernelEx;
    double cost_ns = OTHER_CALL_NS;
    fake_lock();
    if (is_launch || is_operation) {
        cost_ns = (is_launch ? plan.launch_ns : plan.call_ns) * plan.scale * fake_drift() * noise();
        if (is_launch ? launches++ < plan.cold_launches : operations++ < plan.cold_calls)
            cost_ns *= plan.cold_factor;
        if (has_tool)
            cost_ns += plan.attached_ns;
        if (__atomic_load_n(&keeps_records, __ATOMIC_SEQ_CST))
            cost_ns += plan.recorded_ns;
    }
    __atomic_fetch_add(&clock_ns, (uint64_t)cost_ns, __ATOMIC_SEQ_CST);
    fake_unlock();
}
