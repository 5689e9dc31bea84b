/* Tests compact affine execution on small kernels: which instructions run on the affine units, why other instructions
 * do not, and the time. */
#include "mechanisms/cae/cae.h"
#include "cae_watch.h"
#include "mechanisms/cae/cae_parts.h"
#include "test/timing/job_rig.h"

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"                             \
    ".reg .b32 %r<9>; .reg .b64 %a, %b, %c; .reg .b16 %h<4>; .reg .pred %p, %q;\n"                                     \
    " ld.param.u64 %a,[p];\n mov.u32 %r1,%tid.x;\n mov.u32 %r2,%ntid.x;\n"
enum { HEAD_OFFSETS = 1, HEAD_SCALARS = 1, HEAD_MEMORY = 1 };

static char found[128];
static struct heddle *h;
static void setup(void) { h = NULL; }
static void teardown(void) { heddle_close(h); }

static void run_shaped(const char *model, const char *const *set, const char *text, struct heddle_dim block) {
    heddle_close(h);
    h = open_watched(model, "tiny", set, found);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 65536);
    heddle_clear(h, p, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, block, 0, args, 1) == HEDDLE_OK, "%s",
                  heddle_error(h));
    ck_assert_msg(!*found, "%s", found);
}

static void run(const char *model, const char *const *set, const char *text, uint32_t threads) {
    run_shaped(model, set, text, (struct heddle_dim){threads, 1, 1});
}

static double stat(const char *name) { return heddle_stat(h, -1, name); }

/* Expected numbers of warp instructions, by kind and by cause. They exclude the instructions of HEAD, and ret, which
 * computes nothing. */
struct kinds {
    int scalar, offset, control, memory, divergent, source, rule, range;
};
static void check_kinds(struct kinds k, const char *what) {
    const struct {
        const char *name;
        int want;
    } rows[] = {{"cae.scalar_instructions", k.scalar + HEAD_SCALARS},
                {"cae.offset_instructions", k.offset + HEAD_OFFSETS},
                {"cae.control_instructions", k.control},
                {"cae.not_memory", k.memory + HEAD_MEMORY},
                {"cae.not_divergent", k.divergent},
                {"cae.not_source", k.source},
                {"cae.not_rule", k.rule + 1},
                {"cae.not_range", k.range}};
    double sum = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(stat(rows[i].name) == rows[i].want, "%s: %s is %g, not %d", what, rows[i].name,
                      stat(rows[i].name), rows[i].want);
        sum += stat(rows[i].name);
    }
    ck_assert_double_eq(sum, stat("gpu.warp_instructions"));
    ck_assert_double_eq(stat("cae.affine_instructions"), stat("pipe.affine"));
}

