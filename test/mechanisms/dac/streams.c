/* Tests the decoupling pass on many kernels: the project's kernels, compilers' output, and random kernels. Also tests
 * that the verifier rejects damaged streams, and compares control dependence with its definition. */
#include "isa/machine/call.h"
#include "mechanisms/all.h"
#include "mechanisms/dac/decouple.h"
#include "test/frontend/frontend_help.h"
#include "test/random/random_index.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "test/toys/passes.h"
#include <dirent.h>
#include <time.h>

static const char *const dac[] = {"dac", NULL};

struct sum {
    uint32_t kernels, split, whole, sites, data, predicates, loads, decoupled, instructions, potential, largest;
    double slowest; /* seconds */
};
static struct sum sum;

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Runs the pass `decouple`, and records its longest processor time and the largest kernel. */
static bool timed(struct ir *ir) {
    double begin = cpu_seconds();
    bool fine = decouple(ir);
    double took = cpu_seconds() - begin;
    sum.slowest = took > sum.slowest ? took : sum.slowest;
    sum.largest = ir->n > sum.largest ? ir->n : sum.largest;
    return fine;
}

static void count(const struct program *p) {
    sum.kernels++;
    sum.split += p->n_streams == 2;
    bool pointer = false;
    for (uint32_t i = 0; i < p->n; i++)
        pointer |= p->code[i].kind == K_CALL && p->lists[p->code[i].list] == CALL_INDIRECT;
    sum.whole += pointer || p->warp_groups || strcmp(p->name, "fwt_far") == 0 || strcmp(p->name, "fwt_loop") == 0 ||
                 strcmp(p->name, "bfs1") == 0 || strcmp(p->name, "dct_matrix") == 0 ||
                 strcmp(p->name, "dct_lines") == 0;
    sum.sites += p->n_sites;
    for (uint32_t s = 0; s < p->n_sites; s++) {
        sum.data += p->sites[s].kind == SITE_DATA;
        sum.predicates += p->sites[s].kind == SITE_PRED;
        EXPECT(p->sites[s].enq_pc < p->n && p->sites[s].deq_pc < p->n, "%s: site %u", p->name, s);
    }
    sum.loads += p->coverage.loads;
    sum.decoupled += p->coverage.loads_decoupled;
    if (strcmp(p->name, "subwarps") == 0) /* an unrolled micro-benchmark, with a fifth of all instructions */
        return;
    sum.instructions += p->coverage.instructions;
    sum.potential += p->coverage.potential;
}

/* Lowers all kernels of a text. If `other` is not NULL, this pass runs after `decouple`. Otherwise the kernels are
 * added to `sum`. */
static void lower_all(const char *name, const char *text, const struct pass *other, bool barriers) {
    static struct pass table[MAX_PASSES];
    struct lowered *l = lower_text(text, NULL);
    const struct function *f;
    passes_with(table, other ? other : &(struct pass){.name = "nothing", .help = ""}, "decouple");
    for (int i = 0; table[i].name; i++)
        if (strcmp(table[i].name, "decouple") == 0)
            table[i].run = timed;
    for (int i = 0; l->image && (f = ptx_entry(l->module, i)); i++) {
        struct lower_options o = {.context = {.extensions = dac, .barriers = barriers}, .passes = table};
        int errors = l->diags.errors;
        struct program *p = frontend_lower(l->image, f->name->text, &o);
        EXPECT(p || errors, "%s, %s: %s", name, f->name->text, l->diags.list[l->diags.n - 1].message);
        if (p && !other)
            count(p);
        program_free(p);
    }
    lowered_free(l);
}

static void lower_folder(const char *folder) {
    DIR *d = opendir(folder);
    struct dirent *e;
    ck_assert_ptr_nonnull(d);
    while ((e = readdir(d))) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        char *text = strstr(e->d_name, ".ptx") ? read_whole(path) : NULL;
        for (int barriers = 0; text && barriers < 2; barriers++)
            lower_all(path, text, NULL, barriers);
        free(text);
    }
    closedir(d);
}

/* All kernels are split, with five exceptions: kernels with calls through pointers; kernels with warp groups, which
 * wait at mbarriers; fwt_far and fwt_loop, all of whose addresses contain an `and` of an index; dct_matrix and
 * dct_lines, whose addresses contain a 24-bit product of an index; and bfs1, whose loop reads memory that other threads
 * write. About half of the static instructions depend only on scalars and indices
 * (the paper's Figure 6). */
