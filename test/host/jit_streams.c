/* Tests native code for kernels with an affine stream (dac), with every kind of instruction that dequeues from the
 * stream's queues. Memory, counts, and the locations of faults must be equal to those of the interpreter. */
#include "host/heddle.h"
#include "test/jit_levels.h"
#include <stdio.h>

enum { WORDS = 1 << 14, BYTES = 4 * WORDS, TEXT = 4096 };

struct outcome {
    enum heddle_status status;
    char error[2048];
    double count[8];
    double blocks;
    uint32_t out[WORDS];
};

static const char *const counts[] = {
    "gpu.warp_instructions", "gpu.thread_instructions", "dac.affine_instructions",  "dac.loads",
    "dac.decoupled_loads",   "dac.decoupled_addresses", "dac.decoupled_predicates", "dac.predicates_cta"};
enum { N_COUNTS = sizeof counts / sizeof counts[0] };

static void run(const char *text, struct heddle_dim block, const char *const *set, uint64_t limit, struct outcome *o) {
    static uint32_t in[WORDS];
    struct heddle_options options = {.model = "functional+dac", .set = set, .threads = 1, .cycle_limit = limit};
    struct heddle *h = heddle_open(&options, o->error, sizeof o->error);
    ck_assert_msg(h != NULL, "%s", o->error);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s\n%s", heddle_error(h), text);
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = i * 2654435761u;
    uint64_t from = heddle_alloc(h, BYTES), to = heddle_alloc(h, BYTES), middle = from + BYTES / 2;
    heddle_write(h, from, in, BYTES);
    heddle_write(h, to, in, BYTES);
    struct heddle_arg args[] = {{&middle, 8}, {&to, 8}};
    o->status = heddle_launch(h, m, "k", (struct heddle_dim){2, 1, 1}, block, 0, args, 2);
    snprintf(o->error, sizeof o->error, "%s", o->status ? heddle_error(h) : "");
    for (int i = 0; i < N_COUNTS; i++)
        o->count[i] = o->status ? 0 : heddle_stat(h, -1, counts[i]);
    o->blocks = o->status ? 1 : heddle_stat(h, -1, "host.jit_blocks");
    heddle_read(h, to, o->out, BYTES);
    heddle_close(h);
}

/* Runs the kernel interpreted and with native code, checks that both agree, and returns the outcome. */
static const struct outcome *both(const char *text, struct heddle_dim block, uint64_t limit) {
    static struct outcome want, got;
    static const char *const off[] = {"gpu.jit=off", NULL}, *const on[] = {"gpu.jit_after=0", NULL};
    run(text, block, off, limit, &want);
    run(text, block, on, limit, &got);
    EXPECT(got.status == want.status && strcmp(got.error, want.error) == 0, "status %d, not %d: %s, not %s\n%s",
           got.status, want.status, got.error, want.error, text);
    for (int i = 0; i < N_COUNTS; i++)
        EXPECT(got.count[i] == want.count[i], "%s is %.0f, not %.0f\n%s", counts[i], got.count[i], want.count[i], text);
    for (int i = 0; i < WORDS; i++)
        EXPECT(got.out[i] == want.out[i], "word %d is 0x%x, not 0x%x\n%s", i, got.out[i], want.out[i], text);
    if (jit_runs())
        EXPECT(got.blocks > 0, "nothing was compiled\n%s", text);
    return &want;
}

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                                                  \
    ".visible .entry k(.param .u64 k_in, .param .u64 k_out) {\n"                                                       \
    ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;\n"                                                         \
    "ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;\n"               \
    "mov.u32 %r3, %ctaid.x; mov.u32 %r9, %ntid.x; mad.lo.u32 %r5, %r2, %r9, %r1; mov.u32 %r6, 0; mov.u32 %r7, 0;\n"

/* %r4 is the index of the element that a thread accesses: adjacent elements in a warp or half warp, one element for all
 * lanes, scattered elements, or descending elements. */