static const struct {
    const char *body;
    struct kinds want;
} bodies[] = {
    {"ret;", {0}},
    {"mul.lo.u32 %r3,%r2,4; sub.u32 %r3,%r3,%r2; neg.s32 %r4,%r3; shl.b32 %r4,%r4,%r2; not.b32 %r4,%r4; ret;",
     {.scalar = 5}},
    {"mad.lo.u32 %r4,%r1,%r2,5; sub.u32 %r4,3,%r4; shl.b32 %r4,%r4,3; neg.s32 %r4,%r4; ret;", {.offset = 4}},
    /* tid - tid is a scalar, since its offset is 0; the product of this scalar and tid also has the offset 0 */
    {"sub.u32 %r4,%r1,%r1; mul.lo.u32 %r4,%r4,%r1; and.b32 %r4,%r4,%r2; ret;", {.scalar = 3}},
    {"mul.lo.u32 %r4,%r1,%r1; and.b32 %r5,%r1,3; ret;", {.rule = 2}},
    {"mul.lo.u32 %r4,%r1,%r1; add.u32 %r5,%r4,%r2; add.u32 %r5,%r5,%r1; ret;", {.rule = 1, .source = 2}},
    {"cvt.rn.f32.u32 %r4,%r2; ret;", {.rule = 1}},
    {"setp.lt.u32 %p,%r2,100; @%p add.u32 %r2,%r2,1; @!%p add.u32 %r2,%r2,1; ret;", {.scalar = 3}},
    {"setp.lt.u32 %p,%r1,7; @%p add.u32 %r2,%r2,1; add.u32 %r2,%r2,1; ret;", {.rule = 1, .source = 2}},
    {"setp.lt.u32 %p,%r2,7; selp.b32 %r4,%r1,%r2,%p; ret;", {.scalar = 2}},
    {"setp.gt.u32 %p,%r2,7; selp.b32 %r4,%r1,%r2,%p; ret;", {.scalar = 1, .offset = 1}},
    {"bra L; L: add.u32 %r2,%r2,1; ret;", {.control = 1, .scalar = 1}},
    /* widening: 0x7ffffff0 + tid passes 2^31 in lane 16 of 32, which is out of range only for signed numbers */
    {"add.u32 %r4,%r1,0x7ffffff0; mul.wide.u32 %b,%r4,4; add.u64 %b,%b,%a; ret;", {.offset = 3}},
    {"add.u32 %r4,%r1,0x7ffffff0; mul.wide.s32 %b,%r4,4; add.u64 %b,%b,%a; ret;",
     {.offset = 1, .range = 1, .source = 1}},
    /* the factor that is uniform may be the first source */
    {"add.u32 %r4,%r1,0x7ffffff0; mul.wide.s32 %b,%r2,%r4; mul.wide.u32 %c,%r2,%r4; ret;", {.offset = 2, .range = 1}},
    {"add.u32 %r4,%r1,0x7ffffff0; mad.wide.s32 %b,%r2,%r4,%a; mad.wide.u32 %c,%r2,%r4,%a; ret;",
     {.offset = 2, .range = 1}},
    {"add.u32 %r4,%r1,0x7fffffe0; mul.wide.s32 %b,%r4,4; mad.wide.s32 %b,%r4,%r2,%b; ret;", {.offset = 3}},
    {"sub.u32 %r4,%r1,1; cvt.u64.u32 %b,%r4; cvt.s64.s32 %c,%r4; ret;", {.offset = 2, .range = 1}},
    {"cvt.u16.u32 %h1,%r1; add.u16 %h1,%h1,0xfff0; cvt.u32.u16 %r4,%h1; ret;", {.offset = 2, .range = 1}},
    /* the sum is narrowed to a byte and widened again: 100 + tid passes 127 in lane 28, 240 + tid passes 255 in
     * lane 16 */
    {"add.u32 %r4,%r1,100; cvt.u8.u32 %r5,%r4; cvt.s8.s32 %r6,%r4; ret;", {.offset = 2, .range = 1}},
    {"add.u32 %r4,%r1,240; cvt.s8.s32 %r5,%r4; cvt.u8.u32 %r6,%r4; ret;", {.offset = 2, .range = 1}},
    {"ld.param.u32 %r4,[p]; add.u32 %r4,%r4,%r1; ret;", {.memory = 1, .offset = 1}},
    {"ld.global.u32 %r4,[%a]; add.u32 %r4,%r4,%r2; st.global.u32 [%a],%r4; ret;", {.memory = 2, .source = 1}},
    {"shfl.sync.bfly.b32 %r4,%r2,1,31,-1; bar.sync 0; ret;", {.rule = 2}},
    /* the registers in the list of a vector store are read, not written */
    {"mul.lo.u32 %r3,%r1,%r1; add.u32 %r4,%r2,7; st.global.v2.u32 [%a],{%r3,%r4}; add.u32 %r5,%r4,%r3; "
     "add.u32 %r6,%r4,1; ret;",
     {.scalar = 2, .memory = 1, .source = 1, .rule = 1}},
};

START_TEST(each_instruction_has_its_cause) {
    char text[2048];
    snprintf(text, sizeof text, "%s%s\n}\n", HEAD, bodies[_i].body);
    run("cae", NULL, text, 32);
    for (const char *c = bodies[_i].body; *c; c++)
        ck_assert_int_ne(*c, '\n');
    check_kinds(bodies[_i].want, bodies[_i].body);
}
END_TEST

/* The upper half of the warp branches over two additions to %r2, which is compact. Only half of the lanes execute the
 * additions, so %r2 is first expanded to the banks, and its results are vectors. */
static const char diverges[] = HEAD " setp.gt.u32 %p,%r1,15;\n @%p bra L;\n add.u32 %r2,%r2,1;\n add.u32 %r2,%r2,1;\n"
                                    "L: add.u32 %r3,%r2,1;\n add.u32 %r4,%r1,1;\n ret;\n}\n";

