/* The affine warp of an SM on kernels that are small enough to be followed by hand. The random ones are in random.c. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

static struct heddle *h;
static uint64_t buffer;
enum { BUFFER = 1 << 16 };

static void open_with(const char *model, const char *const *set, uint64_t limit) {
    char err[512];
    if (h)
        heddle_close(h);
    h = heddle_open(&(struct heddle_options){.model = model, .config = "fermi", .set = set, .cycle_limit = limit}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    buffer = heddle_alloc(h, BUFFER);
    ck_assert_uint_eq(buffer % 128, 0);
}

static double stat(const char *name) { return heddle_stat(h, -1, name); }

static struct heddle_module *load(const char *text) {
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    return m;
}

static enum heddle_status start(struct heddle_module *m, const char *kernel, uint32_t ctas, uint32_t threads,
                                const struct heddle_arg *args, int n) {
    return heddle_launch(h, m, kernel, (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args, n);
}

#define STAT(name, value) ck_assert_msg(stat(name) == (value), "%s is %g, not %g", name, stat(name), (double)(value))

/* Figure 4's kernel on one SM, `num` words from row to row: B[i * num + t] = A[i * num + t] + 1. */
static void figure_4(const char *const *set, const char *model, uint32_t ctas, uint32_t threads, uint32_t dim,
                     uint32_t num) {
    static uint32_t in[BUFFER / 8], out[BUFFER / 8];
    open_with(model, set, 1000000);
    for (uint32_t i = 0; i < BUFFER / 8; i++)
        in[i] = 3 * i;
    heddle_write(h, buffer, in, sizeof in);
    uint64_t to = buffer + sizeof in;
    struct heddle_arg args[] = {{&buffer, 8}, {&to, 8}, {&dim, 4}, {&num, 4}};
    struct heddle_module *m = heddle_module_file(h, "kernels/affine.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    ck_assert_msg(start(m, "example", ctas, threads, args, 4) == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, to, out, sizeof out);
    for (uint32_t i = 0; i < dim; i++)
        for (uint32_t t = 0; t < num; t++)
            ck_assert_uint_eq(out[i * num + t], t < ctas * threads ? 3 * (i * num + t) + 1 : 0);
}

/* One CTA of 64 threads, 5 rounds, rows of 64 words: two lines each, a warp a line. The affine warp: 4 loads of
 * parameters, 6 instructions before the loop, 9 in each round, the exit: 11 + 45 = 56. A warp: 4 in each round: 20, of
 * two warps 40; the exit is where its lanes meet again, and takes no slot. Of each round a warp gets a load's address,
 * a store's and a predicate; dim and i are scalars, so one comparison makes the predicates of both warps. The address
 * unit has 10 entries (5 rounds, a load and a store), of which each costs a cycle for the start address and, for each
 * of two warps, a cycle for its one line: 10 * 3. The predicate unit: a cycle for both warps: 5. Words of tuple
 * registers, four for each word of an operand where the result has offsets, else one: reads before the loop: tid 4, r1
 * 4, the two sums 2 * 16: 40; in a round both enqs 2 * 8, i 1, r3 1, the sums 2 * 16, setp 2: 52. Writes: parameters 6,
 * r0 1, tid 4, r1 8, the sums 16, i 1: 36; in a round i 1, r3 2, the sums 16: 19. The ATQ: each of 15 entries is
 * written, and read for one CTA. */
START_TEST(figure_4_by_hand) {
    static const char *const set[] = {"gpu.sms=1", NULL};
    figure_4(set, "spe+dac", 1, 64, 5, 64);
    STAT("dac.decoupled_kernels", 1);
    STAT("dac.affine_instructions", 56);
    STAT("dac.affine_slots", 56);
    STAT("gpu.warp_instructions", 56 + 40);
    STAT("dac.each_instructions", 0);
    STAT("dac.vector_instructions", 0);
    STAT("dac.fallbacks", 0);
    STAT("dac.batches", 1);
    STAT("dac.batch_ctas", 1);
    STAT("dac.loads", 10);
    STAT("dac.decoupled_loads", 10);
    STAT("dac.decoupled_addresses", 10);
    STAT("dac.decoupled_predicates", 10);
    STAT("dac.predicates_cta", 10);
    STAT("dac.predicates_ends", 0);
    STAT("dac.predicates_lanes", 0);
    STAT("dac.records", 20);
    STAT("dac.masks", 10);
    STAT("dac.lines", 10);
    STAT("dac.lines_without_lock", 0);
    STAT("dac.unlocks", 0); /* each load reads its line whole */
    STAT("dac.spills", 0);
    STAT("dac.wide_records", 0);
    STAT("dac.address_cycles", 30);
    STAT("dac.predicate_cycles", 5);
    STAT("dac.tuple_reads", 40 + 5 * 52);
    STAT("dac.tuple_writes", 36 + 5 * 19);
    STAT("dac.atq_accesses", 30);
    /* the kernel's own: 5 rounds of two warps read r2, tmp and write them; addresses and predicates are no registers */
    STAT("collector.read_words", 20);
    STAT("collector.write_words", 20);
    ck_assert_double_gt(stat("energy.affine_joules"), 0);
}
END_TEST

/* Three CTAs of 40 threads, rows of 120 words, 2 rounds: warps of 32 and of 8 lanes. Byte addresses of a CTA c's warps
 * in row i, i * 480 + c * 160: [0,128) and [128,160), then [160,288) and [288,320), [320,448) and [448,480); in row 1
 * [480,608) [608,640), [640,768) [768,800), [800,928) [928,960). Lines of 128 bytes: row 0: 1 1, 2 1, 2 1; row 1: 2 1
 * (480 is in line 3, 607 in 4; 608..639 in 4), 1 1 (640 to 767 are line 5), 2 1 (800 is in 6, 927 in 7). In all 8 + 8 =
 * 16 lines of loads. B lies 32768 bytes on and has as many. A record of two lines takes two cycles. */
START_TEST(ragged_warps_and_lines) {
    static const char *const set[] = {"gpu.sms=1", "dac.batch=3", NULL};
    figure_4(set, "spe+dac", 3, 40, 2, 120);
    STAT("dac.lines", 16);
    STAT("dac.records", 24); /* 3 CTAs, 2 warps, 2 rounds, a load and a store */
    STAT("dac.masks", 12);
    STAT("dac.predicates_cta", 12);
    STAT("dac.decoupled_loads", 12);
    STAT("dac.batch_ctas", 3);
    /* start addresses: 3 CTAs, 2 rounds, 2 places: 12; lines: 16 of loads and 16 of stores */
    STAT("dac.address_cycles", 12 + 32);
    STAT("dac.affine_instructions", stat("dac.batches") * (11 + 2 * 9));
}
END_TEST

/* As many batches as the option leads to: CTAs that are there when the affine warp is free go together, later ones in
 * the next. With one CTA a batch every CTA has a stream of its own. */
START_TEST(batches) {
    static const char *const one[] = {"gpu.sms=1", "dac.batch=1", NULL};
    static const char *const all[] = {"gpu.sms=1", NULL};
    figure_4(one, "spe+dac", 20, 64, 3, 1280);
    STAT("dac.batches", 20);
    STAT("dac.batch_ctas", 20);
    STAT("dac.affine_instructions", 20 * (11 + 3 * 9));
    figure_4(all, "spe+dac", 20, 64, 3, 1280);
    STAT("dac.batch_ctas", 20);
    ck_assert_double_lt(stat("dac.batches"), 20);
    ck_assert_double_ge(stat("dac.batches"), 3); /* 8 CTAs an SM */
    STAT("dac.affine_instructions", stat("dac.batches") * (11 + 3 * 9));
    figure_4(all, "spe+dac", 8, 64, 3, 512); /* they come one a cycle, and the affine warp waits for the last */
    STAT("dac.batches", 1);
    STAT("dac.batch_ctas", 8);
}
END_TEST

/* An L1 of four sets of two ways, of which one may be locked. Each of 8 warps reads 4 lines, and all 32 are in set 0:
 * thread t's words are at t / 32 * 512 + t % 32 * 4 (blocks are 32 wide) + i * 4096, i up to 3. One lock at a time, so
 * a warp that got its second line's before its first one's would wait for itself. With `lock_wait` longer than the
 * launch may take, none is left without; with 0, all that are refused are. */
START_TEST(lines_wait_for_their_locks) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x; mov.u32 %r2,%tid.y;\n"
        " mad.wide.u32 %a2,%r1,4,%a1; mad.wide.u32 %a2,%r2,512,%a2;\n"
        " ld.global.u32 %r3,[%a2]; ld.global.u32 %r4,[%a2+4096]; ld.global.u32 %r5,[%a2+8192];\n"
        " ld.global.u32 %r6,[%a2+12288]; add.u32 %r3,%r3,%r4; add.u32 %r5,%r5,%r6; add.u32 %r3,%r3,%r5;\n"
        " st.global.u32 [%a2+16384],%r3; ret;\n}\n";
    static const char *const waits[] = {"dac.lock_wait=0", "dac.lock_wait=1000000"};
    static const char *const queue[] = {"lsu.prefetch_queue=16", "lsu.prefetch_queue=1"};
    static uint32_t in[BUFFER / 4], out[1024];
    for (uint32_t i = 0; i < BUFFER / 4; i++)
        in[i] = i * i;
    for (int late = 0; late < 2; late++) {
        const char *const set[] = {"gpu.sms=1", "l1.size=1024", "l1.ways=2", waits[late], queue[_i], NULL};
        open_with("spe+dac", set, 100000);
        heddle_write(h, buffer, in, sizeof in);
        struct heddle_arg args[] = {{&buffer, 8}};
        ck_assert_msg(heddle_launch(h, load(text), "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 8, 1}, 0,
                                    args, 1) == HEDDLE_OK,
                      "%s", heddle_error(h));
        heddle_read(h, buffer + 16384, out, sizeof out);
        for (uint32_t i = 0; i < 1024; i++)
            ck_assert_uint_eq(out[i], i % 128 < 32 ? in[i] + in[i + 1024] + in[i + 2048] + in[i + 3072] : in[i + 4096]);
        STAT("dac.lines", 32);
        STAT("dac.locked_max", 1);
        if (late)
            STAT("dac.lines_without_lock", 0);
        else
            ck_assert_double_gt(stat("dac.lines_without_lock"), 0);
    }
}
END_TEST

