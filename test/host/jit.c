/* Tests native code for whole kernels: every address pattern, faults inside blocks, loops, barriers, limits, and
 * several host threads. Memory after a run must equal memory after a run in the interpreter. */
#include "jit_rig.h"
#include "test/every_model.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.const .align 8 .b8 fixed[64];\n"                                  \
    ".visible .entry k(.param .u64 k_in, .param .u64 k_out) {\n"                                                       \
    ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b16 %h<4>;\n"      \
    ".shared .align 16 .b8 tile[16384];\n"                                                                             \
    "ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; mov.u32 %r1, %tid.x; mov.u32 %r15, %ctaid.x;\n"            \
    "mov.u32 %r2, 0; mov.u32 %r3, 0; mov.b64 %rd9, 0; mov.u32 %r14, tile; cvt.u64.u32 %rd14, %r14;\n"                  \
    "mad.lo.u32 %r16, %r15, 256, %r1; mul.wide.u32 %rd3, %r16, 8; add.u64 %rd4, %rd2, %rd3;\n"

/* ---- address patterns ---- */

/* %r4 is the index of the element that a thread accesses. */
static const char *const patterns[] = {
    "mov.u32 %r4, %r1;",
    "shr.u32 %r4, %r1, 4;",
    "and.b32 %r4, %r1, 15;",
    "mov.u32 %r4, 5;",
    "mul.lo.u32 %r4, %r1, 3;",
    "sub.u32 %r4, 300, %r1;",
    "shr.u32 %r4, %r1, 3;",
    "mul.lo.u32 %r4, %r1, 7; and.b32 %r4, %r4, 31;",
    "setp.lt.u32 %p3, %r1, 16; selp.b32 %r4, %r1, 9, %p3;",
    "setp.lt.u32 %p3, %r1, 16; selp.b32 %r4, 9, %r1, %p3;",
    "and.b32 %r4, %r1, 15; and.b32 %r5, %r2, 4; add.u32 %r4, %r4, %r5;",
    /* alternates between one common address and a stride of 8 elements */
    "and.b32 %r4, %r2, 8; mul.lo.u32 %r4, %r4, %r1;",
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

/* Each row has the size of the element, a load to %r6, %rd6 or another register, a store from this register, and code
 * that adds the loaded value to %r3. Elements narrower than their register test compile_lane_loop(). */
static const struct {
    int size;
    const char *load, *store, *mix;
} kinds[] = {
    {4, "ld%s.u32 %%r6, [%s+%d];", "st%s.u32 [%s+%d], %%r6;", "xor.b32 %r3, %r3, %r6;"},
    {4, "ld%s.f32 %%f1, [%s+%d];", "st%s.f32 [%s+%d], %%f1;", "mov.b32 %r6, %f1; add.u32 %r3, %r3, %r6;"},
    {8, "ld%s.u64 %%rd6, [%s+%d];", "st%s.u64 [%s+%d], %%rd6;",
     "shr.u64 %rd7, %rd6, 20; cvt.u32.u64 %r6, %rd7; xor.b32 %r3, %r3, %r6;"},
    {8, "ld%s.f64 %%d1, [%s+%d];", "st%s.f64 [%s+%d], %%d1;",
     "mov.b64 %rd6, %d1; cvt.u32.u64 %r6, %rd6; add.u32 %r3, %r3, %r6;"},
    {1, "ld%s.u8 %%r6, [%s+%d];", "st%s.u8 [%s+%d], %%r6;", "xor.b32 %r3, %r3, %r6;"},
    {1, "ld%s.s8 %%h1, [%s+%d];", "st%s.b8 [%s+%d], %%h1;", "cvt.s32.s16 %r6, %h1; add.u32 %r3, %r3, %r6;"},
    {2, "ld%s.u16 %%h1, [%s+%d];", "st%s.u16 [%s+%d], %%h1;", "cvt.u32.u16 %r6, %h1; xor.b32 %r3, %r3, %r6;"},
    {2, "ld%s.s16 %%r6, [%s+%d];", "st%s.u16 [%s+%d], %%r6;", "add.u32 %r3, %r3, %r6;"},
    {4, "ld%s.s32 %%rd6, [%s+%d];", "st%s.u32 [%s+%d], %%rd6;",
     "shr.u64 %rd7, %rd6, 20; cvt.u32.u64 %r6, %rd7; add.u32 %r3, %r3, %r6;"},
    {8, "ld%s.v2.u32 {%%r6, %%r7}, [%s+%d];", "st%s.v2.u32 [%s+%d], {%%r7, %%r6};", "add.u32 %r3, %r6, %r7;"},
    {16, "ld%s.v4.f32 {%%f1, %%f2, %%f3, %%f4}, [%s+%d];", "st%s.v4.f32 [%s+%d], {%%f4, %%f1, %%f3, %%f1};",
     "mov.b32 %r6, %f1; mad.lo.u32 %r3, %r3, 3, %r6; mov.b32 %r6, %f2; mad.lo.u32 %r3, %r3, 3, %r6;\n"
     "mov.b32 %r6, %f3; mad.lo.u32 %r3, %r3, 3, %r6; mov.b32 %r6, %f4; mad.lo.u32 %r3, %r3, 3, %r6;"},
    {16, "ld%s.v2.u64 {%%rd6, %%rd7}, [%s+%d];", "st%s.v2.u64 [%s+%d], {%%rd7, %%rd6};",
     "mad.lo.u64 %rd8, %rd6, 3, %rd7; shr.u64 %rd8, %rd8, 9; cvt.u32.u64 %r6, %rd8; mad.lo.u32 %r3, %r3, 3, %r6;"},
    {4, "ld%s.v4.u8 {%%r6, %%r7, %%r10, %%r11}, [%s+%d];", "st%s.v4.u8 [%s+%d], {%%r7, %%r6, %%r11, %%r10};",
     "mad.lo.u32 %r3, %r3, 3, %r6; mad.lo.u32 %r3, %r3, 3, %r7; sub.u32 %r10, %r10, %r11; add.u32 %r3, %r3, %r10;"},
    {8, "ld%s.v2.s32 {%%rd6, %%rd7}, [%s+%d];", "st%s.v2.b32 [%s+%d], {%%rd7, %%rd6};",
     "mad.lo.u64 %rd8, %rd6, 3, %rd7; shr.u64 %rd8, %rd8, 9; cvt.u32.u64 %r6, %rd8; mad.lo.u32 %r3, %r3, 3, %r6;"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Accesses to global, shared and local memory, by the state space of the instruction and by generic addresses. */
static const struct {
    const char *space, *base, *make;
} spaces[] = {
    {".global", "%rd5", "mul.wide.u32 %%rd5, %%r4, %d; add.u64 %%rd5, %%rd1, %%rd5;"},
    {"", "%rd5", "mul.wide.u32 %%rd5, %%r4, %d; add.u64 %%rd5, %%rd1, %%rd5;"},
    {".shared", "%r8", "mad.lo.u32 %%r8, %%r4, %d, %%r14;"},
    {"", "%rd5", "mul.wide.u32 %%rd5, %%r4, %d; add.u64 %%rd5, %%rd14, %%rd5; cvta.shared.u64 %%rd5, %%rd5;"},
    {".local", "%rd5", "mul.wide.u32 %%rd5, %%r4, %d; add.u64 %%rd5, %%rd13, %%rd5;"},
    {"", "%rd5", "mul.wide.u32 %%rd5, %%r4, %d; add.u64 %%rd5, %%rd13, %%rd5; cvta.local.u64 %%rd5, %%rd5;"},
};
/* Local memory for the last two rows. Its words differ. */
enum { FIRST_LOCAL = 4 };
static const char own[] =
    ".local .align 16 .b8 own[13312]; mov.u64 %rd13, own; mov.u64 %rd12, own; add.u64 %rd11, %rd13, 13312;\n"
    "FILL: cvt.u32.u64 %r6, %rd12; mad.lo.u32 %r6, %r6, 40503, %r1; st.local.u32 [%rd12], %r6;\n"
    "add.u64 %rd12, %rd12, 4; setp.lt.u64 %p1, %rd12, %rd11; @%p1 bra FILL;\n";
enum { SPACES = sizeof spaces / sizeof spaces[0] };

static void access_kernel(char *text, int pattern, int kind, int space, int part) {
    int size = kinds[kind].size;
    char make[256], load[128], far[128], store[128];
    snprintf(make, sizeof make, spaces[space].make, size);
    snprintf(load, sizeof load, kinds[kind].load, spaces[space].space, spaces[space].base, 0);
    snprintf(far, sizeof far, kinds[kind].load, spaces[space].space, spaces[space].base, 8 * size);
    snprintf(store, sizeof store, kinds[kind].store, spaces[space].space, spaces[space].base, 40 * size);
    snprintf(text, TEXT,
             "%s"
             "shl.b32 %%r9, %%r1, 2; add.u32 %%r9, %%r9, %%r14; st.shared.u32 [%%r9], %%r9;\n"
             "st.shared.u32 [%%r9+4096], %%r1; bar.sync 0;\n"
             "%s%sLOOP: %s %s\n%s %s\n%s %s\n%s\nst.global.u32 [%%rd4], %%r3;\n"
             "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p1, %%r2, 24; @%%p1 bra LOOP;\nEND: ret;\n}\n",
             HEAD, space < FIRST_LOCAL ? "" : own, parts[part], patterns[pattern], make, load, kinds[kind].mix, far,
             kinds[kind].mix, store);
}

/* Returns true if this run tests the combination. Each run tests a third of the combinations, which contains every pair
 * of pattern, kind and space. With HEDDLE_EVERY, all combinations are tested. */
static bool is_sampled(int pattern, int kind, int space) { return test_every() || (pattern + kind + space) % 3 == 0; }
static int sampled(void) {
    int n = 0;
    for (int i = 0; i < PATTERNS * KINDS * SPACES; i++)
        n += is_sampled(i % PATTERNS, i / PATTERNS % KINDS, i / PATTERNS / KINDS);
    return n;
}

START_TEST(accesses_end_alike) {
    jit_level(_i);
    static char text[TEXT];
    double blocks = 0;
    static const uint32_t threads[] = {32, 48, 256};
    for (int pattern = 0; pattern < PATTERNS; pattern++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int space = 0; space < SPACES; space++) {
                if (!is_sampled(pattern, kind, space))
                    continue;
                /* lanes of a warp store to one address in lane order, and warps run one after another, so the result is
                 * defined */
                access_kernel(text, pattern, kind, space, 0);
                blocks += both(text, 1 + (uint32_t)pattern % 2, threads[(pattern + kind + space) % 3], 0);
            }
    if (!jit_runs())
        test_skip(JIT_NOT_HERE);
    else
        ck_assert_double_ge(blocks, sampled()); /* the loop of each */
}
END_TEST

/* The address patterns in a loop that only some lanes execute. */
START_TEST(accesses_of_a_part_end_alike) {
    jit_level(_i);
    static char text[TEXT];
    double blocks = 0;
    static const uint32_t threads[] = {32, 40, 256};
    for (int pattern = 0; pattern < PATTERNS; pattern++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int space = 0; space < SPACES; space++) {
                if (!is_sampled(pattern, kind, space))
                    continue;
                int part = 1 + (pattern + kind) % (N_PARTS - 1);
                access_kernel(text, pattern, kind, space, part);
                blocks += both(text, 1 + (uint32_t)pattern % 2, threads[(pattern + kind + space) % 3], 0);
            }
    if (!jit_runs())
        test_skip(JIT_NOT_HERE);
    else /* compiled blocks: the loop of most kernels; in kernels with 8 warps also the entry block */
        ck_assert_double_ge(blocks, sampled());
}
END_TEST

/* ---- faults ---- */

/* A case is an access, a step, a lane and an iteration. By default each run tests a quarter of the cases. Any two of
 * these four values occur together in some case of this quarter. Runs with another level of native code, or with
 * another part of the warp, test another quarter. */
START_TEST(faults_are_at_the_same_lane_and_line) {
    const int part = jit_level(_i);
    static char text[TEXT];
    static const char *const wrong[] = {
        "ld.global.u32 %r6, [%rd5];",
        "st.global.u32 [%rd5], %r3;",
        "ld.u32 %r6, [%rd5];",
        "ld.global.u64 %rd6, [%rd5];",
        "ld.global.f32 %f1, [%rd5+4];",
        "ld.global.u32 %r6, [%rd5+4]; ld.global.u32 %r7, [%rd5+400000000];",
        "cvt.u32.u64 %r8, %rd5; ld.shared.u32 %r6, [%r8];",
        "st.global.v2.u32 [%rd5], {%r3, %r2};",
    };
    static const uint64_t steps[] = {1, 2, 4096 * 1024, 1ull << 40, -64ull, -(1ull << 33)};
    static const int lanes[] = {0, 7, 16, 31, 40}, rounds[] = {0, 1, 11};
    enum { ALWAYS = 5, TOO_LOW = 4 }; /* wrong[ALWAYS] and wrong[ALWAYS + 1] always fault; steps[TOO_LOW] is -64 */
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        for (int s = 0; s < 6; s++)
            for (int l = 0; l < 5; l++)
                for (int n = 0; n < 3; n++) {
                    if (!test_every() && (k + (size_t)(s + l + n + _i)) % 4)
                        continue;
                    snprintf(text, sizeof text,
                             "%s%s"
                             "LOOP: mul.wide.u32 %%rd5, %%r1, 8; add.u64 %%rd5, %%rd1, %%rd5;\n"
                             "st.global.u32 [%%rd4], %%r2;\n"
                             "setp.eq.u32 %%p2, %%r2, %d; setp.eq.and.u32 %%p2, %%r1, %d, %%p2;\n"
                             "add.u64 %%rd7, %%rd5, 0x%llx; selp.b64 %%rd5, %%rd7, %%rd5, %%p2;\n"
                             "st.global.u32 [%%rd4+4], %%r2;\n%s\nst.global.u32 [%%rd4+2048], %%r2;\n"
                             "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p1, %%r2, 16; @%%p1 bra LOOP;\nEND: ret;\n}\n",
                             HEAD, parts[part], rounds[n], lanes[l], (unsigned long long)steps[s], wrong[k]);
                    /* in[part][l]: lanes[l] is among the threads that execute the loop with parts[part]. Threads 16, 31
                     * and 40 stay inside the buffer even with the step of -64 bytes. */
                    static const bool in[N_PARTS][5] = {{true, true, true, true, true},
                                                        {[1] = true, [3] = true},
                                                        {[0] = true},
                                                        {true, true, true, false, true}};
                    const bool want = k == ALWAYS || k == ALWAYS + 1 || (in[part][l] && (s != TOO_LOW || l < 2));
                    ck_assert_msg((both(text, 1, 64, 0) < 0) == want, "%sa fault of\n%s", want ? "not " : "", text);
                }
}
END_TEST

/* A thread accesses its own array of 64 bytes. In one iteration, a lane or the whole warp accesses a misaligned
 * address, or an address outside of all local memory. */
START_TEST(faults_in_local_memory_are_alike) {
    const int part = jit_level(_i);
    static char text[TEXT];
    static const char *const wrong[] = {"ld.local.u32 %r6, [%rd5];",  "st.local.u32 [%rd5+4], %r2;",
                                        "ld.local.u64 %rd6, [%rd5];", "st.local.u64 [%rd5+8], %rd5;",
                                        "ld.local.u8 %r6, [%rd5];",   "st.local.u16 [%rd5+2], %r2;"};
    static const uint64_t steps[] = {1, 64, 1 << 20, 1ull << 40, -64ull};
    static const char *const who[] = {"setp.eq.u32 %p3, %r1, 7;", "setp.eq.u32 %p3, %r1, %r1;"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        for (int s = 0; s < 5; s++)
            for (int n = 0; n < 4; n++) {
                snprintf(text, sizeof text,
                         "%s%s.local .align 16 .b8 own[64]; mov.u64 %%rd13, own; %s\n"
                         "LOOP: and.b32 %%r5, %%r2, 3; mul.wide.u32 %%rd5, %%r5, 8; add.u64 %%rd5, %%rd13, %%rd5;\n"
                         "setp.eq.and.u32 %%p2, %%r2, %d, %%p3; add.u64 %%rd7, %%rd5, 0x%llx;\n"
                         "selp.b64 %%rd5, %%rd7, %%rd5, %%p2; %s\nst.global.u32 [%%rd4], %%r2;\n"
                         "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p1, %%r2, 16; @%%p1 bra LOOP;\nEND: ret;\n}\n",
                         HEAD, parts[part], who[n % 2], n < 2 ? 11 : 1, (unsigned long long)steps[s], wrong[k]);
                const bool runs = part != 2 || n % 2; /* parts[2] has no lane 7 */
                const bool want = runs && !(k == 4 && s == 0);
                ck_assert_msg((both(text, 1, 64, 0) < 0) == want, "%sa fault of\n%s", want ? "not " : "", text);
            }
}
END_TEST

/* The kernel stores adjacent or scattered elements, and in a later iteration stores to constant memory. If constants
 * are guarded, this is a fault. It occurs before the block is compiled, or in the first iteration with native code. */
START_TEST(guarded_constants_are_not_written) {
    const int part = jit_level(_i);
    static char text[TEXT];
    static const char *const stores[] = {"st.u32 [%rd6], %r6;", "st.global.u32 [%rd6], %r6;",
                                         "st.global.u32 [%rd6+4], %r6;"};
    for (int k = 0; k < 3; k++)
        for (int apart = 4; apart <= 12; apart += 8)
            for (int rounds = 0; rounds < 10; rounds++) {
                snprintf(text, sizeof text,
                         "%s%s"
                         "mov.u64 %%rd5, fixed; cvta.const.u64 %%rd5, %%rd5; mul.wide.u32 %%rd8, %%r1, %d;\n"
                         "LOOP: setp.gt.u32 %%p2, %%r2, %d; selp.b64 %%rd6, %%rd5, %%rd4, %%p2; mov.u32 %%r6, 3;\n"
                         "add.u64 %%rd7, %%rd2, %%rd8; selp.b64 %%rd6, %%rd6, %%rd7, %%p2; %s\n"
                         "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p1, %%r2, 16; @%%p1 bra LOOP;\nEND: ret;\n}\n",
                         HEAD, parts[part], apart, rounds, stores[k]);
                guards_constants = true;
                ck_assert_msg(both(text, 1, 64, 0) < 0, "%s", text);
                guards_constants = false;
                ck_assert_msg(both(text, 1, 64, 0) >= 0, "%s", text);
            }
}
END_TEST

/* ---- control ---- */

START_TEST(loops_that_part_end_alike) {
    jit_level(_i);
    double blocks =
        both(HEAD "and.b32 %r5, %r1, 7; shr.u32 %r6, %r1, 5; mul.lo.u32 %r6, %r6, 9; add.u32 %r5, %r5, %r6;\n"
                  "LOOP: add.u32 %r3, %r3, %r2; mul.lo.u32 %r7, %r3, 5; xor.b32 %r3, %r3, %r7; shr.u32 %r8, %r3, 3;\n"
                  "add.u32 %r3, %r3, %r8; add.u32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r5; @%p1 bra LOOP;\n"
                  "st.global.u32 [%rd4], %r3; ret;\n}\n",
             4, 200, 0);
    if (!jit_runs())
        test_skip(JIT_NOT_HERE);
    else
        ck_assert_double_gt(blocks, 0);
}
END_TEST

/* A thread reads a word of both buffers in steps of 1 KiB, so native code prefetches up to 16 KiB past their ends. */
START_TEST(loops_over_rows_end_alike) {
    jit_level(_i);
    double blocks =
        both(HEAD "mad.wide.u32 %rd5, %r1, 4, %rd1; mad.wide.u32 %rd6, %r1, 4, %rd2;\n"
                  "LOOP: ld.global.u32 %r5, [%rd5]; ld.global.u32 %r6, [%rd6]; mad.lo.u32 %r3, %r3, 3, %r5;\n"
                  "xor.b32 %r3, %r3, %r6; add.u64 %rd5, %rd5, 1024; add.u64 %rd6, %rd6, 1024;\n"
                  "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 32; @%p1 bra LOOP;\n"
                  "st.global.u32 [%rd4], %r3; ret;\n}\n",
             1, 256, 0);
    if (!jit_runs())
        test_skip(JIT_NOT_HERE);
    else
        ck_assert_double_gt(blocks, 0);
}
END_TEST

START_TEST(barriers_and_shuffles_in_loops_end_alike) {
    jit_level(_i);
    both(HEAD
         "shl.b32 %r9, %r1, 2; add.u32 %r9, %r9, %r14; mov.u32 %r3, %r1; xor.b32 %r10, %r1, 31;\n"
         "shl.b32 %r10, %r10, 2; add.u32 %r10, %r10, %r14;\n"
         "LOOP: st.shared.u32 [%r9], %r3; bar.sync 0; ld.shared.u32 %r6, [%r10]; bar.sync 0;\n"
         "mad.lo.u32 %r3, %r6, 3, %r2; shfl.sync.bfly.b32 %r7, %r3, 4, 31, -1; add.u32 %r3, %r3, %r7;\n"
         "vote.sync.ballot.b32 %r7, %p1, -1; xor.b32 %r3, %r3, %r7; @%p1 atom.global.add.u32 %r8, [%rd2+32000], %r3;\n"
         "setp.lt.u32 %p1, %r3, 0x40000000; @%p1 add.u32 %r3, %r3, 77; @!%p1 mul.lo.u32 %r3, %r3, 3;\n"
         "add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 30; @%p2 bra LOOP;\n"
         "st.global.u32 [%rd4], %r3; ret;\n}\n",
         2, 256, 0);
}
END_TEST

/* Lanes leave a loop in different iterations. They reconverge inside a block, where lanes that left early wait for the
 * other lanes. */
START_TEST(lanes_that_wait_for_others_end_alike) {
    jit_level(_i);
    static const char text[] = HEAD
        "and.b32 %r5, %r1, 3; mov.u32 %r11, 0;\n"
        "AGAIN: mov.u32 %r2, 0;\n"
        "LOOP: add.u32 %r3, %r3, %r2; xor.b32 %r3, %r3, %r1; setp.ge.u32 %p1, %r2, %r5; @!%p1 bra NEXT;\n"
        "mul.lo.u32 %r3, %r3, 5; add.u32 %r3, %r3, 7; shfl.sync.bfly.b32 %r7, %r3, 1, 31, -1;\n"
        "add.u32 %r3, %r3, %r7; xor.b32 %r3, %r3, %r2; mul.lo.u32 %r3, %r3, 3; bra OUT;\n"
        "NEXT: add.u32 %r2, %r2, 1; mad.lo.u32 %r3, %r3, 3, %r2; setp.gt.u32 %p2, %r2, 99; @%p2 bra OUT; bra LOOP;\n"
        "OUT: add.u32 %r11, %r11, 1; setp.lt.u32 %p2, %r11, 12; @%p2 bra AGAIN;\n"
        "st.global.u32 [%rd4], %r3; ret;\n}\n";
    for (int m = 0; m < base_models()->n; m++) {
        char reconv[32];
        snprintf(reconv, sizeof reconv, "reconv=%s", base_models()->name[m]);
        both_under(reconv, text, 2, 96, 0);
    }
}
END_TEST

static const char endless[] =
    HEAD "LOOP: add.u32 %r3, %r3, %r2; mul.lo.u32 %r7, %r3, 5; xor.b32 %r3, %r3, %r7; add.u32 %r2, %r2, 1;\n"
         "st.global.u32 [%rd4], %r3; setp.ne.u32 %p1, %r7, 0x12345; @%p1 bra LOOP;\nbra LOOP;\n}\n";

/* The base register of a load changes before the next load. A warp stores adjacent words, then loads an overlapping
 * range, so that each lane reads a word that another lane stored. Native code that processes half warps must keep the
 * order of all accesses. */
START_TEST(loads_and_stores_keep_their_order) {
    jit_level(_i);
    static const char *const loops[] = {
        "ld.shared.u32 %r5, [%r9]; add.u32 %r9, %r9, 4; ld.shared.u32 %r6, [%r9]; mad.lo.u32 %r3, %r3, 5, %r5;\n"
        "xor.b32 %r3, %r3, %r6; sub.u32 %r9, %r9, 8; ld.shared.u32 %r7, [%r9+8]; add.u32 %r9, %r9, 4;\n"
        "add.u32 %r3, %r3, %r7;\n",
        "st.shared.u32 [%r9], %r3; ld.shared.u32 %r5, [%r9+-64]; ld.shared.u32 %r6, [%r9+64];\n"
        "mad.lo.u32 %r3, %r5, 3, %r6; st.shared.u32 [%r9+4], %r3; ld.shared.u32 %r7, [%r9]; add.u32 %r3, %r3, %r7;\n",
        "ld.shared.u32 %r5, [%r9+-64]; add.u32 %r3, %r3, %r5; st.shared.u32 [%r9], %r3; mul.lo.u32 %r3, %r3, 7;\n"
        "st.shared.u32 [%r9+64], %r3; ld.shared.u32 %r6, [%r9+32]; xor.b32 %r3, %r3, %r6;\n",
    };
    for (int k = 0; k < 3; k++) {
        char text[TEXT];
        snprintf(text, sizeof text,
                 "%s"
                 "mov.u32 %%r3, %%r1; mad.lo.u32 %%r9, %%r1, 4, %%r14; add.u32 %%r9, %%r9, 1024;\n"
                 "mov.u32 %%r8, %%r14;\n"
                 "FILL: st.shared.u32 [%%r8], %%r8; add.u32 %%r8, %%r8, 4; setp.lt.u32 %%p1, %%r8, 4096;\n"
                 "@%%p1 bra FILL;\nLOOP: %s"
                 "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p2, %%r2, 9; @%%p2 bra LOOP;\n"
                 "st.global.u32 [%%rd4], %%r3; ret;\n}\n",
                 HEAD, loops[k]);
        if (both(text, 2, 32, 0) == 0)
            test_skip(JIT_NOT_HERE);
    }
}
END_TEST

/* %clock counts the warp's instructions. Its value must be right in every block. */
START_TEST(the_clock_goes_on_alike) {
    jit_level(_i);
    static const char text[] = HEAD "LOOP: mad.lo.u32 %r5, %r4, 3, %r1; xor.b32 %r4, %r4, %r5; add.u32 %r4, %r4, 7;\n"
                                    "mov.u32 %r6, %clock; add.u32 %r3, %r3, %r6; xor.b32 %r3, %r3, %r4;\n"
                                    "shl.b32 %r7, %r3, 1; add.u32 %r3, %r3, %r7; add.u32 %r2, %r2, 1;\n"
                                    "setp.lt.u32 %p1, %r2, 20; @%p1 bra LOOP;\n"
                                    "mov.u32 %r8, %clock; st.global.v2.u32 [%rd4], {%r3, %r8}; ret; }\n";
    if (both(text, 3, 96, 0) == 0)
        test_skip(JIT_NOT_HERE);
}
END_TEST

START_TEST(limits_are_met_alike) {
    jit_level(_i);
    both(endless, 3, 96, 100000);
    both(endless, 1, 32, 777);
}
END_TEST

static void *stop_soon(void *h) {
    usleep(50 * 1000);
    heddle_stop(h);
    return NULL;
}

START_TEST(an_endless_loop_is_stopped) {
    jit_level(_i);
    static const char *const on[] = {"gpu.jit_after=0", NULL};
    char err[512];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional", .set = on}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", endless, strlen(endless));
    ck_assert_ptr_nonnull(m);
    uint64_t a = heddle_alloc(h, BYTES);
    struct heddle_arg args[] = {{&a, 8}, {&a, 8}};
    pthread_t t;
    ck_assert_int_eq(pthread_create(&t, NULL, stop_soon, h), 0);
    enum heddle_status s =
        heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, args, 2);
    pthread_join(t, NULL);
    ck_assert_int_eq(s, HEDDLE_STOPPED);
    ck_assert_msg(strstr(heddle_error(h), "was stopped") != NULL, "%s", heddle_error(h));
    heddle_close(h);
}
END_TEST

/* ---- reuse of code, and several threads ---- */

START_TEST(code_is_kept_and_follows_other_buffers) {
    jit_level(_i);
    static const char *const on[] = {"gpu.jit_after=0", NULL};
    static char text[TEXT];
    char err[512];
    access_kernel(text, 0, 0, 0, 0);
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional", .set = on}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_ptr_nonnull(m);
    static uint32_t in[WORDS], first[WORDS], out[WORDS];
    for (int i = 0; i < WORDS; i++)
        in[i] = (uint32_t)i * 77;
    for (int n = 0; n < 6; n++) {
        uint64_t a = heddle_alloc(h, BYTES), b = heddle_alloc(h, BYTES);
        heddle_write(h, a, in, BYTES);
        struct heddle_arg args[] = {{&a, 8}, {&b, 8}};
        ck_assert_int_eq(
            heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, args, 2),
            HEDDLE_OK);
        /* two warps have entered the block four times in total: the first two times are profiled, then the block is
         * compiled */
        if (n >= 2)
            ck_assert_double_eq(heddle_stat(h, n, "host.jit_blocks"), 0);
        if (n == 0) {
            ck_assert_double_ge(heddle_stat(h, n, "host.jit_blocks"), 0);
            ck_assert_double_ge(heddle_stat(h, n, "host.jit_seconds"), 0);
        }
        heddle_read(h, b, out, BYTES);
        if (n)
            ck_assert(memcmp(out, first, BYTES) == 0);
        memcpy(first, out, BYTES);
        heddle_free(h, n % 2 ? a : b);
    }
    heddle_close(h);
}
END_TEST

/* Returns the number of compiled blocks of a kernel whose inner loop of `inner` iterations loads from one of two
 * buffers. If it swaps, the buffer changes 600 times. */
static double blocks_with_swaps(int inner, bool swaps) {
    static char text[TEXT];
    snprintf(text, sizeof text,
             "%s"
             "mul.wide.u32 %%rd5, %%r1, 4; add.u64 %%rd6, %%rd2, 16384; add.u64 %%rd6, %%rd6, %%rd5;\n"
             "add.u64 %%rd5, %%rd5, %%rd1;\n"
             "OUTER: mov.u32 %%r5, 0;\nINNER: ld.global.u32 %%r6, [%%rd5]; mad.lo.u32 %%r3, %%r3, 5, %%r6;\n"
             "shr.u32 %%r7, %%r3, 7; xor.b32 %%r3, %%r3, %%r7; add.u32 %%r3, %%r3, %%r5; add.u32 %%r5, %%r5, 1;\n"
             "setp.lt.u32 %%p1, %%r5, %d; @%%p1 bra INNER;\n"
             "mov.b64 %%rd7, %%rd5; mov.b64 %s, %%rd6; mov.b64 %%rd6, %%rd7; add.u32 %%r2, %%r2, 1;\n"
             "setp.lt.u32 %%p1, %%r2, 600; @%%p1 bra OUTER;\nst.global.u32 [%%rd4], %%r3; ret;\n}\n",
             HEAD, inner, swaps ? "%rd5" : "%rd8");
    return both(text, 1, 32, 0);
}

/* A change of the allocation is a side exit. Exits after each 200 iterations of 8 instructions do not change the code.
 * With 5 iterations, the load becomes a gather after 256 exits, and a call after 256 more, which adds two
 * compilations. */
START_TEST(rare_exits_do_not_change_the_code) {
    jit_level(_i);
    if (!jit_runs())
        test_skip(JIT_NOT_HERE);
    const double rare = blocks_with_swaps(200, true), none = blocks_with_swaps(200, false);
    ck_assert_double_ge(none, 2);
    ck_assert_double_eq(rare, none);
    ck_assert_double_eq(blocks_with_swaps(5, true), none + 2);
}
END_TEST

/* The generic addresses of a block that never runs with all lanes. The block is compiled, as with .global. */
START_TEST(generic_addresses_of_some_lanes) {
    jit_level(_i);
    if (!jit_runs())
        test_skip(JIT_NOT_HERE);
    double blocks[2];
    static char text[TEXT];
    for (int generic = 0; generic < 2; generic++) {
        const char *space = generic ? "" : ".global";
        snprintf(text, sizeof text,
                 "%s%s"
                 "mul.wide.u32 %%rd5, %%r1, 20; add.u64 %%rd5, %%rd5, %%rd1;\n"
                 "LOOP: ld%s.u32 %%r5, [%%rd5]; ld%s.u32 %%r6, [%%rd5+4]; ld%s.u8 %%r7, [%%rd5+9]; st%s.u32 "
                 "[%%rd5+12], %%r3;\n"
                 "add.u32 %%r3, %%r5, %%r6; xor.b32 %%r3, %%r3, %%r7; add.u32 %%r2, %%r2, 1;\n"
                 "setp.lt.u32 %%p1, %%r2, 60; @%%p1 bra LOOP;\nst.global.u32 [%%rd4], %%r3;\nEND: ret;\n}\n",
                 HEAD, parts[1], space, space, space, space);
        blocks[generic] = both(text, 1, 64, 0);
    }
    ck_assert_double_ge(blocks[0], 1);
    ck_assert_double_eq(blocks[1], blocks[0]);
}
END_TEST

static void *simulate(void *o) {
    static const char *const on[] = {"gpu.jit_after=1", NULL};
    static const char text[] =
        HEAD "LOOP: add.u32 %r3, %r3, %r2; mul.lo.u32 %r7, %r3, 5; xor.b32 %r3, %r3, %r7; add.u32 %r2, %r2, 1;\n"
             "st.global.u32 [%rd4], %r3; ld.global.u32 %r8, [%rd4]; add.u32 %r3, %r3, %r8;\n"
             "setp.lt.u32 %p1, %r2, 50; @%p1 bra LOOP; ret;\n}\n";
    run_with(text, 16, 256, on, 0, 4, o);
    return NULL;
}

START_TEST(several_simulators_run_at_once) {
    jit_level(_i);
    enum { MANY = 4 };
    static struct outcome o[MANY];
    pthread_t t[MANY];
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, simulate, &o[i]), 0);
    for (int i = 0; i < MANY; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < MANY; i++) {
        ck_assert_msg(o[i].status == HEDDLE_OK, "%s", o[i].error);
        ck_assert(memcmp(o[i].out, o[0].out, BYTES) == 0);
    }
}
END_TEST

