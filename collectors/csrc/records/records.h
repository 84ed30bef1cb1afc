/* The records of a spool: structures, and numbers that stand in them.
 *
 * Generated from gviz/spool/records by 'make docs'.
 */
#ifndef GVIZ_RECORDS_H
#define GVIZ_RECORDS_H

#include "core/core.h"

#define SPOOL_VERSION 1
#define WALK_FAILED 0xffffffffu
#define WHOLE_GRAPH 0xffffffffu
#define UNKNOWN_NODE 0xfffffffeu
#define NO_NODE 0xffffffffffffffffull
#define CAPTURE_STREAM_DESTROYED 1
#define CAPTURE_LEGACY_STREAM 2
#define CAPTURE_KEPT_GOING 4
#define LAUNCH_NODE_LEVEL 1
#define LAUNCH_EVENTS 2
#define LAUNCH_CAPTURED 4
#define LAUNCH_LATE 8
#define LAUNCH_COPY 16
#define ORIGIN_CAPTURE 1
#define ORIGIN_INSTANTIATE 2
#define ORIGIN_UNWANTED 1
#define OWN_IDS 1073741824
#define OWN_CORRELATIONS 0x80000000u
#define OUTSIDE_GRAPHS -1

enum record_type {
    RECORD_META = 1, /* JSON from Python: name, command, versions */
    RECORD_END = 2, /* Nothing: the recording was closed in order; or a word: it was, and trials of the process's last moment may come */
    RECORD_NOTE = 3, /* Kind, newline, a sentence for the reader of the recording */
    RECORD_COUNTER = 4, /* A number about the measuring itself: name, value, unit, method, in lines */
    RECORD_DEVICE = 10, /* A GPU */
    RECORD_WINDOW = 11, /* CUPTI's activity records are switched on or off */
    RECORD_BUFFER = 12, /* Raw CUPTI activity records */
    RECORD_STRING = 13, /* The text behind a kernel name's pointer */
    RECORD_CALL = 14, /* A launch, copy or memset call */
    RECORD_LIFE = 15, /* A driver call of a graph's life */
    RECORD_CALL_NAME = 16, /* The name of a driver call, by its number */
    RECORD_LAUNCH = 17, /* A cuGraphLaunch call */
    RECORD_LAUNCH_TIME = 18, /* GPU time between the events around a launch */
    RECORD_GRAPH = 19, /* A graph level, before its nodes and edges */
    RECORD_NODE = 20, /* A node as the topology walk read it */
    RECORD_EDGES = 21, /* The edges of a graph level */
    RECORD_FUNCTION = 22, /* A kernel's name and resources; -1: the driver did not say */
    RECORD_CREATED = 23, /* The time and place of a node's creation */
    RECORD_CLONED = 24, /* A node of a clone, and the node that it is a copy of */
    RECORD_STACK = 25, /* JSON from Python: a stack's number and its frames */
    RECORD_NVTX_PATH = 26, /* A text of NVTX ranges, below those that were open around it */
    RECORD_NVTX_RANGE = 27, /* An NVTX range that has ended */
    RECORD_DOT = 28, /* The driver's DOT text of a graph is in graph_ID.dot */
    RECORD_AUTOGRAD = 29, /* JSON from Python: a number for a stack, or a reason, with autograd's node and its number */
    RECORD_CAPTURE_ERROR = 30, /* A call that broke a capture; flags, stack and the last fields are the error's */
    RECORD_CAPTURE_FAILED = 31, /* The end of a capture that gave no graph */
    RECORD_UPDATES = 32, /* Equal updates of an executable: how many, since when, and their host time */
    RECORD_UPDATE_FAILED = 33, /* The driver's report on a whole-graph update that failed */
    RECORD_INSTANTIATE_FAILED = 34, /* The driver's report on an instantiation that failed */
    RECORD_DEVICE_MEMORY = 35, /* Free device memory before and after a step of an executable's life, in bytes */
    RECORD_RUNTIME_CALL_NAME = 36, /* The name of a runtime call, by its number */
    RECORD_UPDATES_PASSED = 37, /* Updates of a node that nobody was told of: their number, for equal ones that were told */
    RECORD_CONDITIONAL = 40, /* A conditional node */
    RECORD_PARAMETER = 41, /* A parameter of a node */
    RECORD_GRAPH_MEMORY = 42, /* Memory of alloc nodes on a device, in bytes */
    RECORD_FREED = 43, /* The program freed what a graph had allocated */
    RECORD_SIGNATURE = 44, /* JSON from Python: a kernel's symbol, the framework, names and types of its parameters */
    RECORD_NODE_TIMES = 50, /* The events of one launch that an instrumented copy made */
    RECORD_COLLECTOR = 52, /* What measures from here on, newline, why */
    RECORD_REFUSED = 53, /* Nodes of a graph are not timed */
    RECORD_CALIBRATION = 54, /* Time between two events around a node of a type beyond the node's own, on private chains */
    RECORD_OPERATIONS = 55, /* Work outside graphs with its times by events */
    RECORD_PERIOD = 60, /* Recording begins or ends, and why */
    RECORD_ALTERNATION = 61, /* JSON from Python: a graph and its work eagerly, timed alternately */
    RECORD_LAUNCHES_PASSED = 62, /* Launches of an executable of which only the number is known */
    RECORD_VISITED = 63, /* A launch in a window that CUPTI came for: its ids, and CUPTI's */
    RECORD_GRAPH_ORIGIN = 70, /* The place where a graph's capture began, or where it was instantiated */
    RECORD_TRIAL = 71, /* A trial of an executable's graph */
    RECORD_TRIAL_REFUSED = 72, /* A trial was not made, or none of an executable's graph */
    RECORD_STOPPED = 75, /* Why collecting stopped before its end; the last record */
    RECORD_CRUMBS = 80, /* The words of file crumbs that launches of an executable write */
    RECORD_CRUMBS_REFUSED = 81, /* Launches of an executable leave no crumbs, or no more of them */
    RECORD_FAULT = 82, /* The GPU failed, or a launch makes no progress */
    RECORD_BLOCK = 83, /* A block of device memory that the program has allocated or mapped, or freed */
    RECORD_VALUES = 90, /* Values of nodes, read in one slice */
    RECORD_VALUES_REFUSED = 91, /* The values of an executable's nodes were not read, or not all of them */
};