/* Queues of one entry: nothing is lost, nothing goes beyond the size, and each says that it was full. */
START_TEST(smallest_queues) {
    static const char *const set[] = {"gpu.sms=1", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", NULL};
    static const char *const models[] = {"spe+dac", "dpe+dac", "dws50+dac", "its+dac", "si+dac", "minpc+dac"};
    figure_4(set, models[_i], 2, 64, 5, 128);
    STAT("dac.atq_max", 1);
    STAT("dac.decoupled_loads", 20);
    STAT("dac.spills", 0);
    ck_assert_double_gt(stat("dac.atq_full"), 0);
    ck_assert_double_gt(stat("dac.pwaq_full"), 0);
}
END_TEST

/* Addresses of two lines, and queues of one: expanded by the load itself, without an early request. */
START_TEST(wider_than_the_queue) {
    static const char *const set[] = {"gpu.sms=1", "dac.pwaq=1", NULL};
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<3>; .reg .b64 %a<3>;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x;\n"
        " mad.wide.u32 %a1,%r1,8,%a1; ld.global.u32 %r2,[%a1]; st.global.u32 [%a1+4],%r2; ret;\n}\n";
    struct heddle_arg args[] = {{&buffer, 8}};
    uint32_t word[128];
    open_with("spe+dac", set, 100000);
    for (uint32_t i = 0; i < 128; i++)
        word[i] = i % 2 ? 0 : i + 7;
    heddle_write(h, buffer, word, sizeof word);
    ck_assert_int_eq(start(load(text), "k", 1, 64, args, 1), HEDDLE_OK);
    heddle_read(h, buffer, word, sizeof word);
    for (uint32_t i = 0; i < 128; i++)
        ck_assert_uint_eq(word[i], i - i % 2 + 7);
    STAT("dac.records", 4);
    STAT("dac.wide_records", 4);
    STAT("dac.lines", 0);
    STAT("dac.spills", 0);
}
END_TEST

/* A neighbour's store is read behind a barrier. Warp 1 spends `rounds` rounds before it stores, so the barrier opens
 * late: the load's address is there as an entry of the ATQ, and is expanded only then, or it would bring the line as it
 * was before. The line is asked for once, behind the barrier: its time of waiting shows in the queue's being empty. */
START_TEST(nothing_is_expanded_across_a_barrier) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
        ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p]; ld.param.u32 %r7,[n];\n"
        " mov.u32 %r1,%tid.x; mad.wide.u32 %a2,%r1,4,%a1;\n"
        " ld.global.u32 %r2,[%a2+4096];\n" /* data: how many rounds */
        "W: setp.eq.u32 %p1,%r2,0; @%p1 bra D; sub.u32 %r2,%r2,1; bra W;\n"
        "D: add.u32 %r3,%r1,100; st.global.u32 [%a2],%r3;\n bar.sync 0;\n"
        " xor.b32 %r4,%r1,32; sub.u32 %r5,63,%r1; mad.wide.u32 %a3,%r5,4,%a1; ld.global.u32 %r6,[%a3];\n"
        " st.global.u32 [%a2+8192],%r6; ret;\n}\n";
    static const char *const set[] = {"gpu.sms=1", NULL};
    uint32_t rounds[64], got[64], n = 0;
    double cycles[2], waited[2];
    for (uint32_t late = 0; late < 2; late++) {
        open_with("spe+dac", set, 1000000);
        for (uint32_t i = 0; i < 64; i++)
            rounds[i] = late && i >= 32 ? 200 : 0;
        heddle_write(h, buffer + 4096, rounds, sizeof rounds);
        struct heddle_arg args[] = {{&buffer, 8}, {&n, 4}};
        ck_assert_msg(start(load(text), "k", 1, 64, args, 2) == HEDDLE_OK, "%s", heddle_error(h));
        heddle_read(h, buffer + 8192, got, sizeof got);
        for (uint32_t i = 0; i < 64; i++)
            ck_assert_uint_eq(got[i], 100 + 63 - i);
        cycles[late] = stat("gpu.cycles");
        waited[late] = stat("dac.atq_cycles");
        STAT("dac.lines", 4);
        STAT("dac.decoupled_loads", 4);
    }
    /* 200 rounds of four instructions, one after the other, are at least so many cycles; all the while what is behind
     * the barrier is in the ATQ: the load's entry and the store's behind it */
    ck_assert_double_gt(cycles[1] - cycles[0], 800);
    ck_assert_double_ge(waited[1] - waited[0], 2 * (cycles[1] - cycles[0]) * 0.95);
}
END_TEST

