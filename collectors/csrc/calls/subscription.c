/* The subscription to CUPTI's callbacks, and which of them are on. */
#include "calls/calls.h"

static CUpti_SubscriberHandle subscriber; /* NULL: none */
static _Atomic bool was_subscribed;       /* CUPTI slows a process down also when it is left */
static _Atomic int operations_watched;
static _Atomic bool launches_kept;
static _Atomic bool frees_watched;

int subscription_start(CUpti_CallbackFunc on_callback) {
    CUptiResult result = cupti.cuptiSubscribe(&subscriber, on_callback, NULL);
    if (result != 0) {
        subscriber = NULL;
        return cupti_failed("cuptiSubscribe", result);
    }
    uint32_t version = 0; /* of CUPTI; nothing else that tells of calls has one */
    cupti.cuptiGetVersion(&version);
    if (version)
        atomic_store(&was_subscribed, true);
    atomic_store(&operations_watched, 0);
    atomic_store(&frees_watched, false);
    return 0;
}

void subscription_stop(void) {
    if (subscriber)
        cupti.cuptiUnsubscribe(subscriber);
    subscriber = NULL;
}

void subscription_stays(void) { atomic_store(&was_subscribed, true); }

GVIZ_EXPORT int gviz_was_subscribed(void) { return atomic_load(&was_subscribed); }

bool subscription_active(void) { return subscriber != NULL; }

static const uint32_t resources[] = {
    RESOURCE_CONTEXT_CREATED,      RESOURCE_CONTEXT_DESTROY_STARTING,
    RESOURCE_STREAM_DESTROY_STARTING,
    RESOURCE_GRAPH_CREATED,        RESOURCE_GRAPH_DESTROY_STARTING,
    RESOURCE_GRAPHNODE_CREATED,    RESOURCE_GRAPHNODE_CLONED,
    RESOURCE_GRAPHEXEC_CREATED,
};

int calls_watch_graphs(void) {
    CUptiResult result = 0;
    for (uint32_t id = 1; id < CALL_ID_LIMIT && result == 0; id++)
        if (calls[id].kind > CALL_OPERATION)
            result = cupti.cuptiEnableCallback(1, subscriber, DOMAIN_DRIVER_API, id);
    for (size_t i = 0; i < sizeof resources / sizeof *resources && result == 0; i++)
        result = cupti.cuptiEnableCallback(1, subscriber, DOMAIN_RESOURCE, resources[i]);
    return result;
}

static void watch(uint8_t kind, bool on) {
    if (!subscriber)
        return; /* left to another profiler, or another collector measures */
    for (uint32_t id = 1; id < CALL_ID_LIMIT; id++)
        if (calls[id].kind == kind)
            cupti.cuptiEnableCallback(on || calls[id].kept, subscriber, DOMAIN_DRIVER_API, id);
}

void calls_watch_launches(bool on) { watch(CALL_GRAPH_LAUNCH, on || atomic_load(&launches_kept)); }

void calls_keep_launches(bool on) { atomic_store(&launches_kept, on); }

void calls_keep(uint32_t id) {
    calls[id].kept = true;
    callback_enable(true, DOMAIN_DRIVER_API, id);
}

/* Counted: a capture and an eager window may both ask for them. Two threads may be in here: each
 * ends with what the count says at its end, so that they end with the same. */
void calls_watch_operations(bool on) {
    int before = atomic_fetch_add(&operations_watched, on ? 1 : -1);
    if (on ? before != 0 : before != 1)
        return;
    bool wanted;
    do {
        wanted = atomic_load(&operations_watched) > 0;
        watch(CALL_OPERATION, wanted);
    } while (wanted != (atomic_load(&operations_watched) > 0));
}

void callback_enable(bool on, int domain, uint32_t cbid) {
    if (!subscriber)
        return;
    cupti.cuptiEnableCallback(on, subscriber, domain, cbid);
}

void domain_enable(bool on, int domain) {
    if (subscriber)
        cupti.cuptiEnableDomain(on, subscriber, domain);
}

/* From now on, also after captures, in which every call is watched. */
void calls_watch_frees(void) {
    atomic_store(&frees_watched, true);
    watch(CALL_FREE, true);
}

bool calls_frees_watched(void) { return atomic_load(&frees_watched); }