START_TEST(kernels_of_the_project) {
    sum = (struct sum){0};
    lower_folder("kernels");
    ck_assert_msg(sum.split + sum.whole == sum.kernels && sum.kernels > 20, "%u and %u of %u kernels", sum.split,
                  sum.whole, sum.kernels);
    ck_assert_msg(10 * sum.potential > 3 * sum.instructions && 10 * sum.potential < 7 * sum.instructions, "%u of %u",
                  sum.potential, sum.instructions);
    ck_assert_msg(sum.data && sum.predicates > sum.kernels, "%u data, %u predicates", sum.data, sum.predicates);
}
END_TEST

START_TEST(compiled_kernels) {
    sum = (struct sum){0};
    lower_folder("test/compiled");
    lower_folder("test/kernels");
    ck_assert_msg(3 * sum.split > sum.kernels, "%u of %u kernels", sum.split, sum.kernels);
}
END_TEST

START_TEST(random_kernels) {
    sum = (struct sum){0};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        char *text = random_kernel(seed, seed % 4);
        lower_all("random", text, NULL, seed % 2);
        free(text);
    }
    ck_assert_uint_gt(sum.split, 10);
    sum = (struct sum){0};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct index_kernel k = random_index_kernel(seed);
        lower_all("affine", k.text, NULL, seed % 2);
        free(k.text);
    }
    ck_assert_msg(sum.split > 150 && sum.decoupled * 3 > sum.loads && sum.predicates > 500,
                  "%u kernels, %u of %u loads, %u predicates", sum.split, sum.decoupled, sum.loads, sum.predicates);
}
END_TEST

static bool few_tuples(const void *config, const char *key, double *value) {
    *value = *(const uint32_t *)config;
    return strcmp(key, "dac.tuples") == 0;
}

/* With any limit of tuple registers, the affine stream fits into the limit. If the stream without a limit fits, nothing
 * is left out of it. The verifier accepts both streams. A higher limit never decouples fewer accesses. */
START_TEST(streams_fit_into_the_tuple_file) {
    uint32_t parts = 0;
    const uint64_t kernels = test_every() ? 40 : 24;
    for (uint64_t seed = 1; seed <= kernels; seed++) {
        struct index_kernel k = random_index_kernel(seed);
        struct lowered *l = lower_text(k.text, NULL);
        uint32_t before = 0, all = UINT32_MAX;
        for (uint32_t room = 1; room <= all; room++) {
            struct lower_options o = {.context = {.extensions = dac, .option = few_tuples, .config = &room},
                                      .passes = mechanism_passes()};
            struct program *p = frontend_lower(l->image, ptx_entry(l->module, 0)->name->text, &o);
            const struct program_coverage *c = &p->coverage;
            ck_assert_msg(c->tuples <= room, "%u of %u (seed %d)", c->tuples, room, (int)seed);
            ck_assert_int_eq(c->tuples == 0, program_affine_stream(p) == 0);
            ck_assert_uint_ge(c->tuples_all, c->tuples);
            ck_assert_int_eq(c->tuples_all <= room, c->tuples == c->tuples_all);
            ck_assert_msg(c->loads_decoupled + c->stores_decoupled >= before, "room for %u (seed %d)", room, (int)seed);
            ck_assert(all == UINT32_MAX || c->tuples_all == all);
            parts += c->tuples && c->tuples < c->tuples_all;
            before = c->loads_decoupled + c->stores_decoupled;
            all = c->tuples_all;
            program_free(p);
        }
        lowered_free(l);
        free(k.text);
    }
    ck_assert_uint_gt(parts, 2 * kernels);
}
END_TEST

/* Accesses inside and outside a loop, with different addresses. Accesses in the loop have priority, so if registers are
 * added, the load in the loop is decoupled first. */
