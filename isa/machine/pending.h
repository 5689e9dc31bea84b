#ifndef ISA_MACHINE_PENDING_H
#define ISA_MACHINE_PENDING_H
/* The pending copies of a warp: cp.async that has read global memory and has not written shared memory. A copy writes
 * when it lands. Each row of a warp has its own pending copies, and allocates memory for them at its first copy.
 *
 * A copy of a lane lands at the first of these events:
 *   - the lane waits for its group (wait_group, wait_all);
 *   - the lane arrives at an mbarrier by cp.async.mbarrier.arrive, unless cta.copies_take_time is set;
 *   - the driver ends the copy: the timing model when the data have arrived, the interpreter at the end of a turn;
 *   - the lane exits;
 *   - PENDING_MOST younger copies of the row are pending, or memory is out.
 * PTX permits each of these, since no thread may access the destination before the wait. Copies that land together
 * write in the order of their issue. A lane's older copies to the same place land before a younger one. */
#include "warp.h"

enum { PENDING_MOST = 256, PENDING_BYTES = 16 * WARP_LANES };

/* Returns room for the data of the next copy, in which lane l starts at l * bytes: the row's own memory, or, if memory
 * is out, `spare`. */
unsigned char *pending_room(struct warp *row, unsigned char spare[PENDING_BYTES]);
/* Adds a copy of `bytes` (4, 8 or 16) bytes a lane to the addresses `to` in shared memory. `data` is from
 * pending_room(). */
void pending_add(struct warp *row, rowmask_t lanes, const uint64_t to[WARP_LANES], unsigned bytes,
                 const unsigned char *data);
/* Returns the number of the row's youngest copy. Copies have the numbers 1, 2, 3 ... */
uint64_t pending_youngest(const struct warp *row);
/* Lets the copy with this number land, after the lanes of older copies that it overwrites. Does nothing if it has
 * landed. */
void pending_land(struct warp *row, uint64_t number);
/* Closes the groups of `lanes`. */
void pending_commit(struct warp *row, rowmask_t lanes);

/* pending_wait() lets the copies of `lanes` land, except each lane's `groups` youngest groups and copies in no group.
 * -1: all copies. pending_is_fresh() returns true if one of them is from the warp's present turn; the interpreter lets
 * other warps run before it lands. pending_new_turn() begins a turn; row->copies is not NULL. */
void pending_wait(struct warp *row, rowmask_t lanes, int64_t groups);
bool pending_is_fresh(const struct warp *row, rowmask_t lanes, int64_t groups);
void pending_new_turn(struct warp *row);
/* Lets all copies of the CTA land. */
void pending_flush(struct cta *c);

/* Lets the copies of `lanes` land, which exit. */
static inline void pending_exit(struct warp *row, rowmask_t lanes) {
    if (__builtin_expect(row->copies != NULL, 0))
        pending_wait(row, lanes, -1);
}
/* Notes that lanes of the warp have exited. */
static inline void warp_exit_lanes(struct warp *w, lanemask_t out) {
    pending_exit(w, warp_row(out, 0));
    w->live &= ~out;
    if (!w->high)
        return;
    pending_exit(w->high, warp_row(out, 1));
    w->high->live &= ~(lanemask_t)warp_row(out, 1);
}
/* Forgets all copies before the row starts another CTA. row->copies is not NULL. */
void pending_forget(struct warp *row);
/* Frees the memory of a row. NULL is allowed. */
void pending_free(struct pending_copies *p);
#endif
