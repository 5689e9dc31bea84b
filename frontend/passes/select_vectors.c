/* Joins accesses to neighbouring words of shared or local memory to one access with a vector. Requires: blocks. Keeps:
 * results and control flow.
 *
 * The accesses have the same base register, offsets without a gap, and together 8 or 16 bytes that are aligned. Loads
 * move up to the first one; they pass no store to their memory, but accesses to other memory, shuffles and votes.
 * Stores move down to the last one, and pass no access to their memory. Nothing passes a barrier, a fence or a slow
 * path. Volatile and guarded accesses stay. Source: ptxas 13 for sm_75 to sm_120, with kernels of a few accesses. ptxas
 * also joins three words to a vector of four. */
#include "frontend/analysis/low_bits.h"
#include "isa/expansions.h"
#include "pass.h"
#include "select.h"

enum { MOST_ELEMENTS = 4 };

/* The last instructions that read and write a register, from the first access of a search on. 0: none. */
struct seen {
    uint32_t search, read, wrote; /* number of the search; instructions, plus 1 */
};

struct vectors {
    struct ir *ir;
    struct edit *e;
    struct defuse du;
    const struct low_bits *low;
    uint8_t kind;          /* K_LOAD or K_STORE */
    unsigned char *joined; /* instruction -> true if it is part of a vector */
    struct seen *seen;     /* by register */
    uint32_t search;       /* number of the current search */
};

/* A vector in the making. */
struct chunk {
    uint32_t first, last;
    int64_t imm;                  /* offset of its first byte from the base */
    unsigned bytes, size, filled; /* bytes of the vector and of an element; number of elements that are known */
    opnd_t element[MOST_ELEMENTS];
    uint32_t owner[MOST_ELEMENTS]; /* the access of this element; NO_INST: none yet */
};

static bool may_join(const struct vectors *s, uint32_t i) {
    const struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    return in->kind == s->kind && !s->joined[i] && (in->space == SPACE_SHARED || in->space == SPACE_LOCAL) &&
           in->guard == NO_GUARD && in->msize == in->rsize && (in->msize == 4 || in->msize == 8) && !in->hints &&
           !ir->info[i].order && !ir->info[i].site && !inst_is_strong(in) && inst_bytes(in) < 16 &&
           select_may_change(ir, i);
}

static bool is_alike(const struct ir *ir, uint32_t i, uint32_t k) {
    const struct inst *a = &ir->code[i], *b = &ir->code[k];
    return a->space == b->space && a->a == b->a && a->asize == b->asize && a->msize == b->msize &&
           a->cache_op == b->cache_op && ir->info[i].spilled == ir->info[k].spilled;
}

/* Returns true if accesses may not move past the instruction. */
static bool stops(const struct vectors *s, const struct inst *access, const struct inst *in) {
    const bool memory = in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM;
    if (memory)
        return (in->kind != K_LOAD || access->kind == K_STORE) &&
               (in->space == access->space || in->space == SPACE_GENERIC);
    return (in->kind != K_LANE && in->kind != K_CVT && in->kind != K_WARP) || in->hints & HINT_DEQ ||
           expansion_branches(select_expansion(s->ir, in));
}

/* Begins a vector of `bytes` bytes around access i. Returns false if it is not aligned. */
static bool begin(const struct vectors *s, struct chunk *c, uint32_t i, unsigned bytes) {
    const struct inst *in = &s->ir->code[i];
    const struct low_bits base = low_bits_of(s->ir, &s->du, s->low, i, in->a);
    const unsigned at = (base.value + (unsigned)in->imm) & (bytes - 1);
    *c = (struct chunk){.first = i, .last = i, .imm = wrap_add(in->imm, -(uint64_t)at), .bytes = bytes};
    c->size = in->msize;
    for (unsigned k = 0; k < MOST_ELEMENTS; k++)
        c->owner[k] = NO_INST;
    return (base.known & (bytes - 1)) == bytes - 1 && !(at % in->msize);
}

/* Adds the elements of access i. Returns false if one of them is outside the vector or there already. */
static bool add(const struct vectors *s, struct chunk *c, uint32_t i) {
    const struct inst *in = &s->ir->code[i];
    const int64_t at = wrap_add(in->imm, -(uint64_t)c->imm);
    const unsigned n = inst_elements(in), slot = (unsigned)at / c->size;
    if (at < 0 || at % c->size || (uint64_t)at + n * c->size > c->bytes)
        return false;
    for (unsigned k = 0; k < n; k++)
        if (c->owner[slot + k] != NO_INST)
            return false;
    for (unsigned k = 0; k < n; k++) {
        c->owner[slot + k] = i;
        c->element[slot + k] = inst_element(s->ir->lists, in, k);
    }
    c->filled += n;
    c->last = i;
    return true;
}

