/* The inside of the fake CUPTI 13.0: what its files share. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include "fake.h"

typedef int CUptiResult;

enum {
    CUPTI_SUCCESS = 0,
    CUPTI_ERROR_INVALID_PARAMETER = 1,
    CUPTI_ERROR_INVALID_CONTEXT = 3,
    CUPTI_ERROR_INVALID_OPERATION = 7,
    CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
    CUPTI_ERROR_NOT_INITIALIZED = 15,
    CUPTI_ERROR_INVALID_KIND = 21,
    CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
    CUPTI_ERROR_UNKNOWN = 999,
};

enum { DOMAIN_DRIVER_API = 1, DOMAIN_RUNTIME_API = 2, DOMAIN_RESOURCE = 3, DOMAIN_COUNT = 8 };
enum { KIND_MEMCPY = 1, KIND_MEMSET = 2, KIND_CONCURRENT_KERNEL = 10, KIND_GRAPH_TRACE = 51,
       KIND_GRAPH_HOST_NODE = 56, KIND_COUNT = 64 };

/* cuptiGetVersion: FAKE_CUPTI_VERSION, else 13.0.1's. Host nodes are recorded from 13.1 on. */
uint32_t cupti_version(void);
enum { VERSION_OF_HOST_NODES = 130100 };

/* -- cupti_records.c: one operation as CUPTI 13.0.85 lays it out ------------------------------- */
int kind_of(const struct activity *activity);
size_t record_bytes(uint32_t kind); /* 0: a kind that the fake never writes */
size_t write_record(void *record, const struct activity *activity);
/* Take a record's times away, as the real one does for work it has not seen the end of. */
void clear_times(void *record);
void turn_times(void *record);

/* -- cupti_activity.c ----------------------------------------------------------------------------- */
void take_activity(const struct activity *activity);

/* Plug the fake CUPTI into the fake driver; later calls do nothing. */
void attach(void);
/* Never return, where this is set. */
void hang(const char *setting);

#endif