/* Cause of the begin or the end of a period */
enum period_reason {
    PERIOD_ATTACHED = 1,
    PERIOD_DELAY = 2,
    PERIOD_CALL = 3,
    PERIOD_SIGNAL = 4,
    PERIOD_RETURNED = 5,
    PERIOD_DURATION = 6,
    PERIOD_LAUNCHES = 7,
    PERIOD_LEFT = 8,
    PERIOD_END = 9,
    PERIOD_FOLLOWED = 10,
    PERIOD_RANGE = 11,
    PERIOD_REQUEST = 12,
};

/* Cause of the opening of a window */
enum window_reason {
    WINDOW_EAGER = 1,
    WINDOW_LAUNCHES = 2,
};

/* Step of an executable's life that takes device memory */
enum memory_step {
    MEMORY_INSTANTIATE = 1,
    MEMORY_UPLOAD = 2,
    MEMORY_FIRST_LAUNCH = 3,
};

/* Cause of the lack of a Python stack, in place of a stack's number */
enum stack_reason {
    STACK_NOT_REQUESTED = 0,
    STACK_NO_PYTHON_THREAD = -1,
    STACK_SHUTDOWN = -2,
    STACK_FAILED = -3,
    STACK_NOT_PYTHON = -4,
    STACK_PYTHON_UNPREPARED = -5,
};

/* Origin of a graph's name */
enum name_kind {
    NAME_NONE = 0,
    NAME_EXPLICIT = 1,
    NAME_FRAMEWORK = 2,
};

/* Edit of a graph that a trial is about; EXECUTABLE and CONTROL: none */
enum trial_kind {
    TRIAL_ANY = 0,
    TRIAL_EXECUTABLE = 1,
    TRIAL_CONTROL = 2,
    TRIAL_IMPLIED = 3,
    TRIAL_DELAY = 4,
    TRIAL_PRIORITY = 5,
    TRIAL_ORDER = 6,
    TRIAL_SERIAL = 7,
    TRIAL_LAYER = 8,
    TRIAL_OFF = 9,
    TRIAL_HALF = 10,
};

