/* Tests the editor: before and after register allocation, passes change random kernels in ways that must not change
 * their results. Every changed kernel must leave the same memory, in the interpreter and in the timing models. The
 * verifier checks the program after each pass. */
#include "frontend/passes/edit.h"
#include "frontend/analysis/defuse.h"
#include "host/context.h"
#include "test/every_model.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "test/toys/passes.h"

enum { KERNELS = 30 };
static uint64_t rng;
static uint32_t changes;
static uint32_t below(uint32_t n) { return (uint32_t)(test_random(&rng) % n); }

static struct inst nop(void) {
    uint32_t n;
    const struct isa_row *rows = isa_all_rows(&n);
    for (uint32_t i = 0; i < n; i++)
        if (rows[i].kind == K_NOP)
            return inst_of_row(&rows[i]);
    ck_abort_msg("no row does nothing");
}

static bool is_jump(const struct inst *in) {
    return in->kind >= K_BRANCH && in->kind != K_CALL && in->kind != K_BARRIER && in->kind != K_WARPSYNC &&
           in->kind != K_BSSY && in->kind != K_BSYNC;
}

static bool nothing(struct ir *ir) { return edit_end(edit_begin(ir)); }

static bool add_nops(struct ir *ir) {
    struct edit *e = edit_begin(ir);
    struct inst in = nop();
    for (uint32_t k = 0; k < 40; k++) {
        uint32_t at = below(e->n_nodes), added;
        if (k % 4 == 0)
            added = edit_at_begin(e, below(e->n_blocks), &in);
        else if (k % 4 == 1)
            added = edit_at_end(e, below(e->n_blocks), &in);
        else if (k % 4 == 2 && !is_jump(edit_inst(e, at)))
            added = edit_after(e, at, &in);
        else
            added = edit_before(e, at, &in);
        if (k % 3 == 0)
            edit_move_to_end(e, added, below(e->n_blocks));
        else if (k % 3 == 1)
            edit_move_before(e, added, below(e->n_nodes));
        changes++;
    }
    return edit_end(e);
}

/* Returns whether lanes may execute copies of block b separately without any effect on results. They may not if the
 * block has an instruction in which lanes depend on each other (member masks, barriers, collectives), or a call,
 * because the called function may have such instructions. */
static bool may_be_copied(const struct ir *ir, uint32_t b) {
    for (uint32_t i = ir->blocks[b].begin; i < ir->blocks[b].end; i++) {
        const struct inst *in = &ir->code[i];
        if (in->kind == K_BARRIER || in->kind == K_WARPSYNC || in->kind == K_CALL || in->kind == K_BSSY ||
            in->kind == K_BSYNC || in->kind == K_WARP || in->kind == K_RET ||
            in->hints & (HINT_COLLECTIVE | HINT_MEMBERS))
            return false;
    }
    return true;
}

/* Redirects some edges to copies of their target blocks. */
static bool copy_blocks(struct ir *ir) {
    struct edit *e = edit_begin(ir);
    for (uint32_t k = 0; k < 12; k++) {
        uint32_t b = below(ir->n_blocks), first = ir->cfg.pred_first[b], n = ir->cfg.pred_first[b + 1] - first;
        if (!n || !may_be_copied(ir, b))
            continue;
        struct edit_copy c = edit_copy_blocks(e, &b, 1, below(2) ? b : NO_BLOCK);
        edit_retarget(e, ir->cfg.pred[first + below(n)], b, c.block[b]);
        changes++;
    }
    return edit_end(e);
}

/* Makes the first iteration of a loop run in a copy of the loop. If the latches of the copy jump to the header of the
 * copy, all iterations run in the copy. */
