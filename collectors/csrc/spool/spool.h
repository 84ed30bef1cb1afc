/* Spool: the only way out. */
#ifndef GVIZ_SPOOL_H
#define GVIZ_SPOOL_H

#include "state/state.h"

/* Record types. The payloads are described in gviz/spool/records/format.py. */
enum record_type {
    RECORD_META = 1,        /* JSON from Python: name, command, versions */
    RECORD_END = 2,         /* recording closed in order */
    RECORD_NOTE = 3,        /* a sentence for the reader of the recording */
    RECORD_COUNTER = 4,     /* one number about the measuring itself */
    RECORD_DEVICE = 10,
    RECORD_WINDOW = 11,
    RECORD_BUFFER = 12,     /* raw CUPTI activity records */
    RECORD_STRING = 13,     /* the text behind a kernel-name pointer */
    RECORD_CALL = 14,       /* host times of a launch, copy or memset call */
    RECORD_LIFE = 15,       /* a driver call of a graph's life */
    RECORD_CALL_NAME = 16,
    RECORD_LAUNCH = 17,
    RECORD_LAUNCH_TIME = 18,
    RECORD_GRAPH = 19,
    RECORD_NODE = 20,
    RECORD_EDGES = 21,
    RECORD_FUNCTION = 22,
    RECORD_CREATED = 23,
    RECORD_CLONED = 24,
    RECORD_STACK = 25,      /* JSON from Python */
    RECORD_NVTX_PATH = 26,
    RECORD_NVTX_RANGE = 27,
    RECORD_DOT = 28,        /* the driver's DOT text of a graph */
    RECORD_CAPTURE_ERROR = 30,      /* a call that broke a capture */
    RECORD_CAPTURE_FAILED = 31,     /* the end of a capture that gave no graph */
    RECORD_UPDATES = 32,            /* equal updates of an executable, summed */
    RECORD_UPDATE_FAILED = 33,      /* what the driver said about one whole-graph update */
    RECORD_INSTANTIATE_FAILED = 34, /* what it said about an instantiation */
    RECORD_DEVICE_MEMORY = 35,      /* free memory before and after a step of a graph's life */
    RECORD_RUNTIME_CALL_NAME = 36,
    RECORD_CONDITIONAL = 40, /* type, size and handle of a conditional node */
    RECORD_PARAMETER = 41,  /* a node's parameter as text: name, newline, value */
    RECORD_GRAPH_MEMORY = 42,
    RECORD_FREED = 43,      /* the program freed what a graph had allocated */
    RECORD_NODE_TIMES = 50,  /* node times of one launch, by events */
    RECORD_CALIBRATION = 51, /* what two events around a node measure beside it */
    RECORD_COLLECTOR = 52,   /* what measures from here on, and why */
    RECORD_REFUSED = 53,     /* why no copy may take a graph's place */
    RECORD_PERIOD = 60,     /* gviz begins or ends to record, and why */
    RECORD_GRAPH_ORIGIN = 70, /* where a graph was captured or instantiated */
    RECORD_STOPPED = 75,    /* why collecting stopped before its end; the last record */
};

struct slice {
    const void *data;
    size_t size;
};

int spool_open(const char *directory);
void spool_close(void);
/* After fork(): forget the parent's spool without touching it. */
void spool_abandon(void);
/* Append one record made of up to several pieces. Returns 0, or -1 when the disk is full. */
int spool_append(uint32_t type, const struct slice *slices, int count);
int spool_append_one(uint32_t type, const void *data, size_t size);
bool spool_is_open(void);
const char *spool_directory(void);
uint64_t spool_bytes(void);

/* Turn the collectors off after an inner failure; says so once on stderr, until it is reset. */
void give_up(const char *why);
void give_up_reset(void);
/* A sentence for the reader of the recording, and a number about the measuring itself. */
void note(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
void counter(const char *name, double value, const char *unit, const char *method);

#endif
