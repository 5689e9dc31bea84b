/* Tests that heddle refuses a CTA that is too large for an SM, and that the message has the numbers. An SM of tiny.cfg
 * has 8 warps, 4096 registers (allocated in units of 64) and 4096 bytes of shared memory (in units of 128). */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

static char message[1024];

static enum heddle_status launch(const char *model, const char *option, uint32_t threads, uint32_t shared) {
    static const char text[] = ".version 6.0\n.target sm_70\n.address_size 64\n.extern .shared .b8 s[];\n"
                               ".visible .entry k()\n{\n.reg .u32 %r<2>; mov.u32 %r1,%tid.x; st.shared.u32 [s],%r1; "
                               "ret;\n}\n";
    char err[512] = "";
    const char *const set[] = {option, NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "fits.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    enum heddle_status s =
        heddle_launch(h, m, "k", (struct heddle_dim){2, 1, 1}, (struct heddle_dim){threads, 1, 1}, shared, NULL, 0);
    snprintf(message, sizeof message, "%s", heddle_error(h));
    heddle_close(h);
    return s;
}

static void refused(const char *option, uint32_t threads, uint32_t shared, const char *why) {
    enum heddle_status s = launch("spe", option, threads, shared);
    ck_assert_msg(s == HEDDLE_USAGE && strstr(message, why), "%d: %s", s, message);
    /* the limit concerns the whole CTA, so the message names no thread */
    ck_assert_msg(!strstr(message, "CTA (0,0,0)"), "%s", message);
}

/* - A CTA with one thread more than 8 warps have needs 9 warps.
 * - 40 registers per thread are 1280 per warp, so 4 warps need 5120.
 * - 4000 bytes of shared memory are rounded up to 4096 with units of 128 bytes. With units of 4095 bytes, 4096 bytes
 *   need two units. */
START_TEST(what_does_not_fit_is_named) {
    refused(NULL, 257, 64, "a CTA of 257 threads does not fit on an SM: it needs 9 warps, and an SM has 8 (sm.warps)");
    refused("sm.thread_registers=40", 128, 64, "it needs 5120 registers, and an SM has 4096 (sm.registers)");
    refused("sm.thread_registers=40", 257, 64,
            "it needs 9 warps, and an SM has 8 (sm.warps); it needs 11520 registers");
    refused("sm.shared_unit=4095", 32, 4096,
            "it needs 8190 bytes of shared memory, and an SM has 4096 (sm.shared_bytes)");
    refused(NULL, 32, 4097, "needs 4097 bytes of shared memory (4097 of them dynamic); the SM has 4096");
    refused("sm.shared_bytes=0", 32, 4, "needs 4 bytes of shared memory (4 of them dynamic); the SM has 0");
}
END_TEST

START_TEST(what_just_fits_runs) {
    static const struct {
        const char *option;
        uint32_t threads, shared;
    } just[] = {{NULL, 256, 4096}, {"sm.thread_registers=32", 128, 4}, {"sm.shared_unit=4096", 32, 4000}};
    for (size_t i = 0; i < sizeof just / sizeof just[0]; i++)
        ck_assert_msg(launch("spe", just[i].option, just[i].threads, just[i].shared) == HEDDLE_OK, "%s", message);
}
END_TEST

/* The functional model has no SMs, so only CUDA's limits for a CTA apply. */
START_TEST(the_functional_model_knows_no_sm) {
    ck_assert_msg(launch("functional", "sm.thread_registers=255", 1024, 40000) == HEDDLE_OK, "%s", message);
    ck_assert_int_eq(launch("functional", NULL, 1025, 4), HEDDLE_USAGE);
    ck_assert_msg(strstr(message, "1024 in all"), "%s", message);
}
END_TEST

SUITE(host_fits) {
    TEST(what_does_not_fit_is_named);
    TEST(what_just_fits_runs);
    TEST(the_functional_model_knows_no_sm);
}