/* The affine stream reads a table itself: what is wrong with it is told of the kernel's own line, CTA and lane. */
START_TEST(the_affine_stream_faults) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p];\n mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x;\n"
        " mad.lo.u32 %r3,%r2,64,%r1; mad.wide.u32 %a2,%r3,4,%a1;\n"
        " ld.global.u32 %r4,[%a2];\n" /* line 10 */
        " st.global.u32 [%a2],%r4; ret;\n}\n";
    char whole[1024], err[1024], *cut;
    const uint64_t nowhere = 64;
    struct heddle_arg args[] = {{&nowhere, 8}};
    static const char *const set[] = {"gpu.sms=1", NULL};
    open_with("spe", set, 100000);
    ck_assert_int_eq(start(load(text), "k", 2, 64, args, 1), HEDDLE_FAULT);
    snprintf(whole, sizeof whole, "%s", heddle_error(h));
    open_with("spe+dac", set, 100000);
    ck_assert_int_eq(start(load(text), "k", 2, 64, args, 1), HEDDLE_FAULT);
    snprintf(err, sizeof err, "%s", heddle_error(h));
    /* but for the operand, all is the same */
    ck_assert_ptr_nonnull(cut = strstr(whole, "ld.global.u32 "));
    ck_assert_int_eq(strncmp(err, whole, (size_t)(cut - whole)), 0);
    ck_assert_str_eq(strstr(err, "CTA"), strstr(whole, "CTA"));
    ck_assert_msg(strstr(err, "t.ptx:10:") && strstr(err, "CTA (0,0,0)") && strstr(err, "warp 0"), "%s", err);
}
END_TEST

