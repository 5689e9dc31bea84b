/* Tests the estimate of the memory that a machine (timing/gpu_machine.c) needs, made before the machine is built. The
 * estimate is compared with the memory that malloc() and lazy_new() have allocated afterwards. */
#include "timing/footprint.h"
#include "host/heddle.h"
#include "isa/machine/lazy.h"
#include "test/bases.h"
#include "test/test.h"
#include "timing/gpu.h"
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { COUNTS = 0 }; /* the allocator of this build cannot report the memory in use */
static double in_use(void) { return 0; }
#else
enum { COUNTS = 1 };
static double in_use(void) {
    struct mallinfo2 m = mallinfo2();
    return (double)m.uordblks + (double)m.hblkhd + (double)lazy_used();
}
#endif

static void configure(struct config *c, const char *preset, const char *const *set) {
    char err[512];
    ck_assert_msg(config_load(c, preset, err, sizeof err), "%s", err);
    for (; *set; set++)
        ck_assert_msg(config_set(c, *set, err, sizeof err), "%s", err);
    ck_assert_msg(config_check(c, err, sizeof err), "%s", err);
}

/* Checks that the estimate is between 0.9 times and twice the memory that the machine takes. */
static void check(const char *preset, const struct reconv_ops *ops, const char *const *set) {
    struct config c;
    configure(&c, preset, set);
    double before = in_use();
    struct gpu *g = gpu_new(&c, &(struct gpu_options){.model = ops, .threads = 1});
    ck_assert_ptr_nonnull(g);
    gpu_prepare(g);
    double took = in_use() - before, estimate = (double)footprint(&c, ops);
    gpu_free(g);
    ck_assert_msg(estimate > 0.9 * took && estimate < 2 * took, "%s %s: %.0f bytes, and the estimate is %.0f", preset,
                  set[0] ? set[0] : "", took, estimate);
}

START_TEST(the_estimate_is_near) {
    static const char *const presets[] = {"fermi",  "tiny",           "gt200",         "volta-classic",
                                          "turing", "turing-rtx2060", "fermi-gpgpusim"};
    static const char *const sets[][4] = {
        {"l1.size=4M", "l1.line=128"},
        {"l1.mshrs=4096", "l1.merges=255"},
        {"l1i.mshrs=4096", "l1i.merges=255"},
        {"l0i.size=64K", "sm.subcores=on", "pipe.sfu.units=2", "pipe.sfu.collectors=2"},
        {"l2.mshrs=4096", "l2.merges=255"},
        {"l1.sectored=on", "tex.sectored=on", "l1.mshrs=1024", "l1.merges=64"},
        {"l2.sectored=on", "l2.mshrs=1024", "l2.line=256", "icnt.slice_queue=1024"},
        {"l2.size=96M"},
        {"icnt.latency=1000", "clock.icnt_mhz=1", "clock.core_mhz=100"},
        {"lsu.queue=64", "l1.latency=2000", "l1.ports=16"},
        {"dram.queue=4096", "dram.latency=5000"},
        {"tex.size=6M", "tex.mshrs=1000"},
        {"gpc.sms=4", "gpc.size=2M", "gpc.queue=4096", "gpc.mshrs=4096"},
        {"gpu.sms=200"}};
    static const char *const wide[] = {"dws.wst_entries=4096", NULL}, *const none[] = {NULL};
    for (size_t i = 0; COUNTS && i < sizeof presets / sizeof presets[0]; i++)
        check(presets[i], &reconv_spe, none);
    for (size_t i = 0; COUNTS && i < sizeof sets / sizeof sets[0]; i++) {
        const char *set[5] = {NULL};
        for (int k = 0; k < 4; k++)
            set[k] = sets[i][k];
        check("fermi", &reconv_its, set);
    }
    if (COUNTS)
        check("fermi", &reconv_dws, wide);
}
END_TEST

struct measurement {
    const char *const *set;
    double took, estimate;
};

static void *measure(void *arg) {
    struct measurement *m = arg;
    struct config c;
    configure(&c, "fermi", m->set);
    double before = in_use();
    struct gpu *g = gpu_new(&c, &(struct gpu_options){.model = &reconv_dws, .threads = 1});
    ck_assert_ptr_nonnull(g);
    gpu_prepare(g);
    m->took = in_use() - before;
    m->estimate = (double)footprint(&c, &reconv_dws);
    gpu_free(g);
    return NULL;
}

/* Measures in a thread of its own: malloc() counts free blocks that it keeps for a thread as memory in use, so in this
 * thread the blocks of an earlier machine would be missing. */
static double taken(const char *const *set, double *estimate) {
    struct measurement m = {.set = set};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, measure, &m), 0);
    pthread_join(thread, NULL);
    *estimate = m.estimate;
    return m.took;
}

