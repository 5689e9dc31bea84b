#include "effects.h"
#include "blend.h"
#include <stdarg.h>
#include <stdio.h>

void blend_lanes(void *to, const void *from, rowmask_t m, unsigned size) {
    if (size) {
        blend_elems(to, from, m, WARP_LANES, size);
        return;
    }
    rowmask_t t, f;
    memcpy(&t, to, sizeof t);
    memcpy(&f, from, sizeof f);
    t = (t & ~m) | (f & m);
    memcpy(to, &t, sizeof t);
}

void fx_target(struct effects *fx, uint32_t pc, lanemask_t lanes) {
    int i = 0;
    while (i < fx->n_targets && fx->targets[i].pc != pc)
        i++;
    if (i == fx->n_targets)
        fx->targets[fx->n_targets++] = (struct target){.pc = pc};
    fx->targets[i].lanes |= lanes;
}

void fx_fault_text(struct effects *fx, enum fault_kind kind, int lane, const char *fmt, ...) {
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fx->fault = kind;
    fx->fault_lane = (uint8_t)lane;
    fx->fault_bytes = 0;
    fx->fault_address = 0;
    fx->space = SPACE_GENERIC;
    fx->fault_text = strdup(text);
}
