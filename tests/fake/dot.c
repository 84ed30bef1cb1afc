/* cuGraphDebugDotPrint: the dialect of driver r580, verbose and plain. */
#include "fake.h"

#include <stdio.h>

enum { VERBOSE = 1 };

static const char *memory_name(int type) {
    switch (type) {
    case MEMORY_HOST:
        return "HOST";
    case MEMORY_DEVICE:
        return "DEVICE";
    case MEMORY_ARRAY:
        return "ARRAY";
    default:
        return "UNIFIED";
    }
}

static char memory_letter(int type) { return type == MEMORY_HOST ? 'H' : type == MEMORY_ARRAY ? 'A' : 'D'; }

/* One number, or the three in escaped braces, as the driver abbreviates launch shapes. */
static void print_shape(FILE *out, const unsigned int shape[3]) {
    if (shape[1] == 1 && shape[2] == 1)
        fprintf(out, "%u", shape[0]);
    else if (shape[2] == 1)
        fprintf(out, "\\{%u,%u\\}", shape[0], shape[1]);
    else
        fprintf(out, "\\{%u,%u,%u\\}", shape[0], shape[1], shape[2]);
}

static void print_kernel(FILE *out, const struct node *node, size_t topo) {
    const struct work *work = &node->work;
    fprintf(out, "[style=\"bold\" shape=\"record\" label=\"{KERNEL\n| {ID | %u (topoId: %zu) | %s\\<\\<\\<",
            node->id, topo, work->function->name);
    print_shape(out, work->grid);
    fputc(',', out);
    print_shape(out, work->block);
    fprintf(out, ",%u\\>\\>\\>}\n", work->shared_mem_bytes);
    fprintf(out, "| {{node handle | func handle} | {0x%016llX | 0x%016llX}}\n",
            (unsigned long long)(uintptr_t)node, (unsigned long long)(uintptr_t)work->function);
    fprintf(out, "| {accessPolicyWindow | {base_ptr | num_bytes | hitRatio | hitProp | missProp} | "
                 "{0x0000000000000000 | 0 | 0.000000 | N | N}}\n");
    fprintf(out, "| {cooperative | %d}\n| {priority | %d}\n}\"];\n\n", work->cooperative, work->priority);
}

static void print_memset(FILE *out, const struct node *node, size_t topo) {
    const CUDA_MEMSET_NODE_PARAMS *set = &node->work.memset;
    fprintf(out,
            "[style=\"solid\" style=\"solid\" shape=\"record\" label=\"{MEMSET\n| {{ID | node handle | dptr | "
            "pitch | value | elementSize | width | height} | {%u (topoId: %zu) | 0x%016llX | 0x%016llX | %zu | "
            "%u | %u | %zu | %zu}}}\"];\n\n",
            node->id, topo, (unsigned long long)(uintptr_t)node, set->dst, set->pitch, set->value,
            set->elementSize, set->width, set->height);
}

static unsigned long long address_at(int type, const void *host, CUdeviceptr device) {
    return type == MEMORY_HOST ? (unsigned long long)(uintptr_t)host : device;
}

/* The ends of a captured copy, as base pointers. */
static void print_captured_ends(FILE *out, const CUDA_MEMCPY3D *copy) {
    unsigned long long from = address_at(copy->srcMemoryType, copy->srcHost, copy->srcDevice);
    unsigned long long to = address_at(copy->dstMemoryType, copy->dstHost, copy->dstDevice);
    bool from_pinned, to_pinned;
    memory_type_at(from, &from_pinned);
    memory_type_at(to, &to_pinned);
    fprintf(out, "| {kind | %cto%c (%s%s to %s%s)}\n", memory_letter(copy->srcMemoryType),
            memory_letter(copy->dstMemoryType), memory_name(copy->srcMemoryType), from_pinned ? " PINNED" : "",
            memory_name(copy->dstMemoryType), to_pinned ? " PINNED" : "");
    fprintf(out,
            "| {{srcPtr | dstPtr} | {pitch | ptr | xsize | ysize | pitch | ptr | xsize | ysize} | {%zu | "
            "0x%016llX | 0 | 0 | %zu | 0x%016llX | 0 | 0}}\n",
            copy->srcPitch, from, copy->dstPitch, to);
    fprintf(out,
            "| {{srcPos | {{x | %zu} | {y | %zu} | {z | %zu}}} | {dstPos | {{x | %zu} | {y | %zu} | {z | %zu}}} "
            "| {Extent | {{Width | %zu} | {Height | %zu} | {Depth | %zu}}}}\n}\"];\n\n",
            copy->srcXInBytes, copy->srcY, copy->srcZ, copy->dstXInBytes, copy->dstY, copy->dstZ,
            copy->WidthInBytes, copy->Height, copy->Depth);
}

