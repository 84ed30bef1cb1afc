/* When, where and from which code a node was created. */
#include "calls/calls.h"
#include "graph/graph.h"
#include "spool/spool.h"

void nodes_created(const CUpti_GraphData *data, CUcontext context) {
    struct thread_state *thread = this_thread();
    struct created_record record = {
        .time_ns = now_ns(), .thread_id = thread->thread_id, .stream_id = UINT32_MAX,
        .nvtx_path = thread->nvtx_path, .type = data->node_type};
    thread->created_node = true;
    if (cupti.cuptiGetGraphNodeId(data->node, &record.node_id) != 0)
        return;
    if (thread->call_has_stream)
        record.stream_id = stream_id_of(context, thread->call_stream, false);
    record.stack = python_stack();
    spool_append_one(RECORD_CREATED, &record, sizeof record);
}

void nodes_cloned(const CUpti_GraphData *data) {
    struct cloned_record record = {0, 0};
    if (cupti.cuptiGetGraphNodeId(data->node, &record.node_id) == 0 &&
        cupti.cuptiGetGraphNodeId(data->original_node, &record.original_id) == 0)
        spool_append_one(RECORD_CLONED, &record, sizeof record);
}