static bool copy_loops(struct ir *ir) {
    struct dom_tree dom = ir_dominators(ir);
    struct loops l = find_loops(ir->tmp, &ir->cfg, &dom);
    struct edit *e = edit_begin(ir);
    uint32_t *blocks = arena_array(ir->tmp, ir->n_blocks, sizeof *blocks);
    for (uint32_t i = 0; i < l.n; i++) {
        const struct loop *loop = &l.list[i];
        uint32_t n = 0;
        bool fine = true;
        for (uint32_t b = 0; b < ir->n_blocks; b++)
            if (loop_has(loop, b)) {
                fine &= may_be_copied(ir, b);
                blocks[n++] = b;
            }
        uint32_t pre = edit_preheader(e, loop);
        changes++;
        if (!fine)
            continue;
        struct edit_copy c = edit_copy_blocks(e, blocks, n, NO_BLOCK);
        edit_retarget(e, pre, loop->header, c.block[loop->header]);
        if (below(2)) /* the copy executes one iteration only: its latches jump to the original loop */
            for (uint32_t k = 0; k < loop->n_latches; k++)
                edit_retarget(e, c.block[loop->latches[k]], c.block[loop->header], loop->header);
    }
    return edit_end(e);
}

static bool is_dead(const struct ir *ir, const struct defuse *d, uint32_t i) {
    if ((ir->code[i].kind != K_LANE && ir->code[i].kind != K_CVT) || !ir->info[i].n_writes)
        return false;
    for (uint32_t k = d->inst_defs[i]; k < d->inst_defs[i + 1]; k++)
        if (d->defs[k].n)
            return false;
    return true;
}

static bool remove_dead(struct ir *ir) {
    for (uint32_t removed = 1; removed;) {
        struct defuse d = find_defuse(ir->tmp, ir);
        struct edit *e = edit_begin(ir);
        removed = 0;
        for (uint32_t i = 0; i < ir->n; i++)
            if (is_dead(ir, &d, i)) {
                edit_remove(e, i);
                removed++;
            }
        changes += removed;
        if (!edit_end(e))
            return false;
    }
    return true;
}

/* Splits blocks, inserts new blocks on edges, and replaces fall-throughs by jumps. */
static bool cut_up(struct ir *ir) {
    struct edit *e = edit_begin(ir);
    for (uint32_t k = 0; k < 30; k++) {
        uint32_t b = below(ir->n_blocks), first = ir->cfg.succ_first[b], n = ir->cfg.succ_first[b + 1] - first;
        if (k % 3 == 0)
            edit_split(e, below(ir->n));
        else if (k % 3 == 1 && n && edit_jump(e, b) != NO_INST && e->blocks[b].fall != NO_BLOCK)
            edit_split_edge(e, b, e->blocks[b].fall);
        else if (e->blocks[b].fall != NO_BLOCK && edit_jump(e, b) == NO_INST) {
            struct inst jump = edit_make_jump(e->blocks[b].fall);
            edit_set_end(e, b, &jump, NO_BLOCK);
        }
        changes++;
    }
    return edit_end(e);
}

/* Renames about a quarter of the registers to new ones, in all reads and writes. */
static bool rename_all(struct ir *ir) {
    uint32_t n = ir->n_vregs, n_blocks = ir->n_blocks;
    struct edit *e = edit_begin(ir);
    for (uint32_t v = 1; v < n; v++) {
        if (ir->vregs[v].special || below(4))
            continue;
        uint32_t w = ir_vreg(ir, ir->vregs[v].cls, ir->vregs[v].function, NULL, 0);
        for (uint32_t b = 0; b < n_blocks; b++)
            for (uint32_t i = ir->blocks[b].begin; i < ir->blocks[b].end; i++) {
                edit_rename(e, i, v, w, true, false);
                edit_rename(e, i, v, w, false, true);
            }
        changes++;
    }
    return edit_end(e);
}

/* Adds a second stream that is a copy of the kernel; then the kernel's own warps run the copy. */
static bool copy_kernel(struct ir *ir) {
    struct edit *e = edit_begin(ir);
    struct edit_copy c = edit_copy_function(e, 0, "again");
    for (uint32_t i = ir->functions[0].begin; i < ir->functions[0].end; i++)
        ck_assert_uint_eq(edit_info(e, c.inst[i])->line, ir->info[i].line);
    changes++;
    return ir_add_stream(ir, c.function, "again") == 1 && edit_end(e);
}

