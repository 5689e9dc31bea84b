#include "host_poll.h"
#include "control.h"
#include "isa/exec/exec_mem.h"
#include <string.h>

enum { READS = 16 };

/* Returns the place of the load at `pc` from `address`, a new one if there is none. */
static uint32_t find(struct host_polls *p, uint32_t pc, uint64_t address) {
    for (uint32_t i = 0; i < POLLED_PLACES; i++)
        if (p->place[i].reads && p->place[i].pc == pc && p->place[i].address == address)
            return i;
    const uint32_t at = p->next++ % POLLED_PLACES;
    p->place[at].pc = pc;
    p->place[at].address = address;
    p->place[at].reads = 0;
    return at;
}

enum poll host_polls_note(struct host_polls *p, const struct warp *w, const struct inst *in, const struct effects *fx) {
    const lanemask_t lanes = fx->lanes & ~(fx->shared_lanes | fx->local_lanes);
    if ((in->kind != K_LOAD && in->kind != K_ATOM) || !lanes || in->space == SPACE_SHARED || in->space == SPACE_LOCAL ||
        !inst_is_ordered(in))
        return POLL_NONE;
    const int lane = lanes_first(lanes);
    uint64_t room, value = 0;
    const unsigned char *now = mem_generic(w, lane, fx->addr[lane], &room);
    if (!now || room < in->msize)
        return POLL_NONE;
    memcpy(&value, now, in->msize < sizeof value ? in->msize : sizeof value);
    const uint32_t at = find(p, (uint32_t)(in - w->program->code), fx->addr[lane]);
    if (p->place[at].reads && p->place[at].value != value)
        p->place[at].reads = 0;
    p->place[at].value = value;
    if (++p->place[at].reads % READS)
        return POLL_NONE;
    return (uintptr_t)now == fx->addr[lane] ? POLL_HOST : POLL_DEVICE;
}