/* Half of warp 0 waits for the other half, which has gone on to a barrier that they never come to: the load behind it
 * stays in the affine tuple queue. */
START_TEST(deadlocks_name_queues) {
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                               ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p];\n"
                               " mov.u32 %r1,%tid.x; mad.wide.u32 %a2,%r1,4,%a1; ld.global.u32 %r2,[%a2];\n"
                               " setp.ne.u32 %p1,%r2,0; @%p1 bra E;\n bar.warp.sync 0xffffffff;\nE: bar.sync 0;\n"
                               " ld.global.u32 %r3,[%a2+512];\n st.global.u32 [%a2],%r3; ret;\n}\n";
    static const char *const set[] = {"gpu.sms=1", NULL};
    uint32_t word[64] = {0};
    open_with("its+dac", set, 0);
    for (uint32_t i = 0; i < 16; i++)
        word[i] = 1;
    heddle_write(h, buffer, word, sizeof word);
    struct heddle_arg args[] = {{&buffer, 8}};
    enum heddle_status s = start(load(text), "k", 1, 64, args, 1);
    if (s == HEDDLE_OK && stat("dac.decoupled_kernels") == 0)
        ck_abort_msg("left whole");
    if (s != HEDDLE_DEADLOCK)
        ck_abort_msg("%d %s", (int)s, heddle_error(h));
    ck_assert_msg(strstr(heddle_error(h), "affine tuple queue") != NULL, "%s", heddle_error(h));
}
END_TEST

