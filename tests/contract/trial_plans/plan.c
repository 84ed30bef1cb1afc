/* plan KIND [FAMILY]: what is tried of a graph, planned and made in the graph by the real driver's functions.
 *
 * Standard input has the number of nodes, then a line for each: its kernel (an empty node: -1), how many
 * nodes it waits for, and these. Output: the edits of the kind, then the graph's dependencies after them;
 * nodes that were there keep their numbers, also where another has their place. Messages: what planning and
 * making took, and the driver's part of it.
 */
#include "trial/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cuda_functions real;
static int64_t driver_ns;

#define TIMED(call)                         \
    int64_t begin_ns = monotonic_ns();      \
    CUresult result = call;                 \
    driver_ns += monotonic_ns() - begin_ns; \
    return result

static CUresult remove_timed(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const EdgeData *data,
                             size_t count) {
    TIMED(real.GraphRemoveDependencies(graph, from, to, data, count));
}

static CUresult add_timed(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const EdgeData *data,
                          size_t count) {
    TIMED(real.GraphAddDependencies(graph, from, to, data, count));
}

static CUresult destroy_timed(CUgraphNode node) { TIMED(real.GraphDestroyNode(node)); }

static CUresult add_kernel_timed(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                 const KernelParams *params) {
    TIMED(real.GraphAddKernelNode(node, graph, after, count, params));
}

