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

/* A kernel that may be delayed. */
struct delayed {
    CUfunction function;
    size_t at; /* among all of them */
    struct trial_edit edit;
};
struct all_delayed {
    struct delayed *all;
    size_t count, room;
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

static void add_delayed(struct all_delayed *found, CUfunction function, struct trial_edit edit) {
    if (found->count == found->room) {
        size_t room = found->room ? 2 * found->room : 64;
        struct delayed *grown = realloc(found->all, room * sizeof *grown);
        if (!grown)
            return;
        found->all = grown;
        found->room = room;
    }
    found->all[found->count] = (struct delayed){function, found->count, edit};
    found->count++;
}

/* Nodes that others may begin before the end of are left alone. */
static void mark_programmatic(const struct arc *arcs, size_t count, bool *marks) {
    for (size_t i = 0; i < count; i++)
        marks[arcs[i].from] = marks[arcs[i].from] || !arcs[i].plain;
}

static void collect(const struct level *level, struct all_delayed *found) {
    size_t count = 0;
    struct arc *arcs = arcs_of(level, &count);
    bool *programmatic = calloc(level->count + 1, sizeof *programmatic);
    if (arcs && programmatic)
        mark_programmatic(arcs, count, programmatic);
    for (size_t i = 0; arcs && programmatic && i < level->count; i++) {
        if (level->children[i])
            collect(level->children[i], found);
        CUfunction function = level->types[i] == NODE_KERNEL && !programmatic[i] ? function_of(level->nodes[i]) : NULL;
        if (function)
            add_delayed(found, function, (struct trial_edit){.kind = CHANGE_DELAY, .graph_id = level->graph_id,
                                                             .node_id = level->ids[i]});
    }
    free(arcs);
    free(programmatic);
}

static int by_function(const void *a, const void *b) {
    const struct delayed *x = a, *y = b;
    const uintptr_t one = (uintptr_t)x->function, other = (uintptr_t)y->function;
    return one != other ? (one > other) - (one < other) : (x->at > y->at) - (x->at < y->at);
}

/* Those of one function, from the place of its first. */
struct family {
    size_t first, count;
    const struct delayed *kernels;
};

static int by_size(const void *a, const void *b) {
    const struct family *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Of kernels in the order of their functions; to be freed, NULL without memory. */
static struct family *families_of(const struct all_delayed *found, size_t *count) {
    struct family *families = calloc(found->count + 1, sizeof *families);
    *count = 0;
    for (size_t i = 0; families && i < found->count; i++) {
        const struct delayed *kernel = &found->all[i];
        if (!i || kernel->function != kernel[-1].function)
            families[(*count)++] = (struct family){kernel->at, 0, kernel};
        families[*count - 1].count++;
    }
    if (families)
        qsort(families, *count, sizeof *families, by_size);
    return families;
}

struct parts delays_find(const struct level *level) {
    struct all_delayed found = {NULL, 0, 0};
    struct parts parts = {NULL, 0};
    size_t count = 0;
    collect(level, &found);
    if (found.count)
        qsort(found.all, found.count, sizeof *found.all, by_function);
    struct family *families = families_of(&found, &count);
    parts.all = families ? calloc(count + 1, sizeof *parts.all) : NULL;
    for (size_t i = 0; parts.all && i < count; i++) {
        struct edits *part = &parts.all[parts.count++];
        for (size_t k = 0; k < families[i].count; k++)
            edits_add(part, families[i].kernels[k].edit);
        edits_sort(part);
    }
    free(families);
    free(found.all);
    return parts;
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

/* A stretch of blocks that are alike, one behind the other. */
struct blocks {
    size_t first, period, count; /* the place of the first, kernels in each, how many */
};

/* The longest; of equal ones that of the shortest blocks, and the first. Where kernels are each as the one a
 * period before, the stretch begins a period before the first of them. */
static struct blocks find_blocks(const struct sequence *all) {
    struct blocks found = {0, 0, 0};
    size_t best = 0;
    for (size_t period = LEAST_BLOCK; period <= MOST_BLOCK && period * LEAST_BLOCKS <= all->count; period++) {
        for (size_t at = period, alike = 0; at < all->count; at++) {
            alike = all->functions[at] == all->functions[at - period] ? alike + 1 : 0;
            if (alike + period <= best)
                continue;
            size_t blocks = alike / period + 1;
            if (blocks >= LEAST_BLOCKS && blocks * period > best) {
                best = blocks * period;
                found = (struct blocks){at + 1 - alike - period, period, blocks};
            }
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
    edits_sort(layer);
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

/* What waited for the node waits for the one that spends time. `index`: of the arcs. */
static bool delay(const struct level *level, const struct delays *delays, const struct arc *arcs,
                  const struct index *index, size_t at, uint64_t ns) {
    CUgraphNode node = level->nodes[at], spin = delays_pause(level, delays, node, ns);
    bool good = spin != NULL;
    for (size_t k = index->first[at]; good && k < index->first[at + 1]; k++) {
        CUgraphNode to = level->nodes[arcs[index->by[k]].to];
        good = arc_remove(level, node, to) && arc_add(level, spin, to);
    }
    return good;
}

bool delays_apply(const struct level *level, const void *data) {
    const struct delays *delays = data;
    size_t count = 0;
    struct arc *arcs = arcs_of(level, &count);
    struct index index = {NULL, NULL};
    bool good = arcs && index_make(&index, arcs, count, level->count);
    for (size_t i = 0; good && i < level->count; i++) {
        const struct trial_edit *edit = edit_of(delays->edits, level->graph_id, level->ids[i]);
        good = !edit || delay(level, delays, arcs, &index, i, edit->value_ns);
        good = good && (!level->children[i] || delays_apply(level->children[i], data));
    }
    index_free(&index);
    free(arcs);
    return good;
}