/* If an option changes, the estimate and the memory in use must grow by the same number of bytes. They may differ by 1
 * % of the growth plus 2 KB. */
START_TEST(it_grows_as_memory_does) {
    static const char *const sets[][3] = {{"l1.size=4M"},
                                          {"l1.mshrs=4096"},
                                          {"l1.merges=255"},
                                          {"l1c.size=4M"},
                                          {"l1c.mshrs=4096"},
                                          {"tex.size=6M"},
                                          {"tex.mshrs=4096"},
                                          {"l1i.size=4M"},
                                          {"l1i.mshrs=4096"},
                                          {"l1i.merges=255"},
                                          {"l0i.size=256K"},
                                          {"l2.mshrs=4096"},
                                          {"l2.merges=255"},
                                          {"l2.size=96M"},
                                          {"gpc.sms=4"},
                                          {"gpc.sms=1", "gpc.size=4M"},
                                          {"gpc.sms=1", "gpc.mshrs=4096"},
                                          {"gpc.sms=1", "gpc.merges=255"},
                                          {"gpc.sms=1", "gpc.queue=4096"},
                                          {"gpc.sms=1", "gpc.mshrs=4096", "gpc.line=128"},
                                          {"icnt.latency=1000"},
                                          {"icnt.latency=1000", "clock.icnt_mhz=100"},
                                          {"icnt.sm_queue=1024"},
                                          {"icnt.slice_queue=1024"},
                                          {"lsu.queue=64"},
                                          {"l1.latency=2000"},
                                          {"l1.latency=2000", "l1.ports=16"},
                                          {"dram.queue=4096"},
                                          {"dram.latency=5000"},
                                          {"gpu.sms=60"},
                                          {"lsu.prefetch_queue=256"},
                                          {"l2.prefetch_queue=256"},
                                          {"l2.rop_latency=1000"},
                                          {"l2.sectored=on", "l2.mshrs=4096"},
                                          {"l1.sectored=on", "l1.mshrs=4096"},
                                          {"sm.warps=64"},
                                          {"l2.slices=96"},
                                          {"l2.slices=96", "dram.channels=12"}};
    static const char *const none[] = {NULL};
    double base, base_took = taken(none, &base);
    for (size_t i = 0; COUNTS && i < sizeof sets / sizeof sets[0]; i++) {
        const char *set[] = {sets[i][0], sets[i][1], sets[i][2], NULL};
        double e, t = taken(set, &e);
        double more = e - base, took = t - base_took;
        ck_assert_msg(fabs(more - took) < 0.01 * took + 2048, "%s %s: %.0f bytes more, and the estimate says %.0f",
                      set[0], set[1] ? set[1] : "", took, more);
    }
}
END_TEST

/* 256 SMs have L1s with 2^28 / 128 = 2^21 lines each. A line needs 28 bytes: a tag, a time and 12 bytes of state. In
 * total these are 256 * 2^21 * 28 bytes = 15.03 GB. heddle must refuse this machine before it builds it. */
START_TEST(too_large_a_machine_is_refused_in_bytes) {
    static const char *const large[] = {"gpu.sms=256", "l1.size=256M", NULL};
    char err[512] = "";
    ck_assert_ptr_null(heddle_open(&(struct heddle_options){.model = "spe", .set = large}, err, sizeof err));
    double total = 0, part = 0;
    unsigned long long most = 0;
    ck_assert_msg(sscanf(err, "this machine takes %lf bytes of the host's memory, and at most %llu are allowed; %lf of",
                         &total, &most, &part) == 3,
                  "%s", err);
    ck_assert_msg(total > part && part > 15.02e9 && total < 16e9 && most == FOOTPRINT_MAX && strstr(err, "l1.size"),
                  "%s", err);
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional", .set = large}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err); /* the functional model builds no machine */
    heddle_close(h);
}
END_TEST

/* A crossbar with 1 MHz and a core with 100 GHz would need ring buffers for 10^8 cycles. heddle must refuse this
 * machine, and name the option that causes the size. */
START_TEST(rings_count_too) {
    static const char *const slow[] = {"clock.icnt_mhz=1", "clock.core_mhz=100000", "icnt.latency=1000", NULL};
    char err[512] = "";
    ck_assert_ptr_null(heddle_open(&(struct heddle_options){.model = "spe", .set = slow}, err, sizeof err));
    ck_assert_msg(strstr(err, "this machine takes") && strstr(err, "icnt.latency"), "%s", err);
}
END_TEST

SUITE(timing_footprint) {
    TEST(the_estimate_is_near);
    TEST(too_large_a_machine_is_refused_in_bytes);
    TEST(rings_count_too);
    TEST(it_grows_as_memory_does);
}