static struct seen *seen_of(struct vectors *s, uint32_t v) {
    if (s->seen[v].search != s->search)
        s->seen[v] = (struct seen){.search = s->search};
    return &s->seen[v];
}

/* Returns true if load i can move up to the first one: no instruction between uses its results or changes its base. */
static bool may_rise(struct vectors *s, uint32_t i) {
    const struct inst_info *info = &s->ir->info[i];
    for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++) {
        const struct seen *seen = seen_of(s, s->ir->regs[info->regs + k]);
        if (seen->wrote || (k >= info->n_reads && seen->read))
            return false;
    }
    return true;
}

/* Returns true if all stores of the vector can move down: no instruction after them changes their operands. */
static bool may_sink(struct vectors *s, const struct chunk *c) {
    for (unsigned k = 0; k < c->bytes / c->size; k++) {
        const struct inst_info *info = &s->ir->info[c->owner[k]];
        for (unsigned r = 0; r < info->n_reads; r++)
            if (seen_of(s, s->ir->regs[info->regs + r])->wrote > c->owner[k])
                return false;
    }
    return true;
}

static void pass_by(struct vectors *s, uint32_t i) {
    const struct inst_info *info = &s->ir->info[i];
    for (unsigned k = 0; k < info->n_reads; k++)
        seen_of(s, s->ir->regs[info->regs + k])->read = i + 1;
    for (unsigned k = info->n_reads; k < (unsigned)info->n_reads + info->n_writes; k++)
        seen_of(s, s->ir->regs[info->regs + k])->wrote = i + 1;
}

/* Searches the rest of the block for the accesses of a vector. Returns true if they fill it. */
static bool fill(struct vectors *s, struct chunk *c) {
    const struct ir *ir = s->ir;
    const uint32_t end = ir->blocks[ir->info[c->first].block].end;
    s->search++;
    if (!add(s, c, c->first))
        return false;
    pass_by(s, c->first);
    for (uint32_t i = c->first + 1; i < end && c->filled < c->bytes / c->size; i++) {
        const bool fits =
            may_join(s, i) && is_alike(ir, c->first, i) && (s->kind == K_STORE || may_rise(s, i)) && add(s, c, i);
        if (!fits && stops(s, &ir->code[c->first], &ir->code[i]))
            break;
        pass_by(s, i);
    }
    return c->filled == c->bytes / c->size && (s->kind == K_LOAD || may_sink(s, c));
}

/* Makes the first load, or the last store, the access of the vector. */
static void join(struct vectors *s, const struct chunk *c) {
    struct ir *ir = s->ir;
    const uint32_t to = s->kind == K_LOAD ? c->first : c->last;
    struct inst *in = edit_inst(s->e, to);
    in->list = ir->n_lists;
    in->n_list = (uint8_t)(c->bytes / c->size);
    in->imm = c->imm;
    in->d = OPND_SINK;
    in->b = OPND_ZERO;
    for (unsigned k = 0; k < in->n_list; k++) {
        ir_list_add(ir, c->element[k]);
        if (c->owner[k] != to && !s->joined[c->owner[k]])
            edit_remove(s->e, c->owner[k]);
        s->joined[c->owner[k]] = true;
    }
    ir_note(ir, to, "is an access of %u bytes", c->bytes);
}

static bool join_all(struct ir *ir, uint8_t kind) {
    struct vectors s = {.ir = ir, .kind = kind, .du = find_defuse(ir->tmp, ir)};
    const uint32_t n = ir->n;
    s.low = find_low_bits(ir->tmp, ir, &s.du);
    s.joined = arena_array(ir->tmp, (size_t)n + 1, 1);
    s.seen = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *s.seen);
    s.e = edit_begin(ir);
    for (uint32_t i = 0; i < n; i++)
        for (unsigned bytes = 16; bytes >= 8 && may_join(&s, i); bytes /= 2) {
            struct chunk c;
            if (bytes > inst_bytes(&ir->code[i]) && begin(&s, &c, i, bytes) && fill(&s, &c))
                join(&s, &c);
        }
    return edit_end(s.e);
}

bool select_vectors(struct ir *ir) {
    return !pass_option(&ir->context, "core.vectors", 1) || (join_all(ir, K_LOAD) && join_all(ir, K_STORE));
}