static const struct {
    const char *name;
    bool (*run)(struct ir *ir);
} edits[] = {{"nothing", nothing},  {"nops", add_nops}, {"blocks", copy_blocks}, {"loops", copy_loops},
             {"dead", remove_dead}, {"cuts", cut_up},   {"names", rename_all},   {"stream", copy_kernel}};
enum { N_EDITS = sizeof edits / sizeof edits[0], COPY_KERNEL = N_EDITS - 1 };
static const char *const places[] = {"postdom", "barriers", "liveness", "regalloc"};

struct run {
    uint32_t in[RANDOM_IN_WORDS], out[RANDOM_OUT_WORDS];
    double instructions;
};

static void run_kernel(const char *text, const char *model, const char *reconv, const struct pass *table, bool second,
                       struct run *r) {
    char err[1024];
    const char *set[] = {"sm.registers=65536", "sm.shared_bytes=16384", reconv, NULL};
    struct heddle_options o = {.model = model, .config = "tiny", .set = set, .cycle_limit = 50000000};
    struct heddle *h =
        context_open(&o, &(struct context_parts){.models = &model_tables, .passes = table}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    struct program *p = (struct program *)module_program(h, m, "k");
    ck_assert_msg(p != NULL, "%s", heddle_error(h));
    if (second) {
        ck_assert_uint_eq(p->n_streams, 2);
        p->streams[0] = p->streams[1];
    }
    uint64_t din = heddle_alloc(h, sizeof r->in), dout = heddle_alloc(h, sizeof r->out);
    heddle_write(h, din, r->in, sizeof r->in);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_read(h, dout, r->out, sizeof r->out);
    r->instructions = heddle_stat(h, 0, "gpu.warp_instructions");
    heddle_close(h);
}

static void compare(const struct run *want, const struct run *got, const char *model, uint64_t seed, const char *edit,
                    const char *place) {
    for (int i = 0; i < RANDOM_OUT_WORDS; i++)
        EXPECT(want->out[i] == got->out[i], "seed %d, '%s' after %s, %s: word %d is 0x%x, not 0x%x", (int)seed, edit,
               place, model, i, got->out[i], want->out[i]);
}

/* Tries each edit at each place. Only every sixth kernel is tested (with HEDDLE_EVERY, all kernels), and every
 * third kernel also in a timing model. */
START_TEST(memory_stays_the_same) {
    static struct run want, got;
    static struct pass table[MAX_PASSES];
    changes = 0;
    for (uint64_t seed = 1; seed <= KERNELS; seed++) {
        bool rich = seed % 2, second = _i == COPY_KERNEL;
        char *text = random_kernel(seed, rich);
        random_input(seed, want.in);
        random_input(seed, got.in);
        run_kernel(text, "functional", NULL, NULL, false, &want);
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            if ((seed / 2 + k) % 6 && !test_every()) /* this choice tries every edit on both simple and rich kernels */
                continue;
            rng = seed * 1000 + k;
            uint64_t m = (seed / 3 + k) % (uint64_t)timed_models()->n;
            const char *model = timed_models()->name[m];
            char how[32];
            snprintf(how, sizeof how, "reconv=%s", timed_models()->name[(seed + k) % (uint64_t)timed_models()->n]);
            passes_with(table, &(struct pass){.name = "edit", .help = "", .run = edits[_i].run}, places[k]);
            run_kernel(text, "functional", how, table, second, &got);
            compare(&want, &got, how, seed, edits[_i].name, places[k]);
            if (seed % 3)
                continue;
            rng = seed * 1000 + k;
            run_kernel(text, model, NULL, table, second, &got);
            compare(&want, &got, model, seed, edits[_i].name, places[k]);
        }
        free(text);
    }
    ck_assert(_i == 0 || changes > KERNELS / 2);
}
END_TEST

