/* Tests kernels that start with empty instruction caches. Their time is compared with the time with a perfect
 * instruction cache. The difference comes from misses that stream buffers and cluster caches do not avoid. The kernel
 * tp_ffma of test/reference has straight code of 22 lines with 128 bytes each. */
#include "host/heddle.h"
#include "test/test.h"

/* Launches tp_ffma and returns the context. The caller reads the statistics and closes the context. */
static struct heddle *launched(const char *config, uint32_t grid, uint32_t threads, int32_t rounds,
                               const char *const *set) {
    char err[512] = "";
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = config, .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_file(h, "test/reference/kernels.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t buffer = heddle_alloc(h, 131072);
    const struct heddle_arg args[] = {{&buffer, 8}, {&rounds, 4}};
    const struct heddle_dim g = {grid, 1, 1}, block = {threads, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "tp_ffma", g, block, 0, args, 2) == HEDDLE_OK, "%s", heddle_error(h));
    return h;
}

static double cycles(const char *config, uint32_t grid, const char *const *set) {
    struct heddle *h = launched(config, grid, 192, 4, set);
    double n = heddle_stat(h, 0, "gpu.cycles");
    heddle_close(h);
    return n;
}

START_TEST(cold_straight_code_is_nearly_as_fast_as_warm_code) {
    double perfect = cycles("turing-rtx2060", 120, (const char *const[]){"fetch.perfect=on", NULL});
    ck_assert_double_le(cycles("turing-rtx2060", 120, NULL), 1.2 * perfect);
    ck_assert_double_ge(cycles("turing-rtx2060", 120, (const char *const[]){"fetch.prefetch=0", NULL}), 2 * perfect);
}
END_TEST

/* All SMs of volta-classic read the same code lines. Without cluster caches, the L2 slice of a line sends it 80 times,
 * which takes 4 cycles each time. With cluster caches, it sends the line to only six clusters. Then 80 SMs are as fast
 * as one SM. */
START_TEST(clusters_fetch_a_line_once) {
    double perfect = cycles("volta-classic", 120, (const char *const[]){"fetch.perfect=on", NULL});
    double cold = cycles("volta-classic", 120, NULL);
    double one = cycles("volta-classic", 2, (const char *const[]){"gpu.sms=1", NULL});
    ck_assert_double_le(cold, 1.4 * perfect);
    ck_assert_double_le(cold, 1.02 * one);
    ck_assert_double_ge(cycles("volta-classic", 120, (const char *const[]){"gpc.sms=0", NULL}), 2.2 * perfect);
}
END_TEST

/* One SM of volta-classic.
 * - Without a cluster cache, only the first line costs time, because no stream buffer can request it earlier: 313
 *   cycles from DRAM, as measured, plus the latency of the instruction caches.
 * - With a cluster cache, a line takes 66 cycles more: 58 in this cache, and 8 for the way from it to the SM. The eight
 *   lines of a stream buffer last for 384 cycles (64 instructions of three warps, two cycles each). A line takes longer
 *   than this to arrive, so warps also wait for later lines. */
START_TEST(one_sm_waits_for_its_first_line) {
    double perfect =
        cycles("volta-classic", 2, (const char *const[]){"gpu.sms=1", "fetch.perfect=on", "gpc.sms=0", NULL});
    double cold = cycles("volta-classic", 2, (const char *const[]){"gpu.sms=1", "gpc.sms=0", NULL});
    ck_assert_double_ge(cold - perfect, 300);
    ck_assert_double_le(cold - perfect, 450);
    cold = cycles("volta-classic", 2, (const char *const[]){"gpu.sms=1", NULL});
    ck_assert_double_ge(cold - perfect, 450);
    ck_assert_double_le(cold - perfect, 650);
}
END_TEST

/* One warp on one SM uses one stream buffer of 8 lines.
 * - An instruction that misses the L0 finds its line in the buffer, or requests the line.
 * - At the end the buffer holds 8 of the lines that it requested. The other lines were used or discarded.
 * - The L1 instruction cache is empty at first and only this warp uses it, so each line of the buffer misses there.
 * - With one iteration, the kernel jumps over its loop of four iterations, and the buffer is discarded. The counts then
 *   differ, but the sums in this test still hold. */
START_TEST(every_line_of_a_stream_buffer_is_accounted_for) {
    struct heddle *h = launched("volta-classic", 1, 32, _i ? 4 : 1, (const char *const[]){"gpu.sms=1", NULL});
    double asked = heddle_stat(h, 0, "fetch.prefetches"), useful = heddle_stat(h, 0, "fetch.prefetch_useful");
    double late = heddle_stat(h, 0, "fetch.prefetch_late");
    ck_assert_double_gt(useful, 0);
    ck_assert_double_eq(asked, useful + heddle_stat(h, 0, "fetch.prefetch_unused") + 8);
    ck_assert_double_eq(asked, heddle_stat(h, 0, "fetch.prefetch_misses"));
    ck_assert_double_eq(heddle_stat(h, 0, "fetch.l0_misses"), useful + heddle_stat(h, 0, "fetch.misses"));
    ck_assert_double_gt(late, 0);
    ck_assert_double_le(late, useful);
    heddle_close(h);
}
END_TEST

SUITE(timing_cold) {
    TEST_LOOP(every_line_of_a_stream_buffer_is_accounted_for, 0, 2);
    TEST_SPEED(cold_straight_code_is_nearly_as_fast_as_warm_code);
    TEST_SPEED(clusters_fetch_a_line_once);
    TEST_SPEED(one_sm_waits_for_its_first_line);
}