START_TEST(accesses_by_worth) {
    static const char text[] =
        ".version 7.0 .target sm_70 .address_size 64 .visible .entry k(.param .u64 p, .param .u64 q, .param .u64 s, "
        ".param .u32 n) { .reg .b32 %t, %n, %v; .reg .b64 %a, %b, %c, %d; .reg .pred %e; mov.u32 %t,%tid.x;"
        "ld.param.u64 %a,[p]; ld.param.u64 %b,[q]; ld.param.u64 %c,[s]; ld.param.u32 %n,[n]; mul.wide.u32 %d,%t,8;\n"
        "add.u64 %a,%a,%d; st.global.u32 [%a],%t;\n" /* line 2 */
        "mul.wide.u32 %d,%t,12; add.u64 %b,%b,%d; st.global.u32 [%b],%t;\n"
        "mul.wide.u32 %d,%t,4; add.u64 %c,%c,%d;\n"
        "L: ld.global.u32 %v,[%c]; add.u64 %c,%c,128; sub.u32 %n,%n,1; setp.ne.u32 %e,%n,0; @%e bra L;\n" /* 5 */
        "st.global.u32 [%a+4],%v; ret; }\n";
    struct lowered *l = lower_text(text, NULL);
    uint32_t before = 0, all = UINT32_MAX, orders = 0;
    for (uint32_t room = 1; room <= all; room++) {
        struct lower_options o = {.context = {.extensions = dac, .option = few_tuples, .config = &room},
                                  .passes = mechanism_passes()};
        struct program *p = frontend_lower(l->image, "k", &o);
        ck_assert_ptr_nonnull(p);
        uint32_t has = 0; /* bit: line */
        for (uint32_t i = 0; i < p->n_sites; i++)
            has |= p->sites[i].kind == SITE_PRED ? 0 : 1u << p->sites[i].line;
        ck_assert_msg(has == 0 || has & 1u << 5, "room for %u: lines %x without the loop's", room, has);
        orders += has != before;
        before = has;
        all = p->coverage.tuples_all;
        program_free(p);
    }
    ck_assert_uint_eq(before, 1u << 2 | 1u << 3 | 1u << 5 | 1u << 6);
    ck_assert_uint_ge(orders, 2); /* the accesses were decoupled in at least two steps, first the load in the loop */
    lowered_free(l);
}
END_TEST

/* Decoupling takes less than 50 ms of processor time for each kernel of the project. The first turn may take longer,
 * because the allocator gets pages from the system. */
START_TEST(the_pass_is_fast) {
    enum { TURNS = 3 };
    const bool keeps = test_keep_pages();
    for (int turn = 0; turn < TURNS && (turn == 0 || sum.slowest >= 0.05); turn++) {
        sum = (struct sum){0};
        lower_folder("kernels");
    }
    ck_assert_uint_gt(sum.largest, 2000);
    if (!keeps) {
        test_skip("the allocator gives pages back, so page faults decide the time");
        return;
    }
    ck_assert_msg(sum.slowest < 0.05, "%.1f ms", 1e3 * sum.slowest);
}
END_TEST

/* Functions that damage a stream, each in another way. They return true if they found something to damage. */
static uint64_t rng;
static uint32_t below(uint32_t n) { return test_random_below(&rng, n); }

typedef bool chosen_fn(const struct ir *ir, uint32_t i);
static bool sends(const struct ir *ir, uint32_t i) {
    return ir->code[i].kind >= K_ENQ_DATA && ir->code[i].kind <= K_ENQ_PRED;
}
static bool sends_to_some(const struct ir *ir, uint32_t i) { return sends(ir, i) && ir->code[i].guard != NO_GUARD; }
static bool takes(const struct ir *ir, uint32_t i) { return (ir->code[i].hints & HINT_DEQ) != 0; }
static bool takes_address(const struct ir *ir, uint32_t i) {
    return takes(ir, i) && ir->info[i].site && (ir->code[i].kind == K_STORE || ir->code[i].kind == K_LOAD);
}
static bool takes_guard(const struct ir *ir, uint32_t i) { return takes(ir, i) && ir->info[i].guard_site; }
static bool is_barrier(const struct ir *ir, uint32_t i) { return ir->code[i].kind == K_BARRIER; }
static bool is_twin(const struct ir *ir, uint32_t i) { return ir->info[i].twin != 0; }

/* Returns a random instruction for which `fn` returns true, or NO_INST. */
static uint32_t choose(const struct ir *ir, chosen_fn *fn) {
    uint32_t n = 0, found = NO_INST;
    for (uint32_t i = 0; i < ir->n; i++)
        if (fn(ir, i) && below(++n) == 0)
            found = i;
    return found;
}