static char *listing(const char *text, const char *model, const struct pass *table) {
    char err[512], *shown = NULL;
    size_t size;
    FILE *f = open_memstream(&shown, &size);
    struct heddle *h = context_open(&(struct heddle_options){.model = model},
                                    &(struct context_parts){.models = &model_tables, .passes = table}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", text, strlen(text));
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(heddle_listing(h, m, "k", NULL, f), HEDDLE_OK);
    fclose(f);
    heddle_close(h);
    return shown;
}

static const char by_hand_text[] =
    ".version 7.0 .target sm_70 .address_size 64\n"
    ".func (.param .u32 r) f(.param .u32 a) { .reg .u32 %x; ld.param.u32 %x, [a]; st.param.u32 [r], %x; ret; }\n"
    ".visible .entry k(.param .u64 p) { .reg .pred %p1; .reg .b32 %r<4>; .reg .b64 %d1; ld.param.u64 %d1, [p];\n"
    "setp.eq.u32 %p1, %r1, 5;\n"
    "@%p1 bra JOIN;\n"
    "add.u32 %r2, %r1, 7;\n"
    "JOIN: { .param .u32 a; .param .u32 r; st.param.u32 [a], %r2;\n"
    "call (r), f, (a);\n"
    "ld.param.u32 %r3, [r]; }\n"
    "st.global.u32 [%d1], %r3; ret; }\n";

static uint32_t nth(const struct ir *ir, enum inst_kind kind, uint32_t from) {
    while (from < ir->n && ir->code[from].kind != kind)
        from++;
    ck_assert_uint_lt(from, ir->n);
    return from;
}

static uint32_t of_kind(const struct ir *ir, enum inst_kind kind) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < ir->n; i++)
        n += ir->code[i].kind == kind;
    return n;
}

/* Checks that a jump to an empty block goes to the next block instead, and that an instruction that replaces a removed
 * instruction gets the source line of the removed one. */
static bool empty_a_block(struct ir *ir) {
    uint32_t branch = nth(ir, K_BRANCH, 0), add = branch + 1, blocks = ir->n_blocks, n = ir->n;
    struct inst in = nop();
    struct edit *e = edit_begin(ir);
    uint32_t block = ir->info[add].block;
    ck_assert_uint_eq(ir->info[add].line, 6);
    edit_remove(e, add);
    uint32_t put = edit_at_begin(e, block, &in);
    edit_end(e);
    ck_assert_uint_eq(ir->n, n);
    ck_assert_uint_eq(edit_moved(e, put), branch + 1);
    ck_assert_uint_eq(edit_moved(e, add), NO_INST);
    ck_assert_uint_eq(ir->info[branch + 1].line, 6);
    e = edit_begin(ir);
    edit_remove(e, branch + 1);
    edit_end(e);
    ck_assert_uint_eq(ir->n, n - 1);
    ck_assert_uint_eq(ir->n_blocks, blocks - 1);
    /* both edges of the branch lead to the next block */
    ck_assert_uint_eq(ir->code[branch].target, ir->info[branch].block + 1);
    return true;
}

/* Checks that a copied call is in the call lists as one more call of the same function, and that a removed call is not
 * in the call lists. */
static bool copy_a_call(struct ir *ir) {
    uint32_t call = nth(ir, K_CALL, 0), block = ir->info[call].block, calls = ir->n_calls;
    struct edit *e = edit_begin(ir);
    struct edit_copy c = edit_copy_blocks(e, &block, 1, block);
    edit_set_end(e, block, NULL, c.block[block]);
    ck_assert(edit_end(e));
    ck_assert_uint_eq(of_kind(ir, K_CALL), 2);
    ck_assert_uint_eq(ir->n_calls, calls + 1);
    ck_assert_uint_eq(ir->calls[calls].inst, edit_moved(e, c.inst[call]));
    ck_assert_uint_eq(ir->calls[calls].callee, 1);
    ck_assert_uint_eq(ir->order.call_first[1] - ir->order.call_first[0], 2);
    e = edit_begin(ir);
    edit_remove(e, nth(ir, K_CALL, 0));
    ck_assert(edit_end(e));
    ck_assert_uint_eq(of_kind(ir, K_CALL), 1);
    ck_assert_uint_eq(ir->calls[0].inst, NO_INST);
    return true;
}

