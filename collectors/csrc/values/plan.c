/* What is to be probed: the memory that the nodes of a graph are given.
 *
 * A kernel is given addresses, and not how much is there. What it is given ends at the next address
 * that it is given, or with the allocation; in between it is cut at the addresses that other nodes are
 * given, so that each piece is what some node means. How far it really writes is measured.
 */
#define _GNU_SOURCE
#include "graph/graph.h"
#include "values/parts.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define HOST_MEMORY 1
/* Beyond an address of which nobody says how much is there: so many bytes, and so many pieces. */
#define MOST_BEYOND (32ull << 20)
#define MOST_PIECES 16

struct making {
    struct plan *plan;
    const struct block *blocks;
    size_t block_count;
    const struct handed_out *handed_out;
    size_t handed_out_count;
};

/* -- tables ------------------------------------------------------------------------------------------ */

static void *add(struct plan *plan, void **items, size_t *count, size_t *room, size_t bytes) {
    if (*count == *room) {
        size_t wanted = *room ? 2 * *room : 256;
        void *grown = realloc(*items, wanted * bytes);
        if (!grown) {
            plan->lost = true;
            return NULL;
        }
        *items = grown;
        *room = wanted;
    }
    return memset((char *)*items + (*count)++ * bytes, 0, bytes);
}

static struct site *add_site(struct plan *plan) {
    return add(plan, (void **)&plan->sites, &plan->site_count, &plan->site_room, sizeof *plan->sites);
}

static struct buffer *add_buffer(struct plan *plan) {
    return add(plan, (void **)&plan->buffers, &plan->buffer_count, &plan->buffer_room, sizeof *plan->buffers);
}

static struct range *add_range(struct plan *plan) {
    return add(plan, (void **)&plan->ranges, &plan->range_count, &plan->range_room, sizeof *plan->ranges);
}

void plan_free(struct plan *plan) {
    free(plan->sites);
    free(plan->buffers);
    free(plan->ranges);
    memset(plan, 0, sizeof *plan);
}

/* -- what a node is given ---------------------------------------------------------------------------------- */

static const struct block *block_of(const struct making *making, CUdeviceptr at) {
    size_t low = 0, high = making->block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (making->blocks[middle].address + making->blocks[middle].bytes <= at)
            low = middle + 1;
        else
            high = middle;
    }
    bool inside = low < making->block_count && making->blocks[low].address <= at;
    return inside ? &making->blocks[low] : NULL;
}

/* The last that begins at an address or before it, where it reaches over the address. */
static const struct handed_out *handed_out_at(const struct making *making, CUdeviceptr at) {
    size_t low = 0, high = making->handed_out_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (making->handed_out[middle].address <= at)
            low = middle + 1;
        else
            high = middle;
    }
    const struct handed_out *last = low ? &making->handed_out[low - 1] : NULL;
    return last && at - last->address < last->bytes ? last : NULL;
}

/* An allocator's block lies within an allocation of the driver's. */
static void take_ends(struct buffer *buffer, const struct block *block, const struct handed_out *handed_out) {
    buffer->end = block->address + block->bytes;
    if (handed_out && handed_out->address >= block->address &&
        handed_out->bytes <= buffer->end - handed_out->address) {
        buffer->handed_out = handed_out->address;
        buffer->end = handed_out->address + handed_out->bytes;
    }
    buffer->block_end = buffer->end;
}

/* Of a parameter an address is taken once, however often it stands there. */
static bool is_given(const struct plan *plan, size_t first, uint32_t position, CUdeviceptr at) {
    for (size_t i = first; i < plan->buffer_count; i++)
        if (plan->buffers[i].position == position && plan->buffers[i].at == at)
            return true;
    return false;
}

static struct buffer *take_address(struct making *making, size_t first, uint32_t position, CUdeviceptr at) {
    const struct block *block = block_of(making, at);
    struct buffer *buffer = block && !is_given(making->plan, first, position, at) ? add_buffer(making->plan) : NULL;
    if (buffer) {
        buffer->position = position;
        buffer->at = at;
        take_ends(buffer, block, handed_out_at(making, at));
    }
    return buffer;
}

static void take_words(struct making *making, size_t first, uint32_t position, const void *value, size_t bytes,
                       enum element_type type) {
    for (size_t at = 0; at + sizeof(CUdeviceptr) <= bytes; at += sizeof(CUdeviceptr)) {
        CUdeviceptr word;
        memcpy(&word, (const char *)value + at, sizeof word);
        struct buffer *buffer = take_address(making, first, position, word);
        if (buffer) {
            buffer->offset = (uint32_t)at;
            buffer->type = type;
        }
    }
}

