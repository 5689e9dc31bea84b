/* Tests CTAs of a cooperative grid that wait for each other, in the functional model. */
#include "host/heddle.h"
#include "test/test.h"

/* Each CTA repeatedly adds 1 to word p[0] and then waits until all CTAs have done so. p[1 + CTA] is the CTA's own
 * counter. The last `missing` CTAs never arrive. */
static const char text[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                           ".visible .entry meet(.param .u64 p, .param .u32 rounds, .param .u32 missing) {\n"
                           ".reg .pred %q; .reg .u32 %n, %i, %all, %goal, %v, %cta; .reg .u64 %p, %mine;\n"
                           "ld.param.u64 %p, [p]; ld.param.u32 %n, [rounds]; ld.param.u32 %all, [missing];\n"
                           "mov.u32 %cta, %nctaid.x; add.u32 %all, %all, %cta; mov.u32 %cta, %ctaid.x;\n"
                           "mul.wide.u32 %mine, %cta, 4; add.u64 %mine, %mine, %p;\n"
                           "mov.u32 %i, 0; mov.u32 %goal, 0;\n"
                           "NEXT: ld.global.u32 %v, [%mine+4]; add.u32 %v, %v, 1; st.global.u32 [%mine+4], %v;\n"
                           "membar.gl; red.global.add.u32 [%p], 1; add.u32 %goal, %goal, %all;\n"
                           "WAIT: ld.volatile.global.u32 %v, [%p]; setp.lt.u32 %q, %v, %goal; @%q bra WAIT;\n"
                           "membar.gl; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %n; @%q bra NEXT; ret; }\n";

enum { CTAS = 8 };

static enum heddle_status meet(uint32_t threads, uint32_t rounds, uint32_t missing, double *instructions,
                               char message[1000]) {
    char err[512] = "";
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "functional", .threads = threads}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "meet.ptx", text, sizeof text - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint32_t words[1 + CTAS] = {0};
    uint64_t p = heddle_alloc(h, sizeof words);
    ck_assert_int_eq(heddle_write(h, p, words, sizeof words), HEDDLE_OK);
    struct heddle_arg args[] = {{&p, 8}, {&rounds, 4}, {&missing, 4}};
    enum heddle_status status = heddle_launch_cooperative(h, m, "meet", (struct heddle_dim){CTAS, 1, 1},
                                                          (struct heddle_dim){1, 1, 1}, 0, args, 3);
    snprintf(message, 1000, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, p, words, sizeof words), HEDDLE_OK);
    for (int i = 0; i < CTAS; i++)
        ck_assert_uint_eq(words[1 + i], missing ? 1 : rounds);
    *instructions = missing ? 0 : heddle_stat(h, -1, "gpu.warp_instructions");
    heddle_close(h);
    return status;
}

/* A CTA that waits for others must end its turn early. Between two grid barriers it executes the rest of an interval of
 * 4096 instructions, in which it changed memory, and then one or two intervals of 256 instructions, which show that it
 * only waits. Together these are less than 5000 instructions. Without this rule, each waiting CTA would spend a whole
 * turn of 32768 instructions. The result must not depend on the number of host threads. */
START_TEST(waiting_ctas_give_way) {
    enum { ROUNDS = 100 };
    double first = 0, n = 0;
    char message[1000];
    for (uint32_t threads = 1; threads <= 3; threads++) {
        ck_assert_int_eq(meet(threads, ROUNDS, 0, &n, message), HEDDLE_OK);
        ck_assert_msg(n > ROUNDS * CTAS * 13.0 && n < ROUNDS * CTAS * 5000.0, "%g instructions", n);
        first = threads == 1 ? n : first;
        ck_assert_msg(n == first, "%g instructions, and %g with %u threads", first, n, threads);
    }
}
END_TEST

/* If a CTA never arrives, the interpreter still reports a deadlock. */
START_TEST(endless_waiting_is_found) {
    char message[1000];
    double n;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        ck_assert_int_eq(meet(threads, 3, 1, &n, message), HEDDLE_DEADLOCK);
        ck_assert_msg(strstr(message, "every runnable path repeats itself") != NULL, "%s", message);
    }
}
END_TEST

/* A grid that is not cooperative has a barrier in software. The functional model begins with 64 CTAs. If these wait,
 * more CTAs begin, but only as many as the machine holds: in `fermi`, 16 SMs hold 16 * 8 CTAs. */
START_TEST(all_ctas_that_fit_run_at_once) {
    static const struct heddle_dim block = {1, 1, 1};
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct heddle_options o = {.model = "functional", .config = "fermi", .threads = threads};
        o.set = (const char *const[]){"gpu.sms=16", NULL};
        struct heddle *h = heddle_open(&o, NULL, 0);
        struct heddle_module *m = heddle_module_text(h, "meet.ptx", text, sizeof text - 1);
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        const uint32_t fit = 16 * 8, rounds = 3, missing = 0;
        uint64_t p = heddle_alloc(h, 4 * (1 + fit + 1));
        struct heddle_arg args[] = {{&p, 8}, {&rounds, 4}, {&missing, 4}};
        ck_assert_msg(heddle_launch(h, m, "meet", (struct heddle_dim){fit, 1, 1}, block, 0, args, 3) == HEDDLE_OK, "%s",
                      heddle_error(h));
        uint32_t sum = 0;
        ck_assert_int_eq(heddle_read(h, p, &sum, sizeof sum), HEDDLE_OK);
        ck_assert_uint_eq(sum, fit * rounds);
        ck_assert_int_eq(heddle_clear(h, p, 4), HEDDLE_OK);
        ck_assert_int_eq(heddle_launch(h, m, "meet", (struct heddle_dim){fit + 1, 1, 1}, block, 0, args, 3),
                         HEDDLE_DEADLOCK);
        ck_assert_msg(strstr(heddle_error(h), "hint: the machine holds 128 CTAs of this kernel at once") != NULL, "%s",
                      heddle_error(h));
        heddle_close(h);
    }
}
END_TEST

/* Compiled code of grid.sync() traps if the launch has no workspace. A trap of another kernel gets no such help. */
START_TEST(a_grid_barrier_in_a_plain_launch_is_explained) {
    static const char kernels[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                                  ".visible .entry meet() { .reg .pred %q; .reg .u32 %a;\n"
                                  "mov.u32 %a, %envreg2; setp.eq.u32 %q, %a, 0; @%q trap; ret; }\n"
                                  ".visible .entry stop() { trap; }\n";
    static const char help[] = "contains grid.sync(), which needs a launch by cudaLaunchCooperativeKernel()\n";
    const struct heddle_dim one = {1, 1, 1};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = _i ? "spe" : "functional"}, NULL, 0);
    struct heddle_module *m = heddle_module_text(h, "stop.ptx", kernels, sizeof kernels - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_launch(h, m, "meet", one, one, 0, NULL, 0), HEDDLE_FAULT);
    ck_assert_msg(strstr(heddle_error(h), help) != NULL, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_launch(h, m, "stop", one, one, 0, NULL, 0), HEDDLE_FAULT);
    ck_assert_msg(!strstr(heddle_error(h), help), "%s", heddle_error(h));
    ck_assert_int_eq(heddle_launch_cooperative(h, m, "meet", one, one, 0, NULL, 0), HEDDLE_OK);
    heddle_close(h);
}
END_TEST

SUITE(isa_interp_cooperative) {
    TEST(waiting_ctas_give_way);
    TEST(endless_waiting_is_found);
    TEST(all_ctas_that_fit_run_at_once);
    TEST_LOOP(a_grid_barrier_in_a_plain_launch_is_explained, 0, 2);
}
