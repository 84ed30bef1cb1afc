/* Probes: a copy of a graph that runs its nodes one after the other, with a kernel before and one after
 * each that sums up the memory that the node is given.
 *
 * In one line no node writes while a probe reads, and every order that the program needs is kept.
 */
#include "graph/graph.h"
#include "values/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 256
#define DEVICE_MEMORY 2
/* Of a range, for a block of threads each; what a launch leaves of each. */
#define PART_BYTES (64u << 10)
#define MOST_PARTS 32
/* One copy has probes that read so much, and need so much memory. */
#define MOST_PROBED (8ull << 30)
#define MOST_MEMORY (16ull << 20)

/* As probe.cu has them. */
struct table_row {
    uint64_t at, bytes, to;
    uint32_t type, parts;
};
struct part {
    uint64_t hash, nan, infinite, zero;
    double least, greatest, sum;
    uint64_t finite;
};

/* A driver that is older than the toolkit that made it refuses it. */
static bool load_sass(CUmodule *module) {
    CUdevice device;
    int major = 0, minor = 0;
    if (cuda.CtxGetDevice(&device) != 0 || cuda.DeviceGetAttribute(&major, DEVICE_CC_MAJOR, device) != 0 ||
        cuda.DeviceGetAttribute(&minor, DEVICE_CC_MINOR, device) != 0)
        return false;
    for (size_t i = 0; i < probe_sass_count; i++)
        if (probe_sass[i].major == major && probe_sass[i].minor <= minor)
            return cuda.ModuleLoadData(module, probe_sass[i].image) == 0;
    return false;
}

bool probe_load(CUmodule *module, CUfunction *probe) {
    if (!cuda.MemcpyHtoD || !(load_sass(module) || cuda.ModuleLoadData(module, probe_ptx) == 0))
        return false;
    bool good = cuda.ModuleGetFunction(probe, *module, "gviz_probe") == 0;
    if (!good) {
        cuda.ModuleUnload(*module);
        *module = NULL;
        *probe = NULL;
    }
    return good;
}

/* -- how much ------------------------------------------------------------------------------------------ */

static uint32_t parts_of(size_t bytes) {
    size_t parts = (bytes + PART_BYTES - 1) / PART_BYTES;
    return parts < MOST_PARTS ? (uint32_t)parts : MOST_PARTS;
}

size_t probes_last(const struct plan *plan, size_t first) {
    uint64_t bytes = 0, memory = 0;
    size_t last = first;
    for (; last < plan->site_count; last++) {
        const struct site *site = &plan->sites[last];
        for (size_t i = 0; i < site->ranges; i++) {
            const struct range *range = &plan->ranges[site->first_range + i];
            bytes += 2 * range->bytes;
            memory += 2 * (sizeof(struct table_row) + parts_of(range->bytes) * sizeof(struct part));
        }
        if (last > first && (bytes > MOST_PROBED || memory > MOST_MEMORY))
            break;
    }
    return last;
}

static size_t first_range(const struct probes *probes) { return probes->plan->sites[probes->first].first_range; }

size_t probes_ranges(const struct probes *probes) {
    const struct site *last = &probes->plan->sites[probes->last - 1];
    return last->first_range + last->ranges - first_range(probes);
}

/* -- the table ------------------------------------------------------------------------------------------ */

static size_t width_of(enum element_type type) {
    static const unsigned char widths[] = {1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 1, 1};
    return type < sizeof widths ? widths[type] : 1;
}

/* What does not begin where an element can is bytes. */
static enum element_type type_in(const struct range *range, const struct buffer *buffer) {
    return range->at % width_of(buffer->type) ? ELEMENT_BYTES : buffer->type;
}

/* Memory of gviz's own, which is not the program's. */
static bool allocate(struct probes *probes, size_t bytes, size_t content_bytes) {
    growth_open();
    bool good = cuda.MemAlloc(&probes->memory, bytes) == 0;
    if (!good)
        probes->memory = 0;
    /* Without room for contents there are none. */
    if (good && content_bytes && (probes->held = malloc(content_bytes)) &&
        cuda.MemAlloc(&probes->contents, content_bytes) != 0)
        probes->contents = 0;
    growth_close();
    return good;
}

bool probes_make_table(struct probes *probes) {
    const struct plan *plan = probes->plan;
    size_t count = probes_ranges(probes);
    for (size_t i = 0; i < count; i++)
        probes->parts += parts_of(plan->ranges[first_range(probes) + i].bytes);
    probes->table_bytes = 2 * count * sizeof(struct table_row);
    size_t part_bytes = 2 * probes->parts * sizeof(struct part);
    struct table_row *table = probes->table = calloc(2 * count + 1, sizeof *table);
    probes->read = calloc(1, part_bytes + 1);
    if (!table || !probes->read || !allocate(probes, probes->table_bytes + part_bytes, plan->content_bytes))
        return false;
    CUdeviceptr to = probes->memory + probes->table_bytes;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < count; i++) {
            const struct range *range = &plan->ranges[first_range(probes) + i];
            const struct buffer *buffer = &plan->buffers[range->buffer];
            struct table_row *row = &table[side * count + i];
            *row = (struct table_row){range->at, range->bytes, to, type_in(range, buffer), parts_of(range->bytes)};
            to += row->parts * sizeof(struct part);
            probes->bytes += range->bytes;
        }
    return true;
}