/* Of what two copies of a graph leave in memory, whether it is the same */
enum trial_results {
    TRIAL_NOT_TESTED = 0,
    TRIAL_EQUAL = 1,
    TRIAL_DIFFERENT = 2,
};

/* One change of a copy */
enum change_kind {
    CHANGE_CUT = 1,
    CHANGE_DELAY = 2,
    CHANGE_PRIORITY = 3,
    CHANGE_MOVE = 4,
    CHANGE_JOIN = 5,
    CHANGE_OFF = 6,
    CHANGE_SPIN = 7,
};

/* A thing that the black box sees while the program runs */
enum fault_kind {
    FAULT_ERROR = 1,
    FAULT_STALL = 2,
};

/* The type of an array's elements; BYTES: nothing says what they are.

    The numbers stand in recordings.
     */
enum element_type {
    ELEMENT_BYTES = 0,
    ELEMENT_BOOL = 1,
    ELEMENT_INT8 = 2,
    ELEMENT_UINT8 = 3,
    ELEMENT_INT16 = 4,
    ELEMENT_UINT16 = 5,
    ELEMENT_INT32 = 6,
    ELEMENT_UINT32 = 7,
    ELEMENT_INT64 = 8,
    ELEMENT_UINT64 = 9,
    ELEMENT_HALF = 10,
    ELEMENT_BFLOAT16 = 11,
    ELEMENT_FLOAT = 12,
    ELEMENT_DOUBLE = 13,
    ELEMENT_FP8_E4M3 = 14,
    ELEMENT_FP8_E5M2 = 15,
};

/* End of memory that was probed; BLOCK is one of an allocator of the program's, as a whole */
enum value_extent {
    VALUE_REPORTED = 1,
    VALUE_NEXT = 3,
    VALUE_ALLOCATION = 4,
    VALUE_BLOCK = 5,
    VALUE_BLOCK_END = 6,
};

/* Remark on a value, in bits */
enum value_flag {
    VALUE_TYPE_ELSEWHERE = 1,
    VALUE_VARIES_BEFORE = 2,
    VALUE_VARIES_AFTER = 4,
};

/* The beginning of a segment file */
struct segment_header {
    char magic[8]; /* GVIZSPL1 */
    uint32_t version;
    uint32_t number;
    uint64_t capacity;
    _Atomic uint64_t committed; /* offset past the last whole record */
    uint64_t process_id;
    uint64_t process_start; /* clock ticks after boot; 0: not known */
    uint64_t reserved[2];
};
_Static_assert(sizeof(struct segment_header) == 64, "its size");

/* The beginning of a record; size bytes follow, and zeros up to a multiple of 8 */
struct record_header {
    uint32_t type;
    uint32_t size;
};
_Static_assert(sizeof(struct record_header) == 8, "its size");

/* A kernel argument, after its node */
struct argument_record {
    uint32_t size;
    uint16_t padded; /* bytes that the value takes here */
    uint16_t start; /* one more than where it stands in the memory that the parameters take; 0: not recorded */
    uint64_t allocation; /* that it points into; 0: none */
    uint64_t allocation_bytes;
    /* then: value */
};
_Static_assert(sizeof(struct argument_record) == 24, "its size");

/* An edge, in an EDGES record */
struct edge_record {
    uint32_t from_id;
    uint32_t to_id;
    uint8_t from_port;
    uint8_t to_port;
    uint8_t type; /* CUgraphDependencyType */
    uint8_t padding[1];
};
_Static_assert(sizeof(struct edge_record) == 12, "its size");

/* Two events around a node, in a NODE_TIMES record */
struct node_time {
    uint32_t graph_id;
    uint32_t node_id;
    uint64_t start_ns; /* from the launch's start event to the event before the node */
    uint64_t between_ns; /* from there to the event after it */
};
_Static_assert(sizeof(struct node_time) == 24, "its size");