static const char *const patterns[] = {
    "mov.u32 %r4, %r5;",
    "mad.lo.u32 %r4, %r2, 64, %r1;",
    "mov.u32 %r4, 5;",
    "mov.u32 %r4, %r2;",
    "mul.lo.u32 %r4, %r5, 3;",
    "sub.s32 %r4, 255, %r5;",
    "mad.lo.s32 %r4, %r5, -7, 11;",
    "mad.lo.u32 %r4, %r3, 300, %r5;",
};
static const struct heddle_dim shapes[] = {{64, 1, 1}, {16, 16, 1}, {8, 8, 1}, {32, 4, 1}, {40, 1, 1}, {48, 2, 1}};
enum { PATTERNS = sizeof patterns / sizeof patterns[0], SHAPES = sizeof shapes / sizeof shapes[0] };

/* Writes a loop of six iterations with loads and stores of 4 or 8 bytes. The affine stream supplies all addresses and
 * the loop's predicate through queues. */
static void loop(char text[TEXT], const char *pattern, unsigned size, const char *store_at, int bias) {
    const char *type = size == 8 ? "u64" : "u32", *x = size == 8 ? "%rd10" : "%r10",
               *sum = size == 8 ? "%rd11" : "%r11";
    snprintf(text, TEXT,
             "%s%s\n"
             "mul.wide.s32 %%rd3, %%r4, %u; add.s64 %%rd4, %%rd1, %%rd3; add.s64 %%rd4, %%rd4, %d;\n"
             "mad.lo.u32 %%r8, %%r3, 256, %s; mul.wide.u32 %%rd5, %%r8, %u; add.u64 %%rd6, %%rd2, %%rd5;\n"
             "mov.b64 %%rd11, 0; mov.u32 %%r11, 7;\n"
             "LOOP: ld.global.%s %s, [%%rd4]; add.%s %s, %s, %s; xor.b32 %%r7, %%r7, %%r6;\n"
             "st.global.%s [%%rd6], %s; add.s64 %%rd4, %%rd4, %u; add.u32 %%r6, %%r6, 1;\n"
             "setp.lt.u32 %%p1, %%r6, 6; @%%p1 bra LOOP;\n"
             "st.global.u32 [%%rd6], %%r7; ret; }\n",
             HEAD, pattern, size, bias, store_at, size, type, x, type, sum, sum, x, type, sum, 4 * size);
}

START_TEST(addresses_in_every_way) {
    const int i_ = jit_level(_i);
    char text[TEXT];
    for (int k = 0; k < PATTERNS; k++)
        for (int s = 0; s < SHAPES; s++) {
            loop(text, patterns[k], i_ ? 8 : 4, "%r5", 0);
            const struct outcome *o = both(text, shapes[s], 0);
            ck_assert_int_eq(o->status, HEDDLE_OK);
            ck_assert_msg(o->count[4] > 0, "no load was decoupled\n%s", text);
        }
}
END_TEST

/* If all lanes, or all lanes of a half warp, store to one address, memory contains the value of the last lane
 * afterwards. */
START_TEST(stores_that_meet) {
    const int i_ = jit_level(_i);
    char text[TEXT];
    for (int s = 0; s < SHAPES; s++) {
        loop(text, patterns[0], i_ ? 8 : 4, "%r2", 0);
        ck_assert_int_eq(both(text, shapes[s], 0)->status, HEDDLE_OK);
        loop(text, patterns[0], i_ ? 8 : 4, "%r1", 0);
        ck_assert_int_eq(both(text, shapes[s], 0)->status, HEDDLE_OK);
    }
}
END_TEST

/* An address is below the buffer, or beyond its end in the next buffer, or misaligned. The fault must name the same
 * lane and line as the interpreter. The middle of the buffer is 8,192 words from both ends. */