/* -- the copy ------------------------------------------------------------------------------------------- */

struct laying {
    const struct probes *probes;
    CUcontext context;
    CUfunction probe;
    size_t *site; /* that the next node is */
};

static bool remove_edges(const struct level *level) {
    size_t room = level->edge_count + 1;
    CUgraphNode *from = calloc(room, sizeof *from), *to = calloc(room, sizeof *to);
    EdgeData *data = calloc(room, sizeof *data);
    bool good = from && to && data;
    size_t count = good && level->edge_count ? graph_edges(level->graph, from, to, data, level->edge_count) : 0;
    if (good && count)
        good = (cuda.GraphRemoveDependencies
                    ? cuda.GraphRemoveDependencies(level->graph, from, to, data, count)
                    : cuda.GraphRemoveDependenciesOld(level->graph, from, to, count)) == 0;
    free(from);
    free(to);
    free(data);
    return good;
}

/* Of a probe for a site; its one argument is written to `table`. `side` 0: before its node. */
static KernelParams probe_of(const struct probes *probes, const struct site *site, size_t side, CUdeviceptr *table) {
    size_t count = probes_ranges(probes), at = site->first_range - first_range(probes);
    const struct table_row *rows = (const struct table_row *)probes->table + at;
    KernelParams params = {.grid = {1, (unsigned)site->ranges, 1}, .block = {THREADS, 1, 1}};
    *table = probes->memory + (side * count + at) * sizeof *rows;
    for (size_t i = 0; i < site->ranges; i++)
        params.grid[0] = rows[i].parts > params.grid[0] ? rows[i].parts : params.grid[0];
    return params;
}

/* After `previous`, which it takes the place of. */
static bool add_probe(const struct laying *laying, const struct level *level, const struct site *site, size_t side,
                      CUgraphNode *previous) {
    CUdeviceptr table;
    void *arguments[] = {&table};
    KernelParams params = probe_of(laying->probes, site, side, &table);
    params.func = laying->probe;
    params.kernelParams = arguments;
    CUgraphNode node = NULL;
    bool good = cuda.GraphAddKernelNode(&node, level->graph, previous, *previous != NULL, &params) == 0;
    *previous = node;
    return good;
}

/* Nodes that keep what the ranges of a site hold, each after the one before. */
static bool add_copies(const struct laying *laying, const struct level *level, const struct site *site, size_t side,
                       CUgraphNode *previous) {
    bool good = true;
    for (size_t i = 0; good && i < site->ranges; i++) {
        const struct range *range = &laying->probes->plan->ranges[site->first_range + i];
        CUdeviceptr to = laying->probes->contents + range->content + side * content_room(range);
        MemcpyParams params = {.source = {.memory_type = DEVICE_MEMORY, .device = range->at},
                               .destination = {.memory_type = DEVICE_MEMORY, .device = to},
                               .width_bytes = range->bytes, .height = 1, .depth = 1};
        CUgraphNode node = NULL;
        if (!laying->probes->contents || !range->dumped)
            continue;
        good = cuda.GraphAddMemcpyNode(&node, level->graph, previous, *previous != NULL, &params,
                                       laying->context) == 0;
        *previous = node;
    }
    return good;
}

/* What a node is given, `side` 0: before it. */
static bool add_reading(const struct laying *laying, const struct level *level, const struct site *site, size_t side,
                        CUgraphNode *previous) {
    return add_probe(laying, level, site, side, previous) && add_copies(laying, level, site, side, previous);
}

static bool lay(const struct level *level, const struct laying *laying);

static bool lay_node(const struct laying *laying, const struct level *level, size_t i, CUgraphNode *previous) {
    const struct probes *probes = laying->probes;
    size_t at = (*laying->site)++;
    const struct site *site = &probes->plan->sites[at];
    bool probed = at >= probes->first && at < probes->last && site->ranges;
    bool good = site->node_id == level->ids[i] && (!probed || add_reading(laying, level, site, 0, previous));
    if (good && *previous)
        good = arc_add(level, *previous, level->nodes[i]);
    *previous = level->nodes[i];
    if (good && level->children[i])
        good = lay(level->children[i], laying);
    return good && (!probed || add_reading(laying, level, site, 1, previous));
}

static bool lay(const struct level *level, const struct laying *laying) {
    size_t *order = order_of(level);
    CUgraphNode previous = NULL;
    bool good = order && remove_edges(level);
    for (size_t n = 0; good && n < level->count; n++)
        good = lay_node(laying, level, order[n], &previous);
    free(order);
    return good;
}

/* For lend_copy. */
static bool lay_all(const struct level *level, const void *data) { return lay(level, data); }