static void check(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static long number(void) {
    long read = 0;
    check(scanf("%ld", &read) == 1, "standard input ends too early");
    return read;
}

/* -- the graph ---------------------------------------------------------------------------------------- */

#define MOST_KERNELS 32

static CUfunction functions[MOST_KERNELS];

/* Without parameters. */
static void load_functions(void) {
    static const char entry[] = ".visible .entry k00000() { ret; }\n";
    static char text[64 + MOST_KERNELS * sizeof entry];
    size_t at = (size_t)sprintf(text, ".version 7.0\n.target sm_50\n");
    CUmodule module;
    char name[16];
    for (int i = 0; i < MOST_KERNELS; i++)
        at += (size_t)sprintf(text + at, ".visible .entry k%05d() { ret; }\n", i);
    check(cuda.ModuleLoadData(&module, text) == 0, "no module");
    for (int i = 0; i < MOST_KERNELS; i++) {
        snprintf(name, sizeof name, "k%05d", i);
        check(cuda.ModuleGetFunction(&functions[i], module, name) == 0, "no kernel of this name");
    }
}

static CUgraphNode read_node(CUgraph graph, CUgraphNode *nodes) {
    long kernel = number(), waits = number();
    CUgraphNode made = NULL, *after = calloc((size_t)waits + 1, sizeof *after);
    for (long i = 0; i < waits; i++)
        after[i] = nodes[number()];
    if (kernel < 0) {
        check(cuda.GraphAddEmptyNode(&made, graph, after, (size_t)waits) == 0, "no empty node");
    } else {
        const KernelParams params = {.func = functions[kernel], .grid = {1, 1, 1}, .block = {1, 1, 1}};
        check(cuda.GraphAddKernelNode(&made, graph, after, (size_t)waits, &params) == 0, "no kernel node");
    }
    free(after);
    return made;
}

/* The driver's, which gviz does not call. */
static CUresult (*graph_create)(CUgraph *graph, unsigned flags);

static struct level *read_level(void) {
    CUgraph graph = NULL;
    size_t count = (size_t)number();
    CUgraphNode *nodes = calloc(count + 1, sizeof *nodes);
    struct level *level = calloc(1, sizeof *level);
    check(graph_create(&graph, 0) == 0, "no graph");
    for (size_t i = 0; i < count; i++)
        nodes[i] = read_node(graph, nodes);
    *level = (struct level){.graph = graph, .graph_id = 1, .count = count, .nodes = nodes};
    level->ids = calloc(count + 1, sizeof *level->ids);
    level->types = calloc(count + 1, sizeof *level->types);
    level->children = calloc(count + 1, sizeof *level->children);
    for (size_t i = 0; i < count; i++) {
        level->ids[i] = (uint32_t)i;
        cuda.GraphNodeGetType(nodes[i], &level->types[i]);
    }
    cuda.GraphGetEdges(graph, NULL, NULL, NULL, &level->edge_count);
    return level;
}

/* -- what is tried ------------------------------------------------------------------------------------------ */

static struct edits nth(const struct parts *parts, size_t at) {
    return at < parts->count ? parts->all[at] : (struct edits){NULL, 0};
}

static struct edits find(const struct level *level, const char *kind, size_t at) {
    struct edits chain = {NULL, 0}, order = {NULL, 0};
    struct parts parts;
    if (strcmp(kind, "implied") == 0)
        return edits_implied(level);
    if (strcmp(kind, "serial") == 0 || strcmp(kind, "order") == 0) {
        arrange_find(level, &chain, &order);
        return kind[0] == 's' ? chain : order;
    }
    parts = kind[0] == 'l' ? layers_find(level) : delays_find(level);
    struct edits found = nth(&parts, at);
    for (size_t i = 0; i < found.count; i++) {
        found.edits[i].kind = strcmp(kind, "off") == 0    ? CHANGE_OFF
                              : strcmp(kind, "half") == 0 ? CHANGE_SPIN
                                                          : CHANGE_DELAY;
        found.edits[i].value_ns = 1000;
    }
    return found;
}

static bool make(const struct level *level, const char *kind, const struct edits *edits,
                 const struct kernels *kernels) {
    const struct delays delays = {edits, kernels, false};
    if (strcmp(kind, "implied") == 0)
        return edits_apply(level, edits);
    if (strcmp(kind, "serial") == 0)
        return chain_apply(level, edits);
    if (strcmp(kind, "order") == 0)
        return !edits->count || order_apply(level, edits);
    if (strcmp(kind, "off") == 0 || strcmp(kind, "half") == 0)
        return off_apply(level, &delays);
    return delays_apply(level, &delays);
}

/* -- what is there then --------------------------------------------------------------------------------------- */

/* Of a node that was not there, its place in the order of creation behind those that were. */
static size_t number_of(const struct level *level, const CUgraphNode *all, size_t count, CUgraphNode node) {
    size_t made = level->count;
    for (size_t i = 0; i < level->count; i++)
        if (level->nodes[i] == node)
            return i;
    for (size_t i = 0; i < count && all[i] != node; i++)
        made++;
    return made;
}

static void print_edges(const struct level *level) {
    size_t count = 0, nodes = 0;
    check(cuda.GraphGetEdges(level->graph, NULL, NULL, NULL, &count) == 0, "no dependencies");
    check(cuda.GraphGetNodes(level->graph, NULL, &nodes) == 0, "no nodes");
    CUgraphNode *from = calloc(count + 1, sizeof *from), *to = calloc(count + 1, sizeof *to);
    CUgraphNode *all = calloc(nodes + 1, sizeof *all);
    EdgeData *data = calloc(count + 1, sizeof *data);
    cuda.GraphGetEdges(level->graph, from, to, data, &count);
    cuda.GraphGetNodes(level->graph, all, &nodes);
    for (size_t i = 0; i < count; i++)
        printf("dependency %zu %zu\n", number_of(level, all, nodes, from[i]),
               number_of(level, all, nodes, to[i]));
}

static void begin(void) {
    char why[256];
    CUcontext context = NULL;
    check(cuda_load(why, sizeof why) == 0, why);
    CUresult (*retain)(CUcontext *context, int device) = cuda_symbol("cuDevicePrimaryCtxRetain");
    CUresult (*set)(CUcontext context) = cuda_symbol("cuCtxSetCurrent");
    CUresult (*init)(unsigned flags) = cuda_symbol("cuInit");
    graph_create = cuda_symbol("cuGraphCreate");
    check(init(0) == 0 && retain(&context, 0) == 0 && set(context) == 0, "no context");
    real = cuda;
    cuda.GraphRemoveDependencies = remove_timed;
    cuda.GraphAddDependencies = add_timed;
    cuda.GraphDestroyNode = destroy_timed;
    cuda.GraphAddKernelNode = add_kernel_timed;
}

static void print_time(const char *what, int64_t since_ns) {
    fprintf(stderr, "%s %.1f ms, the driver's part %.1f ms\n", what, (double)(monotonic_ns() - since_ns) / 1e6,
            (double)driver_ns / 1e6);
}

int main(int count, char **words) {
    struct kernels kernels = {.clocks_per_ns = 1};
    check(count >= 2, "which kind?");
    begin();
    load_functions();
    check(kernels_load(&kernels), "no kernels");
    struct level *level = read_level();
    driver_ns = 0;
    int64_t begin_ns = monotonic_ns();
    struct edits edits = find(level, words[1], count > 2 ? strtoul(words[2], NULL, 10) : 0);
    print_time("planned in", begin_ns);
    for (size_t i = 0; i < edits.count; i++)
        printf("edit %u %u\n", edits.edits[i].node_id, edits.edits[i].to_node_id);
    begin_ns = monotonic_ns();
    check(make(level, words[1], &edits, &kernels), "it cannot be made");
    print_time("made in", begin_ns);
    if (count <= 3)
        print_edges(level);
    return 0;
}