/* A call outside graphs, and when its work ran by two events, in an OPERATIONS record */
struct operation {
    uint32_t correlation;
    int32_t type; /* CUgraphNodeType of the same work */
    uint32_t stream_id; /* 0xffffffff: not known */
    int32_t device_id;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_mem_bytes;
    uint32_t copy_kind; /* CUpti_ActivityMemcpyKind, 0: not known */
    uint32_t after_call; /* 1: start_ns is the latter */
    uint32_t padding;
    uint64_t function; /* key of a FUNCTION record; 0: it is no kernel */
    int64_t bytes; /* -1: not known, or it moves none */
    uint64_t start_ns; /* host time of the event before the call, or when the call had handed the work over */
    uint64_t end_ns; /* of the event after the call */
};
_Static_assert(sizeof(struct operation) == 88, "its size");

/* A change of the copy, in a TRIAL record */
struct trial_edit {
    uint32_t kind; /* enum change_kind */
    uint32_t graph_id;
    uint32_t node_id; /* of a dependency that is cut or added, the node that is waited for */
    uint32_t to_node_id; /* and the one that waits; of an order of creation, the node that comes next */
    uint64_t value_ns; /* of a delay */
};
_Static_assert(sizeof(struct trial_edit) == 24, "its size");

/* Two launches, one after the other in whichever order, in a TRIAL record after its edits */
struct trial_pair {
    uint64_t unedited_ns; /* without the edit, between two events around the launch */
    uint64_t edited_ns; /* with it */
};
_Static_assert(sizeof(struct trial_pair) == 16, "its size");

/* A node whose end leaves a crumb, in a CRUMBS record */
struct crumb {
    uint32_t graph_id;
    uint32_t node_id;
};
_Static_assert(sizeof(struct crumb) == 8, "its size");

/* Memory that a node is given, in a VALUES record */
struct probed_value {
    uint32_t graph_id;
    uint32_t node_id;
    uint32_t place; /* of the node in the order in which the copy ran them */
    uint32_t position; /* of the argument; of a copy 0 is what it writes, and 1 what it reads */
    uint32_t offset; /* of the address in the argument */
    uint32_t type; /* enum element_type */
    uint32_t extent; /* enum value_extent */
    uint32_t flags; /* enum value_flag */
    uint64_t address; /* that the node is given */
    uint64_t start; /* of what was read, from there */
    uint64_t bytes;
    uint64_t hash_before;
    uint64_t hash_after;
    uint64_t nan_before;
    uint64_t infinite_before;
    uint64_t zero_before;
    uint64_t finite_before;
    double least_before;
    double greatest_before;
    double sum_before; /* of the finite ones, as least and greatest */
    uint64_t nan_after;
    uint64_t infinite_after;
    uint64_t zero_after;
    uint64_t finite_after;
    double least_after;
    double greatest_after;
    double sum_after;
};
_Static_assert(sizeof(struct probed_value) == 184, "its size");

/* Memory that a launch of the executable wrote to, somewhere in it, in a VALUES record */
struct written_piece {
    uint64_t address;
    uint64_t bytes;
};
_Static_assert(sizeof(struct written_piece) == 16, "its size");

/* A GPU */
struct device_record {
    int32_t ordinal;
    int32_t major;
    int32_t minor;
    int32_t multiprocessors;
    int32_t max_threads;
    uint32_t padding;
    uint64_t memory_bytes;
    char bus_id[32];
    /* then: name */
};
_Static_assert(sizeof(struct device_record) == 64, "its size");

/* CUPTI's activity records are switched on or off */
struct window_record {
    uint64_t time_ns;
    uint32_t is_open;
    uint32_t reason; /* enum window_reason */
};
_Static_assert(sizeof(struct window_record) == 16, "its size");

/* Raw CUPTI activity records */
struct buffer_record {
    uint32_t records;
    uint32_t valid_bytes;
    /* then: buffer: an offset of 4 bytes for each record, padded to 8, then the bytes */
};
_Static_assert(sizeof(struct buffer_record) == 8, "its size");

/* The text behind a kernel name's pointer */
struct string_record {
    uint64_t pointer;
    /* then: text */
};
_Static_assert(sizeof(struct string_record) == 8, "its size");

