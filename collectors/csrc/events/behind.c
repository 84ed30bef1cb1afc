/* Kernels that may begin before the one ahead of them has ended, outside graphs.
 *
 * The driver has two speeds of graphs (H100, driver 580; bench/gpu_speeds.py). A stream counts once six or seven kernels
 * in a row were launched there in the ordinary way, until a kernel with this attribute is; where two streams count, each node
 * of every graph takes 0.18 us more. Behind an event such a kernel is an ordinary one. So where gviz put its events
 * around one, gviz launches two that do nothing: the second is behind the first, and the graphs of the program run at
 * the speed that they have without events.
 */
#include "calls/calls.h"
#include "events/parts.h"

bool behind_is(uint32_t cbid, const void *params) {
    if (calls[cbid].stream_offset >= 0) /* only cuLaunchKernelEx has attributes */
        return false;
    const LaunchConfig *config = *(const LaunchConfig *const *)params;
    for (unsigned i = 0; i < config->count; i++)
        if (config->attributes[i].id == LAUNCH_ATTRIBUTE_PROGRAMMATIC)
            return config->attributes[i].of.value != 0;
    return false;
}

void behind_launch(CUfunction nothing, CUstream stream) {
    LaunchAttribute programmatic = {.id = LAUNCH_ATTRIBUTE_PROGRAMMATIC, .of = {.value = 1}};
    LaunchConfig config = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = stream,
                           .attributes = &programmatic, .count = 1};
    if (!nothing || !cuda.LaunchKernelEx || !captures_kept_out(stream))
        return;
    if (cuda.LaunchKernelEx(&config, nothing, NULL, NULL) == 0)
        cuda.LaunchKernelEx(&config, nothing, NULL, NULL);
    captures_let_in();
}

void behind_keep(CUcontext context, CUstream stream) {
    CUdevice device;
    if (cuda.CtxGetDevice(&device) == 0)
        behind_launch(calibrate_nothing(context, device), stream);
}
