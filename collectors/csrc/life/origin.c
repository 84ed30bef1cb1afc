/* Where graphs come from, and which of them get node times.
 *
 * A graph is captured on a stream, or built node by node; either way it is instantiated. What
 * is known on the program's thread at the beginning of the capture, else at the instantiation
 * (Python stack, NVTX ranges, a name given by the program or a framework), goes into a
 * GRAPH_ORIGIN record: gviz/cuda/graph_name.py makes the graph's name of it. With a pattern of names
 * the same is decided here, because launches must know it.
 */
#include "graph/graph.h"
#include "life/parts.h"
#include "spool/spool.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the deciding Python function answers. */
enum { DECIDED_UNWANTED = 0, DECIDED_WANTED = 1, NOT_DECIDED = -1 };

#define MAX_NAME 512
#define MAX_PATH_TEXT 2048

/* A capture in progress. */
struct capture {
    struct capture *next;
    CUstream stream;
    uint32_t owner; /* thread, for the per-thread stream, which is another in each; else 0 */
    struct origin_record record;
    int decision;
    char name[];
};

/* A graph of which something was decided: captured, or instantiated before. */
struct known_graph {
    uint32_t graph_id; /* 0: free */
    int8_t decision;
    bool captured;
    uint32_t number; /* in order of first instantiation, 0: not instantiated */
};

typedef int32_t (*decide_callback)(uint32_t name_kind, const char *name, const char *nvtx);

GVIZ_LOCK(lock);
static struct capture *captures_open;
static struct known_graph *graphs;
static size_t graph_count, graph_room; /* a power of two */
static uint32_t instantiated;
static char *pattern; /* of names, NULL: every graph is wanted */
static _Atomic(decide_callback) decide;

/* What the program or a framework calls the next graph of this thread. */
static __thread char next_name[MAX_NAME];
static __thread uint32_t next_kind;
/* The instantiation under way. */
static __thread struct origin_record under_way;
static __thread char under_way_name[MAX_NAME];

/* -- from Python ---------------------------------------------------------------------------- */

/* Choose the graphs whose nodes are timed by a shell pattern of their names; NULL: all. */
GVIZ_EXPORT void gviz_set_graph_pattern(const char *text) {
    pthread_mutex_lock(&lock);
    free(pattern);
    pattern = text ? strdup(text) : NULL;
    pthread_mutex_unlock(&lock);
}

/* Python's part of the decision: it knows the names that come from stacks. It must not raise. */
GVIZ_EXPORT void gviz_set_decide_callback(decide_callback callback) {
    atomic_store(&decide, callback);
}

/* Name the graphs that this thread captures or instantiates from now on; kind 0 ends that. */
GVIZ_EXPORT void gviz_name_graphs(uint32_t kind, const char *name) {
    next_kind = name && name[0] ? kind : NAME_NONE;
    snprintf(next_name, sizeof next_name, "%s", next_kind ? name : "");
}

/* -- graphs that are known ----------------------------------------------------------------------- */

static struct known_graph *graph_slot(struct known_graph *table, size_t room, uint32_t id) {
    size_t at = id * 0x9E3779B1u & (room - 1);
    while (table[at].graph_id && table[at].graph_id != id)
        at = (at + 1) & (room - 1);
    return &table[at];
}

static bool graphs_grow(void) {
    size_t room = graph_room ? graph_room * 2 : 64;
    struct known_graph *table = calloc(room, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < graph_room; i++)
        if (graphs[i].graph_id)
            *graph_slot(table, room, graphs[i].graph_id) = graphs[i];
    free(graphs);
    graphs = table;
    graph_room = room;
    return true;
}

/* With the lock held: the entry of a graph, made if need be; NULL without memory. */
static struct known_graph *graph_entry(uint32_t id) {
    if (!id || ((graph_count + 1) * 2 > graph_room && !graphs_grow()))
        return NULL;
    struct known_graph *at = graph_slot(graphs, graph_room, id);
    if (!at->graph_id) {
        *at = (struct known_graph){.graph_id = id, .decision = NOT_DECIDED};
        graph_count++;
    }
    return at;
}

void origin_reset(void) {
    pthread_mutex_lock(&lock);
    while (captures_open) {
        struct capture *first = captures_open;
        captures_open = first->next;
        free(first);
    }
    free(graphs);
    graphs = NULL;
    graph_count = graph_room = 0;
    instantiated = 0;
    pthread_mutex_unlock(&lock);
}

/* -- wanted or not ---------------------------------------------------------------------------------- */

static bool pattern_matches(const char *name) {
    pthread_mutex_lock(&lock);
    bool matches = !pattern || fnmatch(pattern, name, 0) == 0;
    pthread_mutex_unlock(&lock);
    return matches;
}

/* Without a pattern everything is wanted. `number` names a graph about which nothing is known;
 * 0: look it up again when it is instantiated. */
