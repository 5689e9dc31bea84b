/* Events of the timing wheel that are rarer than write-backs, fetches and the ends of stalls. */
#include "modern_due.h"

void sm_rare_event(struct sm *sm, uint32_t kind, uint32_t value, uint64_t now) {
    switch (kind) {
    case EVENT_SWITCHED:
        sm_evaluate_all(sm, value, now);
        break;
    case EVENT_START:
        sm_warps_start(sm, value, now);
        break;
    case EVENT_WAKE:
        sm_woken(sm, value, now);
        break;
    case EVENT_RAISE:
        modern_raise(sm, value, now);
        break;
    case EVENT_READ:
        modern_reads(sm, value, now);
        break;
    case EVENT_EXPAND:
        modern_expand(sm, value, now);
        break;
    case EVENT_DUE:
        modern_due_take(sm, value, now);
        sm_warp_check_done(sm, value, now);
        break;
    case EVENT_REMOTE:
        remote_replied(sm, value, now);
        break;
    case EVENT_TENSOR:
        sm_tensor_event(sm, value, now);
        break;
    }
}