/* If the host system refuses executable memory, kernels are interpreted. */
START_TEST(without_executable_memory_all_is_interpreted) {
    jit_level(_i);
    enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1, UNSUPPORTED = 77 };
    static char text[TEXT];
    access_kernel(text, 0, 0, 0, 0);
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        static struct outcome o, want;
        static const char *const off[] = {"gpu.jit=off", NULL}, *const on[] = {"gpu.jit_after=0", NULL};
        if (prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
            _exit(UNSUPPORTED);
        bool done = run_with(text, 2, 64, off, 0, 1, &want) && run_with(text, 2, 64, on, 0, 1, &o);
        _exit(!(done && o.status == HEDDLE_OK && o.blocks == 0 && memcmp(o.out, want.out, BYTES) == 0));
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == UNSUPPORTED)
        test_skip("this kernel of the host refuses no executable memory");
    else
        ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

SUITE(host_jit) {
    TEST_LEVELS(accesses_end_alike, 1);
    TEST_LEVELS(accesses_of_a_part_end_alike, 1);
    TEST_LEVELS(faults_in_local_memory_are_alike, N_PARTS);
    TEST_LEVELS(faults_are_at_the_same_lane_and_line, N_PARTS);
    TEST_LEVELS(guarded_constants_are_not_written, 2);
    TEST_LEVELS(lanes_that_wait_for_others_end_alike, 1);
    TEST_LEVELS(loops_that_part_end_alike, 1);
    TEST_LEVELS(loops_over_rows_end_alike, 1);
    TEST_LEVELS(barriers_and_shuffles_in_loops_end_alike, 1);
    TEST_LEVELS(loads_and_stores_keep_their_order, 1);
    TEST_LEVELS(the_clock_goes_on_alike, 1);
    TEST_LEVELS(limits_are_met_alike, 1);
    TEST_LEVELS(an_endless_loop_is_stopped, 1);
    TEST_LEVELS(code_is_kept_and_follows_other_buffers, 1);
    TEST_LEVELS(rare_exits_do_not_change_the_code, 1);
    TEST_LEVELS(generic_addresses_of_some_lanes, 1);
    TEST_LEVELS(several_simulators_run_at_once, 1);
    TEST_LEVELS(without_executable_memory_all_is_interpreted, 1);
}
