/* Spool: the only way out. */
#ifndef GVIZ_SPOOL_H
#define GVIZ_SPOOL_H

#include "records/records.h"
#include "state/state.h"

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
/* Make a file of so many bytes, reserved and zero, and map it. NULL: errno says why. */
void *spool_map(const char *path, size_t bytes);
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