/* A kernel of a library may stand where its function does. */
static const char *name_of(const KernelParams *params, CUfunction *function) {
    const char *name = NULL;
    *function = params->func;
    if (*function && cuda.FuncGetName && cuda.FuncGetName(&name, *function) == 0)
        return name;
    if (params->kern && cuda.KernelGetFunction)
        cuda.KernelGetFunction(function, params->kern);
    return params->kern && cuda.KernelGetName && cuda.KernelGetName(&name, params->kern) == 0 ? name : "";
}

/* Returns the kernel's name. */
static const char *take_kernel(struct making *making, const KernelParams *params) {
    size_t offsets[MOST_PARAMETERS], sizes[MOST_PARAMETERS], count = 0, first = making->plan->buffer_count;
    enum element_type types[MOST_PARAMETERS];
    CUfunction function;
    const char *name = name_of(params, &function);
    while (count < MOST_PARAMETERS &&
           cuda.FuncGetParamInfo(function, count, &offsets[count], &sizes[count]) == 0)
        count++;
    types_of(name, sizes, count, types);
    for (size_t i = 0; i < count; i++) {
        const char *value = kernel_argument(params, i, offsets[i]);
        if (value)
            take_words(making, first, (uint32_t)i, value, sizes[i], types[i]);
    }
    return name;
}

/* From the first byte of an end to its last. */
static void take_end(struct making *making, size_t first, uint32_t position, const CopyEnd *end,
                     const MemcpyParams *params) {
    size_t pitch = end->pitch ? end->pitch : params->width_bytes;
    size_t height = end->height ? end->height : params->height;
    size_t begin = (end->z * height + end->y) * pitch + end->x;
    size_t bytes = ((params->depth - 1) * height + params->height - 1) * pitch + params->width_bytes;
    struct buffer *buffer =
        end->memory_type == HOST_MEMORY ? NULL : take_address(making, first, position, end->device + begin);
    if (buffer)
        buffer->reported = bytes;
}

static const char *take_copy(struct making *making, const MemcpyParams *params) {
    size_t first = making->plan->buffer_count;
    if (params->depth && params->height) {
        take_end(making, first, 0, &params->destination, params);
        take_end(making, first, 1, &params->source, params);
    }
    return "memcpy";
}

static const char *take_memset(struct making *making, const MemsetParams *params) {
    struct buffer *buffer = take_address(making, making->plan->buffer_count, 0, params->dst);
    size_t row = params->width * params->element_size;
    if (buffer)
        buffer->reported = params->height > 1 ? (params->height - 1) * params->pitch + row : row;
    return "memset";
}

/* Returns the kernel's name, or a word for what it does. */
static const char *take_work(struct making *making, const struct work *work) {
    switch (work->type) {
    case NODE_KERNEL:
        return take_kernel(making, &work->kernel);
    case NODE_MEMCPY:
        return take_copy(making, &work->copy);
    case NODE_MEMSET:
        return take_memset(making, &work->set);
    default:
        return "";
    }
}

/* Of a node whose parameters cannot be had, or that is given nothing, it is of no type. */
static struct work work_of(int type, CUgraphNode node) {
    struct work work = {.type = type};
    bool good = type == NODE_KERNEL   ? cuda.GraphKernelNodeGetParams(node, &work.kernel) == 0
                : type == NODE_MEMCPY ? cuda.GraphMemcpyNodeGetParams(node, &work.copy) == 0
                                      : type == NODE_MEMSET && cuda.GraphMemsetNodeGetParams(node, &work.set) == 0;
    work.type = good ? type : -1;
    return work;
}

/* -- all nodes, in order -------------------------------------------------------------------------------------- */

static int compare_arcs(const void *a, const void *b) {
    const size_t x = ((const struct arc *)a)->from, y = ((const struct arc *)b)->from;
    return (x > y) - (x < y);
}

/* Returns whether all nodes have a place. `first`: of the arcs of each node, which are sorted. */
static bool fill(size_t *order, size_t nodes, const struct arc *arcs, const size_t *first, size_t *waits) {
    size_t done = 0, found = 0;
    for (size_t i = 0; i < first[nodes]; i++)
        waits[arcs[i].to]++;
    for (size_t i = 0; i < nodes; i++)
        if (!waits[i])
            order[found++] = i;
    for (; done < found; done++)
        for (size_t i = first[order[done]]; i < first[order[done] + 1]; i++)
            if (--waits[arcs[i].to] == 0)
                order[found++] = arcs[i].to;
    return found == nodes;
}

