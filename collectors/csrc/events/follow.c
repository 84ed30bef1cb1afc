/* Updates of an executable, made in its copy and in the clone that copies come from.
 *
 * What changes one node is made there too; what changes the executable as a whole ends its copies.
 */
#include "events/parts.h"
#include "life/life.h"

#include <stdlib.h>
#include <string.h>

/* Following may take a hundredth of the time, beyond this. */
#define FOLLOWED_AT_ONCE_NS 20000000ull
#define BUDGET 100

struct place {
    CUgraphNode node;
    size_t at;
};

struct followed {
    CUgraphNode *nodes, *clones; /* by place: the program's, and those of the clone */
    unsigned char *disabled;
    uint32_t *changed; /* by which update its parameters were, last; 0: by none */
    struct place *sorted; /* NULL until the first update */
    size_t count;
    uint64_t since_ns, taken_ns;
};

typedef CUresult (*set_in_graph)(CUgraphNode node, uintptr_t params);
typedef CUresult (*set_in_exec)(CUgraphExec exec, CUgraphNode node, uintptr_t params, uintptr_t context);

/* Calls on an executable, and the same on a node of a graph. */
static struct {
    const char *exec_name, *graph_name;
    set_in_exec in_exec;
    set_in_graph in_graph;
} pairs[] = {
    {"cuGraphExecKernelNodeSetParams", "cuGraphKernelNodeSetParams", NULL, NULL},
    {"cuGraphExecKernelNodeSetParams_v2", "cuGraphKernelNodeSetParams_v2", NULL, NULL},
    {"cuGraphExecMemcpyNodeSetParams", "cuGraphMemcpyNodeSetParams", NULL, NULL},
    {"cuGraphExecMemsetNodeSetParams", "cuGraphMemsetNodeSetParams", NULL, NULL},
    {"cuGraphExecHostNodeSetParams", "cuGraphHostNodeSetParams", NULL, NULL},
    {"cuGraphExecEventRecordNodeSetEvent", "cuGraphEventRecordNodeSetEvent", NULL, NULL},
    {"cuGraphExecEventWaitNodeSetEvent", "cuGraphEventWaitNodeSetEvent", NULL, NULL},
    {"cuGraphExecExternalSemaphoresSignalNodeSetParams", "cuGraphExternalSemaphoresSignalNodeSetParams", NULL, NULL},
    {"cuGraphExecExternalSemaphoresWaitNodeSetParams", "cuGraphExternalSemaphoresWaitNodeSetParams", NULL, NULL},
    {"cuGraphExecBatchMemOpNodeSetParams", "cuGraphBatchMemOpNodeSetParams", NULL, NULL},
    {"cuGraphExecNodeSetParams", "cuGraphNodeSetParams", NULL, NULL},
};
static set_in_exec set_enabled;
static const char enabled[] = "cuGraphNodeSetEnabled";

/* -- places of nodes ---------------------------------------------------------------------------------- */

void followed_free(struct followed *followed) {
    if (!followed)
        return;
    free(followed->nodes);
    free(followed->clones);
    free(followed->disabled);
    free(followed->changed);
    free(followed->sorted);
    free(followed);
}

struct followed *followed_make(const struct level *original, const struct level *clone) {
    struct followed *followed = calloc(1, sizeof *followed);
    if (!followed)
        return NULL;
    size_t count = level_nodes(original);
    *followed = (struct followed){.nodes = calloc(count + 1, sizeof(CUgraphNode)),
                                  .clones = calloc(count + 1, sizeof(CUgraphNode)),
                                  .disabled = calloc(count + 1, 1),
                                  .changed = calloc(count + 1, sizeof(uint32_t)), .count = count,
                                  .since_ns = now_ns()};
    if (!followed->nodes || !followed->clones || !followed->disabled || !followed->changed) {
        followed_free(followed);
        return NULL;
    }
    level_list(original, followed->nodes);
    level_list(clone, followed->clones);
    return followed;
}

static int compare(const void *a, const void *b) {
    const uintptr_t x = (uintptr_t)((const struct place *)a)->node;
    const uintptr_t y = (uintptr_t)((const struct place *)b)->node;
    return (x > y) - (x < y);
}

static const struct place *find(struct followed *followed, CUgraphNode node) {
    struct place *sorted = followed->sorted;
    if (!sorted && (sorted = calloc(followed->count + 1, sizeof *sorted))) {
        for (size_t i = 0; i < followed->count; i++)
            sorted[i] = (struct place){followed->nodes[i], i};
        qsort(sorted, followed->count, sizeof *sorted, compare);
        followed->sorted = sorted;
    }
    const struct place key = {node, 0};
    return sorted ? bsearch(&key, sorted, followed->count, sizeof *sorted, compare) : NULL;
}

/* -- one update ------------------------------------------------------------------------------------------ */

static void find_functions(void) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        *(void **)&pairs[i].in_exec = cuda_symbol(pairs[i].exec_name);
        *(void **)&pairs[i].in_graph = cuda_symbol(pairs[i].graph_name);
    }
    *(void **)&set_enabled = cuda_symbol(enabled);
}

