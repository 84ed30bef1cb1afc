/* Edits of a copy that need no order of its nodes less: safe between two launches of the program. */
#include "calls/calls.h"
#include "graph/graph.h"
#include "trial/parts.h"

#include <stdlib.h>
#include <string.h>

/* Of a level: who comes before whom is a bit a pair. */
#define MOST_NODES 8192

struct placed {
    CUgraphNode node;
    size_t at;
};

static int compare(const void *a, const void *b) {
    const uintptr_t x = (uintptr_t)((const struct placed *)a)->node;
    const uintptr_t y = (uintptr_t)((const struct placed *)b)->node;
    return (x > y) - (x < y);
}

static struct placed *sort_nodes(const struct level *level) {
    struct placed *sorted = calloc(level->count + 1, sizeof *sorted);
    for (size_t i = 0; sorted && i < level->count; i++)
        sorted[i] = (struct placed){level->nodes[i], i};
    if (sorted)
        qsort(sorted, level->count, sizeof *sorted, compare);
    return sorted;
}

static bool find(const struct placed *sorted, size_t count, CUgraphNode node, size_t *at) {
    const struct placed key = {node, 0};
    const struct placed *found = bsearch(&key, sorted, count, sizeof key, compare);
    *at = found ? found->at : 0;
    return found;
}

struct arc *arcs_of(const struct level *level, size_t *count) {
    size_t room = level->edge_count + 1;
    CUgraphNode *from = calloc(room, sizeof *from), *to = calloc(room, sizeof *to);
    EdgeData *data = calloc(room, sizeof *data);
    struct placed *sorted = sort_nodes(level);
    struct arc *arcs = calloc(room, sizeof *arcs);
    bool good = from && to && data && sorted && arcs;
    *count = good && level->edge_count ? graph_edges(level->graph, from, to, data, level->edge_count) : 0;
    for (size_t i = 0; good && i < *count; i++) {
        arcs[i].plain = !data[i].type && !data[i].from_port && !data[i].to_port;
        good = find(sorted, level->count, from[i], &arcs[i].from) && find(sorted, level->count, to[i], &arcs[i].to);
    }
    good = good && *count == level->edge_count; /* else some, or all, could not be read */
    free(from);
    free(to);
    free(data);
    free(sorted);
    if (good)
        return arcs;
    free(arcs);
    return NULL;
}

const char *arcs_obstacle(const struct level *level) {
    size_t count = 0;
    struct arc *arcs = arcs_of(level, &count);
    const char *why = arcs ? NULL : "the dependencies of its nodes cannot be read";
    free(arcs);
    for (size_t i = 0; i < level->count && !why; i++)
        if (level->children[i])
            why = arcs_obstacle(level->children[i]);
    return why;
}

/* -- dependencies that others imply ------------------------------------------------------------------ */

#define WORD_BITS 64

/* Nodes before each node, by plain dependencies: `words` words a node. False: no memory, or a cycle. */
static bool find_ancestors(const struct arc *arcs, size_t count, size_t nodes, size_t words, uint64_t *ancestors) {
    size_t *waits = calloc(nodes + 1, sizeof *waits), *ready = calloc(nodes + 1, sizeof *ready);
    size_t done = 0, found = 0;
    for (size_t i = 0; waits && i < count; i++)
        waits[arcs[i].to]++;
    for (size_t i = 0; waits && ready && i < nodes; i++)
        if (!waits[i])
            ready[found++] = i;
    while (waits && ready && done < found) {
        size_t node = ready[done++];
        for (size_t i = 0; i < count; i++) {
            if (arcs[i].from != node)
                continue;
            uint64_t *of = ancestors + arcs[i].to * words;
            for (size_t w = 0; arcs[i].plain && w < words; w++)
                of[w] |= ancestors[node * words + w];
            if (arcs[i].plain)
                of[node / WORD_BITS] |= 1ull << node % WORD_BITS;
            if (--waits[arcs[i].to] == 0)
                ready[found++] = arcs[i].to;
        }
    }
    free(waits);
    free(ready);
    return done == nodes;
}

/* Whether another node that is waited for comes after the one that this waits for. */
static bool is_implied(const struct arc *arcs, size_t count, size_t at, size_t words, const uint64_t *ancestors) {
    size_t from = arcs[at].from;
    for (size_t i = 0; arcs[at].plain && i < count; i++) {
        bool beside = i != at && arcs[i].plain && arcs[i].to == arcs[at].to;
        if (beside && ancestors[arcs[i].from * words + from / WORD_BITS] >> from % WORD_BITS & 1)
            return true;
    }
    return false;
}

void edits_add(struct edits *edits, struct trial_edit edit) {
    struct trial_edit *grown = realloc(edits->edits, (edits->count + 1) * sizeof *grown);
    if (!grown)
        return;
    edits->edits = grown;
    grown[edits->count++] = edit;
}

static void find_implied(const struct level *level, struct edits *edits) {
    size_t count = 0, words = (level->count + WORD_BITS - 1) / WORD_BITS;
    if (level->count > MOST_NODES)
        return;
    uint64_t *ancestors = calloc(level->count * words + 1, sizeof *ancestors);
    struct arc *arcs = arcs_of(level, &count);
    if (arcs && ancestors && find_ancestors(arcs, count, level->count, words, ancestors))
        for (size_t i = 0; i < count; i++)
            if (is_implied(arcs, count, i, words, ancestors))
                edits_add(edits, (struct trial_edit){.kind = CHANGE_CUT, .graph_id = level->graph_id,
                                                     .node_id = level->ids[arcs[i].from],
                                                     .to_node_id = level->ids[arcs[i].to]});
    free(arcs);
    free(ancestors);
    for (size_t i = 0; i < level->count; i++)
        if (level->children[i])
            find_implied(level->children[i], edits);
}

struct edits edits_implied(const struct level *level) {
    struct edits edits = {0};
    find_implied(level, &edits);
    return edits;
}

/* -- in a copy ---------------------------------------------------------------------------------------- */

bool arc_remove(const struct level *level, CUgraphNode from, CUgraphNode to) {
    const EdgeData plain = {0};
    return (cuda.GraphRemoveDependencies
                ? cuda.GraphRemoveDependencies(level->graph, &from, &to, &plain, 1)
                : cuda.GraphRemoveDependenciesOld(level->graph, &from, &to, 1)) == 0;
}

bool arc_add(const struct level *level, CUgraphNode from, CUgraphNode to) {
    const EdgeData plain = {0};
    return (cuda.GraphAddDependencies ? cuda.GraphAddDependencies(level->graph, &from, &to, &plain, 1)
                                      : cuda.GraphAddDependenciesOld(level->graph, &from, &to, 1)) == 0;
}

static bool place_of(const struct level *level, uint32_t node_id, size_t *at) {
    for (*at = 0; *at < level->count; ++*at)
        if (level->ids[*at] == node_id)
            return true;
    return false;
}

bool edits_apply(const struct level *level, const void *data) {
    const struct edits *edits = data;
    size_t from, to;
    for (size_t i = 0; i < edits->count; i++) {
        const struct trial_edit *edit = &edits->edits[i];
        if (edit->graph_id != level->graph_id)
            continue;
        if (!place_of(level, edit->node_id, &from) || !place_of(level, edit->to_node_id, &to) ||
            !arc_remove(level, level->nodes[from], level->nodes[to]))
            return false;
    }
    for (size_t i = 0; i < level->count; i++)
        if (level->children[i] && !edits_apply(level->children[i], data))
            return false;
    return true;
}