size_t *order_of(const struct level *level) {
    size_t count = 0, nodes = level->count;
    struct arc *arcs = arcs_of(level, &count);
    size_t *order = calloc(nodes + 1, sizeof *order), *waits = calloc(nodes + 1, sizeof *waits);
    size_t *first = calloc(nodes + 2, sizeof *first);
    bool good = arcs && order && waits && first;
    if (good)
        qsort(arcs, count, sizeof *arcs, compare_arcs);
    for (size_t i = 0; good && i < count; i++)
        first[arcs[i].from + 1]++;
    for (size_t i = 0; good && i < nodes; i++)
        first[i + 1] += first[i];
    good = good && fill(order, nodes, arcs, first, waits);
    free(arcs);
    free(waits);
    free(first);
    if (good)
        return order;
    free(order);
    return NULL;
}

static bool is_like(const char *name, const char *pattern) {
    return !*pattern || fnmatch(pattern, name, FNM_CASEFOLD) == 0;
}

/* A number for a name (FNV-1a). */
static uint64_t token_of(const char *name) {
    uint64_t token = 0xcbf29ce484222325;
    for (; *name; name++)
        token = (token ^ (unsigned char)*name) * 0x100000001b3;
    return token;
}

static void take_site(struct making *making, uint32_t graph_id, uint32_t node_id, const struct work *work) {
    struct plan *plan = making->plan;
    size_t at = plan->site_count, first = plan->buffer_count;
    if (!add_site(plan))
        return;
    const char *name = take_work(making, work);
    plan->sites[at] = (struct site){.graph_id = graph_id, .node_id = node_id, .token = token_of(name),
                                    .chosen = is_like(name, options.values_pattern),
                                    .dumped = options.dump_bytes && is_like(name, options.dump_pattern),
                                    .first_buffer = first,
                                    .buffers = plan->buffer_count - first};
}

static void take_level(struct making *making, const struct level *level) {
    size_t *order = order_of(level);
    making->plan->lost = making->plan->lost || !order;
    for (size_t n = 0; order && n < level->count; n++) {
        struct work work = work_of(level->types[order[n]], level->nodes[order[n]]);
        take_site(making, level->graph_id, level->ids[order[n]], &work);
        if (level->children[order[n]])
            take_level(making, level->children[order[n]]);
    }
    free(order);
}

/* -- addresses that nodes are given ------------------------------------------------------------------------------ */

struct place {
    CUdeviceptr at;
    enum element_type type; /* that some node's kernel tells, the same for all that tell one */
    bool contradicted;
};

static int compare(const void *a, const void *b) {
    const CUdeviceptr x = ((const struct place *)a)->at, y = ((const struct place *)b)->at;
    return (x > y) - (x < y);
}

static struct place *places_of(const struct plan *plan, size_t *count) {
    struct place *places = calloc(plan->buffer_count + 1, sizeof *places);
    size_t kept = 0;
    for (size_t i = 0; places && i < plan->buffer_count; i++)
        places[i] = (struct place){plan->buffers[i].at, plan->buffers[i].type, false};
    if (places)
        qsort(places, plan->buffer_count, sizeof *places, compare);
    for (size_t i = 0; places && i < plan->buffer_count; i++) {
        if (!kept || places[kept - 1].at != places[i].at) {
            places[kept++] = places[i];
            continue;
        }
        struct place *place = &places[kept - 1];
        bool both = place->type && places[i].type;
        place->contradicted = place->contradicted || (both && place->type != places[i].type);
        place->type = place->type ? place->type : places[i].type;
    }
    *count = kept;
    return places;
}

/* The first place above an address. */
static size_t above(const struct place *places, size_t count, CUdeviceptr at) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum value_extent extent_of(const struct buffer *buffer, CUdeviceptr from, CUdeviceptr to) {
    if (buffer->reported)
        return VALUE_REPORTED;
    if (to != buffer->block_end)
        return VALUE_NEXT;
    if (!buffer->handed_out)
        return VALUE_ALLOCATION;
    return from == buffer->handed_out ? VALUE_BLOCK : VALUE_BLOCK_END;
}

