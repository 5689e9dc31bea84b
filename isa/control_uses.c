/* The registers that an instruction uses, and the least distance between two uses of a register. */
#include "control_uses.h"
#include "control_bits.h"

unsigned control_distance(struct control_timing writer, struct control_timing user, enum control_use use,
                          bool predicate) {
    unsigned least;
    if (use == CONTROL_GUARDED_BY || (use == CONTROL_READS && predicate && (user.unit != CONTROL_ALU || user.mixed)))
        return writer.guard;
    if (use == CONTROL_READS && writer.unit == CONTROL_UNIFORM && user.unit != CONTROL_UNIFORM)
        return user.unit == CONTROL_QUEUED ? UNIFORM_TO_QUEUED : UNIFORM_TO_VECTOR;
    if (use == CONTROL_READS)
        return writer.latency + ((user.unit != writer.unit || user.mixed) && writer.latency < CONTROL_MAX_STALL);
    /* the write of `user` must arrive after the write of `writer` */
    if (user.unit == CONTROL_QUEUED)
        least = CONTROL_LEAST_QUEUED;
    else
        least = predicate ? user.guard : user.latency;
    unsigned arrives = predicate ? writer.guard : writer.latency;
    return arrives < least ? 0 : arrives - least + 1;
}

unsigned control_register_bytes(const struct program *p, uint32_t offset) {
    static const uint8_t bytes[N_REG_AREAS] = {0, 1, 2, 4, 8, 16};
    unsigned c = N_REG_AREAS - 1;
    while (c && offset < p->reg_area[c])
        c--;
    return bytes[c];
}

/* Returns how many leading elements of its list an instruction writes. */
static unsigned list_writes(const struct inst *in) {
    switch (in->kind) {
    case K_LOAD:
        return in->n_list;
    case K_ATOM:
        return in->n_list / 2u;
    case K_TEX:
    case K_WARP:
        return in->msize;
    default:
        return 0;
    }
}

static void use_of(opnd_t o, enum control_use use, unsigned position, control_use_fn *fn, void *ctx) {
    if (!(o & 1) && o != OPND_SINK)
        fn(ctx, o >> 1, use, position);
}

void control_uses(const struct program *p, const struct inst *in, control_use_fn *fn, void *ctx) {
    if (in->guard != NO_GUARD)
        fn(ctx, in->guard, CONTROL_GUARDED_BY, 3);
    use_of(in->a, CONTROL_READS, 0, fn, ctx);
    use_of(in->b, CONTROL_READS, 1, fn, ctx);
    use_of(in->c, CONTROL_READS, 2, fn, ctx);
    use_of(in->e, CONTROL_READS, 3, fn, ctx);
    for (unsigned i = list_writes(in); i < in->n_list && in->kind != K_CALL; i++)
        use_of(p->lists[in->list + i], CONTROL_READS, in->kind == K_STORE ? 1 : 3, fn, ctx);
    use_of(in->d, CONTROL_WRITES, 3, fn, ctx);
    use_of(in->d2, CONTROL_WRITES, 3, fn, ctx);
    for (unsigned i = 0; i < list_writes(in) && i < in->n_list; i++)
        use_of(p->lists[in->list + i], CONTROL_WRITES, 3, fn, ctx);
}
