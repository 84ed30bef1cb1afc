/* The bodies of conditional nodes.
 *
 * Drivers before 13.2 do not report them. So their handles are taken down when the driver
 * makes them, inside the cuGraphAddNode call that adds the conditional node: it creates one graph
 * a branch, in order (measured, driver 580), and hands them back in the node's parameters. They
 * are struck out when their graph is destroyed, so that no dead handle is followed.
 */
#include "graph/parts.h"
#include "spool/spool.h"

#include <stdlib.h>
#include <string.h>

/* A call creates few graphs; a SWITCH of more branches than this is known by the handles that
 * the call returns. */
#define MAX_SEEN 64

/* CUDA_CONDITIONAL_NODE_PARAMS inside CUgraphNodeParams. */
struct node_params {
    int type, reserved[3];
    uint64_t handle;
    int conditional_type;
    unsigned size;
    CUgraph *bodies;
};

struct conditional {
    CUgraph parent;
    uint32_t graph_id, node_id;
    int type;
    uint32_t size;
    uint64_t handle;
    CUgraph *bodies; /* size of them; NULL: destroyed */
    struct conditional *next;
};

/* The call under way on this thread. */
static __thread struct {
    bool adding;
    uint32_t seen;
    CUgraph graphs[MAX_SEEN];
} call;

GVIZ_LOCK(lock);
static struct conditional *conditionals; /* newest first */
static _Atomic int conditional_count;    /* most programs have none: then nothing is locked */

static void conditional_free(struct conditional *conditional) {
    free(conditional->bodies);
    free(conditional);
}

void bodies_reset(void) {
    pthread_mutex_lock(&lock);
    while (conditionals) {
        struct conditional *next = conditionals->next;
        conditional_free(conditionals);
        conditionals = next;
    }
    atomic_store(&conditional_count, 0);
    pthread_mutex_unlock(&lock);
}

/* -- taking them down ---------------------------------------------------------------------- */

void bodies_graph_created(CUgraph graph) {
    if (call.adding && call.seen < MAX_SEEN)
        call.graphs[call.seen++] = graph;
}

void bodies_add_enter(void) {
    call.adding = true;
    call.seen = 0;
}

/* The handles as the driver returned them, or as its callbacks reported them. */
static const CUgraph *handles_of(const struct node_params *params) {
    bool reported = call.seen == params->size;
    if (!params->bodies)
        return reported ? call.graphs : NULL;
    if (reported && memcmp(params->bodies, call.graphs, params->size * sizeof(CUgraph)) != 0) {
        note("warning", "the driver named the bodies of a conditional node in two orders; their "
                        "nodes are known from their times only");
        return NULL;
    }
    return params->bodies;
}

static void keep(CUgraph parent, CUgraphNode node, const struct node_params *params) {
    uint64_t id = 0;
    const CUgraph *handles = handles_of(params);
    struct conditional *made = calloc(1, sizeof *made);
    CUgraph *bodies = calloc(params->size, sizeof *bodies);
    if (!made || !bodies || cupti.cuptiGetGraphNodeId(node, &id) != 0) {
        free(made);
        free(bodies);
        return;
    }
    if (handles)
        memcpy(bodies, handles, params->size * sizeof *bodies);
    *made = (struct conditional){parent, (uint32_t)(id >> 32), (uint32_t)id,
                                 params->conditional_type, params->size, params->handle, bodies, NULL};
    pthread_mutex_lock(&lock);
    made->next = conditionals;
    conditionals = made;
    atomic_fetch_add(&conditional_count, 1);
    pthread_mutex_unlock(&lock);
}

/* `params_at`: place of nodeParams among the call's parameters. */
void bodies_add_exit(const CUpti_CallbackData *data, int params_at) {
    const void *const *params = data->params;
    int result = data->return_value ? *(int *)data->return_value : 0;
    const struct node_params *node = params[params_at];
    CUgraphNode *added = (CUgraphNode *)params[0];
    if (result == 0 && added && node && node->type == NODE_CONDITIONAL && node->size)
        keep((CUgraph)params[1], *added, node);
    call.adding = false;
}

void bodies_graph_destroyed(CUgraph graph) {
    if (!atomic_load_explicit(&conditional_count, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    for (struct conditional **at = &conditionals; *at;) {
        struct conditional *found = *at;
        if (found->parent == graph) {
            *at = found->next;
            conditional_free(found);
            atomic_fetch_sub(&conditional_count, 1);
            continue;
        }
        for (uint32_t i = 0; i < found->size; i++)
            if (found->bodies[i] == graph)
                found->bodies[i] = NULL;
        at = &found->next;
    }
    pthread_mutex_unlock(&lock);
}

/* -- asking for them ---------------------------------------------------------------------------- */

/* Fill in what is known of a conditional node; the caller frees `bodies`. False: nothing is, the
 * node was added before gviz attached. */
bool bodies_of(uint32_t graph_id, uint32_t node_id, struct body_list *list) {
    bool known = false;
    pthread_mutex_lock(&lock);
    for (struct conditional *c = conditionals; c && !known; c = c->next) {
        if (c->graph_id != graph_id || c->node_id != node_id)
            continue;
        CUgraph *copy = malloc(c->size * sizeof *copy);
        if (!copy)
            break;
        memcpy(copy, c->bodies, c->size * sizeof *copy);
        *list = (struct body_list){c->type, c->size, c->handle, copy};
        known = true;
    }
    pthread_mutex_unlock(&lock);
    return known;
}
