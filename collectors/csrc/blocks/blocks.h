/* Blocks: the device memory of the process, from the calls that make and free it. */
#ifndef GVIZ_BLOCKS_H
#define GVIZ_BLOCKS_H

#include "state/state.h"

struct block {
    CUdeviceptr address;
    size_t bytes;
    bool closed; /* it is mapped, and the GPU may not read and write it */
};

/* Calls are watched. `recorded`: blocks go into the spool, too. */
void blocks_start(bool recorded);
bool blocks_follow(uint32_t cbid); /* whether they change by this call */
/* A call that was kept (calls_keep), before and after it is made. */
void blocks_call(const CUpti_CallbackData *data, uint32_t cbid);
/* Why the memory of the process cannot be accounted for, or NULL. Needs the context. */
const char *blocks_obstacle(int device);
/* A number that is another whenever blocks, or what addresses are of on the host, may have changed; never 0. */
uint64_t blocks_changes(void);
/* When memory was last given back; 0: never. */
uint64_t blocks_freed_ns(void);
/* Whether all of these bytes are in one block. */
bool blocks_hold(CUdeviceptr address, size_t bytes);
/* A copy of them, to be freed; NULL without memory. */
struct block *blocks_list(size_t *count, size_t *bytes);

/* ---- growth.c: what the driver takes for itself ------------------------------------------------------ */

bool growth_wants(uint32_t cbid, const char *name);
void growth_call(const CUpti_CallbackData *data, uint32_t cbid);
/* Around what gviz makes itself, on one thread. */
void growth_open(void);
void growth_close(void);
/* Another call of the program that may change what is free. */
void growth_disturb(void);
/* What was free before the program's first call that was counted; 0: none was. */
size_t growth_free_at_first(void);
/* Bytes since growth_begin(), or else that call, less what it gave back. */
int64_t growth_bytes(void);
void growth_begin(void);
void growth_reset(void);

#endif
