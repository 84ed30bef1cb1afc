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

static size_t words_of(size_t nodes) { return (nodes + WORD_BITS - 1) / WORD_BITS; }

void order_free(struct order *order) {
    free(order->nodes);
    free(order->before);
    *order = (struct order){0};
}

bool order_has(const struct order *order, size_t node, size_t of) {
    const uint64_t *before = order->before ? order->before + of * words_of(order->count) : NULL;
    return before && before[node / WORD_BITS] >> node % WORD_BITS & 1;
}

static void note_before(const struct order *order, size_t node, size_t of) {
    size_t words = words_of(order->count);
    uint64_t *before = order->before + of * words;
    for (size_t w = 0; w < words; w++)
        before[w] |= order->before[node * words + w];
    before[node / WORD_BITS] |= 1ull << node % WORD_BITS;
}

/* Arcs by the node they begin at: those of node i are by[first[i]] up to by[first[i + 1]]. */
struct index {
    size_t *first, *by;
};

static bool index_make(struct index *index, const struct arc *arcs, size_t count, size_t nodes) {
    index->first = calloc(nodes + 2, sizeof *index->first);
    index->by = calloc(count + 1, sizeof *index->by);
    if (!index->first || !index->by)
        return false;
    for (size_t i = 0; i < count; i++)
        index->first[arcs[i].from + 2]++;
    for (size_t i = 2; i < nodes + 2; i++)
        index->first[i] += index->first[i - 1];
    for (size_t i = 0; i < count; i++)
        index->by[index->first[arcs[i].from + 1]++] = i;
    return true;
}

static void put_in_order(struct order *order, const struct arc *arcs, const struct index *index, size_t *waits) {
    size_t found = 0;
    for (size_t i = 0; i < order->count; i++)
        if (!waits[i])
            order->nodes[found++] = i;
    for (size_t done = 0; done < found; done++)
        for (size_t k = index->first[order->nodes[done]]; k < index->first[order->nodes[done] + 1]; k++) {
            const struct arc *arc = &arcs[index->by[k]];
            if (arc->plain && order->before)
                note_before(order, arc->from, arc->to);
            if (--waits[arc->to] == 0)
                order->nodes[found++] = arc->to;
        }
    order->whole = found == order->count;
}

bool order_make(struct order *order, const struct arc *arcs, size_t count, size_t nodes) {
    struct index index = {NULL, NULL};
    size_t *waits = calloc(nodes + 1, sizeof *waits);
    *order = (struct order){.count = nodes, .nodes = calloc(nodes + 1, sizeof *order->nodes)};
    if (nodes <= MOST_NODES)
        order->before = calloc(nodes * words_of(nodes) + 1, sizeof *order->before);
    for (size_t i = 0; waits && i < count; i++)
        waits[arcs[i].to]++;
    if (waits && order->nodes && index_make(&index, arcs, count, nodes))
        put_in_order(order, arcs, &index, waits);
    free(index.first);
    free(index.by);
    free(waits);
    if (!order->whole)
        order_free(order);
    return order->nodes;
}

/* Whether another node that is waited for comes after the one that this waits for. `into`: the arcs that lead
 * to the same node, one after the other. */
static bool is_implied(const struct order *order, const struct arc *arc, const struct arc *into, size_t count) {
    for (size_t i = 0; arc->plain && i < count; i++)
        if (into[i].plain && into[i].from != arc->from && order_has(order, arc->from, into[i].from))
            return true;
    return false;
}

void edits_add(struct edits *edits, struct trial_edit edit) {
    struct trial_edit *grown = realloc(edits->edits, (edits->count + 1) * sizeof *grown);
    if (!grown)
        return;
    edits->edits = grown;
    grown[edits->count++] = edit;
}

static int by_target(const void *a, const void *b) {
    const struct arc *x = a, *y = b;
    return x->to != y->to ? (x->to > y->to) - (x->to < y->to) : (x->from > y->from) - (x->from < y->from);
}

static void find_implied(const struct level *level, struct edits *edits) {
    size_t count = 0;
    struct order order = {0};
    struct arc *arcs = level->count <= MOST_NODES ? arcs_of(level, &count) : NULL;
    bool good = arcs && order_make(&order, arcs, count, level->count);
    if (good)
        qsort(arcs, count, sizeof *arcs, by_target);
    for (size_t first = 0, next; good && first < count; first = next) {
        for (next = first; next < count && arcs[next].to == arcs[first].to;)
            next++;
        for (size_t i = first; i < next; i++)
            if (is_implied(&order, &arcs[i], arcs + first, next - first))
                edits_add(edits, (struct trial_edit){.kind = CHANGE_CUT, .graph_id = level->graph_id,
                                                     .node_id = level->ids[arcs[i].from],
                                                     .to_node_id = level->ids[arcs[i].to]});
    }
    order_free(&order);
    free(arcs);
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