static int decide_by_name(const struct origin_record *record, const char *name, uint32_t number) {
    pthread_mutex_lock(&lock);
    bool chosen = pattern != NULL;
    pthread_mutex_unlock(&lock);
    if (!chosen)
        return DECIDED_WANTED;
    char path[MAX_PATH_TEXT] = "";
    nvtx_path_text(record->nvtx_path, path, sizeof path);
    decide_callback callback = atomic_load(&decide);
    if (callback && record->stack > 0) {
        int answer = callback(record->name_kind, name, path);
        if (answer != NOT_DECIDED)
            return answer;
    }
    /* Python knows no more than this of a thread without frames; a binary has no Python. */
    if (record->name_kind == NAME_EXPLICIT)
        return pattern_matches(name);
    if (path[0])
        return pattern_matches(path);
    if (record->name_kind == NAME_FRAMEWORK)
        return pattern_matches(name);
    if (!callback)
        return pattern_matches(program_invocation_short_name);
    if (!number)
        return NOT_DECIDED;
    char numbered[32];
    snprintf(numbered, sizeof numbered, "graph %u", number);
    return pattern_matches(numbered);
}

/* -- captures ------------------------------------------------------------------------------------------ */

static struct origin_record origin_here(uint32_t kind, bool with_stack) {
    struct thread_state *thread = this_thread();
    return (struct origin_record){
        .kind = kind, .nvtx_path = nvtx_open_path(), .thread_id = thread->thread_id,
        .stack = with_stack ? python_stack() : 0, .name_kind = next_kind,
        .time_ns = now_ns()};
}

static void origin_write(const struct origin_record *record, const char *name) {
    struct slice slices[] = {{record, sizeof *record}, {name, strlen(name)}};
    spool_append(RECORD_GRAPH_ORIGIN, slices, 2);
}

static uint32_t owner_of(CUstream stream) {
    return stream == CU_STREAM_PER_THREAD || !stream ? this_thread()->thread_id : 0;
}

/* Take the capture on a stream out of those in progress. */
static struct capture *capture_take(CUstream stream) {
    uint32_t owner = owner_of(stream);
    pthread_mutex_lock(&lock);
    struct capture **at = &captures_open, *found;
    while ((found = *at) && (found->stream != stream || found->owner != owner))
        at = &found->next;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

/* A capture is about to begin; the stack is taken now, no lock of the driver is held yet.
 * Graph 0: the driver makes one. */
void origin_begin_capture(CUstream stream, uint32_t into_graph_id) {
    free(capture_take(stream)); /* its end was not seen */
    size_t length = strlen(next_name);
    struct capture *capture = malloc(sizeof *capture + length + 1);
    if (!capture)
        return;
    capture->stream = stream;
    capture->owner = owner_of(stream);
    memcpy(capture->name, next_name, length + 1);
    capture->record = origin_here(ORIGIN_CAPTURE, true);
    capture->record.graph_id = into_graph_id;
    capture->decision = decide_by_name(&capture->record, capture->name, 0);
    pthread_mutex_lock(&lock);
    capture->next = captures_open;
    captures_open = capture;
    pthread_mutex_unlock(&lock);
}

/* It ended; graph 0: the program did not take the graph. */
void origin_end_capture(CUstream stream, bool succeeded, uint32_t graph_id) {
    struct capture *capture = capture_take(stream);
    if (!capture)
        return;
    if (!graph_id)
        graph_id = capture->record.graph_id;
    if (succeeded && graph_id) {
        capture->record.graph_id = graph_id;
        origin_write(&capture->record, capture->name);
        pthread_mutex_lock(&lock);
        struct known_graph *known = graph_entry(graph_id);
        if (known && !known->captured) { /* else captured into once more */
            known->captured = true;
            known->decision = (int8_t)capture->decision;
        }
        pthread_mutex_unlock(&lock);
    }
    free(capture);
}

/* -- instantiation ---------------------------------------------------------------------------------------- */

/* A graph is about to be instantiated. The stack is taken unless its capture has one. */
void origin_instantiate(uint32_t graph_id) {
    pthread_mutex_lock(&lock);
    struct known_graph *known = graph_entry(graph_id);
    struct known_graph before = {0};
    if (known) {
        if (!known->number)
            known->number = ++instantiated;
        before = *known;
    }
    pthread_mutex_unlock(&lock);
    under_way = origin_here(ORIGIN_INSTANTIATE, !before.captured);
    under_way.graph_id = graph_id;
    memcpy(under_way_name, next_name, sizeof under_way_name);
    int decision = before.captured ? before.decision : NOT_DECIDED;
    if (decision == NOT_DECIDED)
        decision = decide_by_name(&under_way, under_way_name, before.number);
    under_way.flags = decision == DECIDED_UNWANTED ? ORIGIN_UNWANTED : 0;
}

/* Its executable was made, on the same thread. */
void origin_exec_created(CUgraphExec exec, uint32_t exec_id) {
    if (under_way.kind != ORIGIN_INSTANTIATE)
        return;
    under_way.exec_id = exec_id;
    if (under_way.flags & ORIGIN_UNWANTED)
        executable_unwanted(exec);
    origin_write(&under_way, under_way_name);
}

void origin_instantiated(void) { under_way.kind = 0; }

bool origin_wants_late(void) {
    pthread_mutex_lock(&lock);
    bool wanted = pattern == NULL;
    pthread_mutex_unlock(&lock);
    return wanted;
}