static void cut(struct plan *plan, size_t at, const struct place *places, size_t count) {
    const struct buffer *buffer = &plan->buffers[at];
    CUdeviceptr from = buffer->at;
    size_t next = above(places, count, from);
    for (size_t n = 0; from < buffer->end; n++) {
        bool last = buffer->reported || n == MOST_PIECES || next == count || places[next].at >= buffer->end;
        CUdeviceptr to = last ? buffer->end : places[next++].at;
        struct range *range = add_range(plan);
        if (!range)
            return;
        *range = (struct range){at, from, to - from, extent_of(buffer, from, to)};
        from = to;
    }
}

/* The ends of a node's buffers, as nobody says how much is there, and what lies between. */
static void cut_site(struct plan *plan, struct site *site, const struct place *places, size_t count) {
    struct buffer *buffers = plan->buffers + site->first_buffer;
    site->first_range = plan->range_count;
    for (size_t i = 0; site->chosen && i < site->buffers; i++) {
        struct buffer *buffer = &buffers[i];
        CUdeviceptr most = buffer->at + (buffer->reported ? buffer->reported : MOST_BEYOND);
        size_t next = above(places, count, buffer->at);
        /* one buffer may be greater than that */
        if (!buffer->reported && next < count && places[next].at > most)
            most = places[next].at;
        else if (!buffer->reported && next == count)
            most = buffer->end;
        buffer->end = buffer->end < most ? buffer->end : most;
        for (size_t j = 0; !buffer->reported && j < site->buffers; j++)
            if (buffers[j].at > buffer->at && buffers[j].at < buffer->end)
                buffer->end = buffers[j].at;
        cut(plan, site->first_buffer + i, places, count);
    }
    site->ranges = plan->range_count - site->first_range;
}

static void take_types(struct plan *plan, const struct place *places, size_t count) {
    for (size_t i = 0; i < plan->buffer_count; i++) {
        struct buffer *buffer = &plan->buffers[i];
        const struct place *place = &places[above(places, count, buffer->at) - 1];
        if (buffer->type == ELEMENT_BYTES && place->type && !place->contradicted) {
            buffer->type = place->type;
            buffer->told_elsewhere = true;
        }
    }
}

/* What nodes are given comes before what lies beyond, of which most is not theirs. */
static void choose_contents(struct plan *plan, bool beyond) {
    for (size_t i = 0; i < plan->site_count; i++)
        for (size_t j = 0; plan->sites[i].dumped && j < plan->sites[i].ranges; j++) {
            struct range *range = &plan->ranges[plan->sites[i].first_range + j];
            size_t bytes = 2 * content_room(range);
            bool is_beyond = range->at != plan->buffers[range->buffer].at;
            if (is_beyond != beyond || bytes > options.dump_bytes - plan->content_bytes)
                continue;
            range->dumped = true;
            range->content = plan->content_bytes;
            plan->content_bytes += bytes;
        }
}

/* Once all sites are there: how much of what they are given is probed. */
static bool cut_all(struct plan *plan) {
    size_t count;
    struct place *places = plan->lost ? NULL : places_of(plan, &count);
    if (!places)
        return false;
    take_types(plan, places, count);
    for (size_t i = 0; i < plan->site_count; i++)
        cut_site(plan, &plan->sites[i], places, count);
    free(places);
    return !plan->lost;
}

static const char no_memory[] = "there is no memory on the host to plan its probes with";

const char *plan_make(struct plan *plan, const struct loan *loan) {
    size_t bytes;
    struct making making = {.plan = plan};
    memset(plan, 0, sizeof *plan);
    struct block *blocks = blocks_list(&making.block_count, &bytes);
    struct handed_out *handed_out = handed_out_list(loan->device, &making.handed_out_count);
    making.blocks = blocks;
    making.handed_out = handed_out;
    if (blocks)
        take_level(&making, loan->level);
    bool good = blocks && cut_all(plan);
    free(blocks);
    free(handed_out);
    if (!good)
        return no_memory;
    choose_contents(plan, false);
    choose_contents(plan, true);
    return plan->range_count ? NULL : "no node whose name is like the pattern is given device memory";
}

void plan_take_call(struct plan *plan, const struct work *work, const struct handed_out *handed_out, size_t count) {
    size_t bytes;
    struct making making = {.plan = plan, .handed_out = handed_out, .handed_out_count = count};
    struct block *blocks = blocks_list(&making.block_count, &bytes);
    making.blocks = blocks;
    if (blocks)
        take_site(&making, 0, 0, work);
    plan->lost = plan->lost || !blocks;
    free(blocks);
}

const char *plan_finish(struct plan *plan) {
    if (!cut_all(plan))
        return no_memory;
    return plan->range_count ? NULL : "no call whose name is like the pattern is given device memory";
}