/* Checks that a block gets a jump if its fall-through block is not adjacent, even if it ends in a guarded branch, and
 * that an endless cycle of empty blocks becomes a jump to itself. */
static bool jump_where_needed(struct ir *ir) {
    uint32_t branch = nth(ir, K_BRANCH, 0), from = ir->info[branch].block, n = ir->n;
    struct edit *e = edit_begin(ir);
    uint32_t far = edit_new_block(e, NO_BLOCK, 0, from + 2, edit_info(e, branch));
    struct inst in = nop();
    edit_at_end(e, far, &in);
    edit_retarget(e, from, from + 1, far); /* redirects the fall-through edge of a guarded branch */
    ck_assert(edit_end(e));
    ck_assert_uint_eq(ir->n, n + 2); /* the add can no longer be reached; a nop and two jumps have been added */
    ck_assert_uint_eq(of_kind(ir, K_BRANCH), 3);
    e = edit_begin(ir);
    uint32_t a = edit_new_block(e, NO_BLOCK, 0, 0, edit_info(e, 0)), b = edit_new_block(e, a, 0, a, edit_info(e, 0));
    edit_set_end(e, a, NULL, b);
    branch = nth(ir, K_BRANCH, 0);
    edit_inst(e, branch)->target = a;
    ck_assert(edit_end(e));
    uint32_t last = ir->functions[0].end - 1;
    ck_assert_uint_eq(ir->code[last].kind, K_BRANCH);
    ck_assert_uint_eq(ir->code[last].target, ir->info[last].block);
    ck_assert_uint_eq(ir->code[edit_moved(e, branch)].target, ir->info[last].block);
    return true;
}

START_TEST(edits_by_hand) {
    static bool (*const runs[])(struct ir *) = {empty_a_block, copy_a_call, jump_where_needed};
    static struct pass table[MAX_PASSES];
    for (int k = 0; k < 4; k++) {
        passes_with(table, &(struct pass){.name = "edit", .help = "", .run = runs[_i]}, places[k]);
        free(listing(by_hand_text, "its", table));
    }
}
END_TEST

/* Removes the headings of blocks from a listing. */
static void drop_heads(char *text) {
    char *to = text;
    for (char *line = text, *end; *line; line = end) {
        end = strchr(line, '\n') + 1;
        if (*line == 'B')
            continue;
        memmove(to, line, (size_t)(end - line));
        to += end - line;
    }
    *to = '\0';
}

/* An edit that changes nothing leaves registers, targets and lines as they were. Only blocks may differ: if unreachable
 * code that jumped to a block was dropped, that block may merge with the previous block. */
START_TEST(no_change_leaves_the_same_program) {
    static struct pass table[MAX_PASSES];
    for (uint64_t seed = 1; seed <= KERNELS; seed++) {
        const char *model = seed % 2 ? "its" : "spe";
        char *text = random_kernel(seed, seed % 3 == 0), *before = listing(text, model, NULL);
        drop_heads(before);
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            passes_with(table, &(struct pass){.name = "edit", .help = "", .run = nothing}, places[k]);
            char *after = listing(text, model, table);
            drop_heads(after);
            ck_assert_msg(strcmp(before, after) == 0, "seed %d after %s", (int)seed, places[k]);
            free(after);
        }
        free(before);
        free(text);
    }
}
END_TEST

SUITE(frontend_edit) {
    TEST_LOOP(memory_stays_the_same, 0, N_EDITS);
    TEST(no_change_leaves_the_same_program);
    TEST_LOOP(edits_by_hand, 0, 3);
}
