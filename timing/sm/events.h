#ifndef TIMING_SM_EVENTS_H
#define TIMING_SM_EVENTS_H
#include <stdint.h>

/* Kinds of events of the timing wheel. The kind decides what the value of an event is: an instruction in flight, the
 * ticket of a fetch (fetch.h), a warp or a CTA slot. */
enum {
    EVENT_WRITEBACK,
    EVENT_FETCHED,
    EVENT_SWITCHED,
    EVENT_START,
    EVENT_WAKE,
    EVENT_RAISE, /* this event and the next four occur only in a modern core (modern.h) */
    EVENT_READ,
    EVENT_STALLED,
    EVENT_EXPAND,
    EVENT_DUE,       /* the last result of a warp that has finished (modern_due.h) */
    EVENT_REMOTE,    /* the last reply of an instruction in flight (remote.h) */
    EVENT_TENSOR,    /* tensor.h */
    EVENT_KINDS = 16 /* a power of two */
};
struct sm;
/* Handles an event that is none of EVENT_WRITEBACK, EVENT_FETCHED and EVENT_STALLED. */
void sm_rare_event(struct sm *sm, uint32_t kind, uint32_t value, uint64_t now);
static inline uint32_t event_make(uint32_t kind, uint32_t value) { return value * EVENT_KINDS + kind; }
#endif
