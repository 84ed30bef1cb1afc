/* The one subscriber, and the callbacks it asked for. */
#include "cupti.h"

#include <signal.h>
#include <unistd.h>

enum { CBID_COUNT = 1024 };

struct subscriber {
    int unused;
};

struct callback_data { /* CUpti_CallbackData, 72 bytes */
    int site;
    const char *function_name;
    const void *params;
    void *return_value;
    const char *symbol_name;
    CUcontext context;
    uint32_t context_uid;
    uint64_t *correlation_data;
    uint32_t correlation_id;
};

struct resource_data { /* CUpti_ResourceData, 24 bytes */
    CUcontext context;
    struct stream *stream;
    void *descriptor;
};

_Static_assert(sizeof(struct callback_data) == 72, "CUpti_CallbackData");
_Static_assert(sizeof(struct resource_data) == 24, "CUpti_ResourceData");

typedef void (*callback_function)(void *data, int domain, uint32_t cbid, const void *callback_data);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct subscriber only;
static bool subscribed;
static callback_function callback;
static void *user_data;
static bool enabled[DOMAIN_COUNT][CBID_COUNT];
static int finalized, broken;

static void tell(int domain, int cbid, const void *data) {
    callback_function to = __atomic_load_n(&callback, __ATOMIC_SEQ_CST);
    if (to && cbid < CBID_COUNT && enabled[domain][cbid])
        to(user_data, domain, (uint32_t)cbid, data);
}

static void on_api(int site, int cbid, const char *name, const void *params, CUresult *result,
                   uint64_t *correlation_data, uint32_t correlation_id) {
    struct context *context = fake_context();
    struct callback_data data = {
        .site = site,
        .function_name = name,
        .params = params,
        .return_value = result,
        .context = context,
        .context_uid = context ? context->id : 0,
        .correlation_data = correlation_data,
        .correlation_id = correlation_id,
    };
    tell(DOMAIN_DRIVER_API, cbid, &data);
}

static void on_runtime(int site, int cbid, const char *name, const void *params, int *result) {
    struct callback_data data = {
        .site = site, .function_name = name, .params = params, .return_value = result, .context = fake_context()};
    tell(DOMAIN_RUNTIME_API, cbid, &data);
}

static void on_resource(int cbid, struct stream *stream, void *descriptor) {
    struct resource_data data = {fake_context(), stream, descriptor};
    tell(DOMAIN_RESOURCE, cbid, &data);
}

void attach(void) {
    static const struct tool tool = {on_api, on_runtime, on_resource, take_activity};
    fake_set_tool(&tool);
}

/* -- the API --------------------------------------------------------------------------------------- */

/* FAKE_CUPTI_TAKEN: another profiler holds the subscription. FAKE_CUPTI_SUBSCRIBE_ERROR: any other
 * reason to fail, by number. FAKE_CUPTI_SUBSCRIBE_MS: so long it takes. FAKE_CUPTI_CRASHES. */
EXPORT CUptiResult cuptiSubscribe(struct subscriber **out, callback_function to, void *data) {
    if (fake_setting("FAKE_CUPTI_CRASHES"))
        raise(SIGSEGV);
    usleep(1000u * (unsigned)fake_setting("FAKE_CUPTI_SUBSCRIBE_MS"));
    long error = fake_setting("FAKE_CUPTI_SUBSCRIBE_ERROR");
    if (error)
        return (CUptiResult)error;
    if (fake_setting("FAKE_NO_GPU"))
        return CUPTI_ERROR_UNKNOWN; /* what the real one says where there is no driver */
    if (!out || !to)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    bool taken = subscribed || fake_setting("FAKE_CUPTI_TAKEN");
    if (!taken) {
        subscribed = true;
        user_data = data;
        memset(enabled, 0, sizeof enabled);
        __atomic_store_n(&callback, to, __ATOMIC_SEQ_CST);
        *out = &only;
    }
    pthread_mutex_unlock(&lock);
    if (taken)
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    attach();
    return CUPTI_SUCCESS;
}

static int hanging;

void hang(const char *setting) {
    while (fake_setting(setting)) {
        __atomic_store_n(&hanging, 1, __ATOMIC_SEQ_CST);
        pause();
    }
}

/* For tests: whether a call does not return. */
EXPORT int fake_hangs(void) { return __atomic_load_n(&hanging, __ATOMIC_SEQ_CST); }

/* Once CUPTI is finalized the driver's calls go as if it had never been. Others inside the driver, and
 * work in flight, break the program. FAKE_CUPTI_FINALIZE_HANGS: it never returns. */
EXPORT CUptiResult cuptiFinalize(void) {
    hang("FAKE_CUPTI_FINALIZE_HANGS");
    pthread_mutex_lock(&lock);
    __atomic_store_n(&callback, NULL, __ATOMIC_SEQ_CST);
    subscribed = false;
    pthread_mutex_unlock(&lock);
    fake_set_tool(NULL);
    finalized += 1;
    broken += fake_calls_inside() != 0;
    return CUPTI_SUCCESS;
}

/* For tests: how often that was, and how often with others inside the driver. */
EXPORT int fake_finalized(void) { return finalized; }
EXPORT int fake_finalized_beside_others(void) { return broken; }

static bool is_subscriber(const struct subscriber *subscriber) { return subscribed && subscriber == &only; }

EXPORT CUptiResult cuptiUnsubscribe(struct subscriber *subscriber) {
    if (!is_subscriber(subscriber))
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    __atomic_store_n(&callback, NULL, __ATOMIC_SEQ_CST);
    memset(enabled, 0, sizeof enabled);
    subscribed = false;
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiEnableCallback(uint32_t on, struct subscriber *subscriber, int domain, uint32_t cbid) {
    if (!is_subscriber(subscriber) || domain <= 0 || domain >= DOMAIN_COUNT || cbid == 0 || cbid >= CBID_COUNT)
        return CUPTI_ERROR_INVALID_PARAMETER;
    enabled[domain][cbid] = on != 0;
    return CUPTI_SUCCESS;
}

/* For tests: how many callbacks of a domain are enabled, -1 without a subscriber. */
EXPORT int fake_enabled_callbacks(int domain) {
    int count = 0;
    for (size_t cbid = 1; cbid < CBID_COUNT; cbid++)
        count += enabled[domain][cbid];
    return subscribed ? count : -1;
}

/* For tests: whether one callback is enabled. */
EXPORT int fake_is_enabled(int domain, uint32_t cbid) {
    return cbid < CBID_COUNT && enabled[domain][cbid];
}

EXPORT CUptiResult cuptiEnableDomain(uint32_t on, struct subscriber *subscriber, int domain) {
    if (!is_subscriber(subscriber) || domain <= 0 || domain >= DOMAIN_COUNT)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t cbid = 1; cbid < CBID_COUNT; cbid++)
        enabled[domain][cbid] = on != 0;
    return CUPTI_SUCCESS;
}