/* The ends of a copy added by hand, as CUDA_MEMCPY3D has them. */
static void print_written_ends(FILE *out, const CUDA_MEMCPY3D *copy) {
    static const char columns[] = "MemoryType | Array | Host | Device | XInBytes | Y | Z | Pitch | Height | LOD";
    fprintf(out, "| {{src | dst} | { %s | %s} | {", columns, columns);
    fprintf(out, "%s (%s) | 0x%016llX | 0x%016llX | 0x%016llX | %zu | %zu | %zu | %zu | %zu | %zu | ",
            memory_name(copy->srcMemoryType), memory_name(copy->srcMemoryType),
            (unsigned long long)(uintptr_t)copy->srcArray, (unsigned long long)(uintptr_t)copy->srcHost,
            copy->srcDevice, copy->srcXInBytes, copy->srcY, copy->srcZ, copy->srcPitch, copy->srcHeight,
            copy->srcLOD);
    fprintf(out, "%s (%s) | 0x%016llX | 0x%016llX | 0x%016llX | %zu | %zu | %zu | %zu | %zu | %zu}}\n",
            memory_name(copy->dstMemoryType), memory_name(copy->dstMemoryType),
            (unsigned long long)(uintptr_t)copy->dstArray, (unsigned long long)(uintptr_t)copy->dstHost,
            copy->dstDevice, copy->dstXInBytes, copy->dstY, copy->dstZ, copy->dstPitch, copy->dstHeight,
            copy->dstLOD);
    fprintf(out, "| {Extent | {WidthInBytes | Height | Depth} | {%zu | %zu | %zu}}\n}\"];\n\n", copy->WidthInBytes,
            copy->Height, copy->Depth);
}

static void print_memcpy(FILE *out, const struct node *node, size_t topo) {
    fprintf(out,
            "[style=\"solid\" shape=\"record\" label=\"{\nMEMCPY\n| {{ID | node handle} | {%u (topoId: %zu) | "
            "0x%016llX}}\n",
            node->id, topo, (unsigned long long)(uintptr_t)node);
    if (node->work.copy_by_hand)
        print_written_ends(out, &node->work.copy);
    else
        print_captured_ends(out, &node->work.copy);
}

static void print_memory(FILE *out, const struct node *node, size_t topo) {
    const CUDA_MEM_ALLOC_NODE_PARAMS *alloc = &node->work.alloc;
    bool allocates = node->work.type == NODE_MEM_ALLOC;
    fprintf(out, "[style=\"solid\" shape=\"record\" label=\"{\n%s\n| {{ID | node handle} | {%u (topoId: %zu) | "
                 "0x%016llX}}\n",
            allocates ? "MEM_ALLOC" : "MEM_FREE", node->id, topo, (unsigned long long)(uintptr_t)node);
    if (allocates)
        fprintf(out,
                "| {{{poolProps | {allocType | handleTypes | {location | {type | id}}} | {PINNED | NONE | "
                "DEVICE | %d}}}}\n| {{bytesize | dptr} | {%zu | 0x%016llX}}\n}\"];\n\n",
                alloc->locationId, alloc->bytesize, alloc->dptr);
    else
        fprintf(out, "| {{dptr} | {0x%016llX}}\n}\"];\n\n", node->work.freed);
}

static void print_conditional(FILE *out, const struct node *node, size_t topo) {
    static const char *const types[] = {"IF", "WHILE", "SWITCH"};
    const CUDA_CONDITIONAL_NODE_PARAMS *conditional = &node->work.conditional;
    fprintf(out,
            "[style=\"bold\" shape=\"record\" label=\"{\nCONDITIONAL\n| {ID | %u (topoId: %zu)}\n| {node "
            "handle| 0x%016llX}\n| {Conditional Handle|%llu}\n| {Conditional Type| %s}\n",
            node->id, topo, (unsigned long long)(uintptr_t)node, conditional->handle, types[conditional->type]);
    for (size_t b = 0; b < node->body_count; b++) {
        if (conditional->type == CONDITIONAL_SWITCH)
            fprintf(out, "| {%zu|graph_%u}\n", b, node->bodies[b]->id);
        else
            fprintf(out, "| {%s|graph_%u}\n", b ? "False" : "True", node->bodies[b]->id);
    }
    fprintf(out, "}\n\"];\n\n");
}

static const char *simple_name(int type) {
    switch (type) {
    case NODE_HOST:
        return "HOST";
    case NODE_EMPTY:
        return "EMPTY";
    case NODE_EVENT_RECORD:
        return "EVENT_RECORD";
    case NODE_WAIT_EVENT:
        return "EVENT_WAIT";
    case NODE_BATCH_MEM_OP:
        return "BATCH_MEM_OP";
    case NODE_EXT_SEMAS_SIGNAL:
        return "EXT_SEMAS_SIGNAL";
    case NODE_EXT_SEMAS_WAIT:
        return "EXT_SEMAS_WAIT";
    default:
        return "UNKNOWN";
    }
}

