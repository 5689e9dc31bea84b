#ifndef TIMING_SM_UNIT_SLEEP_H
#define TIMING_SM_UNIT_SLEEP_H
/* Warps that a unit puts to sleep: warps of CTAs that neither fetch nor issue until the unit wakes them (PATH_TURN). A
 * barrier releases a sleeping warp as it releases other warps. A sleeping warp keeps its slot and is resident, but it
 * is not live: schedulers do not pick it, and statistics of live warps do not count it. Units without after_issue()
 * must put no warp to sleep. */
#include <stdbool.h>
#include <stdint.h>

struct sm;
struct warp_set;

/* Puts a live warp to sleep. Allowed in warp_start() and after_issue(). Requires a warp of a CTA that has not finished
 * and has nothing in flight. */
void sm_sleep(struct sm *sm, uint32_t slot, uint64_t now);
/* Wakes the warp in `cycle`, at the earliest `now`. Allowed in after_issue(). */
void sm_rouse(struct sm *sm, uint32_t slot, uint64_t cycle, uint64_t now);

/* Returns true if the warp sleeps. A warp that is being woken still counts as sleeping. */
bool sm_is_asleep(const struct sm *sm, uint32_t slot);
bool sm_is_waking(const struct sm *sm, uint32_t slot);
/* Returns true if warps of CTAs may sleep, since a unit has after_issue(). */
bool sm_may_sleep(const struct sm *sm);
/* Returns the number of warps of CTAs that are live or are being woken. */
uint32_t sm_count_awake(const struct sm *sm);
/* Returns the live warps, contexts included. */
const struct warp_set *sm_get_live(const struct sm *sm);
/* Returns true if an instruction of the warp is in flight, or waits for its edge. An instruction that waits for lanes
 * of its member mask is not in flight yet. */
bool sm_has_in_flight(const struct sm *sm, uint32_t slot);
/* Returns true if warp `a` began before warp `b`. */
bool sm_is_older(const struct sm *sm, uint32_t a, uint32_t b);
#endif
