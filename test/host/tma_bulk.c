/* Tests copies without a tensor, mistakes of copies, and their statistics. Expected values are derived by hand. */
#include "test/host/tma_rig.h"

#define EXPECT_TX(n) "mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r2]," #n ";\n"
#define LOAD16(to, from)                                                                                               \
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+" #to "],[%d2+" #from "],16,[%r2];\n"

/* Bodies of kernels, and the words that shared memory or the tensor must have after each. Before the body, word i of
 * shared memory is i, and word i of the tensor is 1000 + i. */
struct copy_case {
    const char *body;
    bool in_tensor;
    unsigned at;
    uint32_t want[5];
};
static const struct copy_case copies[] = {
    {EXPECT_TX(16) LOAD16(32, 48) WAIT, false, 8, {1012, 1013, 1014, 1015, 12}},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2+16],[%r1+64],16;\n" FLUSH, true, 4, {16, 17, 18, 19, 1008}},
    /* the mask copies bytes 0 to 3 and 8 to 9 of each 16, which are word 0 and the low half of word 2; 1006 = 0x3ee, 18
     * = 0x12 */
    {"mov.u16 %h1,0x030f; cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d2+16],[%r1+64],16,%h1;\n" FLUSH,
     true,
     4,
     {16, 1005, 18, 1007, 1008}},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2],[%r1+16],16;\n" FLUSH,
     true,
     0,
     {1004, 1006, 1008, 1010, 1004}},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%d2],[%r1+16],16;\n" FLUSH,
     true,
     0,
     {4, 5, 6, 7, 1004}},
    /* 1000 = 0x3e8, 4 = 0x004; 1001 = 0x3e9, 5; 1002 = 0x3ea, 6; 1003 = 0x3eb, 7 */
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.and.b64 [%d2],[%r1+16],16;\n" FLUSH,
     true,
     0,
     {0, 1, 2, 3, 1004}},
    {EXPECT_TX(16) "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                   "[%r1+16],[%r1+160],16,[%r2];\n" WAIT,
     false,
     4,
     {40, 41, 42, 43, 8}},
    {EXPECT_TX(16) "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s32 "
                   "[%r1+16],[%r1+160],16,[%r2];\n" WAIT,
     false,
     4,
     {44, 46, 48, 50, 8}},
    {EXPECT_TX(8) "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1+8],{5,%r1},[%r2];\n"
                  "mov.u32 %r7,77; st.shared.u32 [%r1+12],%r7;\n" WAIT,
     false,
     1,
     {1, 5, 77, 4, 5}},
    {EXPECT_TX(
         4) "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r1+8],2,[%r2];\n" WAIT,
     false,
     1,
     {1, 0, 3, 4, 5}}, /* 2 >= 2: 0 */
    {"st.bulk.weak.shared::cta [%r1+8],16,0;\n", false, 1, {1, 0, 0, 0, 0}},
    {EXPECT_TX(
         32) "mov.u16 %h1,1; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
             "[%r1],[%d2],32,[%r2],%h1;\n" WAIT,
     false,
     5,
     {1005, 1006, 1007, 8, 9}},
    {"cp.async.bulk.prefetch.L2.global [%d2],64;\n", false, 0, {0, 1, 2, 3, 4}},
};

/* Bodies that change source or destination of a copy that is in flight. PTX leaves the result open. Heddle copies when
 * the instruction executes, so that the later store stays. */
static const struct copy_case in_flight[] = {
    /* the destination of a load: the store of thread 0 to word 9 follows the copy of 1012 to 1015 */
    {EXPECT_TX(16) LOAD16(32, 48) "mov.u32 %r7,77; st.shared.u32 [%r1+36],%r7;\n" WAIT,
     false,
     8,
     {1012, 77, 1014, 1015, 12}},
    /* the source of a load, which is word 13 of the tensor */
    {EXPECT_TX(16) LOAD16(32, 48) "mov.u32 %r7,77; st.global.u32 [%d2+52],%r7;\n" WAIT,
     false,
     8,
     {1012, 1013, 1014, 1015, 12}},
    /* the source of a store, which is word 17 of shared memory */
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2+16],[%r1+64],16; mov.u32 %r7,77; st.shared.u32 "
     "[%r1+68],%r7;\n" FLUSH,
     true,
     4,
     {16, 17, 18, 19, 1008}},
    /* the destination of a store */
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2+16],[%r1+64],16; mov.u32 %r7,77; st.global.u32 "
     "[%d2+20],%r7;\n" FLUSH,
     true,
     4,
     {16, 77, 18, 19, 1008}},
    /* the destination of a reduction: 1000 + 4 and 1002 + 6; word 1 has the store's value */
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2],[%r1+16],16;\n"
     "mov.u32 %r7,77; st.global.u32 [%d2+4],%r7;\n" FLUSH,
     true,
     0,
     {1004, 77, 1008, 1010, 1004}},
};