/* A launch, copy or memset call */
struct call_record {
    uint32_t call;
    uint32_t correlation;
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t thread_id;
    int32_t result;
};
_Static_assert(sizeof(struct call_record) == 32, "its size");

/* A driver call of a graph's life */
struct life_record {
    uint32_t call;
    uint32_t correlation;
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t thread_id;
    int32_t result;
    uint32_t graph_id;
    uint32_t exec_id;
    uint64_t flags; /* of cuGraphClone: the id of the copy */
    uint32_t stream_id;
    uint32_t mode;
};
_Static_assert(sizeof(struct life_record) == 56, "its size");

/* The name of a driver call, by its number */
struct call_name_record {
    uint32_t call;
    /* then: name */
};
_Static_assert(sizeof(struct call_name_record) == 4, "its size");

/* A cuGraphLaunch call */
struct launch_record {
    uint32_t exec_id;
    uint32_t correlation;
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t thread_id;
    int32_t result;
    uint32_t stream_id;
    uint32_t flags; /* LAUNCH_* */
    uint64_t token; /* of the events around it */
};
_Static_assert(sizeof(struct launch_record) == 48, "its size");

/* GPU time between the events around a launch */
struct launch_time_record {
    uint64_t token;
    uint64_t duration_ns;
};
_Static_assert(sizeof(struct launch_time_record) == 16, "its size");

/* Launches of an executable of which only the number is known */
struct launches_passed_record {
    uint32_t exec_id;
    uint32_t launches;
    uint64_t from_ns; /* when the launch before them was recorded */
    uint64_t to_ns; /* none of them is later */
};
_Static_assert(sizeof(struct launches_passed_record) == 24, "its size");

/* A launch in a window that CUPTI came for: its ids, and CUPTI's */
struct visited_record {
    uint32_t exec_id;
    uint32_t correlation;
    uint32_t cupti_exec_id;
    uint32_t cupti_correlation;
};
_Static_assert(sizeof(struct visited_record) == 16, "its size");

/* A graph level, before its nodes and edges */
struct graph_record {
    uint32_t graph_id;
    uint32_t exec_id;
    uint32_t parent_graph_id;
    uint32_t parent_node_id;
    uint32_t branch; /* of the conditional node that the level is a body of */
    uint32_t nodes;
    uint32_t edges;
    uint32_t reserved;
};
_Static_assert(sizeof(struct graph_record) == 32, "its size");

/* A node as the topology walk read it */
struct node_record {
    uint32_t graph_id;
    uint32_t node_id;
    int32_t type; /* CUgraphNodeType */
    int32_t device_id;
    uint64_t function; /* key of a FUNCTION record */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_mem_bytes;
    int32_t max_blocks;
    int32_t priority;
    int32_t cooperative;
    int32_t source_type; /* CUmemorytype, of a copy; so is the destination's */
    int32_t destination_type;
    uint64_t bytes;
    uint64_t source;
    uint64_t destination;
    uint32_t value;
    uint32_t element_bytes;
    uint32_t child_graph_id;
    uint32_t argument_count; /* of struct argument_record that follow, each with its padded value */
    /* then: arguments */
};
_Static_assert(sizeof(struct node_record) == 112, "its size");

/* The edges of a graph level */
struct edges_record {
    uint32_t graph_id;
    uint32_t edge_count;
    /* then: edges: struct edge_record */
};
_Static_assert(sizeof(struct edges_record) == 8, "its size");

/* A kernel's name and resources; -1: the driver did not say */
struct function_record {
    uint64_t key;
    int32_t registers;
    int32_t static_shared_bytes;
    int32_t local_bytes;
    int32_t max_threads;
    /* then: name: mangled */
};
_Static_assert(sizeof(struct function_record) == 24, "its size");

/* The time and place of a node's creation */
struct created_record {
    uint64_t node_id; /* its graph's id << 32 | its own */
    uint64_t time_ns;
    uint32_t thread_id;
    uint32_t stream_id;
    uint32_t nvtx_path;
    int32_t stack; /* > 0: of a STACK or AUTOGRAD record, else enum stack_reason */
    int32_t type;
    uint32_t padding;
};
_Static_assert(sizeof(struct created_record) == 40, "its size");