/* Fewer tuple registers than the affine stream has. Figure 4's: a, b, dim, num, r0, tid, r1, addrA, addrB, i and r3,
 * of which the frontend may give some one place. */
START_TEST(too_few_tuple_registers) {
    static const char *const set[] = {"dac.tuples=1", NULL};
    uint32_t n = 1, enough;
    char err[1024], option[64];
    const char *const more[] = {option, NULL};
    open_with("spe+dac", set, 100000);
    struct heddle_arg args[] = {{&buffer, 8}, {&buffer, 8}, {&n, 4}, {&n, 4}};
    ck_assert_int_eq(start(heddle_module_file(h, "kernels/affine.ptx"), "example", 1, 32, args, 4), HEDDLE_USAGE);
    snprintf(err, sizeof err, "%s", heddle_error(h));
    const char *at = strstr(err, "needs ");
    ck_assert_msg(at && strstr(err, "kernel 'example'") && strstr(err, "affine warp has 1;"), "%s", err);
    enough = (uint32_t)strtoul(at + 6, NULL, 10);
    ck_assert_msg(enough >= 6 && enough <= 11, "%s", err);
    for (uint32_t k = enough - 1; k <= enough; k++) {
        snprintf(option, sizeof option, "dac.tuples=%u", k);
        open_with("spe+dac", more, 100000);
        struct heddle_arg again[] = {{&buffer, 8}, {&buffer, 8}, {&n, 4}, {&n, 4}};
        enum heddle_status s = start(heddle_module_file(h, "kernels/affine.ptx"), "example", 1, 32, again, 4);
        ck_assert_int_eq(s, k < enough ? HEDDLE_USAGE : HEDDLE_OK);
    }
}
END_TEST

/* Sizes that no machine can have. */
START_TEST(bad_sizes) {
    static const char *const bad[] = {"dac.atq=0",       "dac.atq=4097", "dac.pwaq=0",   "dac.pwaq=65537",
                                      "dac.pwpq=0",      "dac.pwpq=x",   "dac.batch=33", "dac.tuples=0",
                                      "dac.tuples=4097", "dac.atq=-1",   "dac.size=4",   "dac.pwaq=1e99"};
    char err[512];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *const set[] = {bad[i], NULL};
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(bad[i], "="), bad[i]);
        struct heddle *none = heddle_open(&(struct heddle_options){.model = "spe+dac", .set = set}, err, sizeof err);
        ck_assert_msg(!none && strstr(err, key), "%s: %s", bad[i], none ? "taken" : err);
    }
}
END_TEST

