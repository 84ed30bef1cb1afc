/* Conditional handles: their values, and the kernels that set them. */
#include "fake.h"

struct handle {
    const struct graph *graph; /* the one it was made for */
    unsigned int value, default_value;
    bool assign_default;
};

static struct handle *handles; /* a handle is its place here, from 1 */
static size_t handle_count;

static CUresult create(unsigned long long *out, CUgraph graph, unsigned int value, unsigned int flags) {
    struct handle made = {graph, value, value, flags & 1};
    if (!out || !fake_is(graph, OBJECT_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    handles = fake_append(handles, handle_count++, sizeof made, &made);
    *out = handle_count;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphConditionalHandleCreate(unsigned long long *handle, CUgraph graph, CUcontext context,
                                               unsigned int value, unsigned int flags) {
    TRACED(cuGraphConditionalHandleCreate,
           { unsigned long long *a; CUgraph b; CUcontext c; unsigned int d; unsigned int e; },
           create(handle, graph, value, flags), handle, graph, context, value, flags);
}

static struct handle *find(unsigned long long handle) {
    return handle && handle <= handle_count ? &handles[handle - 1] : NULL;
}

bool handle_is_of(unsigned long long handle, const struct graph *graph) {
    const struct handle *found = find(handle);
    return found && found->graph == graph;
}

void reset_handles(const struct exec *exec) {
    for (size_t i = 0; i < exec->step_count; i++) {
        const struct work *work = &exec->steps[i].node->work;
        struct handle *handle = work->type == NODE_CONDITIONAL ? find(work->conditional.handle) : NULL;
        if (handle && handle->assign_default)
            handle->value = handle->default_value;
    }
}

bool takes_body(const struct node *node, size_t body) {
    const CUDA_CONDITIONAL_NODE_PARAMS *conditional = &node->work.conditional;
    unsigned int value = find(conditional->handle)->value;
    if (conditional->type == CONDITIONAL_SWITCH)
        return value == body;
    return (value != 0) == (body == 0);
}

/* count_down(handle, address): the handle takes the number at the address, less one, which is
 * written back; choose(handle, value): the handle takes the value. */
void perform_conditional_kernel(const struct work *work) {
    const char *name = work->function->name;
    if (strcmp(name, "count_down") != 0 && strcmp(name, "choose") != 0)
        return;
    struct handle *handle = find(*(unsigned long long *)work->argument_pointers[0]);
    if (!handle)
        return;
    if (name[1] == 'h')
        handle->value = *(unsigned int *)work->argument_pointers[1];
    else
        handle->value = --**(unsigned int **)work->argument_pointers[1];
}