/* A node of a clone, and the node that it is a copy of */
struct cloned_record {
    uint64_t node_id;
    uint64_t original_id;
};
_Static_assert(sizeof(struct cloned_record) == 16, "its size");

/* A text of NVTX ranges, below those that were open around it */
struct nvtx_path_record {
    uint32_t path_id;
    uint32_t parent_id;
    /* then: text: domain, newline, text */
};
_Static_assert(sizeof(struct nvtx_path_record) == 8, "its size");

/* An NVTX range that has ended */
struct nvtx_range_record {
    uint32_t path_id;
    uint32_t thread_id;
    uint64_t start_ns;
    uint64_t end_ns;
};
_Static_assert(sizeof(struct nvtx_range_record) == 24, "its size");

/* The driver's DOT text of a graph is in graph_ID.dot */
struct dot_record {
    uint32_t graph_id;
};
_Static_assert(sizeof(struct dot_record) == 4, "its size");

/* A call that broke a capture; flags, stack and the last fields are the error's */
struct capture_error_record {
    uint32_t sequence;
    uint32_t graph_id;
    uint32_t thread_id;
    uint32_t stream_id;
    uint32_t mode;
    uint32_t flags;
    uint64_t start_ns; /* of the capture */
    uint64_t time_ns;
    uint32_t call;
    uint32_t runtime_call; /* 0: none known */
    int32_t result;
    uint32_t error_thread;
    uint32_t error_stream;
    int32_t stack;
    uint32_t nvtx_path;
    uint32_t padding;
};
_Static_assert(sizeof(struct capture_error_record) == 72, "its size");

/* The end of a capture that gave no graph */
struct capture_failed_record {
    uint32_t sequence;
    uint32_t graph_id;
    uint32_t thread_id;
    uint32_t stream_id;
    uint32_t mode;
    uint32_t flags; /* 1: the graph's nodes stand before this record */
    uint64_t start_ns;
    uint64_t end_ns;
    int32_t result;
    uint32_t end_thread;
};
_Static_assert(sizeof(struct capture_failed_record) == 48, "its size");

/* Equal updates of an executable: how many, since when, and their host time */
struct updates_record {
    uint32_t exec_id;
    uint32_t node_id; /* WHOLE_GRAPH: cuGraphExecUpdate */
    uint32_t call;
    int32_t result;
    uint32_t value; /* 0 or 1 of cuGraphNodeSetEnabled; CUgraphExecUpdateResult */
    uint32_t calls;
    uint32_t thread_id;
    uint32_t graph_id; /* of the node */
    uint64_t first_ns; /* start of the first call */
    uint64_t last_ns;
    uint64_t total_ns; /* host time of all */
};
_Static_assert(sizeof(struct updates_record) == 56, "its size");

/* Updates of a node that nobody was told of: their number, for equal ones that were told */
struct updates_passed_record {
    uint32_t exec_id;
    uint32_t graph_id; /* of the node */
    uint32_t node_id;
    uint32_t call;
    uint64_t updates;
    uint64_t to_ns; /* none of them is later */
};
_Static_assert(sizeof(struct updates_passed_record) == 32, "its size");

/* The driver's report on a whole-graph update that failed */
struct update_failed_record {
    uint32_t exec_id;
    uint32_t graph_id;
    uint32_t call;
    uint32_t thread_id;
    uint64_t start_ns;
    uint64_t end_ns;
    int32_t result; /* CUresult */
    int32_t detail; /* CUgraphExecUpdateResult, -1: not known */
    uint64_t error_node; /* graph << 32 | node, NO_NODE: none named; so is error_from */
    uint64_t error_from;
    uint32_t walked; /* 1: the graph's nodes stand before this record */
    uint32_t padding;
};
_Static_assert(sizeof(struct update_failed_record) == 64, "its size");