START_TEST(divergence_ends_compact_execution) {
    run("cae", NULL, diverges, 32);
    check_kinds((struct kinds){.rule = 1, .source = 2, .divergent = 2, .offset = 1}, "diverges");
    ck_assert_double_eq(stat("cae.expanded_registers"), 1);
    /* three compact reads: setp reads %r1, the first addition to %r2 reads %r2, and the last addition reads %r1. The
     * mov of tid reads no register. */
    ck_assert_double_eq(stat("cae.reads"), 3);
    /* the first addition and setp read their compact operand in expanded form */
    ck_assert_double_eq(stat("cae.expanded_operands"), 2);
    ck_assert_double_eq(stat("cae.writes"), 4); /* %a %r1 %r2 %r4 */
}
END_TEST

/* The expansion of a register writes it to the banks, which is one write more. */
START_TEST(an_expansion_writes_the_banks) {
    run("cae", NULL, diverges, 32);
    double with = stat("collector.write_words");
    /* vector writes: %r2 by two additions and by its expansion; %r3 once */
    ck_assert_double_eq(with, 4);
    run("spe", NULL, diverges, 32);
    ck_assert_double_eq(stat("collector.write_words"), 2 + 1 + 1 + 2 + 1 + 1);
    ck_assert_double_eq(stat("cae.affine_instructions"), 0);
    /* If a vector result is computed from a compact operand, the result is written once. The operand is read twice from
     * the compact file. */
    run("cae", NULL, HEAD " mul.lo.u32 %r4,%r1,%r1;\n st.global.u32 [%a],%r4;\n ret;\n}\n", 32);
    ck_assert_double_eq(stat("collector.write_words"), 1);
    /* the store reads the value from the banks; its address is compact */
    ck_assert_double_eq(stat("collector.read_words"), 1);
}
END_TEST

/* Half of the warp executes a loop. The first iteration expands %r2 and the counter; in the second iteration they are
 * in the banks. In each iteration the addition to %r2 reads a vector and a scalar, so nothing else is expanded. */
START_TEST(an_expansion_happens_once) {
    static const char text[] =
        HEAD " mul.lo.u32 %r4,%r1,%r1; mov.u32 %r5,%r2; mov.u32 %r6,0; setp.gt.u32 %p,%r1,15; @%p bra E;\n"
             "L: add.u32 %r2,%r4,%r5; add.u32 %r6,%r6,1; setp.lt.u32 %q,%r6,3; @%q bra L;\n"
             "E: st.global.u32 [%a],%r2; ret;\n}\n";
    run("cae", NULL, text, 32);
    ck_assert_double_eq(stat("cae.expanded_registers"), 2);
}
END_TEST

/* Half of the warp exits. After that, the other lanes are all live lanes, so their instructions may use compact
 * registers. */
START_TEST(exited_lanes_do_not_diverge) {
    static const char text[] = HEAD " setp.gt.u32 %p,%r1,15;\n @%p ret;\n add.u32 %r2,%r2,1;\n add.u32 %r3,%r1,1;\n"
                                    " mul.wide.s32 %b,%r3,4;\n ret;\n}\n";
    run("cae", NULL, text, 32);
    check_kinds((struct kinds){.rule = 2, .scalar = 1, .offset = 2}, "exits");
}
END_TEST

/* With rows of 16 threads, neither tid.x nor tid.y is linear within a warp. With rows of 32 threads, both are
 * linear. */
START_TEST(the_cta_shape_decides_what_is_affine) {
    static const char text[] = HEAD " mov.u32 %r3,%tid.y;\n add.u32 %r4,%r3,1;\n add.u32 %r5,%r1,1;\n ret;\n}\n";
    run_shaped("cae", NULL, text, (struct heddle_dim){16, 2, 1});
    ck_assert_double_eq(stat("cae.not_source"), 5 - 1); /* all but ntid */
    run_shaped("cae", NULL, text, (struct heddle_dim){32, 2, 1});
    ck_assert_double_eq(stat("cae.not_source"), 0);
    /* the affine instructions are ntid, tid.y and the addition to tid.y */
    ck_assert_double_eq(stat("cae.scalar_instructions"), 2 * 3);
    run_shaped("cae", NULL, text, (struct heddle_dim){2, 1, 1}); /* the values of only two lanes are always linear */
    ck_assert_double_eq(stat("cae.offset_instructions"), 2);
}
END_TEST

