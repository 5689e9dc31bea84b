#include "late.h"
#include "isa/control_bits.h"
#include "isa/control_uses.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST = 512,        /* maximum number of a warp's results and operands in flight; older ones are forgotten */
    MOST_WRITES = 64,  /* maximum number of registers that an instruction writes */
    VALUE_BYTES = 512, /* maximum number of bytes of a register, for all lanes */
    RAISE_CYCLES = 2   /* cycles from the issue of an instruction until others see the counters that it raised */
};

/* A use of a register that is still in flight: its new value has not arrived, or the instruction at `pc` has not read
 * its value yet. */
struct flight {
    uint32_t pc, offset;
    rowmask_t lanes;
    uint64_t issued;
    struct control_timing timing;
    bool result;
    unsigned char old[VALUE_BYTES]; /* for a result: the value that the register had before the result was written */
};

struct saved {
    uint32_t offset;
    rowmask_t lanes;
    unsigned char value[VALUE_BYTES];
};

struct late_warp {
    uint64_t now; /* the earliest cycle in which the next instruction can issue */
    uint32_t n;
    struct flight *list; /* in the order of issue */
};

struct late_cta {
    struct late *found;
    uint32_t n_warps;
    /* before: values of the destinations of the executing instruction, before it executes; hidden: values that have not
     * arrived yet, and that this instruction must not see */
    struct saved before[MOST_WRITES], hidden[MOST_WRITES];
    uint32_t n_before, n_hidden;
    struct late_warp warp[];
};

struct late_cta *late_cta_new(struct late *l, const struct cta *c) {
    struct late_cta *t = calloc(1, sizeof *t + c->n_warps * sizeof t->warp[0]);
    if (!t)
        return NULL;
    t->found = l;
    t->n_warps = c->n_warps;
    for (uint32_t w = 0; w < c->n_warps; w++)
        if (!(t->warp[w].list = malloc(MOST * sizeof *t->warp[w].list))) {
            late_cta_free(t);
            return NULL;
        }
    return t;
}

void late_cta_free(struct late_cta *c) {
    for (uint32_t w = 0; c && w < c->n_warps; w++)
        free(c->warp[w].list);
    free(c);
}

void late_cta_start(struct late_cta *c) {
    for (uint32_t w = 0; w < c->n_warps; w++)
        c->warp[w].n = 0;
}

static void note(struct late_cta *c, const struct warp *w, uint32_t pc, const struct flight *f, const char *what) {
    char user[96], writer[96];
    if (c->found->n++)
        return;
    c->found->pc = pc;
    program_print_inst(w->program, pc, user, sizeof user);
    program_print_inst(w->program, f->pc, writer, sizeof writer);
    snprintf(c->found->text, sizeof c->found->text, "control bits let '%s' issue before '%s' (pc %u) %s", user, writer,
             f->pc, what);
}

/* The instruction that issues now, whose registers are checked against the uses in flight. */
struct look {
    struct late_cta *c;
    struct warp *w;
    struct late_warp *lw;
    uint32_t pc;
    rowmask_t lanes;
    struct control_timing timing;
};

static struct saved *save(struct saved *list, uint32_t *n, const struct warp *w, uint32_t offset, rowmask_t lanes) {
    if (*n == MOST_WRITES)
        return NULL;
    struct saved *s = &list[(*n)++];
    unsigned bytes = control_register_bytes(w->program, offset);
    s->offset = offset;
    s->lanes = lanes;
    memcpy(s->value, w->bank[0] + offset, bytes ? bytes * WARP_LANES : sizeof(rowmask_t));
    return s;
}

/* Returns true if an instruction that uses the register comes too early. */
static bool is_late(const struct look *l, const struct flight *f, enum control_use use) {
    bool predicate = control_register_bytes(l->w->program, f->offset) == 0;
    if (!f->result)
        return use == CONTROL_WRITES;
    return f->timing.unit == CONTROL_QUEUED ||
           l->lw->now < f->issued + control_distance(f->timing, l->timing, use, predicate);
}

static void check_operand(void *ctx, uint32_t offset, enum control_use use, unsigned position) {
    struct look *l = ctx;
    unsigned bytes = control_register_bytes(l->w->program, offset);
    (void)position;
    for (uint32_t i = l->lw->n; i-- > 0;) {
        struct flight *f = &l->lw->list[i];
        if (f->offset != offset || !(f->lanes & l->lanes))
            continue;
        if (!is_late(l, f, use))
            continue;
        note(l->c, l->w, l->pc, f, f->result ? "has written its result" : "has read its operands");
        if (use == CONTROL_WRITES || !save(l->c->hidden, &l->c->n_hidden, l->w, offset, f->lanes))
            continue;
        blend_lanes(l->w->bank[0] + offset, f->old, f->lanes, bytes);
    }
    if (use == CONTROL_WRITES)
        save(l->c->before, &l->c->n_before, l->w, offset, 0);
}

