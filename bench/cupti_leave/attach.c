/* Comes to CUPTI and leaves it altogether. */
#include "common.h"
#include <cupti.h>
#include <stdlib.h>

uint32_t correlations[65536];
int correlation_count;
long record_count, bad_record_count;

static CUpti_SubscriberHandle subscriber;

static void CUPTIAPI on_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void *data) {
    const CUpti_CallbackData *call = data;
    (void)user, (void)domain, (void)id;
    if (call->callbackSite == CUPTI_API_ENTER) {
        int at = __atomic_fetch_add(&correlation_count, 1, __ATOMIC_RELAXED);
        if (at < 65536)
            correlations[at] = call->correlationId;
    }
}

static void CUPTIAPI on_request(uint8_t **buffer, size_t *size, size_t *most) {
    *size = 1 << 20;
    *buffer = aligned_alloc(64, *size);
    *most = 0;
}

static void CUPTIAPI on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid) {
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            continue;
        const CUpti_ActivityKernel10 *kernel = (const void *)record;
        record_count += kernel->graphNodeId != 0;
        bad_record_count += !kernel->start || kernel->end <= kernel->start;
    }
    free(buffer);
}

static int subscribe(void) { return cuptiSubscribe(&subscriber, on_call, NULL); }
static int register_buffers(void) {
    return cuptiActivityRegisterCallbacks(on_request, on_complete);
}
static int callback(void) {
    return cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                               CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
}
static int enable(void) {
    int result = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    return result ? result : (int)cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
}
static int flush(void) { return cuptiActivityFlushAll(0); }
static int disable(void) {
    int result = cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    return result ? result : (int)cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY);
}
static int unsubscribe(void) { return cuptiUnsubscribe(subscriber); }
static int finalize(void) { return cuptiFinalize(); }

int attach_cupti(void) {
    correlation_count = 0;
    int result = run_step("subscribe", subscribe);
    if (!result)
        result = run_step("register", register_buffers);
    if (!result)
        result = run_step("callback", callback);
    return result ? result : run_step("enable", enable);
}

int leave_cupti(void) {
    int results[] = {run_step("flush", flush), run_step("disable", disable),
                     run_step("unsubscribe", unsubscribe), run_step("finalize", finalize)};
    for (int i = 0; i < 4; i++)
        if (results[i])
            return results[i];
    return 0;
}