START_TEST(branches_may_stay_on_the_lanes) {
    static const char text[] = HEAD " bra L;\nL: st.global.u32 [%a],%r2;\n ret;\n}\n";
    run("cae", NULL, text, 32);
    ck_assert_double_eq(stat("cae.control_instructions"), 1);
    run("cae", (const char *const[]){"cae.branches=off", NULL}, text, 32);
    ck_assert_double_eq(stat("cae.control_instructions"), 0);
    ck_assert_double_eq(stat("cae.not_rule"), 2);
}
END_TEST

/* Returns the additional cycles for one more `inst`, with this number of threads. */
static double cycles_each(const char *model, const char *const *set, const char *inst, uint32_t threads) {
    static char text[64 * 1024];
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        size_t at =
            (size_t)snprintf(text, sizeof text, "%s mov.u32 %%r3,%%r1; mov.u32 %%r5,%%r2; mov.u32 %%r6,%%r2;\n", HEAD);
        for (int k = 0; k < (i ? 96 : 32); k++)
            at += (size_t)snprintf(text + at, sizeof text - at, " %s\n", inst);
        snprintf(text + at, sizeof text - at, " ret;\n}\n");
        run(model, set, text, threads);
        cycles[i] = stat("gpu.cycles");
    }
    return (cycles[1] - cycles[0]) / 64;
}

/* An instruction of one warp that depends on the previous one takes 6 cycles plus its latency (see timing_gpu). This
 * holds on the lanes and on an affine unit. The latency of the affine unit is an option. If two operands are in one
 * bank, the instruction takes one more cycle. */
START_TEST(a_chain_takes_the_latency) {
    static const char *const two[] = {"cae.latency=2", NULL}, *const twenty[] = {"cae.latency=20", NULL},
                             *const one_bank[] = {"cae.banks=1", NULL};
    ck_assert_double_eq(cycles_each("spe", NULL, "add.u32 %r3,%r3,%r2;", 32), 6 + 4);
    ck_assert_double_eq(cycles_each("cae", NULL, "add.u32 %r3,%r3,%r2;", 32), 6 + 4);
    ck_assert_double_eq(cycles_each("cae", NULL, "mad.lo.u32 %r3,%r5,%r2,%r3;", 32), 6 + 5);
    ck_assert_double_eq(cycles_each("cae", two, "add.u32 %r3,%r3,%r2;", 32), 6 + 2);
    ck_assert_double_eq(cycles_each("cae", twenty, "add.u32 %r3,%r3,%r2;", 32), 6 + 20);
    ck_assert_double_eq(cycles_each("cae", one_bank, "add.u32 %r3,%r3,%r2;", 32), 6 + 4 + 1);
    ck_assert_double_eq(cycles_each("cae", one_bank, "mad.lo.u32 %r3,%r5,%r2,%r3;", 32), 6 + 5 + 2);
}
END_TEST

/* Eight warps share one scheduler and one SIMD pipe, which starts an addition every second cycle. One addition in each
 * of the 8 warps takes 16 cycles on the SIMD pipe. On the affine units it takes 8 cycles (the limit of the scheduler),
 * or 10 cycles if the additions of a warp depend on each other. A single affine unit with an initiation interval of 3
 * cycles takes 24. Additions with vector operands are not faster with affine units. */
START_TEST(warps_share_units_not_lanes) {
    static const char *const slow[] = {"pipe.sp.units=1", "initiation.int_add=2", NULL},
                             *const one[] = {"pipe.sp.units=1", "initiation.int_add=2", "pipe.affine.units=1",
                                             "cae.initiation=3", NULL},
                             *const none[] = {"pipe.sp.units=1", "initiation.int_add=2", "pipe.affine.units=0", NULL};
    ck_assert_double_eq_tol(cycles_each("spe", slow, "add.u32 %r4,%r3,%r2;", 256), 16, 0.3);
    ck_assert_double_eq_tol(cycles_each("spe", slow, "add.u32 %r3,%r3,%r2;", 256), 16, 0.3);
    ck_assert_double_eq_tol(cycles_each("cae", slow, "add.u32 %r3,%r3,%r2;", 256), 10, 0.3);
    ck_assert_double_eq_tol(cycles_each("cae", one, "add.u32 %r3,%r3,%r2;", 256), 24, 0.3);
    ck_assert_double_gt(stat("cae.stall_cycles"), 0);
    ck_assert_double_eq_tol(cycles_each("cae", none, "add.u32 %r3,%r3,%r2;", 256), 16, 0.3);
    ck_assert_double_eq(stat("pipe.affine"), 0);
    ck_assert_double_eq_tol(cycles_each("cae", slow, "mul.lo.u32 %r3,%r1,%r1; add.u32 %r3,%r3,%r2;", 256), 8 * 2 + 16,
                            0.3);
}
END_TEST

