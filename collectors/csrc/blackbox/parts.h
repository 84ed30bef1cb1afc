/* What the parts of the wing share. */
#ifndef GVIZ_BLACKBOX_PARTS_H
#define GVIZ_BLACKBOX_PARTS_H

#include "blackbox/blackbox.h"
#include "records/records.h"

/* ---- core_dump.c -------------------------------------------------------------------------------- */

/* `calls_seen`: core_dump_call is called. */
void core_dump_start(bool calls_seen);
void core_dump_call(const CUpti_CallbackData *data);

/* ---- words.c: the mapped file ------------------------------------------------------------------- */

/* Map the file, once, and let the GPU write it. Needs a context. Returns NULL, or why not. */
const char *words_open(void);
/* Take so many words one after the other; their place, or UINT32_MAX: there are none left. */
uint32_t words_take(uint32_t count);
void words_give_back(uint32_t first, uint32_t count);
_Atomic uint32_t *words_at(uint32_t first); /* of the host */
CUdeviceptr words_on_device(uint32_t first);
void words_stop(void);
void words_abandon(void);

/* ---- ranges.c: the NVTX range of each node ----------------------------------------------------- */

void ranges_reset(void);
void ranges_add(uint64_t node_id, uint32_t path);
uint32_t ranges_of(uint64_t node_id); /* 0: none */

/* ---- crumbs.c: what launches leave -------------------------------------------------------------- */

struct crumbs {
    uint32_t graph_id, exec_id;
    uint32_t first; /* place of the words: of the launch's end, then of each crumb */
    uint32_t count; /* of crumbs */
    struct crumb *nodes;
    bool made;      /* there is a copy that leaves them */
    CUevent end;    /* behind each launch */
    CUcontext context;
    _Atomic uint32_t launches;
    uint64_t sum;      /* of the words and launches, when they were looked at last */
    uint64_t since_ns; /* when that changed */
    bool stalled;      /* and it was said */
    struct crumbs *next;
};

extern const struct lasting_maker crumbs_maker;
/* Call with each that is made, its lock held. */
void crumbs_each(void (*look)(struct crumbs *crumbs));
void crumbs_abandon(void);

/* ---- blackbox.c --------------------------------------------------------------------------------- */

/* Whether a result stays: no call to the GPU succeeds any more. */
bool is_fault(int result);

#endif