static bool lose_a_send(struct ir *ir, struct edit *e) {
    uint32_t i = choose(ir, sends);
    if (i != NO_INST)
        edit_remove(e, i);
    return i != NO_INST;
}

static bool send_twice(struct ir *ir, struct edit *e) {
    uint32_t i = choose(ir, sends);
    if (i == NO_INST)
        return false;
    uint32_t more = edit_before(e, i, &ir->code[i]);
    e->nodes[more].info.site = ir->info[i].site;
    return true;
}

/* Swaps two instructions that send entries, inside a block. */
static bool swap_sends(struct ir *ir, struct edit *e) {
    uint32_t i = choose(ir, sends), k = i;
    if (i == NO_INST)
        return false;
    for (k++; k < ir->blocks[ir->info[i].block].end && !sends(ir, k);)
        k++;
    if (k >= ir->blocks[ir->info[i].block].end)
        return false;
    edit_move_before(e, k, i);
    return true;
}

static bool send_under_a_guard(struct ir *ir, struct edit *e) {
    uint32_t i = choose(ir, sends_to_some);
    if (i == NO_INST)
        return false;
    edit_inst(e, i)->guard = NO_GUARD;
    return true;
}

static bool take_under_another_guard(struct ir *ir, struct edit *e) {
    uint32_t i = choose(ir, takes_guard);
    if (i == NO_INST || (!ir->info[i].twin && !ir->info[i].site))
        return false;
    edit_inst(e, i)->guard_not ^= 1;
    return true;
}

static bool forget_to_take(struct ir *ir, struct edit *e) {
    uint32_t i = choose(ir, takes);
    if (i == NO_INST)
        return false;
    e->nodes[i].info.site = e->nodes[i].info.guard_site = 0;
    return true;
}

static bool take_the_other(struct ir *ir, struct edit *e) {
    uint32_t i = choose(ir, takes_address), k = choose(ir, takes_address);
    if (i == NO_INST || i == k)
        return false;
    e->nodes[i].info.site = ir->info[k].site;
    e->nodes[k].info.site = ir->info[i].site;
    return true;
}

static bool lose_a_barrier(struct ir *ir, struct edit *e) {
    uint32_t i = choose(ir, is_barrier);
    if (i != NO_INST)
        edit_remove(e, i);
    return i != NO_INST;
}

static bool turn_a_branch(struct ir *ir, struct edit *e) {
    uint32_t i = choose(ir, is_twin);
    if (i == NO_INST)
        return false;
    edit_inst(e, i)->guard_not ^= 1;
    return true;
}

/* Removes a branch from one stream, so that all threads fall through. */
static bool lose_a_branch(struct ir *ir, struct edit *e) {
    uint32_t i = choose(ir, is_twin);
    if (i != NO_INST)
        edit_remove(e, i);
    return i != NO_INST;
}

static bool send_something_else(struct ir *ir, struct edit *e) {
    uint32_t i = choose(ir, takes_address);
    if (i == NO_INST)
        return false;
    edit_inst(e, i)->msize = edit_inst(e, i)->msize == 4 ? 8 : 4;
    return true;
}

static const struct {
    const char *name;
    bool (*change)(struct ir *ir, struct edit *e);
} breaks[] = {
    {"a send is lost", lose_a_send},
    {"a send is there twice", send_twice},
    {"two sends change places", swap_sends},
    {"a send is for all", send_under_a_guard},
    {"a guard is turned", take_under_another_guard},
    {"nothing is taken", forget_to_take},
    {"the other's is taken", take_the_other},
    {"a barrier is lost", lose_a_barrier},
    {"a branch is turned", turn_a_branch},
    {"a branch is lost", lose_a_branch},
    {"sizes differ", send_something_else},
};
enum { N_BREAKS = sizeof breaks / sizeof *breaks };
static int breaking;
static uint32_t broken;

/* Damages one of two streams that the verifier has accepted. The verifier must then reject it. */
static bool damage(struct ir *ir) {
    char buffer[200];
    if (!ir->n_streams)
        return true;
    const char *wrong = verify_streams(ir, buffer, sizeof buffer);
    EXPECT(!wrong, "before: %s", wrong);
    struct edit *e = edit_begin(ir);
    bool done = breaks[breaking].change(ir, e);
    if (!edit_end(e))
        return false;
    wrong = verify_streams(ir, buffer, sizeof buffer);
    EXPECT(!done || wrong, "the verifier accepted: %s in kernel %s", breaks[breaking].name, ir->kernel);
    broken += done;
    return true;
}