/* Forgets results that have arrived, and uses for which the control bits `b` make the instruction wait. */
static void arrive(struct late_warp *lw, const struct program *p, const struct control_bits *b) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < lw->n; i++) {
        const struct flight *f = &lw->list[i];
        const struct control_bits *from = &p->control[f->pc];
        uint64_t age = lw->now - f->issued;
        bool waits = from->raise_write != CONTROL_NO_COUNTER && b->wait >> from->raise_write & 1;
        waits |= !f->result && from->raise_read != CONTROL_NO_COUNTER && b->wait >> from->raise_read & 1;
        if (f->timing.unit == CONTROL_QUEUED ? waits && age >= RAISE_CYCLES : age > CONTROL_MAX_STALL)
            continue;
        if (n != i)
            lw->list[n] = *f;
        n++;
    }
    lw->n = n;
}

/* A call or return needs all earlier results and reads of its lanes. Reports each of them that is still late. */
static void drain(const struct look *l) {
    for (uint32_t i = 0; i < l->lw->n; i++) {
        const struct flight *f = &l->lw->list[i];
        if (f->lanes & l->lanes && is_late(l, f, f->result ? CONTROL_READS : CONTROL_WRITES))
            note(l->c, l->w, l->pc, f, f->result ? "has written its result" : "has read its operands");
    }
}

void late_before(struct late_cta *c, struct warp *w, const struct inst *in, lanemask_t lanes) {
    struct late_warp *lw = &c->warp[w->index];
    uint32_t pc = (uint32_t)(in - w->program->code);
    c->n_before = c->n_hidden = 0;
    arrive(lw, w->program, &w->program->control[pc]);
    struct look l = {c, w, lw, pc, (rowmask_t)lanes, w->program->control[pc].timing};
    if (control_drains(in))
        drain(&l);
    control_uses(w->program, in, check_operand, &l);
}

static void begin_flight(const struct look *l, uint32_t offset, bool result, const unsigned char *old) {
    struct late_warp *lw = l->lw;
    uint32_t at = 0;
    while (at < lw->n && (lw->list[at].pc != l->pc || lw->list[at].offset != offset || lw->list[at].result != result))
        at++;
    if (at == MOST)
        return;
    if (at == lw->n)
        lw->list[lw->n++].lanes = 0;
    struct flight *f = &lw->list[at];
    f->pc = l->pc;
    f->offset = offset;
    f->lanes |= l->lanes;
    f->issued = lw->now;
    f->timing = l->timing;
    f->result = result;
    if (old)
        memcpy(f->old, old, VALUE_BYTES);
}

static void fly(void *ctx, uint32_t offset, enum control_use use, unsigned position) {
    const struct look *l = ctx;
    (void)position;
    for (uint32_t i = 0; i < l->c->n_before && use == CONTROL_WRITES; i++)
        if (l->c->before[i].offset == offset)
            begin_flight(l, offset, true, l->c->before[i].value);
    if (use == CONTROL_READS && l->timing.unit == CONTROL_QUEUED)
        begin_flight(l, offset, false, NULL);
}

/* Returns true if the instruction copies a word of constant memory. */
static bool copies_word(const struct program *p, const struct inst *in) {
    for (uint32_t i = 0; i < p->n_specials; i++)
        if (p->specials[i].offset == in->a >> 1 && !(in->a & 1))
            return special_is_constant(p->specials[i].id);
    return false;
}

/* Gives all lanes the result of the first lane that executed an instruction of the uniform datapath, whose registers
 * have one value. A word of constant memory goes to the executing lanes only, since they may have diverged. Reports
 * lanes with another result. */
static void spread(struct late_cta *c, struct warp *w, uint32_t pc, lanemask_t lanes) {
    const uint32_t offset = w->program->code[pc].d >> 1, bytes = control_register_bytes(w->program, offset);
    unsigned char *value = w->bank[0] + offset;
    const bool word = copies_word(w->program, &w->program->code[pc]);
    unsigned char first[8];
    memcpy(first, value + lanes_first(lanes) * bytes, bytes);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (lanes >> l & 1 && memcmp(value + l * bytes, first, bytes) != 0 && !c->found->n++) {
            char text[96];
            program_print_inst(w->program, pc, text, sizeof text);
            c->found->pc = pc;
            snprintf(c->found->text, sizeof c->found->text, "'%s' is uniform, but lane %u has another result", text, l);
        }
        if (!word)
            memcpy(value + l * bytes, first, bytes);
    }
}

void late_after(struct late_cta *c, struct warp *w, const struct inst *in, const struct effects *fx) {
    struct late_warp *lw = &c->warp[w->index];
    uint32_t pc = (uint32_t)(in - w->program->code);
    /* restores the values that were hidden from the instruction, except where it has overwritten them */
    for (uint32_t i = c->n_hidden; i-- > 0;) {
        const struct saved *s = &c->hidden[i];
        rowmask_t back = s->lanes;
        for (uint32_t k = 0; k < c->n_before; k++)
            if (c->before[k].offset == s->offset)
                back &= (rowmask_t)~fx->lanes;
        blend_lanes(w->bank[0] + s->offset, s->value, back, control_register_bytes(w->program, s->offset));
    }
    struct look l = {c, w, lw, pc, (rowmask_t)fx->lanes, w->program->control[pc].timing};
    if (fx->lanes && w->program->control[pc].datapath)
        spread(c, w, pc, fx->lanes);
    if (fx->lanes)
        control_uses(w->program, in, fly, &l);
    lw->now += w->program->control[pc].stall ? w->program->control[pc].stall : 1;
}