/* The driver's report on an instantiation that failed */
struct instantiate_failed_record {
    uint32_t graph_id;
    uint32_t call;
    uint32_t thread_id;
    uint32_t walked; /* 1: the graph's nodes stand before this record */
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t flags;
    int32_t result; /* CUresult */
    int32_t detail; /* CUgraphInstantiateResult, -1: not known */
    uint64_t error_node; /* graph << 32 | node, NO_NODE: none named */
};
_Static_assert(sizeof(struct instantiate_failed_record) == 56, "its size");

/* Free device memory before and after a step of an executable's life, in bytes */
struct device_memory_record {
    uint32_t exec_id;
    uint32_t step; /* enum memory_step */
    uint64_t free_before;
    uint64_t free_after;
};
_Static_assert(sizeof(struct device_memory_record) == 24, "its size");

/* The name of a runtime call, by its number */
struct runtime_call_name_record {
    uint32_t call;
    /* then: name */
};
_Static_assert(sizeof(struct runtime_call_name_record) == 4, "its size");

/* A conditional node */
struct conditional_record {
    uint32_t graph_id;
    uint32_t node_id;
    int32_t type; /* CUgraphConditionalNodeType */
    uint32_t size;
    uint64_t handle;
    uint32_t bodies; /* that are known, of all */
    uint32_t padding;
};
_Static_assert(sizeof(struct conditional_record) == 32, "its size");

/* A parameter of a node */
struct parameter_record {
    uint32_t graph_id;
    uint32_t node_id;
    /* then: text: name, newline, value */
};
_Static_assert(sizeof(struct parameter_record) == 8, "its size");

/* Memory of alloc nodes on a device, in bytes */
struct graph_memory_record {
    uint64_t time_ns;
    int32_t device_id;
    uint32_t padding;
    uint64_t used;
    uint64_t used_high;
    uint64_t reserved;
    uint64_t reserved_high;
};
_Static_assert(sizeof(struct graph_memory_record) == 48, "its size");

/* The program freed what a graph had allocated */
struct freed_record {
    uint64_t time_ns;
    uint64_t address;
    uint32_t call;
    uint32_t thread_id;
};
_Static_assert(sizeof(struct freed_record) == 24, "its size");

/* The events of one launch that an instrumented copy made */
struct node_times_record {
    uint32_t correlation;
    uint32_t exec_id;
    uint32_t nodes;
    uint32_t slices;
    int32_t device_id;
    uint32_t padding;
    uint64_t position_ns; /* host time of the start event, 0: not known */
    uint64_t extent_ns; /* from the start event to the end event */
    /* then: times: struct node_time; decoded, an array of dtype NODE_TIME */
};
_Static_assert(sizeof(struct node_times_record) == 40, "its size");

/* Time between two events around a node of a type beyond the node's own, on private chains */
struct calibration_record {
    int32_t device_id;
    int32_t type; /* CUgraphNodeType; OUTSIDE_GRAPHS: of kernels that are launched on a stream */
    int64_t bias_ns; /* ``raw_ns - chain_ns`` */
    int64_t early_bias_ns; /* of nodes that ran while the launch call had not returned */
    int64_t spread_ns; /* median deviation from ``raw_ns`` */
    int64_t raw_ns; /* median time between the two events */
    int64_t chain_ns; /* time of a node and the way to the next, in the same chain without events */
    uint32_t samples;
    uint32_t early_samples;
};
_Static_assert(sizeof(struct calibration_record) == 56, "its size");

/* Work outside graphs with its times by events */
struct operations_record {
    uint32_t operations;
    uint32_t reserved;
    /* then: work: struct operation; decoded, an array of dtype OPERATION */
};
_Static_assert(sizeof(struct operations_record) == 8, "its size");

/* Nodes of a graph are not timed */
struct refused_record {
    uint32_t graph_id;
    uint32_t exec_id;
    /* then: why: in words */
};
_Static_assert(sizeof(struct refused_record) == 8, "its size");

/* Recording begins or ends, and why */
struct period_record {
    uint64_t time_ns;
    uint32_t begins;
    uint32_t reason; /* enum period_reason */
    /* then: profiler: that CUPTI is left to */
};
_Static_assert(sizeof(struct period_record) == 16, "its size");

