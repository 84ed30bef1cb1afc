/* Told: the program's driver calls as the gate tells of them, in the words of CUPTI's callbacks.
 *
 * Where CUPTI is not to be in the process, these functions stand in for CUPTI's in `cupti`: callbacks
 * of calls and resources, ids, names, the clock. There are no activity records, no clones of nodes
 * and no calls of the CUDA runtime.
 */
#ifndef GVIZ_TOLD_H
#define GVIZ_TOLD_H

#include "core/core.h"

bool told_available(void); /* the gate is in this process */
void told_take_over(void);
bool told_in_place(void); /* of CUPTI's functions */
/* Whether another thread is inside a launch. */
bool told_launches_elsewhere(void);
/* Write what the gate did, where there is one. */
void told_counters(void);

#endif
