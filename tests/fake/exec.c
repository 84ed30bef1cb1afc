/* Executables: instantiation, numbering, and the schedule of one launch. */
#include "fake.h"

enum {
    QUEUE_GAP_NS = 800,       /* between nodes of one queue */
    CROSS_QUEUE_GAP_NS = 1200, /* from a node to its dependent in another */
    USE_NODE_PRIORITY = 8, /* CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY */
};

/* -- planning: numbers, order and queues ---------------------------------------------------------- */

/* Number the nodes of bodies as activity records do (measured, driver 580): in the order of the
 * nodes that hold them, the own nodes of all bodies of one first and then what is nested in these. */
static void number_bodies(struct graph *graph, uint32_t *next) {
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct node *holder = graph->nodes[i];
        for (size_t b = 0; b < holder->body_count; b++)
            for (size_t n = 0; n < holder->bodies[b]->node_count; n++)
                holder->bodies[b]->nodes[n]->exec_id = (*next)++;
        for (size_t b = 0; b < holder->body_count; b++)
            number_bodies(holder->bodies[b], next);
    }
}

/* The top level keeps its ids, with the holes that destroyed nodes left. */
static void number_nodes(struct graph *graph) {
    uint32_t next = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i]->exec_id = graph->nodes[i]->id;
        if (graph->nodes[i]->id >= next)
            next = graph->nodes[i]->id + 1;
    }
    number_bodies(graph, &next);
}

static size_t plan_node(struct exec *exec, struct node *node, const size_t *step_of, size_t root_queue,
                        bool *root_taken);

static struct edge_index incoming; /* the edges of the graph in hand, under the lock */

/* Whether every dependency of the node has its step. */
static bool is_ready(const struct node *node, const size_t *step_of) {
    for (size_t i = incoming.first[node->id]; i < incoming.first[node->id + 1]; i++)
        if (step_of[incoming.edges[i]->from->id] == SIZE_MAX)
            return false;
    return true;
}

/* The next node from `at` on, round and round; where priorities count, the first of the highest. */
static size_t choose_node(const struct exec *exec, const struct graph *graph, const size_t *step_of, size_t at) {
    bool by_priority = exec->flags & USE_NODE_PRIORITY;
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < graph->node_count; k++) {
        size_t i = ((by_priority ? 0 : at) + k) % graph->node_count;
        const struct node *node = graph->nodes[i];
        if (step_of[node->id] != SIZE_MAX || !is_ready(node, step_of))
            continue;
        if (!by_priority)
            return i;
        if (best == SIZE_MAX || node->work.priority < graph->nodes[best]->work.priority)
            best = i;
    }
    return best;
}

static void plan_graph(struct exec *exec, struct graph *graph, size_t root_queue) {
    size_t *step_of = fake_allocate(graph->next_node_id, sizeof *step_of);
    bool root_taken = false;
    struct edge_index outer = incoming;
    incoming = index_edges(graph);
    memset(step_of, 0xff, graph->next_node_id * sizeof *step_of);
    for (size_t at = 0; (at = choose_node(exec, graph, step_of, at)) != SIZE_MAX; at++) {
        struct node *node = graph->nodes[at];
        step_of[node->id] = plan_node(exec, node, step_of, root_queue, &root_taken);
    }
    free(step_of);
    free_index(incoming);
    incoming = outer;
}

/* A node goes on in the queue of the first dependency that no other dependent has followed. */
static size_t choose_queue(struct exec *exec, const struct step *step, size_t root_queue, bool *root_taken) {
    if (step->after_count == 0) {
        bool taken = *root_taken;
        *root_taken = true;
        return taken ? exec->queue_count++ : root_queue;
    }
    for (size_t i = 0; i < step->after_count; i++) {
        struct step *before = &exec->steps[step->after[i]];
        if (!before->continued) {
            before->continued = true;
            return before->queue;
        }
    }
    return exec->queue_count++;
}

static size_t plan_node(struct exec *exec, struct node *node, const size_t *step_of, size_t root_queue,
                        bool *root_taken) {
    struct step step = {.node = node};
    for (size_t i = incoming.first[node->id]; i < incoming.first[node->id + 1]; i++)
        step.after = fake_append(step.after, step.after_count++, sizeof(size_t),
                                 &step_of[incoming.edges[i]->from->id]);
    step.queue = choose_queue(exec, &step, root_queue, root_taken);
    step.bodies = fake_allocate(node->body_count, sizeof *step.bodies);
    size_t index = exec->step_count;
    exec->steps = fake_append(exec->steps, exec->step_count++, sizeof step, &step);
    for (size_t b = 0; b < node->body_count; b++) {
        step.bodies[b].first = exec->step_count;
        /* Bodies of conditional nodes run on a queue of their own (measured, driver 580). */
        plan_graph(exec, node->bodies[b], node->work.type == NODE_CONDITIONAL ? exec->queue_count++ : step.queue);
        step.bodies[b].last = exec->step_count;
    }
    exec->steps[index].next = exec->step_count;
    return index;
}

void plan_exec(struct exec *exec) {
    number_nodes(exec->clone);
    exec->queue_count = 1;
    plan_graph(exec, exec->clone, 0);
    exec->queue_stream_ids = fake_allocate(exec->queue_count, sizeof *exec->queue_stream_ids);
    for (size_t i = 1; i < exec->queue_count; i++)
        exec->queue_stream_ids[i] = next_stream_id();
}

/* -- one launch ------------------------------------------------------------------------------------- */

