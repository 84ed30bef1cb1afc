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

static uint64_t *before_of(const struct order *order, size_t node) {
    return order->before + node * words_of(order->count);
}

void order_free(struct order *order) {
    free(order->nodes);
    free(order->before);
    *order = (struct order){0};
}

static bool has_bit(const uint64_t *bits, size_t at) { return bits[at / WORD_BITS] >> at % WORD_BITS & 1; }

bool order_has(const struct order *order, size_t node, size_t of) {
    return order->before && has_bit(before_of(order, of), node);
}

static void join(const struct order *order, uint64_t *bits, size_t node) {
    const uint64_t *before = before_of(order, node);
    for (size_t w = 0; w < words_of(order->count); w++)
        bits[w] |= before[w];
}

bool order_find_last(const struct order *order, const size_t *nodes, size_t count, bool *last) {
    uint64_t *before = order->before ? calloc(words_of(order->count) + 1, sizeof *before) : NULL;
    for (size_t i = 0; before && i < count; i++)
        join(order, before, nodes[i]);
    for (size_t i = 0; i < count; i++)
        last[i] = !before || !has_bit(before, nodes[i]);
    bool good = before || !order->before;
    free(before);
    return good;
}

static void note_before(const struct order *order, size_t node, size_t of) {
    uint64_t *before = before_of(order, of);
    join(order, before, node);
    before[node / WORD_BITS] |= 1ull << node % WORD_BITS;
}

void index_free(struct index *index) {
    free(index->first);
    free(index->by);
    *index = (struct index){NULL, NULL};
}

bool index_make(struct index *index, const struct arc *arcs, size_t count, size_t nodes) {
    index->first = calloc(nodes + 2, sizeof *index->first);
    index->by = calloc(count + 1, sizeof *index->by);
    if (!index->first || !index->by) {
        index_free(index);
        return false;
    }
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
    index_free(&index);
    free(waits);
    if (!order->whole)
        order_free(order);
    return order->nodes;
}

/* Room doubles: a node at a time all of them would be copied for each. */
void edits_add(struct edits *edits, struct trial_edit edit) {
    bool is_full = (edits->count & (edits->count - 1)) == 0;
    struct trial_edit *grown =
        is_full ? realloc(edits->edits, (edits->count ? 2 * edits->count : 1) * sizeof *grown) : edits->edits;
    if (!grown)
        return;
    edits->edits = grown;
    grown[edits->count++] = edit;
}

static int by_node(const void *a, const void *b) {
    const struct trial_edit *x = a, *y = b;
    if (x->graph_id != y->graph_id)
        return x->graph_id < y->graph_id ? -1 : 1;
    if (x->node_id != y->node_id)
        return x->node_id < y->node_id ? -1 : 1;
    return (x->to_node_id > y->to_node_id) - (x->to_node_id < y->to_node_id);
}

void edits_sort(struct edits *edits) {
    if (edits->count)
        qsort(edits->edits, edits->count, sizeof *edits->edits, by_node);
}

size_t edits_first(const struct edits *edits, uint32_t graph_id, uint32_t node_id) {
    const struct trial_edit key = {.graph_id = graph_id, .node_id = node_id};
    size_t low = 0, high = edits->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_node(&edits->edits[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct trial_edit *edit_of(const struct edits *edits, uint32_t graph_id, uint32_t node_id) {
    size_t at = edits_first(edits, graph_id, node_id);
    const struct trial_edit *found = at < edits->count ? &edits->edits[at] : NULL;
    return found && found->graph_id == graph_id && found->node_id == node_id ? found : NULL;
}

static int by_target(const void *a, const void *b) {
    const struct arc *x = a, *y = b;
    return x->to != y->to ? (x->to > y->to) - (x->to < y->to) : (x->from > y->from) - (x->from < y->from);
}

/* Of arcs that lead to the same node, those that others of them imply. `from`, `last`: room for as many. */
static bool find_implied_of(const struct level *level, const struct order *order, const struct arc *arcs, size_t count,
                            size_t *from, bool *last, struct edits *edits) {
    size_t plain = 0;
    for (size_t i = 0; i < count; i++)
        if (arcs[i].plain)
            from[plain++] = arcs[i].from;
    if (plain < 2)
        return true;
    if (!order_find_last(order, from, plain, last))
        return false;
    for (size_t i = 0; i < plain; i++)
        if (!last[i])
            edits_add(edits, (struct trial_edit){.kind = CHANGE_CUT, .graph_id = level->graph_id,
                                                 .node_id = level->ids[from[i]],
                                                 .to_node_id = level->ids[arcs[0].to]});
    return true;
}

static void find_implied(const struct level *level, struct edits *edits) {
    size_t count = 0;
    struct order order = {0};
    struct arc *arcs = level->count <= MOST_NODES ? arcs_of(level, &count) : NULL;
    size_t *from = calloc(count + 1, sizeof *from);
    bool *last = calloc(count + 1, sizeof *last);
    bool good = arcs && from && last && order_make(&order, arcs, count, level->count);
    if (good)
        qsort(arcs, count, sizeof *arcs, by_target);
    for (size_t first = 0, next; good && first < count; first = next) {
        for (next = first; next < count && arcs[next].to == arcs[first].to;)
            next++;
        good = find_implied_of(level, &order, arcs + first, next - first, from, last, edits);
    }
    order_free(&order);
    free(arcs);
    free(from);
    free(last);
    for (size_t i = 0; i < level->count; i++)
        if (level->children[i])
            find_implied(level->children[i], edits);
}

struct edits edits_implied(const struct level *level) {
    struct edits edits = {0};
    find_implied(level, &edits);
    edits_sort(&edits);
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

static int by_id(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

struct place *places_of(const struct level *level) {
    struct place *places = calloc(level->count + 1, sizeof *places);
    for (size_t i = 0; places && i < level->count; i++)
        places[i] = (struct place){level->ids[i], i};
    if (places)
        qsort(places, level->count, sizeof *places, by_id);
    return places;
}

size_t node_place(const struct place *places, size_t count, uint32_t node_id) {
    const struct place key = {node_id, 0};
    const struct place *found = bsearch(&key, places, count, sizeof key, by_id);
    return found ? found->at : NOWHERE;
}

bool edits_apply(const struct level *level, const void *data) {
    const struct edits *edits = data;
    struct place *places = places_of(level);
    bool good = places;
    for (size_t i = edits_first(edits, level->graph_id, 0);
         good && i < edits->count && edits->edits[i].graph_id == level->graph_id; i++) {
        size_t from = node_place(places, level->count, edits->edits[i].node_id);
        size_t to = node_place(places, level->count, edits->edits[i].to_node_id);
        good = from != NOWHERE && to != NOWHERE && arc_remove(level, level->nodes[from], level->nodes[to]);
    }
    free(places);
    for (size_t i = 0; good && i < level->count; i++)
        good = !level->children[i] || edits_apply(level->children[i], data);
    return good;
}
