/* Tests clusterlaunchcontrol: persistent kernels (test/kernels/stealing.cu, compiled by nvcc) take the work of blocks
 * or clusters that have not begun. The work of each block must be done once, by any block. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 48, THREADS = 64, FAULTS = 4 };

static struct heddle *open_model(const char *model, const char *const *set) {
    char err[512];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .set = set, .cycle_limit = 1000000}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

static uint32_t owner[BLOCKS]; /* of the latest run: the block that did the work of each block */

/* Runs a kernel. Returns the number of blocks that did work: blocks that were cancelled did none. */
static int run(struct heddle *h, const char *kernel) {
    static uint32_t done[BLOCKS * THREADS];
    uint64_t at = heddle_alloc(h, sizeof done), by = heddle_alloc(h, sizeof owner);
    const struct heddle_arg args[] = {{&at, 8}, {&by, 8}};
    const struct heddle_dim grid = {BLOCKS, 1, 1}, block = {THREADS, 1, 1};
    bool worked[BLOCKS] = {false};
    int n = 0;
    memset(done, 0, sizeof done);
    heddle_write(h, at, done, sizeof done);
    struct heddle_module *m = heddle_module_file(h, "test/kernels/stealing.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    ck_assert_msg(heddle_launch(h, m, kernel, grid, block, 0, args, 2) == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, at, done, sizeof done);
    heddle_read(h, by, owner, sizeof owner);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        ck_assert_msg(done[i] == 1, "thread %d: work done %u times", i, done[i]);
    for (int i = 0; i < BLOCKS; i++) {
        ck_assert_uint_lt(owner[i], BLOCKS);
        n += !worked[owner[i]];
        worked[owner[i]] = true;
    }
    return n;
}

START_TEST(work_is_done_once) {
    const char *model = _i < timed_models()->n ? timed_models()->name[_i] : "functional";
    static const char *const set[] = {"gpu.sms=2", NULL};
    struct heddle *h = open_model(model, _i < timed_models()->n ? set : NULL);
    ck_assert_int_lt(run(h, "persistent"), BLOCKS);
    ck_assert_int_lt(run(h, "persistent_pairs"), BLOCKS);
    heddle_close(h);
}
END_TEST

/* The functional model gives the same owners with any number of host threads. */
START_TEST(owners_do_not_depend_on_host_threads) {
    static uint32_t once[BLOCKS];
    char err[512];
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        struct heddle *h =
            heddle_open(&(struct heddle_options){.model = "functional", .threads = threads}, err, sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        run(h, "persistent");
        if (threads == 1)
            memcpy(once, owner, sizeof once);
        ck_assert_mem_eq(once, owner, sizeof once);
        heddle_close(h);
    }
}
END_TEST

/* An SM with room for eight CTAs begins eight, which do the work of all CTAs. The assignment of work to CTAs does not
 * depend on the number of host threads. */
START_TEST(resident_blocks_do_the_work) {
    static const char *const set[] = {"gpu.sms=1", "sm.ctas=8", NULL};
    struct heddle *h = open_model("spe", set);
    ck_assert_int_eq(run(h, "persistent"), 8);
    ck_assert_double_eq(heddle_stat(h, 0, "gpu.ctas"), 8);
    heddle_close(h);
}
END_TEST

START_TEST(faults) {
    static const struct {
        const char *text, *wanted;
    } cases[FAULTS] = {
        {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [s+8], [s+32];",
         "the response of clusterlaunchcontrol, at 0x8, is not aligned to 16 bytes"},
        {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [s], [s+64];",
         "the mbarrier of clusterlaunchcontrol, at 0x40"},
        {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [s], [s+32];",
         "there is no mbarrier: init comes first"},
        {"ld.shared.b128 %q, [s]; clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r0, %r1, _, _}, %q;",
         "no cluster was cancelled, so it has no first CTA"},
    };
    static char text[1024];
    snprintf(
        text, sizeof text,
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.shared .align 16 .b8 s[64]; .reg "
        ".b32 %%r<4>; .reg .b128 %%q;\n%s\nret;\n}\n",
        cases[_i].text);
    struct heddle *h = open_model("functional", NULL);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct heddle_dim one = {1, 1, 1};
    ck_assert_int_eq(heddle_launch(h, m, "k", one, one, 0, NULL, 0), HEDDLE_FAULT);
    ck_assert_msg(strstr(heddle_error(h), cases[_i].wanted) && strstr(heddle_error(h), "t.ptx:6"), "%s",
                  heddle_error(h));
    heddle_close(h);
}
END_TEST

SUITE(host_stealing) {
    TEST_LOOP(work_is_done_once, 0, timed_models()->n + 1);
    TEST(owners_do_not_depend_on_host_threads);
    TEST(resident_blocks_do_the_work);
    TEST_LOOP(faults, 0, FAULTS);
}