/* The place where a graph's capture began, or where it was instantiated */
struct origin_record {
    uint32_t graph_id;
    uint32_t exec_id; /* 0: of its capture */
    uint32_t kind; /* ORIGIN_CAPTURE or ORIGIN_INSTANTIATE */
    uint32_t nvtx_path;
    int32_t stack; /* as of struct created_record */
    uint32_t thread_id;
    uint32_t flags;
    uint32_t name_kind; /* enum name_kind */
    uint64_t time_ns;
    /* then: name: that the program or a framework gave */
};
_Static_assert(sizeof(struct origin_record) == 40, "its size");

/* A trial of an executable's graph */
struct trial_record {
    uint32_t graph_id;
    uint32_t exec_id;
    uint32_t kind; /* enum trial_kind */
    uint32_t results; /* enum trial_results */
    uint32_t edits;
    uint32_t pairs;
    uint64_t begin_ns;
    uint64_t held_ns; /* how long calls of the program were held */
    uint64_t saved_bytes; /* device memory that was saved and restored */
    /* then: tail: struct trial_edit, then struct trial_pair */
};
_Static_assert(sizeof(struct trial_record) == 48, "its size");

/* A trial was not made, or none of an executable's graph */
struct trial_refused_record {
    uint32_t graph_id;
    uint32_t exec_id;
    uint32_t kind; /* enum trial_kind */
    uint32_t reserved;
    /* then: why: in words */
};
_Static_assert(sizeof(struct trial_refused_record) == 16, "its size");

/* The words of file crumbs that launches of an executable write */
struct crumbs_record {
    uint32_t graph_id;
    uint32_t exec_id;
    uint32_t first; /* place of the first word */
    uint32_t crumb_count; /* of struct crumb that follow: of the words after the first */
    /* then: crumbs */
};
_Static_assert(sizeof(struct crumbs_record) == 16, "its size");

/* Launches of an executable leave no crumbs, or no more of them */
struct crumbs_refused_record {
    uint32_t graph_id;
    uint32_t exec_id;
    /* then: why: in words */
};
_Static_assert(sizeof(struct crumbs_refused_record) == 8, "its size");

/* The GPU failed, or a launch makes no progress */
struct fault_record {
    uint64_t time_ns;
    uint32_t kind; /* enum fault_kind */
    int32_t result; /* CUresult */
    uint32_t exec_id; /* of the executable whose launch was seen to fail or to stall; 0: not known */
    uint32_t reserved;
};
_Static_assert(sizeof(struct fault_record) == 24, "its size");

/* A block of device memory that the program has allocated or mapped, or freed */
struct block_record {
    uint64_t time_ns;
    uint64_t address;
    uint64_t bytes; /* of memory that is freed, those in which the blocks begin that are */
    uint32_t freed; /* 1, else 0 */
    uint32_t reserved;
};
_Static_assert(sizeof(struct block_record) == 32, "its size");

/* Values of nodes, read in one slice */
struct values_record {
    uint32_t graph_id;
    uint32_t exec_id;
    uint32_t values;
    uint32_t pieces;
    uint32_t results; /* enum trial_results: of the copy, against the program's executable */
    uint32_t repeats; /* enum trial_results: of what two launches of the copy read */
    uint32_t whole; /* 1: all nodes of the graph were probed at once */
    uint32_t by_calls; /* 1: of stream calls, which are the graph's nodes; nothing was launched */
    uint64_t begin_ns;
    uint64_t held_ns; /* how long calls of the program were held */
    uint64_t saved_bytes; /* device memory that was saved and restored */
    uint64_t probed_bytes; /* that the probes of a launch read */
    uint64_t plain_ns; /* a launch of the executable */
    uint64_t probed_ns; /* a launch of the copy */
    /* then: tail: struct probed_value, then struct written_piece */
};
_Static_assert(sizeof(struct values_record) == 80, "its size");

/* The values of an executable's nodes were not read, or not all of them */
struct values_refused_record {
    uint32_t graph_id;
    uint32_t exec_id;
    /* then: why: in words */
};
_Static_assert(sizeof(struct values_refused_record) == 8, "its size");

#endif
