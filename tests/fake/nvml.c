/* A management library for the fake driver's GPUs: clocks and temperature as FAKE_NVML says.
 *
 * steady (unless set): 1,980 MHz at 60 degrees. throttled: from the third look on at 1,200 MHz, by
 * its temperature of 90 degrees. lost: from the third look on the GPU is gone. hang: the third look
 * never returns. forbidden: the GPU may not be looked at. refused: there is no driver. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS, NOT_SUPPORTED = 3, NO_PERMISSION, NOT_FOUND = 6, NO_DRIVER = 9, GPU_IS_LOST = 15 };
enum { USUAL_MHZ = 1980, LOWERED_MHZ = 1200, THERMAL_SLOWDOWN = 0x20, CALM_LOOKS = 2 };

static int looks;

static bool is_set(const char *way) {
    const char *value = getenv("FAKE_NVML");
    return value && strcmp(value, way) == 0;
}

static bool is_later(const char *way) { return is_set(way) && looks > CALM_LOOKS; }

EXPORT const char *nvmlErrorString(int result) {
    return result == NO_PERMISSION ? "Insufficient Permissions"
           : result == NOT_FOUND   ? "Not Found"
           : result == NO_DRIVER   ? "Driver Not Loaded"
           : result == GPU_IS_LOST ? "GPU is lost"
                                   : "Unknown Error";
}

EXPORT int nvmlInit_v2(void) { return is_set("refused") ? NO_DRIVER : SUCCESS; }

EXPORT int nvmlShutdown(void) { return SUCCESS; }

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device) {
    static int handle;
    if (is_set("forbidden"))
        return NO_PERMISSION;
    *device = &handle;
    return strchr(address, ':') ? SUCCESS : NOT_FOUND;
}

/* The first question of each look. */
EXPORT int nvmlDeviceGetUtilizationRates(void *device, unsigned int rates[2]) {
    (void)device;
    looks++;
    while (is_later("hang"))
        pause();
    rates[0] = 80;
    rates[1] = 10;
    return is_later("lost") ? GPU_IS_LOST : SUCCESS;
}

EXPORT int nvmlDeviceGetClockInfo(void *device, int kind, unsigned int *mhz) {
    (void)device, (void)kind;
    *mhz = is_later("throttled") ? LOWERED_MHZ : USUAL_MHZ;
    return SUCCESS;
}

EXPORT int nvmlDeviceGetMaxClockInfo(void *device, int kind, unsigned int *mhz) {
    (void)device, (void)kind;
    *mhz = USUAL_MHZ;
    return SUCCESS;
}

EXPORT int nvmlDeviceGetTemperature(void *device, int kind, unsigned int *celsius) {
    (void)device, (void)kind;
    *celsius = is_later("throttled") ? 90 : 60;
    return SUCCESS;
}

EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts) {
    (void)device, (void)milliwatts;
    return NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons) {
    (void)device;
    *reasons = is_later("throttled") ? THERMAL_SLOWDOWN : 0;
    return SUCCESS;
}