struct launch {
    struct exec *exec;
    struct stream *stream;
    uint64_t *queue_tails;
    uint64_t full_until_ns; /* the last kernel that leaves no other room ends */
    uint32_t correlation_id;
};

static uint64_t run_steps(struct launch *launch, struct range range, uint64_t base_ns, bool in_conditional);

static uint64_t start_of(const struct launch *launch, const struct step *step, uint64_t base_ns) {
    uint64_t start = base_ns;
    uint64_t tail = launch->queue_tails[step->queue];
    if (tail && tail + QUEUE_GAP_NS > start)
        start = tail + QUEUE_GAP_NS;
    if (fills_gpu(&step->node->work) && launch->full_until_ns > start)
        start = launch->full_until_ns;
    for (size_t i = 0; i < step->after_count; i++) {
        const struct step *before = &launch->exec->steps[step->after[i]];
        uint64_t ready = before->end_ns + (before->queue == step->queue ? QUEUE_GAP_NS : CROSS_QUEUE_GAP_NS);
        if (ready > start)
            start = ready;
    }
    return start;
}

static void report(const struct launch *launch, const struct step *step, uint64_t start_ns, bool in_conditional) {
    uint32_t id = step->queue ? launch->exec->queue_stream_ids[step->queue] : launch->stream->id;
    const struct context *context = step->node->work.context ? step->node->work.context : fake_context();
    struct activity activity = {
        .work = &step->node->work,
        .start_ns = start_ns,
        .end_ns = step->end_ns,
        .stream_id = id,
        .context_id = context->id,
        .device_id = (uint32_t)context->device,
        .correlation_id = in_conditional ? 0 : launch->correlation_id,
        .graph_node_id = ((uint64_t)launch->exec->id << 32) | step->node->exec_id,
        .graph_id = launch->exec->id,
    };
    report_activity(&activity);
}

/* A loop that no kernel of its body ends would never do. */
enum { MAX_ITERATIONS = 100000 };

static void run_bodies(struct launch *launch, struct step *step, bool in_conditional) {
    const struct node *node = step->node;
    bool conditional = node->work.type == NODE_CONDITIONAL;
    bool loops = conditional && node->work.conditional.type == CONDITIONAL_WHILE;
    /* Which branch is taken is decided once, before any of them can change the value. */
    size_t taken = 0;
    while (conditional && taken < node->body_count && !takes_body(node, taken))
        taken++;
    for (size_t b = 0; b < node->body_count; b++) {
        if (conditional && b != taken)
            continue;
        for (size_t i = 0; i < MAX_ITERATIONS; i++) {
            step->end_ns = run_steps(launch, step->bodies[b], step->end_ns, in_conditional || conditional);
            if (!loops || !takes_body(node, b))
                break;
        }
    }
}

static void run_step(struct launch *launch, struct step *step, uint64_t base_ns, bool in_conditional) {
    const struct work *work = &step->node->work;
    uint64_t start = start_of(launch, step, base_ns);
    if (work->type == NODE_WAIT_EVENT && work->event->time_ns > start)
        start = work->event->time_ns;
    bool runs = gpu_gets_to(start);
    step->end_ns = step->node->disabled ? start : kernel_ends_ns(work, start);
    launch->queue_tails[step->queue] = step->end_ns;
    if (step->node->disabled || !runs)
        return; /* as an empty node */
    if (fills_gpu(work))
        launch->full_until_ns = step->end_ns;
    if (work->type == NODE_EVENT_RECORD) {
        work->event->recorded = true;
        work->event->capture_id = 0;
        work->event->time_ns = start;
    } else if (work->type == NODE_HOST) {
        queue_host_function(launch->stream, &work->host, start);
        report(launch, step, start, in_conditional); /* kept only by a CUPTI that has records of them */
    } else if (work->type <= NODE_MEMSET) {
        report(launch, step, start, in_conditional);
        perform(work);
    } else if (work->type == NODE_BATCH_MEM_OP) {
        perform(work);
    }
    graph_memory_run(work);
    run_bodies(launch, step, in_conditional);
}

/* Run the steps of one graph level; return when the last of them ends. */
static uint64_t run_steps(struct launch *launch, struct range range, uint64_t base_ns, bool in_conditional) {
    uint64_t end_ns = base_ns;
    struct step *steps = launch->exec->steps;
    for (size_t i = range.first; i < range.last; i = steps[i].next) {
        run_step(launch, &steps[i], base_ns, in_conditional);
        if (steps[i].end_ns > end_ns)
            end_ns = steps[i].end_ns;
    }
    return end_ns;
}

void launch_exec(struct exec *exec, struct stream *stream) {
    struct launch launch = {.exec = exec, .stream = stream, .correlation_id = current_correlation_id(),
                            .queue_tails = fake_allocate(exec->queue_count, sizeof(uint64_t))};
    uint64_t base_ns = earliest_start_ns(stream);
    reset_handles(exec);
    if (exec->tail_ns > base_ns) /* launches of one executable never overlap */
        base_ns = exec->tail_ns;
    exec->tail_ns = stream->tail_ns = run_steps(&launch, (struct range){0, exec->step_count}, base_ns, false);
    free(launch.queue_tails);
}

struct node *exec_node(struct exec *exec, struct node *template_node) {
    for (size_t i = 0; i < exec->clone->node_count; i++)
        if (exec->clone->nodes[i]->original == template_node)
            return exec->clone->nodes[i];
    return NULL;
}