/* %a, tid and ntid are live until the end. The three instructions of HEAD leave 1, 2 and 3 compact registers; each
 * later instruction leaves 3. Only the parameter is loaded from memory. */
START_TEST(compact_registers_are_summed) {
    run("cae", NULL, HEAD " st.global.u32 [%a],%r1;\n st.global.u32 [%a+256],%r2;\n ret;\n}\n", 32);
    ck_assert_double_eq(stat("cae.compact_sum"), 1 + 2 + 3 + 3 + 3 + 3);
    ck_assert_double_eq(stat("cae.most_compact"), 3);
    ck_assert_double_eq(stat("cae.compact_loads"), 1);
    run("cae", NULL, HEAD " st.global.u32 [%a],%r1;\n st.global.u32 [%a+256],%r2;\n ret;\n}\n", 64);
    ck_assert_double_eq(stat("cae.compact_sum"), 2 * 15); /* two warps, each with its own registers */
    ck_assert_double_eq(stat("cae.most_compact"), 3);
    ck_assert_double_eq(stat("cae.compact_loads"), 2);
}
END_TEST

/* Runs a kernel that calls a function and then executes the code `more`. A recursive function restores the warp's
 * registers from memory. Restored registers are vectors, except special registers. A function that is not recursive
 * keeps the compact forms. */
static void behind_a_call(bool recursive, const char *more) {
    char text[2048];
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_70\n.address_size 64\n.func f(.param .b32 n)\n{\n.reg .b32 %%r<3>; .reg .pred "
             "%%p;\n ld.param.u32 %%r1,[n]; setp.eq.u32 %%p,%%r1,0; @%%p ret;\n sub.u32 %%r1,%%r1,1;\n"
             " { .param .b32 m; st.param.b32 [m],%%r1;\n %s (m); }\n ret;\n}\n"
             ".func g(.param .b32 n) { ret; }\n%s",
             recursive ? "call f," : "call g,", "");
    snprintf(text + strlen(text), sizeof text - strlen(text),
             ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>; .reg .b64 %%a;\n ld.param.u64 %%a,[p];\n"
             " mov.u32 %%r1,%%tid.x; mov.u32 %%r2,%%ntid.x; add.u32 %%r3,%%r1,1;\n"
             " { .param .b32 m; st.param.b32 [m],2;\n call f, (m); }\n%s"
             " st.global.u32 [%%a],%%r1; st.global.u32 [%%a],%%r2; st.global.u32 [%%a],%%r3; ret;\n}\n",
             more);
    run("cae", NULL, text, 32);
}

START_TEST(a_return_from_memory_leaves_vectors) {
    static const char more[] = " add.u32 %r4,%r1,1; add.u32 %r5,%r2,1; add.u32 %r6,%r3,1;\n"
                               " mov.u32 %r7,%tid.x; mov.u32 %r8,%ntid.x; add.u32 %r7,%r7,%r8;\n"
                               " st.global.u32 [%a],%r4; st.global.u32 [%a],%r5; st.global.u32 [%a],%r6;"
                               " st.global.u32 [%a],%r7;\n";
    double source[2], offset[2], scalar[2];
    for (int recursive = 0; recursive < 2; recursive++) {
        for (int i = 0; i < 2; i++) {
            behind_a_call(recursive, i ? more : "");
            source[i] = stat("cae.not_source");
            offset[i] = stat("cae.offset_instructions");
            scalar[i] = stat("cae.scalar_instructions");
        }
        /* the three additions that read %r1, %r2 and %r3 have vector sources after the return; mov of tid and the sum
         * are offsets; mov of ntid is a scalar */
        ck_assert_double_eq(source[1] - source[0], recursive ? 3 : 0);
        ck_assert_double_eq(offset[1] - offset[0], 2 + (recursive ? 0 : 2));
        ck_assert_double_eq(scalar[1] - scalar[0], 1 + (recursive ? 0 : 1));
    }
}
END_TEST