const char *probes_make(struct probes *probes, const struct loan *loan, CUfunction probe) {
    size_t site = 0;
    const struct laying laying = {probes, loan->context, probe, &site};
    const char *why = probes_make_table(probes) ? NULL : "the GPU gave no memory for its probes";
    growth_open();
    if (!why)
        probes->copy = lend_copy(loan, lay_all, &laying);
    growth_close();
    if (!why && !probes->copy)
        why = copy_error()[0] ? copy_error() : "a copy of it with probes could not be made";
    if (why)
        probes_free(probes);
    return why;
}

bool probes_launch(const struct probes *probes, CUfunction probe, CUstream stream, size_t site, size_t side) {
    CUdeviceptr table;
    void *arguments[] = {&table};
    KernelParams params = probe_of(probes, &probes->plan->sites[site], side, &table);
    return cuda.LaunchKernel(probe, params.grid[0], params.grid[1], 1, THREADS, 1, 1, 0, stream, arguments, NULL) == 0;
}

static void free_on_device(struct probes *probes) {
    if (!probes->copy && !probes->memory && !probes->contents)
        return;
    growth_open();
    copy_free(probes->copy);
    if (probes->memory)
        cuda.MemFree(probes->memory);
    if (probes->contents)
        cuda.MemFree(probes->contents);
    growth_close();
}

void probes_free(struct probes *probes) {
    free_on_device(probes);
    free(probes->table);
    free(probes->read);
    free(probes->held);
    memset(probes, 0, sizeof *probes);
}

bool probes_upload(const struct probes *probes) {
    return cuda.MemcpyHtoD(probes->memory, probes->table, probes->table_bytes) == 0;
}

bool probes_read(struct probes *probes) {
    return cuda.MemcpyDtoH(probes->read, probes->memory + probes->table_bytes,
                           2 * probes->parts * sizeof(struct part)) == 0;
}

bool probes_read_contents(struct probes *probes) {
    return !probes->contents || cuda.MemcpyDtoH(probes->held, probes->contents, probes->plan->content_bytes) == 0;
}

/* -- what was read ------------------------------------------------------------------------------------------ */

static struct part sum_up(const struct part *parts, uint32_t count) {
    struct part sum = {.least = INFINITY, .greatest = -INFINITY};
    for (uint32_t i = 0; i < count; i++) {
        sum.hash += parts[i].hash;
        sum.nan += parts[i].nan;
        sum.infinite += parts[i].infinite;
        sum.zero += parts[i].zero;
        sum.finite += parts[i].finite;
        sum.sum += parts[i].sum;
        sum.least = parts[i].least < sum.least ? parts[i].least : sum.least;
        sum.greatest = parts[i].greatest > sum.greatest ? parts[i].greatest : sum.greatest;
    }
    return sum;
}

static void fill_before(struct probed_value *value, struct part part) {
    value->hash_before = part.hash;
    value->nan_before = part.nan;
    value->infinite_before = part.infinite;
    value->zero_before = part.zero;
    value->finite_before = part.finite;
    value->least_before = part.least;
    value->greatest_before = part.greatest;
    value->sum_before = part.sum;
}

static void fill_after(struct probed_value *value, struct part part) {
    value->hash_after = part.hash;
    value->nan_after = part.nan;
    value->infinite_after = part.infinite;
    value->zero_after = part.zero;
    value->finite_after = part.finite;
    value->least_after = part.least;
    value->greatest_after = part.greatest;
    value->sum_after = part.sum;
}

static struct probed_value describe(const struct probes *probes, size_t site_at, size_t range_at) {
    const struct site *site = &probes->plan->sites[site_at];
    const struct range *range = &probes->plan->ranges[range_at];
    const struct buffer *buffer = &probes->plan->buffers[range->buffer];
    bool told = buffer->told_elsewhere && type_in(range, buffer) != ELEMENT_BYTES;
    return (struct probed_value){.graph_id = site->graph_id, .node_id = site->node_id, .place = (uint32_t)site_at,
                               .position = buffer->position, .offset = buffer->offset,
                               .type = type_in(range, buffer), .extent = range->extent,
                               .flags = told ? VALUE_TYPE_ELSEWHERE : 0, .address = buffer->at,
                               .start = range->at - buffer->at, .bytes = range->bytes};
}

size_t probes_values(const struct probes *probes, struct probed_value *values) {
    size_t count = probes_ranges(probes), n = 0;
    const struct table_row *table = probes->table;
    const struct part *before = probes->read, *after = before + probes->parts;
    for (size_t at = probes->first; at < probes->last; at++) {
        const struct site *site = &probes->plan->sites[at];
        for (size_t i = 0; i < site->ranges; i++, n++) {
            values[n] = describe(probes, at, site->first_range + i);
            fill_before(&values[n], sum_up(before, table[n].parts));
            fill_after(&values[n], sum_up(after, table[n].parts));
            before += table[n].parts;
            after += table[n].parts;
        }
    }
    return count;
}
