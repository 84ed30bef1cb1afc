/* What the parts of the wing share. */
#ifndef GVIZ_TOLD_PARTS_H
#define GVIZ_TOLD_PARTS_H

#include "told/told.h"

/* ---- streams.c: numbers of streams ---------------------------------------------------------- */

void streams_reset(void);
void stream_made(CUstream stream);
void stream_ends(CUstream stream); /* or, of a context, the one without a handle */
/* In place of cuptiGetStreamIdEx. A stream that is being captured has a number only if it was met
 * before. */
CUptiResult stream_number(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id);

#endif