START_TEST(broken_streams_are_found) {
    static const struct pass breaker = {.name = "break", .help = "", .run = damage};
    breaking = _i;
    broken = 0;
    rng = 1;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        struct index_kernel k = random_index_kernel(seed);
        lower_all("affine", k.text, &breaker, false);
        free(k.text);
    }
    ck_assert_msg(broken > 10, "'%s' was tried %u times", breaks[_i].name, broken);
}
END_TEST

/* Returns true if a path leads from block `from` to the end without passing `without`. The test uses it to compute
 * control dependence by its definition: b depends on a if b is a successor s of a or lies on all paths from s to the
 * end, but does not lie on all paths from a to the end. */
static bool reaches_end_without(const struct control *c, uint32_t from, uint32_t without, unsigned char *seen,
                                uint32_t *stack) {
    uint32_t top = 0;
    memset(seen, 0, c->n + 1);
    if (from == without)
        return false;
    stack[top++] = from;
    seen[from] = 1;
    while (top) {
        uint32_t b = stack[--top];
        if (b == c->n)
            return true;
        for (uint32_t e = c->g.succ_first[b]; e < c->g.succ_first[b + 1]; e++)
            if (c->g.succ[e] != without && !seen[c->g.succ[e]]) {
                seen[c->g.succ[e]] = 1;
                stack[top++] = c->g.succ[e];
            }
    }
    return false;
}

static uint32_t pairs;

static void check_pair(const struct control *c, uint32_t a, uint32_t b, const unsigned char *depends, bool decides,
                       unsigned char *seen, uint32_t *stack) {
    bool some = false, all = true;
    for (uint32_t e = c->g.succ_first[a]; e < c->g.succ_first[a + 1]; e++) {
        bool way = reaches_end_without(c, c->g.succ[e], b, seen, stack);
        some |= !way;
        all &= !way;
    }
    bool want = some && !all;
    EXPECT(depends[b] == want && decides == want, "block %u on %u: %d and %d, not %d", b, a, depends[b], decides, want);
    pairs += want;
}

static bool check_control(struct ir *ir) {
    struct control c = find_control(ir->tmp, ir, calls_that_exit(ir->tmp, ir));
    uint32_t n = c.n, *list = arena_array(ir->tmp, n + 1, sizeof *list);
    unsigned char *depends = arena_array(ir->tmp, n + 1, 1), *seen = arena_array(ir->tmp, n + 1, 1);
    unsigned char *decides = arena_array(ir->tmp, (size_t)n * n + 1, 1);
    if (c.stuck != NO_BLOCK || n > 60)
        return true;
    for (uint32_t b = 0; b < n; b++) {
        struct deciders d = find_deciders(ir->tmp, &c);
        for (uint32_t a; (a = next_decider(&d, b)) != NO_BLOCK;)
            decides[(size_t)a * n + b] = 1;
    }
    for (uint32_t a = 0; a < n; a++) {
        struct dependents d = find_dependents(ir->tmp, &c);
        memset(depends, 0, n + 1);
        for (uint32_t k = 0, m = dependents_of(&d, a, list); k < m; k++)
            depends[list[k]] = 1;
        for (uint32_t b = 0; b < n; b++)
            check_pair(&c, a, b, depends, decides[(size_t)a * n + b], seen, list);
    }
    return true;
}

START_TEST(control_by_definition) {
    static const struct pass checker = {.name = "check", .help = "", .run = check_control};
    pairs = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct index_kernel k = random_index_kernel(seed);
        char *text = random_kernel(seed, RANDOM_LEAVERS);
        lower_all("affine", k.text, &checker, false);
        lower_all("random", text, &checker, false);
        free(k.text);
        free(text);
    }
    ck_assert_uint_gt(pairs, 1000);
}
END_TEST

SUITE(mechanisms_dac_streams) {
    TEST(kernels_of_the_project);
    TEST(compiled_kernels);
    TEST(random_kernels);
    TEST(streams_fit_into_the_tuple_file);
    TEST(accesses_by_worth);
    TEST_SPEED(the_pass_is_fast);
    TEST_LOOP(broken_streams_are_found, 0, N_BREAKS);
    TEST(control_by_definition);
}