static void words(struct rig *r) {
    static uint32_t shared[SHARED / 4], tensor[TENSOR / 4];
    for (uint32_t i = 0; i < SHARED / 4; i++)
        shared[i] = i;
    for (uint32_t i = 0; i < TENSOR / 4; i++)
        tensor[i] = 1000 + i;
    heddle_write(r->h, r->out, shared, sizeof shared);
    heddle_write(r->h, r->tensor, tensor, sizeof tensor);
}

static void check_copy(const char *model, const struct copy_case *c) {
    static const unsigned char none[TENSOR_MAP_BYTES];
    struct rig r;
    uint32_t have[5];
    rig_open(&r, model, "h100");
    words(&r);
    run_ok(&r, c->body, none);
    heddle_read(r.h, (c->in_tensor ? r.tensor : r.out) + (uint64_t)4 * c->at, have, sizeof have);
    for (int k = 0; k < 5; k++)
        ck_assert_msg(have[k] == c->want[k], "%s: word %d is %u, not %u", c->body, k, have[k], c->want[k]);
    heddle_close(r.h);
}

START_TEST(copies_do_what_they_say) {
    check_copy("functional", &copies[_i]);
    check_copy("spe", &copies[_i]);
}
END_TEST

START_TEST(copies_change_memory_when_they_execute) {
    check_copy("functional", &in_flight[_i]);
    check_copy("spe", &in_flight[_i]);
}
END_TEST

static const struct {
    const char *body, *says;
} mistakes[] = {
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2],[%r1],24;\n", "a bulk copy of 24 bytes"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2+8],[%r1],16;\n", "misaligned"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2],[%r1+4],16;\n", "misaligned"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2+1048576],[%r1],16;\n", "a bulk write of 16 bytes at global"},
    {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1],[%d2],16,[%r2+8];\n", "there is no mbarrier"},
    {"cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%d1,{0}],[%r1];\n", "cuTensorMapEncode"},
    {"cp.async.bulk.global.shared::cta [%d2],[%r1],16;\n", "has .bulk_group"},
    {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1,{0}],[%r1];\n", "takes 2 coordinates, found 1"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],[%d2],16;\n", "has other operands"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.s32 [%d2],[%r1],16;\n", "no such reduction"},
    {"st.bulk.weak.shared::cta [%r1],16,1;\n", "expects the constant 0, found an integer"},
    {"st.bulk.weak.shared::cta [%r1],16,%r3;\n", "expects the constant 0, found '%r3'"},
    /* 4 GiB, for an address in the CTA and for its address in the cluster */
    {"st.bulk.weak.shared::cta [%r1],4294967296,0;\n", "a bulk write of 4294967296 bytes at shared"},
    {"mapa.shared::cluster.u32 %r7,%r1,0; st.bulk.weak.shared::cta [%r7],4294967296,0;\n",
     "a bulk write of 4294967296 bytes at shared"},
};

START_TEST(mistakes_are_reported) {
    static const unsigned char none[TENSOR_MAP_BYTES];
    struct rig r;
    rig_open(&r, "functional", "h100");
    words(&r);
    ck_assert_int_ne(rig_run(&r, mistakes[_i].body, none), HEDDLE_OK);
    ck_assert_msg(strstr(heddle_error(r.h), mistakes[_i].says) != NULL, "%s: %s", mistakes[_i].body, heddle_error(r.h));
    heddle_close(r.h);
}
END_TEST

/* Boxes of 4 GiB: 256 bytes in 2^24 rows. */
START_TEST(boxes_larger_than_shared_memory_are_refused) {
    static const char *const bodies[] = {
        EXPECT_TX(16) "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
                      "[%r1],[%d1,{0,0,0,0}],[%r2];\n",
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%d1,{0,0,0,0}],[%r1];\n",
        "cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%d1,{0,0,0,0}];\n",
    };
    struct rig r;
    unsigned char map[TENSOR_MAP_BYTES];
    rig_open(&r, "functional", "h100");
    const struct tensor_map m = {.type = TENSOR_F32,
                                 .rank = 4,
                                 .address = r.tensor,
                                 .dim = {64, 1, 1, 1, 1},
                                 .stride = {0, 256, 256, 256},
                                 .box = {64, 256, 256, 256, 1},
                                 .step = {1, 1, 1, 1, 1}};
    tensor_map_write(&m, map);
    ck_assert_int_eq(rig_run(&r, bodies[_i], map), HEDDLE_FAULT);
    ck_assert_msg(strstr(heddle_error(r.h), "the box has more bytes than the shared memory of a CTA") != NULL, "%s",
                  heddle_error(r.h));
    heddle_close(r.h);
}
END_TEST