/* Returns by how much a statistic grows if a chain of `inst` has 64 more instructions. */
static double added(const char *const *set, const char *inst, const char *name) {
    static char text[64 * 1024];
    double sum[2];
    for (int i = 0; i < 2; i++) {
        size_t at = (size_t)snprintf(text, sizeof text, "%s mov.u32 %%r3,%%r1; mov.u32 %%r5,%%r2;\n", HEAD);
        for (int k = 0; k < (i ? 96 : 32); k++)
            at += (size_t)snprintf(text + at, sizeof text - at, " %s\n", inst);
        snprintf(text + at, sizeof text - at, " ret;\n}\n");
        run("cae", set, text, 32);
        sum[i] = stat(name);
    }
    return sum[1] - sum[0];
}

/* An instruction keeps an affine unit busy for `cae.initiation` cycles. In a chain, an instruction takes 6 cycles plus
 * its latency of 4, that is, 10 cycles. With one unit and an initiation interval of 40 cycles, it therefore waits 30
 * cycles for the unit. With one bank, the second and third operand each wait one cycle. */
START_TEST(waiting_cycles_are_counted) {
    static const char *const slow[] = {"pipe.affine.units=1", "cae.initiation=40", NULL}, *const one_bank[] = {
                                                                                              "cae.banks=1", NULL};
    static const char chain[] = "add.u32 %r3,%r3,%r2;", three[] = "mad.lo.u32 %r3,%r5,%r2,%r3;";
    ck_assert_double_eq(added(NULL, chain, "cae.busy_cycles"), 64);
    ck_assert_double_eq(added(slow, chain, "cae.busy_cycles"), 64 * 40);
    ck_assert_double_eq(added(slow, chain, "gpu.cycles"), 64 * 40);
    ck_assert_double_eq(added(NULL, chain, "cae.stall_cycles"), 0);
    ck_assert_double_eq(added(slow, chain, "cae.stall_cycles"), 64 * 30);
    ck_assert_double_eq(added(NULL, three, "cae.bank_conflicts"), 0);
    ck_assert_double_eq(added(one_bank, chain, "cae.bank_conflicts"), 64);
    ck_assert_double_eq(added(one_bank, three, "cae.bank_conflicts"), 64 * 2);
}
END_TEST