static CUresult enable(struct copy *copy, size_t at, unsigned on) {
    return set_enabled ? set_enabled(copy->exec, copy->nodes[at], on, 0) : 1;
}

static set_in_exec setter(const char *name) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i].exec_name, name) == 0)
            return pairs[i].in_exec;
    return NULL;
}

/* Give a node of a copy the parameters that its clone has by now. */
static bool catch_up(const struct watch *watch, struct copy *copy, size_t at) {
    union {
        KernelParams kernel;
        MemcpyParams memcpy;
        MemsetParams memset;
        uintptr_t words[32];
    } params;
    int type = -1;
    CUgraphNode clone = watch->followed->clones[at];
    set_in_exec set = NULL;
    memset(&params, 0, sizeof params);
    if (cuda.GraphNodeGetType(clone, &type) != 0)
        return false;
    if (type == NODE_KERNEL && cuda.GraphKernelNodeGetParams(clone, &params.kernel) == 0)
        set = setter("cuGraphExecKernelNodeSetParams_v2");
    else if (type == NODE_MEMCPY && cuda.GraphMemcpyNodeGetParams(clone, &params.memcpy) == 0)
        set = setter("cuGraphExecMemcpyNodeSetParams");
    else if (type == NODE_MEMSET && cuda.GraphMemsetNodeGetParams(clone, &params.memset) == 0)
        set = setter("cuGraphExecMemsetNodeSetParams");
    else if (type == NODE_HOST && cuda.GraphHostNodeGetParams && cuda.GraphHostNodeGetParams(clone, &params) == 0)
        set = setter("cuGraphExecHostNodeSetParams");
    return set && set(copy->exec, copy->nodes[at], (uintptr_t)&params, (uintptr_t)watch->context) == 0;
}

bool followed_apply(const struct watch *watch, struct copy *copy, uint32_t updates) {
    const struct followed *followed = watch->followed;
    for (size_t i = 0; i < followed->count; i++) {
        if (followed->changed[i] > updates && !catch_up(watch, copy, i))
            return false;
        if (!followed->disabled[i])
            continue;
        if (enable(copy, i, 0) != 0)
            return false;
        atomic_store(&copy->left_out[i], LEFT_OUT);
    }
    return true;
}

bool followed_is_whole(const struct followed *followed) {
    return !memchr(followed->disabled, 1, followed->count);
}

/* A node is switched on or off. What its events say of a launch in flight is not to be relied on. */
static bool follow_enabled(struct watch *watch, size_t at, unsigned on) {
    struct copy *copy = watch->copy;
    watch->followed->disabled[at] = !on;
    if (!copy)
        return true;
    atomic_store(&copy->left_out[at], (on ? 0 : LEFT_OUT) | (watch->in_flight ? CHANGED : 0));
    return enable(copy, at, on) == 0;
}

static bool follow_params(struct watch *watch, const char *call, size_t at, const uintptr_t *words) {
    struct copy *copy = watch->copy;
    watch->followed->changed[at] = watch->updates;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i].exec_name, call) == 0)
            return pairs[i].in_exec && pairs[i].in_graph &&
                   pairs[i].in_graph(watch->followed->clones[at], words[2]) == 0 &&
                   (!copy || pairs[i].in_exec(copy->exec, copy->nodes[at], words[2], words[3]) == 0);
    return false;
}

/* With the watch's lock. Returns why the update cannot be followed, or NULL. */
static const char *follow(struct watch *watch, const char *call, const uintptr_t *words) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct followed *followed = watch->followed;
    uint64_t begin_ns = now_ns();
    pthread_once(&once, find_functions);
    const struct place *place = followed ? find(followed, (CUgraphNode)words[1]) : NULL;
    if (!place)
        return "the program updates a node of its executable that its graph did not have";
    pthread_mutex_lock(&watch->clone_lock);
    watch->updates++;
    bool good = strcmp(call, enabled) == 0 ? follow_enabled(watch, place->at, (unsigned)words[2])
                                           : follow_params(watch, call, place->at, words);
    pthread_mutex_unlock(&watch->clone_lock);
    if (!good)
        return "the program updates its executable in a way that copies do not follow";
    uint64_t time_ns = now_ns();
    followed->taken_ns += time_ns - begin_ns;
    if (followed->taken_ns > FOLLOWED_AT_ONCE_NS + (time_ns - followed->since_ns) / BUDGET)
        return "the program updates its executable so often that following it would slow it down";
    return NULL;
}

void watch_updated(const CUpti_CallbackData *data, bool whole) {
    const uintptr_t *words = data->params;
    int id = executable_watch_of((CUgraphExec)words[0]);
    struct watch *watch = id ? watch_find(id) : NULL;
    bool good = data->return_value && *(const int *)data->return_value == 0;
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    const char *why = NULL;
    if (watch->copies && whole) /* one that failed may have changed it in part */
        why = "the program updates its executable as a whole, which copies do not follow";
    else if (watch->copies && good && data->function_name)
        why = follow(watch, data->function_name, words);
    if (why) {
        watch_refuse(watch, why);
        copier_call(watch);
    }
    pthread_mutex_unlock(&watch->lock);
}