/* A copy of 1 KiB makes eight requests. Each request reads a line of global memory and writes it to the banks of shared
 * memory. The copy is the only one, so the unit is busy from its issue to its end. With a latency that is 50 cycles
 * shorter, the copy ends about 50 cycles earlier; the clock of DRAM may change this by a few cycles. Two copies of 128
 * bytes are in the unit at the same time. */
START_TEST(statistics_of_copies) {
    static const char large[] = EXPECT_TX(1024) "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                                                "[%r1],[%d2],1024,[%r2];\n" WAIT;
    static const char two[] = EXPECT_TX(256) "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                                             "[%r1],[%d2],128,[%r2];\n"
                                             "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                                             "[%r1+128],[%d2+128],128,[%r2];\n" WAIT;
    static const unsigned char none[TENSOR_MAP_BYTES];
    static const char *const latencies[] = {"tma.latency=150", "tma.latency=100"};
    double took[2];
    for (int i = 0; i < 2; i++) {
        struct rig r;
        rig_open_set(&r, "spe", "h100", false, latencies[i]);
        run_ok(&r, large, none);
        ck_assert_double_eq(heddle_stat(r.h, -1, "tma.copies"), 1);
        ck_assert_double_eq(heddle_stat(r.h, -1, "tma.bytes"), 1024);
        ck_assert_double_eq(heddle_stat(r.h, -1, "tma.requests"), 8);
        took[i] = heddle_stat(r.h, -1, "tma.copy_cycles");
        ck_assert_double_gt(took[i], 100);
        ck_assert_double_eq(heddle_stat(r.h, -1, "tma.busy_cycles"), took[i]);
        heddle_close(r.h);
    }
    ck_assert_double_gt(took[0] - took[1], 45);
    ck_assert_double_lt(took[0] - took[1], 55);
    struct rig r;
    rig_open(&r, "spe", "h100");
    run_ok(&r, two, none);
    ck_assert_double_eq(heddle_stat(r.h, -1, "tma.copies"), 2);
    ck_assert_double_eq(heddle_stat(r.h, -1, "tma.bytes"), 256);
    ck_assert_double_lt(heddle_stat(r.h, -1, "tma.busy_cycles"), heddle_stat(r.h, -1, "tma.copy_cycles"));
    heddle_close(r.h);
}
END_TEST

/* The first body has no mistake. Each of the other bodies reads the destination, or overwrites the source, before the
 * wait. */
static const struct {
    const char *body, *says;
} checked[] = {
    {EXPECT_TX(16) LOAD16(32, 48) WAIT "ld.shared.u32 %r7,[%r1+32]; st.shared.u32 [%r1+32],%r7;\n"
                                       "fence.proxy.async.shared::cta;\n"
                                       "cp.async.bulk.global.shared::cta.bulk_group [%d2],[%r1+32],16;\n" FLUSH
                                       "st.shared.u32 [%r1+32],%r3;\n",
     NULL},
    {EXPECT_TX(16) LOAD16(32, 48) "ld.shared.u32 %r7,[%r1+32]; st.shared.u32 [%r1+64],%r7;\n" WAIT, "unfinished copy"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2],[%r1],16;\n st.shared.u32 [%r1+12],%r3;\n" FLUSH,
     "unfinished copy"},
};

START_TEST(the_checker_knows_unfinished_copies) {
    static const unsigned char none[TENSOR_MAP_BYTES];
    struct rig r;
    rig_open_checked(&r, "functional", "h100", true);
    words(&r);
    const enum heddle_status s = rig_run(&r, checked[_i].body, none);
    ck_assert_msg(s == (checked[_i].says ? HEDDLE_FAULT : HEDDLE_OK), "%.900s", heddle_error(r.h));
    ck_assert_msg(!checked[_i].says || strstr(heddle_error(r.h), checked[_i].says), "%.900s", heddle_error(r.h));
    heddle_close(r.h);
}
END_TEST

SUITE(host_tma_bulk) {
    TEST(statistics_of_copies);
    TEST_LOOP(the_checker_knows_unfinished_copies, 0, (int)(sizeof checked / sizeof checked[0]));
    TEST_LOOP(copies_do_what_they_say, 0, (int)(sizeof copies / sizeof copies[0]));
    TEST_LOOP(copies_change_memory_when_they_execute, 0, (int)(sizeof in_flight / sizeof in_flight[0]));
    TEST_LOOP(boxes_larger_than_shared_memory_are_refused, 0, 3);
    TEST_LOOP(mistakes_are_reported, 0, (int)(sizeof mistakes / sizeof mistakes[0]));
}