/* Each launch has its own statistics. */
START_TEST(launches_have_their_own_statistics) {
    static const char *const set[] = {"pipe.affine.units=1", "cae.initiation=40", "cae.banks=1", NULL};
    static const char *const names[] = {
        "cae.affine_instructions", "cae.busy_cycles", "cae.compact_sum", "cae.most_compact",       "cae.reads",
        "cae.compact_loads",       "cae.writes",      "cae.not_rule",    "cae.scalar_instructions"};
    run("cae", set,
        HEAD " mad.lo.u32 %r3,%r2,%r2,%r1; add.u32 %r3,%r3,%r2; add.u32 %r3,%r3,%r2; add.u32 %r3,%r3,%r2;\n"
             " add.u32 %r3,%r3,%r2; add.u32 %r3,%r3,%r2; add.u32 %r3,%r3,%r2; st.global.u32 [%a],%r3; ret;\n}\n",
        64);
    uint64_t p = heddle_alloc(h, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    struct heddle_module *m = heddle_module_text(h, "t.ptx", HEAD " ret;\n}\n", strlen(HEAD " ret;\n}\n"));
    ck_assert(m != NULL);
    for (int i = 0; i < 2; i++) /* runs another kernel, then this kernel twice, with equal statistics */
        ck_assert_int_eq(
            heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, args, 1),
            HEDDLE_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_msg(heddle_stat(h, 1, names[i]) == heddle_stat(h, 2, names[i]), "%s: %g, then %g", names[i],
                      heddle_stat(h, 1, names[i]), heddle_stat(h, 2, names[i]));
    /* two movs in each of two warps use the unit */
    ck_assert_double_eq(heddle_stat(h, 2, "cae.busy_cycles"), 2 * 2 * 40);
    /* the four movs use the unit one after another, so the first waits for no other mov, and the last for up to
     * three */
    for (int i = 1; i < 3; i++)
        ck_assert_double_le(heddle_stat(h, i, "cae.stall_cycles"), (1 + 2 + 3) * 40);
    ck_assert_double_gt(heddle_stat(h, 0, "cae.stall_cycles"), (1 + 2 + 3) * 40);
    /* in each of two warps, mad reads two operands more than the bank delivers in a cycle, and each of six additions
     * reads one more; the kernel of the last two launches only writes three results per warp */
    ck_assert_double_ge(heddle_stat(h, 0, "cae.bank_conflicts"), 2 * (2 + 6));
    for (int i = 1; i < 3; i++)
        ck_assert_double_le(heddle_stat(h, i, "cae.bank_conflicts"), 2 * 3);
}
END_TEST

/* Energy of mov, mov and add on the affine unit. The add has two compact operands. */
START_TEST(energy_is_counted_once_a_warp) {
    static const char *const set[] = {"energy.cae_op=1e6", "energy.cae_read=1e3", "energy.cae_write=1", NULL};
    run("cae", set, HEAD " add.u32 %r3,%r1,%r2;\n ret;\n}\n", 32);
    /* three instructions use the unit; the two movs read no register (tid and ntid are in no register file), and the
     * add reads two; four registers are written, including the register of the parameter */
    ck_assert_double_eq_tol(stat("energy.affine_joules"), (3 * 1e6 + 2 * 1e3 + 4) * 1e-12, 1e-15);
    ck_assert_double_eq(stat("op.affine"), 3 * 32);
    ck_assert_double_eq(stat("op.int"), 0);
    ck_assert_double_eq(stat("cae.most_compact"), 3); /* the parameter's register is dead, so %r3 reuses it */
}
END_TEST

/* An SM's compact register file has several banks, which are divided among the parts of the SM. Each part gets at least
 * one bank. */
START_TEST(parts_share_the_banks) {
    static const struct {
        bool subcores;
        uint32_t schedulers, banks, parts, each;
    } cases[] = {{false, 4, 16, 1, 16}, {true, 4, 16, 4, 4}, {true, 2, 64, 2, 32}, {true, 8, 64, 8, 8},
                 {true, 4, 7, 4, 1},    {true, 4, 3, 4, 1},  {false, 1, 1, 1, 1},  {true, 8, 1, 8, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config c;
        config_default(&c);
        c.sm.subcores = cases[i].subcores;
        c.sm.schedulers = cases[i].schedulers;
        c.cae.banks = cases[i].banks;
        struct cae *u = cae_unit.make(&c, 0, NULL);
        ck_assert_ptr_nonnull(u);
        ck_assert_uint_eq(u->parts, cases[i].parts);
        for (uint32_t p = 0; p < u->parts; p++)
            ck_assert_uint_eq(u->file[p].banks, cases[i].each);
        cae_unit.free(u);
    }
}
END_TEST

/* form() runs for each member of a joint issue before the first member issues. An assertion in cae.c fails if a result
 * is less compact than its choice. */
START_TEST(members_of_a_joint_issue_keep_their_choices) {
    static const char *const models[] = {"large+cae", "spe+cae+swi", "anypc+cae+sbi"};
    struct job j;
    run_job(&j, bench_find("bfs"), models[_i], "fermi", NULL, 1);
    ck_assert(job_stat(&j, "cae.scalar_instructions") > 0);
    job_free(&j);
}
END_TEST

SUITE(mechanisms_cae) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST_LOOP(members_of_a_joint_issue_keep_their_choices, 0, 3);
    TEST_LOOP(each_instruction_has_its_cause, 0, (int)(sizeof bodies / sizeof bodies[0]));
    TEST(divergence_ends_compact_execution);
    TEST(an_expansion_writes_the_banks);
    TEST(an_expansion_happens_once);
    TEST(exited_lanes_do_not_diverge);
    TEST(the_cta_shape_decides_what_is_affine);
    TEST(branches_may_stay_on_the_lanes);
    TEST(a_chain_takes_the_latency);
    TEST(warps_share_units_not_lanes);
    TEST(energy_is_counted_once_a_warp);
    TEST(compact_registers_are_summed);
    TEST(a_return_from_memory_leaves_vectors);
    TEST(waiting_cycles_are_counted);
    TEST(launches_have_their_own_statistics);
    TEST(parts_share_the_banks);
}
