/* Builds programs instruction by instruction, for tests. */
#include "isa_asm.h"
#include "isa/machine/warpsync.h"
#include "test/test.h"
#include <stdio.h>

struct asm_program *asm_new(void) {
    struct asm_program *a = aligned_alloc(64, (sizeof *a + 63) / 64 * 64);
    ck_assert_ptr_nonnull(a);
    memset(a, 0, sizeof *a);
    a->p = (struct program){.name = "test",
                            .file = "test.ptx",
                            .code = a->code,
                            .info = a->info,
                            .functions = a->functions,
                            .n_functions = 1,
                            .streams = &a->stream,
                            .n_streams = 1,
                            .lists = a->lists,
                            .specials = a->specials,
                            .constants = a->constants,
                            .constant_bytes = ZERO_BYTES,
                            .reg_bytes = SINK_BYTES};
    a->functions[0].name = "test";
    return a;
}

void asm_free(struct asm_program *a) { free(a); }

opnd_t asm_reg(struct asm_program *a, unsigned bytes) {
    uint32_t at = a->p.reg_bytes;
    a->p.reg_bytes += bytes ? (WARP_LANES * bytes + 63) / 64 * 64 : 64;
    return at << 1;
}

opnd_t asm_special(struct asm_program *a, enum special s) {
    opnd_t r = asm_reg(a, 4);
    a->specials[a->p.n_specials++] = (struct special_init){.id = (uint16_t)s, .bytes = 4, .offset = r >> 1};
    return r;
}

opnd_t asm_const(struct asm_program *a, unsigned bytes, uint64_t value) {
    uint32_t at = a->p.constant_bytes;
    for (int l = 0; l < WARP_LANES; l++)
        memcpy(a->constants + at + (unsigned)l * bytes, &value, bytes);
    a->p.constant_bytes += (WARP_LANES * bytes + 63) / 64 * 64;
    ck_assert_uint_le(a->p.constant_bytes, ASM_BANK);
    return at << 1 | 1;
}

struct inst *asm_op(struct asm_program *a, const char *opcode, opnd_t d, opnd_t x, opnd_t y, opnd_t z) {
    struct decoded dec;
    struct decode_error why;
    if (!isa_decode(opcode, (uint32_t)strlen(opcode), &dec, &why))
        ck_abort_msg("%s: %s", opcode, why.message);
    ck_assert_uint_lt(a->p.n, ASM_CODE);
    struct inst *in = &a->code[a->p.n];
    a->info[a->p.n].line = a->p.n + 1;
    a->p.n++;
    a->functions[0].end = a->p.n;
    const struct isa_row *r = dec.row;
    *in = (struct inst){.d = d, .d2 = OPND_SINK, .a = x, .b = y, .c = z, .e = OPND_ZERO, .guard = NO_GUARD};
    in->fn.warp = r->fn.warp;
    in->row = dec.row_index;
    in->kind = r->kind;
    in->dsize = (uint8_t)type_bytes(r->d);
    in->d2size = (uint8_t)type_bytes(r->d2);
    in->space = (uint8_t)dec.space;
    in->asize = 8;
    in->latency = r->latency;
    in->hints = dec.hints;
    in->cache_op = dec.cache_op;
    if (in->kind >= K_BRANCH)
        in->rpc = PC_EXIT;
    return in;
}

struct inst *asm_mem(struct asm_program *a, const char *opcode, opnd_t reg, unsigned rsize, opnd_t base,
                     int64_t offset) {
    bool store = strncmp(opcode, "st", 2) == 0; /* the caller sets the operands b and c of an atomic */
    struct inst *in = asm_op(a, opcode, store ? OPND_SINK : reg, base, store ? reg : OPND_ZERO, OPND_ZERO);
    uint32_t n;
    enum type t = isa_rows(&n)[in->row].types[0];
    in->imm = offset;
    in->msize = (uint8_t)type_bytes(t);
    in->rsize = (uint8_t)rsize;
    in->is_signed = type_class(t) == 's';
    in->dsize = (uint8_t)rsize;
    return in;
}

void asm_guard(struct asm_program *a, opnd_t guard, bool negated) {
    a->code[a->p.n - 1].guard = guard >> 1;
    a->code[a->p.n - 1].guard_not = negated;
}

struct inst *asm_bra(struct asm_program *a, opnd_t guard, bool negated, uint32_t target, uint32_t rpc) {
    struct inst *in = asm_op(a, "bra", OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    in->target = target;
    in->rpc = rpc;
    if (guard)
        asm_guard(a, guard, negated);
    return in;
}

uint32_t asm_pc(const struct asm_program *a) { return a->p.n; }

uint32_t asm_list(struct asm_program *a, const uint32_t *words, uint32_t n) {
    uint32_t at = a->p.n_lists;
    ck_assert_uint_le(at + n, ASM_LISTS);
    memcpy(a->lists + at, words, n * sizeof *words);
    a->p.n_lists += n;
    return at;
}

/* Marks `pc` as the start of a block. */
static void leader(struct asm_program *a, uint32_t pc) {
    if (pc > 0 && pc < a->p.n)
        a->code[pc - 1].ends_block = 1;
}

void asm_end(struct asm_program *a) {
    for (uint32_t pc = 0; pc < a->p.n; pc++) {
        struct inst *in = &a->code[pc];
        in->hints |= warp_sync_hints(in);
        if (in->kind < K_BRANCH)
            continue;
        in->ends_block = 1;
        if (in->kind == K_BRANCH)
            leader(a, in->target);
        if (in->kind == K_BRANCH || in->kind == K_BRX)
            leader(a, in->rpc);
        if (in->kind == K_BRX)
            for (uint32_t i = 0; i < a->lists[in->list]; i++)
                leader(a, a->lists[in->list + 1 + i]);
    }
    for (uint32_t f = 0; f < a->p.n_functions; f++)
        leader(a, a->functions[f].entry);
}

struct launch asm_launch(const struct asm_program *a, struct memory *m, uint32_t grid, uint32_t block) {
    return (struct launch){.program = &a->p, .memory = m, .grid = {grid, 1, 1}, .block = {block, 1, 1}};
}

struct interp_stats asm_run(const struct launch *l) {
    struct interp_stats s = {0};
    struct fault f;
    /* a block is compiled to native code when a warp enters it for the third time */
    struct jit *j = native_new(l->program, 0);
    struct interp_cfg cfg = {.native = j};
    if (!interp_run(l, &cfg, &s, &f)) {
        fault_print(&f, l, stderr);
        fault_free(&f);
        ck_abort_msg("the program faulted");
    }
    native_free(j);
    return s;
}

struct fault asm_run_fault(const struct launch *l) {
    struct interp_stats s = {0};
    struct fault f;
    struct jit *j = native_new(l->program, 0);
    struct interp_cfg cfg = {.native = j};
    ck_assert(!interp_run(l, &cfg, &s, &f));
    native_free(j);
    return f;
}
