/* Delays: a node that only spends time behind each node of a family.
 *
 * What a launch gets longer by a small delay is what a saving of the same size brings (virtual speed-up
 * by slowing). No value changes, and every order is kept.
 *
 * Reference: Curtsinger and Berger (2015), Coz: finding code that counts with causal profiling.
 */
#include "trial/parts.h"

#include <stdlib.h>
#include <string.h>

/* Blocks that repeat are layers: of so many kernels each, at least so many. */
#define LEAST_BLOCK 2
#define MOST_BLOCK 512
#define LEAST_BLOCKS 3

/* -- families ------------------------------------------------------------------------------------------ */

struct family {
    CUfunction function;
    struct edits edits;
};
struct families {
    struct family *all;
    size_t count;
};

static CUfunction function_of(CUgraphNode node) {
    KernelParams params;
    memset(&params, 0, sizeof params);
    if (cuda.GraphKernelNodeGetParams(node, &params) != 0)
        return NULL;
    if (!params.func && params.kern && cuda.KernelGetFunction)
        cuda.KernelGetFunction(&params.func, params.kern);
    return params.func;
}

/* NULL without memory. */
static struct family *family_of(struct families *families, CUfunction function) {
    for (size_t i = 0; i < families->count; i++)
        if (families->all[i].function == function)
            return &families->all[i];
    struct family *grown = realloc(families->all, (families->count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    families->all = grown;
    grown[families->count] = (struct family){.function = function};
    return &grown[families->count++];
}

/* Nodes that others may begin before the end of are left alone. */
static void mark_programmatic(const struct arc *arcs, size_t count, bool *marks) {
    for (size_t i = 0; i < count; i++)
        marks[arcs[i].from] = marks[arcs[i].from] || !arcs[i].plain;
}

static void collect(const struct level *level, struct families *families) {
    size_t count = 0;
    struct arc *arcs = arcs_of(level, &count);
    bool *programmatic = calloc(level->count + 1, sizeof *programmatic);
    if (arcs && programmatic)
        mark_programmatic(arcs, count, programmatic);
    for (size_t i = 0; arcs && programmatic && i < level->count; i++) {
        if (level->children[i])
            collect(level->children[i], families);
        CUfunction function = level->types[i] == NODE_KERNEL && !programmatic[i] ? function_of(level->nodes[i]) : NULL;
        struct family *family = function ? family_of(families, function) : NULL;
        if (family)
            edits_add(&family->edits, (struct trial_edit){.kind = CHANGE_DELAY, .graph_id = level->graph_id,
                                                          .node_id = level->ids[i]});
    }
    free(arcs);
    free(programmatic);
}

static int by_size(const void *a, const void *b) {
    const size_t x = ((const struct family *)a)->edits.count, y = ((const struct family *)b)->edits.count;
    return (x < y) - (x > y);
}

struct parts delays_find(const struct level *level) {
    struct families families = {NULL, 0};
    struct parts found = {NULL, 0};
    collect(level, &families);
    if (families.count) {
        qsort(families.all, families.count, sizeof *families.all, by_size);
        found.all = calloc(families.count, sizeof *found.all);
    }
    for (size_t i = 0; i < families.count; i++) {
        if (found.all)
            found.all[found.count++] = families.all[i].edits;
        else
            free(families.all[i].edits.edits);
    }
    free(families.all);
    return found;
}

const char *delays_name(const struct level *level, const struct edits *edits) {
    const char *name = NULL;
    for (size_t i = 0; i < level->count && !name; i++) {
        if (level->graph_id == edits->edits[0].graph_id && level->ids[i] == edits->edits[0].node_id) {
            CUfunction function = function_of(level->nodes[i]);
            if (!function || !cuda.FuncGetName || cuda.FuncGetName(&name, function) != 0)
                return NULL;
        }
        if (level->children[i])
            name = delays_name(level->children[i], edits);
    }
    return name;
}

/* -- layers ------------------------------------------------------------------------------------------------ */

/* Kernels of the outermost graph in the order of their creation, and the function of each. */
struct sequence {
    CUfunction *functions;
    size_t *places;
    size_t count;
};

/* How many follow each other from `first` on that are each as the one a period before. */
static size_t repeated(const struct sequence *all, size_t first, size_t period) {
    size_t at = first + period;
    while (at < all->count && all->functions[at] == all->functions[at - period])
        at++;
    return at - first;
}

/* A stretch of blocks that are alike, one behind the other. */
struct blocks {
    size_t first, period, count; /* the place of the first, kernels in each, how many */
};

/* The longest; of equal ones that of the shortest blocks. */
static struct blocks find_blocks(const struct sequence *all) {
    struct blocks found = {0, 0, 0};
    size_t best = 0;
    for (size_t length = LEAST_BLOCK; length <= MOST_BLOCK && length * LEAST_BLOCKS <= all->count; length++) {
        for (size_t at = 0; at + length * LEAST_BLOCKS <= all->count;) {
            size_t whole = repeated(all, at, length) / length * length;
            if (whole >= length * LEAST_BLOCKS && whole > best) {
                best = whole;
                found = (struct blocks){at, length, whole / length};
            }
            at += whole > length ? whole - length + 1 : 1;
        }
    }
    return found;
}

static bool sequence_make(struct sequence *all, const struct level *level) {
    size_t count = 0;
    struct arc *arcs = arcs_of(level, &count);
    bool *programmatic = calloc(level->count + 1, sizeof *programmatic);
    all->functions = calloc(level->count + 1, sizeof(CUfunction));
    all->places = calloc(level->count + 1, sizeof *all->places);
    bool good = arcs && programmatic && all->functions && all->places;
    if (good)
        mark_programmatic(arcs, count, programmatic);
    for (size_t i = 0; good && i < level->count; i++)
        if (level->types[i] == NODE_KERNEL && !programmatic[i]) {
            all->functions[all->count] = function_of(level->nodes[i]);
            all->places[all->count++] = i;
        }
    free(arcs);
    free(programmatic);
    return good;
}

static void add_layer(struct parts *layers, const struct level *level, const struct sequence *all,
                      const struct blocks *blocks, size_t block) {
    struct edits *layer = &layers->all[layers->count++];
    for (size_t i = 0; i < blocks->period; i++)
        edits_add(layer, (struct trial_edit){.kind = CHANGE_DELAY, .graph_id = level->graph_id,
                      .node_id = level->ids[all->places[blocks->first + block * blocks->period + i]]});
}

struct parts layers_find(const struct level *level) {
    struct sequence all = {NULL, NULL, 0};
    struct blocks blocks = {0, 0, 0};
    struct parts found = {NULL, 0};
    size_t step = 1;
    if (sequence_make(&all, level))
        blocks = find_blocks(&all);
    if (blocks.count && (found.all = calloc(blocks.count, sizeof *found.all))) {
        add_layer(&found, level, &all, &blocks, 0);
        add_layer(&found, level, &all, &blocks, blocks.count - 1);
        while (2 * step < blocks.count)
            step *= 2;
        for (; step; step /= 2) /* those that no larger step came to */
            for (size_t block = step; block < blocks.count - 1; block += 2 * step)
                add_layer(&found, level, &all, &blocks, block);
    }
    free(all.functions);
    free(all.places);
    return found;
}

/* -- in a copy -------------------------------------------------------------------------------------------- */

CUgraphNode delays_pause(const struct level *level, const struct delays *delays, CUgraphNode after, uint64_t ns) {
    uint64_t clocks = delays->idle ? 0 : (uint64_t)((double)ns * delays->kernels->clocks_per_ns);
    void *arguments[] = {&clocks};
    const KernelParams params = {.func = delays->kernels->spin, .grid = {1, 1, 1}, .block = {1, 1, 1},
                                 .kernelParams = arguments};
    CUgraphNode made = NULL;
    bool good = cuda.GraphAddKernelNode &&
                cuda.GraphAddKernelNode(&made, level->graph, after ? &after : NULL, after != NULL, &params) == 0;
    return good ? made : NULL;
}

/* What waited for the node waits for the one that spends time. */
static bool delay(const struct level *level, const struct delays *delays, const struct arc *arcs, size_t count,
                  size_t at, uint64_t ns) {
    CUgraphNode node = level->nodes[at], spin = delays_pause(level, delays, node, ns);
    bool good = spin != NULL;
    for (size_t i = 0; good && i < count; i++)
        if (arcs[i].from == at)
            good = arc_remove(level, node, level->nodes[arcs[i].to]) && arc_add(level, spin, level->nodes[arcs[i].to]);
    return good;
}

const struct trial_edit *edit_of(const struct edits *edits, uint32_t graph_id, uint32_t node_id) {
    for (size_t i = 0; i < edits->count; i++)
        if (edits->edits[i].graph_id == graph_id && edits->edits[i].node_id == node_id)
            return &edits->edits[i];
    return NULL;
}

bool delays_apply(const struct level *level, const void *data) {
    const struct delays *delays = data;
    size_t count = 0;
    struct arc *arcs = arcs_of(level, &count);
    bool good = arcs != NULL;
    for (size_t i = 0; good && i < level->count; i++) {
        const struct trial_edit *edit = edit_of(delays->edits, level->graph_id, level->ids[i]);
        good = !edit || delay(level, delays, arcs, count, i, edit->value_ns);
        good = good && (!level->children[i] || delays_apply(level->children[i], data));
    }
    free(arcs);
    return good;
}
