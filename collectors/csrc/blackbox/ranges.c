/* The NVTX range in which each node was made: where it changes, a layer ends. */
#include "blackbox/parts.h"

#include <stdlib.h>

#define MOST_NODES (1u << 20)

struct place {
    uint64_t node_id; /* and 1 more, so that 0 is none */
    uint32_t path;
};

GVIZ_LOCK(lock);
static struct place *places; /* open addressing; the size is a power of two */
static size_t size, count;

static struct place *place_of(struct place *in, size_t in_size, uint64_t node_id) {
    size_t at = (size_t)(node_id * 0x9E3779B97F4A7C15ull >> 20) & (in_size - 1);
    while (in[at].node_id && in[at].node_id != node_id + 1)
        at = (at + 1) & (in_size - 1);
    return &in[at];
}

static bool grow(void) {
    size_t wanted = size ? 2 * size : 1024;
    struct place *grown = calloc(wanted, sizeof *grown);
    if (!grown)
        return false;
    for (size_t i = 0; i < size; i++)
        if (places[i].node_id)
            *place_of(grown, wanted, places[i].node_id - 1) = places[i];
    free(places);
    places = grown;
    size = wanted;
    return true;
}

void ranges_add(uint64_t node_id, uint32_t path) {
    pthread_mutex_lock(&lock);
    if (count < MOST_NODES && (2 * (count + 1) <= size || grow())) {
        struct place *place = place_of(places, size, node_id);
        count += !place->node_id;
        *place = (struct place){node_id + 1, path};
    }
    pthread_mutex_unlock(&lock);
}

uint32_t ranges_of(uint64_t node_id) {
    pthread_mutex_lock(&lock);
    const struct place *place = size ? place_of(places, size, node_id) : NULL;
    uint32_t path = place && place->node_id ? place->path : 0;
    pthread_mutex_unlock(&lock);
    return path;
}

void ranges_reset(void) {
    pthread_mutex_lock(&lock);
    free(places);
    places = NULL;
    size = count = 0;
    pthread_mutex_unlock(&lock);
}
