/* Tests how many CTAs of a launch an SM and the machine hold at once (host/launch_room.c). An SM of tiny.cfg has 8
 * warps, 4,096 registers in units of 64, and 4,096 bytes of shared memory in units of 128; the tests set the number of
 * SMs and of CTAs. */
#include "host/context.h"
#include "test/test.h"

enum { REGISTERS = 10, SHARED = 1000 };

static struct heddle *machine(const char *option) {
    char err[512] = "";
    const char *const set[] = {"gpu.sms=5", "sm.ctas=8", option, NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

static void check_room(const char *option, uint32_t threads, uint32_t cluster, uint32_t each, uint64_t all) {
    const struct program p = {.thread_regs = REGISTERS, .shared_bytes = SHARED};
    const struct launch l = {.program = &p,
                             .grid = {1000, 1, 1},
                             .block = {threads, 1, 1},
                             .cluster = {cluster, 1, 1},
                             .warp_size = WARP_LANES};
    struct heddle *h = machine(option);
    ck_assert_uint_eq(launch_occupancy(h, &l), each);
    ck_assert_uint_eq(launch_room(h, &l), all);
    heddle_close(h);
}

/* - 1,000 bytes of shared memory are 1,024, so an SM holds 4 CTAs of one warp, and five SMs 20.
 * - Of CTAs of 3 warps, 8 warps hold 2.
 * - With 30 registers a thread, a CTA of 2 warps needs 2 x 960, and an SM has 4,096: 2 CTAs.
 * - sm.ctas=1 leaves one. */
START_TEST(the_scarcest_resource_limits) {
    check_room(NULL, 32, 1, 4, 20);
    check_room(NULL, 96, 1, 2, 10);
    check_room("sm.thread_registers=30", 64, 1, 2, 10);
    check_room("sm.ctas=1", 32, 1, 1, 5);
}
END_TEST

/* Four CTAs fit on an SM. With cluster.sms=2, the five SMs are two groups of 2 SMs and one of 1: 8, 8 and 4 CTAs. The
 * groups hold 2, 2 and 1 whole clusters of 3 CTAs, 15 CTAs together; 1, 1 and none of 5 CTAs. */
START_TEST(a_cluster_stays_in_its_group) {
    check_room("cluster.sms=2", 32, 3, 4, 15);
    check_room("cluster.sms=2", 32, 5, 4, 10);
}
END_TEST

SUITE(host_launch_room) {
    TEST(the_scarcest_resource_limits);
    TEST(a_cluster_stays_in_its_group);
}