/* Nothing affine in it: it runs as it does without, and says so. */
START_TEST(nothing_to_decouple) {
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                               ".reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p];\n"
                               " atom.global.add.u32 %r1,[%a1],1; mad.wide.u32 %a2,%r1,4,%a1;\n"
                               " st.global.u32 [%a2+4],%r1; ret;\n}\n";
    static const char *const models[] = {"spe", "spe+dac"};
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        open_with(models[i], (const char *const[]){"gpu.sms=1", NULL}, 100000);
        struct heddle_arg args[] = {{&buffer, 8}};
        ck_assert_int_eq(start(load(text), "k", 2, 64, args, 1), HEDDLE_OK);
        cycles[i] = stat("gpu.cycles");
    }
    STAT("dac.kernels", 1);
    STAT("dac.decoupled_kernels", 0);
    STAT("dac.affine_instructions", 0);
    ck_assert_double_eq(cycles[0], cycles[1]);
}
END_TEST

/* The last value of a counter in a trace, and its greatest. */
static int curve(const char *text, const char *name, int *most) {
    char head[80];
    int last = -1;
    *most = -1;
    snprintf(head, sizeof head, "{\"name\":\"%s\",\"cat\":\"counter\",\"ph\":\"C\"", name);
    for (const char *at = text; (at = strstr(at, head)); at += sizeof head / 2) {
        const char *n = strstr(at, "\"args\":{\"n\":");
        ck_assert_ptr_nonnull(n);
        last = (int)strtol(n + 12, NULL, 10);
        if (last > *most)
            *most = last;
    }
    return last;
}

/* The affine warp has a track, and queues have curves, which end at nothing. */
START_TEST(traces_have_curves) {
    char *text = NULL, err[512];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    static const char *const set[] = {"gpu.sms=1", "dac.atq=3", NULL};
    uint32_t dim = 5, num = 64;
    int most;
    struct heddle *t =
        heddle_open(&(struct heddle_options){.model = "spe+dac", .set = set, .trace = out}, err, sizeof err);
    ck_assert_msg(t != NULL, "%s", err);
    uint64_t a = heddle_alloc(t, 4096), b = heddle_alloc(t, 4096);
    struct heddle_arg args[] = {{&a, 8}, {&b, 8}, {&dim, 4}, {&num, 4}};
    ck_assert_int_eq(heddle_launch(t, heddle_module_file(t, "kernels/affine.ptx"), "example",
                                   (struct heddle_dim){1, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, args, 4),
                     HEDDLE_OK);
    double atq = heddle_stat(t, 0, "dac.atq_max"), locked = heddle_stat(t, 0, "dac.locked_max");
    heddle_close(t);
    fclose(out);
    ck_assert_int_eq(curve(text, "affine tuple queue", &most), 0);
    ck_assert_int_eq(most, (int)atq);
    ck_assert_int_eq(curve(text, "locked lines", &most), 0);
    ck_assert_int_eq(most, (int)locked);
    ck_assert_int_eq(curve(text, "address queues", &most), 0);
    ck_assert_int_eq(curve(text, "predicate queues", &most), 0);
    ck_assert_int_gt(most, 0);
    ck_assert_ptr_nonnull(strstr(text, "\"args\":{\"name\":\"affine warp\"}"));
    free(text);
}
END_TEST

static void teardown(void) {
    if (h)
        heddle_close(h);
    h = NULL;
}

SUITE(timing_dac) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST(figure_4_by_hand);
    TEST(ragged_warps_and_lines);
    TEST(batches);
    TEST_LOOP(lines_wait_for_their_locks, 0, 2);
    TEST_LOOP(smallest_queues, 0, 6);
    TEST(wider_than_the_queue);
    TEST(nothing_is_expanded_across_a_barrier);
    TEST(the_affine_stream_faults);
    TEST(deadlocks_name_queues);
    TEST(too_few_tuple_registers);
    TEST(bad_sizes);
    TEST(nothing_to_decouple);
    TEST(traces_have_curves);
}
