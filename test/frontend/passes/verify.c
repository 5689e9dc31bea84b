/* Tests the verifier on damaged programs. Each case damages a valid program in one way, and the verifier must report
 * it. */
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include "test/toys/passes.h"

static const char text[] =
    ".version 7.0 .target sm_70 .address_size 64\n"
    ".func (.param .u32 r) f(.param .u32 a) { .reg .u32 %x; ld.param.u32 %x, [a]; add.u32 %x, %x, 1;\n"
    "st.param.u32 [r], %x; ret; }\n"
    ".visible .entry k(.param .u64 p) { .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; @%p1 bra ELSE;\n"
    "add.u32 %r2, %r1, 7; bra JOIN;\nELSE: mul.lo.u32 %r2, %r1, 3;\n"
    "JOIN: { .param .u32 a; .param .u32 r; st.param.u32 [a], %r2; call (r), f, (a); ld.param.u32 %r3, [r]; }\n"
    "and.b32 %r4, %r3, 1;\nT: .branchtargets A, B; brx.idx %r4, T;\nA: add.u32 %r3, %r3, 1;\n"
    "B: ld.global.v2.u32 {%r5, %r6}, [%d1]; add.u32 %r5, %r5, %r6; st.global.u32 [%d1], %r5;\n"
    "L: add.u32 %r3, %r3, %r5; setp.lt.u32 %p2, %r3, 100; @%p2 bra L; st.global.u32 [%d1+8], %r3; ret; }\n";

static uint32_t find(const struct ir *ir, enum inst_kind kind, int nth) {
    for (uint32_t i = 0; i < ir->n; i++)
        if (ir->code[i].kind == kind && nth-- == 0)
            return i;
    ck_abort_msg("no instruction of kind %d", kind);
}

static struct inst *first(struct ir *ir, enum inst_kind kind) { return &ir->code[find(ir, kind, 0)]; }
static uint32_t add_at(const struct ir *ir) { /* add.u32 %r2, %r1, 7 */
    for (uint32_t i = 0; i < ir->n; i++) {
        uint32_t n;
        if (isa_rows(&n)[ir->code[i].row].op == OP_ADD && (ir->code[i].b & 1))
            return i;
    }
    return 0;
}

static void constant_out_of_range(struct ir *ir) { ir->code[add_at(ir)].b = (ir->constant_bytes + 64) << 1 | 1; }
static void constant_between_two(struct ir *ir) { ir->code[add_at(ir)].b += 2 << 1; }
static void no_such_register(struct ir *ir) { ir->code[add_at(ir)].a = ir->n_vregs << 1; }
static void register_of_another_function(struct ir *ir) {
    ir->code[add_at(ir)].a = ir_vreg(ir, RC_32, 1, NULL, 0) << 1;
}
static void constant_destination(struct ir *ir) { ir->code[add_at(ir)].d = OPND_ZERO; }
static void guard_is_a_number(struct ir *ir) { ir->code[add_at(ir)].guard = ir->code[add_at(ir)].d >> 1; }
static void guard_not_listed(struct ir *ir) { ir->code[add_at(ir)].guard = first(ir, K_BRANCH)->guard; }
static void operand_not_listed(struct ir *ir) { ir->code[add_at(ir)].b = ir->code[add_at(ir)].d; }
static void list_too_long(struct ir *ir) { ir->info[add_at(ir)].regs = ir->n_regs; }
static void written_list_is_short(struct ir *ir) { ir->info[add_at(ir)].n_writes = 0; }
static void no_such_row(struct ir *ir) { ir->code[add_at(ir)].row = UINT16_MAX; }
static void kind_of_another_row(struct ir *ir) { ir->code[add_at(ir)].kind = K_WARP; }
static void function_of_another_row(struct ir *ir) { ir->code[add_at(ir)].row++; }
static void register_too_wide(struct ir *ir) { ir->code[add_at(ir)].dsize = 8; }
static void elements_out_of_range(struct ir *ir) {
    for (uint32_t i = 0; i < ir->n; i++)
        if (ir->code[i].n_list)
            ir->code[i].list = ir->n_lists - 1;
}
static void branch_to_nowhere(struct ir *ir) { first(ir, K_BRANCH)->target = ir->n_blocks; }
static void branch_elsewhere(struct ir *ir) { first(ir, K_BRANCH)->target++; }
static void table_to_nowhere(struct ir *ir) { ir->lists[first(ir, K_BRX)->list + 2] = ir->n_blocks; }
static void table_elsewhere(struct ir *ir) { ir->lists[first(ir, K_BRX)->list + 2]--; }
static void table_too_long(struct ir *ir) { ir->lists[first(ir, K_BRX)->list] = ir->n_lists; }
static void line_lost(struct ir *ir) { ir->info[add_at(ir)].line = 0; }
static void function_lost(struct ir *ir) { ir->info[add_at(ir)].function = 1; }
static void block_lost(struct ir *ir) { ir->info[add_at(ir)].block++; }
static void control_in_a_block(struct ir *ir) {
    uint32_t i = find(ir, K_BRANCH, 0);
    ir->code[i - 1] = edit_make_jump(0);
    ir_note_regs(ir, i - 1);
}
static void falls_off(struct ir *ir) {
    struct inst *last = &ir->code[ir->functions[0].end - 1];
    last->guard = first(ir, K_BRANCH)->guard;
    ir_note_regs(ir, ir->functions[0].end - 1);
}
static void function_overlaps(struct ir *ir) { ir->functions[1].begin--; }
static void blocks_of_another(struct ir *ir) { ir->functions[1].block++; }
static void block_overlaps(struct ir *ir) { ir->blocks[1].begin--; }
static void edge_missing(struct ir *ir) { ir->cfg.succ[ir->cfg.succ_first[0]] = 0; }
static void edge_too_many(struct ir *ir) {
    first(ir, K_BRANCH)->guard = NO_GUARD, ir_note_regs(ir, find(ir, K_BRANCH, 0));
}
static void edge_back_missing(struct ir *ir) { ir->cfg.pred[ir->cfg.pred_first[1]] = 1; }
static void join_elsewhere(struct ir *ir) { first(ir, K_BRANCH)->rpc = 1; }
static void post_dominator_elsewhere(struct ir *ir) { ir->blocks[1].ipdom = NO_BLOCK; }
static void call_forgotten(struct ir *ir) { ir->calls[0].inst = NO_INST; }
static void call_elsewhere(struct ir *ir) { ir->calls[0].inst++; }
static void call_of_another(struct ir *ir) { ir->calls[0].caller = 1; }
static void callee_differs(struct ir *ir) { ir->calls[0].callee = 0; }
static void order_turned(struct ir *ir) { ir->order.group[1] = ir->order.group[0] + 1; }
static void stream_without_entry(struct ir *ir) { ir_add_stream(ir, 1, "s"); }
static void interval_short(struct ir *ir) { ir->intervals[ir->code[add_at(ir)].a >> 1].end = 0; }
static void slot_shared(struct ir *ir) {
    const struct inst *add = &ir->code[add_at(ir)];
    for (uint32_t v = 1; v < ir->n_vregs; v++)
        if (ir->vregs[v].cls == RC_32 && !ir->vregs[v].special && v != add->a >> 1)
            ir->vregs[v].slot = ir->vregs[add->a >> 1].slot;
}