static void print_simple(FILE *out, const struct node *node, size_t topo) {
    const struct work *work = &node->work;
    fprintf(out, "[style=\"solid\" shape=\"rectangle\" label=\"%u (topoId: %zu)\n", node->id, topo);
    if (work->type == NODE_GRAPH)
        fprintf(out, "graph_%u\n", node->bodies[0]->id);
    else
        fprintf(out, "%s\n", simple_name(work->type));
    fprintf(out, "node handle: 0x%016llX\n", (unsigned long long)(uintptr_t)node);
    if (work->type == NODE_HOST)
        fprintf(out, "fn: 0x%016llX\nuserData: 0x%016llX\n", (unsigned long long)(uintptr_t)work->host.fn,
                (unsigned long long)(uintptr_t)work->host.userData);
    if (work->event)
        fprintf(out, "event: 0x%016llX\n", (unsigned long long)(uintptr_t)work->event);
    fprintf(out, "\"];\n\n");
}

static void print_verbose(FILE *out, const struct node *node, size_t topo) {
    switch (node->work.type) {
    case NODE_KERNEL:
        print_kernel(out, node, topo);
        break;
    case NODE_MEMSET:
        print_memset(out, node, topo);
        break;
    case NODE_MEMCPY:
        print_memcpy(out, node, topo);
        break;
    case NODE_MEM_ALLOC:
    case NODE_MEM_FREE:
        print_memory(out, node, topo);
        break;
    case NODE_CONDITIONAL:
        print_conditional(out, node, topo);
        break;
    default:
        print_simple(out, node, topo);
    }
}

static void print_plain(FILE *out, const struct node *node) {
    const struct work *work = &node->work;
    if (work->type == NODE_KERNEL)
        fprintf(out, "[style=\"bold\" shape=\"octagon\" label=\"%u\n%s\n\"];\n\n", node->id, work->function->name);
    else if (work->type == NODE_MEMSET)
        fprintf(out, "[style=\"solid\" shape=\"invtrapezium\"label=\"%u\nMEMSET\n(%u,%zu)\n\"];\n\n", node->id,
                work->memset.value, work->memset.width * work->memset.elementSize * work->memset.height);
    else if (work->type == NODE_MEMCPY)
        fprintf(out, "[style=\"solid\" shape=\"trapezium\"label=\"%u\nMEMCPY\n(%cto%c,%zu)\n\"];\n\n", node->id,
                memory_letter(work->copy.srcMemoryType), memory_letter(work->copy.dstMemoryType),
                copied_bytes(&work->copy));
    else if (work->type == NODE_GRAPH)
        fprintf(out, "[style=\"solid\" shape=\"rectangle\" label=\"%u\ngraph_%u\n\"];\n\n", node->id,
                node->bodies[0]->id);
    else
        fprintf(out, "[style=\"solid\" shape=\"rectangle\" label=\"%u\n%s\n\"];\n\n", node->id,
                work->type == NODE_CONDITIONAL ? "CONDITIONAL"
                : work->type == NODE_MEM_ALLOC ? "MEM_ALLOC"
                : work->type == NODE_MEM_FREE  ? "MEM_FREE"
                                               : simple_name(work->type));
}

/* How many earlier edges end in the same node: the driver's headlabel. */
static size_t head_label(const struct graph *graph, size_t edge) {
    size_t count = 0;
    for (size_t i = 0; i < edge; i++)
        count += graph->edges[i].to == graph->edges[edge].to;
    return count;
}

static void print_graph(FILE *out, const struct graph *graph, unsigned int flags) {
    fprintf(out, "subgraph cluster_%u {\nlabel=\"graph_%u\" graph[style=\"dashed\"];\n", graph->id, graph->id);
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct node *node = graph->nodes[i];
        fprintf(out, "\"graph_%u_node_%u\"", graph->id, node->id);
        if (flags & VERBOSE)
            print_verbose(out, node, graph->node_count - 1 - i);
        else
            print_plain(out, node);
    }
    for (size_t n = 0; n < graph->node_count; n++)
        for (size_t i = 0; i < graph->edge_count; i++) {
            const struct edge *edge = &graph->edges[i];
            if (edge->from != graph->nodes[n])
                continue;
            fprintf(out, "\"graph_%u_node_%u\" -> \"graph_%u_node_%u\"", graph->id, edge->from->id, graph->id,
                    edge->to->id);
            if (flags & VERBOSE)
                fprintf(out, " [headlabel=%zu]", head_label(graph, i));
            fprintf(out, ";\n");
        }
    fprintf(out, "}\n");
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t b = 0; b < graph->nodes[i]->body_count; b++)
            print_graph(out, graph->nodes[i]->bodies[b], flags);
}

static CUresult print(CUgraph graph, const char *path, unsigned int flags) {
    if (!fake_is(graph, OBJECT_GRAPH) || !path)
        return CUDA_ERROR_INVALID_VALUE;
    FILE *out = fopen(path, "w");
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    fprintf(out, "digraph dot {\n");
    print_graph(out, graph, flags);
    fprintf(out, "}\n");
    fclose(out);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned int flags) {
    TRACED(cuGraphDebugDotPrint, { CUgraph a; const char *b; unsigned int c; }, print(graph, path, flags), graph,
           path, flags);
}