START_TEST(accesses_that_fault) {
    const int i_ = jit_level(_i);
    char text[TEXT];
    static const int bias[] = {BYTES / 2 - 40, -BYTES / 2 - 4000, 2, BYTES / 2 - 64 * 4, BYTES / 2 - 64 * 8 - 16};
    for (unsigned k = 0; k < sizeof bias / sizeof bias[0]; k++)
        for (int p = 0; p < PATTERNS; p++) {
            loop(text, patterns[p], i_ ? 8 : 4, "%r5", bias[k]);
            const struct outcome *o = both(text, shapes[0], 0);
            /* the next buffer follows without a gap, so an access beyond the end is in the next buffer and does not
             * fault */
            if (k == 1 || k == 2)
                ck_assert_int_eq(o->status, HEDDLE_FAULT);
        }
}
END_TEST

/* Tests dequeued predicates as guards of branches that all, no or some lanes take, and of other instructions. Also
 * tests a barrier, and an instruction limit that is reached inside the loop. */
static const char *const branches[] = {
    "setp.lt.u32 %p2, %r6, 3; @%p2 bra NEXT; add.u32 %r7, %r7, %r6; xor.b32 %r7, %r7, 77; add.u32 %r7, %r7, 1; NEXT:",
    "setp.lt.u32 %p2, %r5, 32; @!%p2 bra NEXT; add.u32 %r7, %r7, %r6; xor.b32 %r7, %r7, 5; add.u32 %r7, %r7, 1; NEXT:",
    "setp.lt.u32 %p2, %r1, 7; @%p2 bra NEXT; add.u32 %r7, %r7, %r6; xor.b32 %r7, %r7, %r7; add.u32 %r7, %r7, 1; NEXT:",
    "setp.gt.u32 %p2, %r1, %r6; @%p2 bra NEXT; add.u32 %r7, %r7, 9; NEXT:",
    "setp.eq.u32 %p2, %r1, %r6; @%p2 ld.global.u32 %r7, [%rd4]; add.u32 %r7, %r7, 1; xor.b32 %r7, %r7, %r6;",
    "setp.ne.u32 %p2, %r1, %r6; @%p2 st.global.u32 [%rd6], %r7; bar.sync 0; add.u32 %r7, %r7, 1;",
    "setp.lt.u32 %p2, %r1, 9; @%p2 add.u32 %r7, %r7, %r6; @!%p2 sub.u32 %r7, %r7, 3; bar.sync 0;",
};
enum { BRANCHES = sizeof branches / sizeof branches[0] };

static void branch_loop(char text[TEXT], const char *body) {
    snprintf(text, TEXT,
             "%smul.wide.u32 %%rd3, %%r5, 4; add.s64 %%rd4, %%rd1, %%rd3;\n"
             "mad.lo.u32 %%r8, %%r3, 256, %%r5; mul.wide.u32 %%rd5, %%r8, 4; add.u64 %%rd6, %%rd2, %%rd5;\n"
             "ld.global.u32 %%r7, [%%rd4];\n"
             "LOOP: add.u32 %%r7, %%r7, %%r7; xor.b32 %%r7, %%r7, %%r1; add.u32 %%r7, %%r7, 3;\n"
             "%s\nadd.u32 %%r6, %%r6, 1; setp.lt.u32 %%p1, %%r6, 9; @%%p1 bra LOOP;\n"
             "st.global.u32 [%%rd6], %%r7; ret; }\n",
             HEAD, body);
}

START_TEST(branches_by_predicates_of_the_queue) {
    const int i_ = jit_level(_i);
    char text[TEXT];
    for (int s = 0; s < SHAPES; s++) {
        branch_loop(text, branches[i_]);
        ck_assert_int_eq(both(text, shapes[s], 0)->status, HEDDLE_OK);
        both(text, shapes[s], 60);
    }
}
END_TEST

SUITE(host_jit_streams) {
    TEST_LEVELS(addresses_in_every_way, 2);
    TEST_LEVELS(stores_that_meet, 2);
    TEST_LEVELS(accesses_that_fault, 2);
    TEST_LEVELS(branches_by_predicates_of_the_queue, BRANCHES);
}