struct corruption {
    void (*corrupt)(struct ir *ir);
    const char *after, *message;
};
static const struct corruption cases[] = {
    {constant_out_of_range, "postdom", "constant at"},
    {constant_between_two, "postdom", "constant at"},
    {no_such_register, "postdom", "register"},
    {register_of_another_function, "postdom", "uses a register of function 1"},
    {constant_destination, "postdom", "writes a constant"},
    {guard_is_a_number, "postdom", "the guard is no predicate"},
    {guard_not_listed, "postdom", "its list of registers"},
    {operand_not_listed, "postdom", "its list of registers"},
    {written_list_is_short, "postdom", "its list of registers"},
    {list_too_long, "postdom", "register list out of range"},
    {no_such_row, "postdom", "row 65535"},
    {kind_of_another_row, "postdom", "its row has"},
    {function_of_another_row, "postdom", "row"},
    {register_too_wide, "postdom", "writes 8 bytes into a register of 4"},
    {elements_out_of_range, "postdom", "list out of range"},
    {branch_to_nowhere, "postdom", "branches to"},
    {branch_elsewhere, "postdom", "has no edge"},
    {table_to_nowhere, "postdom", "branches to"},
    {table_elsewhere, "postdom", "has no edge"},
    {table_too_long, "postdom", "table of targets"},
    {line_lost, "postdom", "comes from no line"},
    {function_lost, "postdom", "function"},
    {block_lost, "postdom", "is not in its block"},
    {control_in_a_block, "postdom", "is control inside block"},
    {falls_off, "postdom", "falls off its end"},
    {function_overlaps, "postdom", "the one before ends at"},
    {blocks_of_another, "postdom", "has blocks"},
    {block_overlaps, "postdom", "block"},
    {edge_missing, "postdom", "has no edge"},
    {edge_too_many, "postdom", "has an edge that its end does not make"},
    {edge_back_missing, "postdom", "without an edge"},
    {join_elsewhere, "postdom", "its paths join at"},
    {post_dominator_elsewhere, "postdom", "its post-dominator is"},
    {call_forgotten, "postdom", "is not among the calls"},
    {call_elsewhere, "postdom", "is no call"},
    {call_of_another, "postdom", "stands in function"},
    {callee_differs, "postdom", "calls function"},
    {order_turned, "postdom", "comes before function"},
    {stream_without_entry, "postdom", "which is no entry"},
    {interval_short, "liveness", "is not live there"},
    {slot_shared, "regalloc", "live together in one slot"},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static const struct corruption *now;
static char found[256];
/* Damages the intermediate code as the current case (`now`) defines, and keeps the verifier's message in `found`.
 * Returns false, so that no further pass runs. */
static bool corrupt(struct ir *ir) {
    char clean[256];
    const char *wrong = verify_ir(ir, "test", clean, sizeof clean);
    ck_assert_msg(!wrong, "%s", wrong);
    now->corrupt(ir);
    found[0] = '\0';
    verify_ir(ir, "test", found, sizeof found);
    snprintf(ir->failure, sizeof ir->failure, "stopped");
    return false;
}

START_TEST(each_corruption_is_found) {
    static struct pass table[MAX_PASSES];
    struct lowered *l = lower_text(text, "k");
    char errors[512];
    ck_assert_msg(l->program != NULL, "%s", lowered_errors(l, errors, sizeof errors));
    now = &cases[_i];
    passes_with(table, &(struct pass){.name = "corrupt", .help = "", .run = corrupt}, now->after);
    ck_assert_ptr_null(frontend_lower(l->image, "k", &(struct lower_options){.passes = table}));
    ck_assert_msg(strstr(found, now->message) != NULL, "case %d: '%s', not '%s'", _i, found, now->message);
    lowered_free(l);
}
END_TEST

/* Functions that each damage one field of a lowered program. */
static void leader_lost(struct program *p) { p->code[p->blocks[1].begin].ends_block ^= 1; }
static void entry_inside(struct program *p) { p->functions[1].entry++; }
static void no_stream(struct program *p) { p->n_streams = 0; }
static void stream_of_nothing(struct program *p) { p->streams[0].function = p->n_functions; }
static void scoreboard_number(struct program *p) { p->regs[0] = (uint16_t)p->n_regs; }
static void blocks_apart(struct program *p) { p->blocks[0].end--; }
static void special_outside(struct program *p) { p->specials[0].offset = p->reg_bytes; }
static void (*const finished[])(struct program *) = {leader_lost,       entry_inside, no_stream,      stream_of_nothing,
                                                     scoreboard_number, blocks_apart, special_outside};

START_TEST(each_corruption_of_the_result_is_found) {
    struct lowered *l = lower_text(text, "k");
    char buffer[256];
    ck_assert_ptr_null(verify_program(l->program, buffer, sizeof buffer));
    finished[_i](l->program);
    ck_assert_msg(verify_program(l->program, buffer, sizeof buffer) != NULL, "case %d", _i);
    lowered_free(l);
}
END_TEST

/* A kernel with two nested convergence regions. Threads that return early break from the inner region's barrier. */
static const char regions[] =
    ".version 7.0 .target sm_70 .address_size 64\n"
    ".func f() { .reg .pred %p; .reg .b32 %r<3>; mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 9; @%p bra A;\n"
    "mov.u32 %r2, 1; setp.lt.u32 %p, %r1, 20; @%p bra R; bra J;\nA: mov.u32 %r2, 2;\nJ: st.global.u32 [%r2], %r1;\n"
    "R: ret; }\n.visible .entry k() { call f; membar.gl; ret; }\n";

static void another_barrier_left(struct ir *ir) { first(ir, K_BREAK)->imm = 7; }
static void left_elsewhere(struct ir *ir) { first(ir, K_BREAK)->guard_not ^= 1; }
static void one_number(struct ir *ir) { ir->code[find(ir, K_BSSY, 1)].rpc = first(ir, K_BSSY)->rpc; }
static void no_such_barrier(struct ir *ir) { first(ir, K_BSYNC)->imm = 32; }
static const struct corruption of_regions[] = {
    {another_barrier_left, "barriers", "threads return that take part in barrier"},
    {left_elsewhere, "barriers", "threads return that take part in barrier"},
    {one_number, "barriers", "already"},
    {no_such_barrier, "barriers", "barrier 32"},
};

START_TEST(each_corruption_of_barriers_is_found) {
    static struct pass table[MAX_PASSES];
    struct lowered *l = lower_text(regions, "k");
    ck_assert(l->program != NULL);
    now = &of_regions[_i];
    passes_with(table, &(struct pass){.name = "corrupt", .help = "", .run = corrupt}, now->after);
    struct lower_options o = {.context = {.barriers = true}, .passes = table};
    ck_assert_ptr_null(frontend_lower(l->image, "k", &o));
    ck_assert_msg(strstr(found, now->message) != NULL, "case %d: '%s', not '%s'", _i, found, now->message);
    lowered_free(l);
}
END_TEST

SUITE(frontend_verify) {
    TEST_LOOP(each_corruption_of_barriers_is_found, 0, 4);
    TEST_LOOP(each_corruption_is_found, 0, N_CASES);
    TEST_LOOP(each_corruption_of_the_result_is_found, 0, 7);
}
