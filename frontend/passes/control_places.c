/* Fills in where the operands are: physical registers and the register-file cache.
 *
 * The order of registers in bank 0 gives their physical numbers: first registers of at most 32 bits, special registers
 * included, then registers of 64 and 128 bits, which begin at even numbers. Numbers from 254 on wrap around, since only
 * the bank (even or odd) has an effect. */
#include "control_pass.h"
#include "control_table.h"

enum {
    PLACES = 254,
    PARAMETERS = 0x160,  /* address of the parameters in constant memory, as on sm_86 */
    VARIABLES = 0x10000, /* .const variables have a bank of their own, behind the 64 KiB of the parameters' */
};

struct places {
    const struct control *c;
    uint32_t pc;
    uint32_t base[N_REG_CLASSES]; /* first physical register of each class */
};

static void number_classes(struct places *s) {
    const struct program *p = s->c->p;
    uint32_t n = 0;
    for (int c = RC_8; c < N_REG_CLASSES; c++) {
        unsigned words = class_words((enum reg_class)c);
        n = (n + words - 1) / words * words;
        s->base[c] = n;
        n += (p->reg_area[c + 1] - p->reg_area[c]) / class_slot_bytes((enum reg_class)c) * words;
    }
}

/* Returns the special register at `offset` if it stands for a word in constant memory, else NULL. */
static const struct special_init *constant_at(const struct program *p, uint32_t offset) {
    for (uint32_t i = 0; i < p->n_specials; i++)
        if (p->specials[i].offset == offset && special_is_constant(p->specials[i].id))
            return &p->specials[i];
    return NULL;
}

/* Returns the address in constant memory. The size of the CTA is at 0, and the size of the grid behind it. */
static uint32_t constant_address(const struct special_init *s) {
    return s->id == SPECIAL_PARAM    ? PARAMETERS + s->param
           : s->id == SPECIAL_CONST  ? VARIABLES + (uint32_t)(s->address - DEVICE_BASE)
           : s->id <= SPECIAL_NTID_Z ? 4 * (uint32_t)(s->id - SPECIAL_NTID_X)
                                     : 12 + 4 * (uint32_t)(s->id - SPECIAL_NCTAID_X);
}

static void place(void *ctx, uint32_t offset, enum control_use use, unsigned position) {
    struct places *s = ctx;
    const struct program *p = s->c->p;
    struct control_bits *b = &s->c->bits[s->pc];
    int c = N_REG_CLASSES - 1;
    while (c && offset < p->reg_area[c])
        c--;
    const struct special_init *constant = constant_at(p, offset);
    if (constant)
        b->constant = constant_address(constant);
    if (c == RC_PRED || constant || control_is_uniform(s->c, offset))
        return;
    unsigned words = class_words((enum reg_class)c);
    uint32_t at = (s->base[c] + (offset - p->reg_area[c]) / class_slot_bytes((enum reg_class)c) * words) % PLACES;
    if (use == CONTROL_WRITES) {
        b->write = b->write_words ? b->write : (uint8_t)at;
        b->write_words = (uint8_t)(b->write_words + words > 4 ? 4 : b->write_words + words);
    } else if (position < CONTROL_OPERANDS) {
        b->read[position] = b->read_words[position] ? b->read[position] : (uint8_t)at;
        words += b->read_words[position];
        b->read_words[position] = (uint8_t)(words > 4 ? 4 : words);
    }
}

static bool is_fixed(const struct control *c, uint32_t pc) { return control_is_fixed(c->bits[pc].timing); }

/* An operand stays in the register-file cache if the next instruction reads the register in the same position. */
static void keep_operands(struct control *c, uint32_t pc) {
    struct control_bits *b = &c->bits[pc], *next = b + 1;
    if (pc + 1 >= c->p->blocks[c->p->info[pc].block].end || !is_fixed(c, pc) || !is_fixed(c, pc + 1))
        return;
    for (unsigned i = 0; i < CONTROL_OPERANDS; i++) {
        bool written = b->write_words && b->read[i] >= b->write && b->read[i] < b->write + b->write_words;
        if (b->read_words[i] && next->read_words[i] == b->read_words[i] && next->read[i] == b->read[i] && !written)
            b->reuse |= (uint8_t)(1u << i);
    }
}

void control_places(struct control *c) {
    struct places s = {.c = c};
    number_classes(&s);
    for (uint32_t pc = 0; pc < c->p->n; pc++) {
        const struct inst *in = &c->p->code[pc];
        s.pc = pc;
        control_uses(c->p, in, place, &s);
        if (c->bits[pc].timing.unit == CONTROL_QUEUED && in->kind != K_LANE && in->kind != K_CVT)
            c->bits[pc].uniform = in->a & 1 || constant_at(c->p, in->a >> 1) || control_is_uniform(c, in->a >> 1);
    }
    for (uint32_t pc = 0; pc < c->p->n; pc++)
        keep_operands(c, pc);
}
