/* Edits of a copy that need no order of its nodes less: safe between two launches of the program. */
#include "calls/calls.h"
#include "graph/graph.h"
#include "trial/parts.h"

#include <stdlib.h>
#include <string.h>

/* Of a level: who comes before whom is a bit a pair. */
#define MOST_NODES 8192

struct arcs {
    size_t count;
    CUgraphNode *from, *to;
    EdgeData *data;
    size_t *from_at, *to_at; /* places of their nodes in the level */
    bool *plain;
};

struct placed {
    CUgraphNode node;
    size_t at;
};

static int compare(const void *a, const void *b) {
    const uintptr_t x = (uintptr_t)((const struct placed *)a)->node;
    const uintptr_t y = (uintptr_t)((const struct placed *)b)->node;
    return (x > y) - (x < y);
}

static void arcs_free(struct arcs *arcs) {
    free(arcs->from);
    free(arcs->to);
    free(arcs->data);
    free(arcs->from_at);
    free(arcs->to_at);
    free(arcs->plain);
}

static bool place_ends(struct arcs *arcs, const struct level *level) {
    struct placed *sorted = calloc(level->count + 1, sizeof *sorted);
    bool good = sorted != NULL;
    for (size_t i = 0; good && i < level->count; i++)
        sorted[i] = (struct placed){level->nodes[i], i};
    if (good)
        qsort(sorted, level->count, sizeof *sorted, compare);
    for (size_t i = 0; good && i < arcs->count; i++) {
        const struct placed from = {arcs->from[i], 0}, to = {arcs->to[i], 0};
        const struct placed *a = bsearch(&from, sorted, level->count, sizeof from, compare);
        const struct placed *b = bsearch(&to, sorted, level->count, sizeof to, compare);
        good = a && b;
        if (!good)
            break;
        arcs->from_at[i] = a->at;
        arcs->to_at[i] = b->at;
        arcs->plain[i] = !arcs->data[i].type && !arcs->data[i].from_port && !arcs->data[i].to_port;
    }
    free(sorted);
    return good;
}

static bool arcs_read(struct arcs *arcs, const struct level *level) {
    size_t room = level->edge_count + 1;
    *arcs = (struct arcs){0, calloc(room, sizeof *arcs->from), calloc(room, sizeof *arcs->to),
                          calloc(room, sizeof *arcs->data), calloc(room, sizeof *arcs->from_at),
                          calloc(room, sizeof *arcs->to_at), calloc(room, sizeof *arcs->plain)};
    if (!arcs->from || !arcs->to || !arcs->data || !arcs->from_at || !arcs->to_at || !arcs->plain)
        return false;
    if (level->edge_count)
        arcs->count = graph_edges(level->graph, arcs->from, arcs->to, arcs->data, level->edge_count);
    return place_ends(arcs, level);
}

/* -- dependencies that others imply ------------------------------------------------------------------ */

#define WORD_BITS 64

/* Nodes before each node, by plain dependencies: `words` words a node. False: no memory, or a cycle. */
static bool find_ancestors(const struct arcs *arcs, size_t nodes, size_t words, uint64_t *ancestors) {
    size_t *waits = calloc(nodes + 1, sizeof *waits), *ready = calloc(nodes + 1, sizeof *ready);
    size_t done = 0, found = 0;
    for (size_t i = 0; waits && i < arcs->count; i++)
        waits[arcs->to_at[i]]++;
    for (size_t i = 0; waits && ready && i < nodes; i++)
        if (!waits[i])
            ready[found++] = i;
    while (waits && ready && done < found) {
        size_t node = ready[done++];
        for (size_t i = 0; i < arcs->count; i++) {
            if (arcs->from_at[i] != node)
                continue;
            uint64_t *of = ancestors + arcs->to_at[i] * words;
            for (size_t w = 0; arcs->plain[i] && w < words; w++)
                of[w] |= ancestors[node * words + w];
            if (arcs->plain[i])
                of[node / WORD_BITS] |= 1ull << node % WORD_BITS;
            if (--waits[arcs->to_at[i]] == 0)
                ready[found++] = arcs->to_at[i];
        }
    }
    free(waits);
    free(ready);
    return done == nodes;
}

/* Whether another node that is waited for comes after the one that this waits for. */
static bool is_implied(const struct arcs *arcs, size_t at, size_t words, const uint64_t *ancestors) {
    size_t from = arcs->from_at[at];
    for (size_t i = 0; arcs->plain[at] && i < arcs->count; i++) {
        bool beside = i != at && arcs->plain[i] && arcs->to_at[i] == arcs->to_at[at];
        if (beside && ancestors[arcs->from_at[i] * words + from / WORD_BITS] >> from % WORD_BITS & 1)
            return true;
    }
    return false;
}

static void add(struct edits *edits, const struct level *level, size_t from, size_t to) {
    struct trial_edit *grown = realloc(edits->edits, (edits->count + 1) * sizeof *grown);
    if (!grown)
        return;
    edits->edits = grown;
    grown[edits->count++] = (struct trial_edit){
        .kind = CHANGE_CUT, .graph_id = level->graph_id, .node_id = level->ids[from], .to_node_id = level->ids[to]};
}

static void find_implied(const struct level *level, struct edits *edits) {
    struct arcs arcs;
    size_t words = (level->count + WORD_BITS - 1) / WORD_BITS;
    if (level->count > MOST_NODES)
        return;
    uint64_t *ancestors = calloc(level->count * words + 1, sizeof *ancestors);
    if (arcs_read(&arcs, level) && ancestors && find_ancestors(&arcs, level->count, words, ancestors))
        for (size_t i = 0; i < arcs.count; i++)
            if (is_implied(&arcs, i, words, ancestors))
                add(edits, level, arcs.from_at[i], arcs.to_at[i]);
    arcs_free(&arcs);
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

static bool remove_edge(const struct level *level, size_t from, size_t to) {
    const EdgeData plain = {0};
    CUgraphNode *nodes = level->nodes;
    return (cuda.GraphRemoveDependencies
                ? cuda.GraphRemoveDependencies(level->graph, &nodes[from], &nodes[to], &plain, 1)
                : cuda.GraphRemoveDependenciesOld(level->graph, &nodes[from], &nodes[to], 1)) == 0;
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
            !remove_edge(level, from, to))
            return false;
    }
    for (size_t i = 0; i < level->count; i++)
        if (level->children[i] && !edits_apply(level->children[i], data))
            return false;
    return true;
}
