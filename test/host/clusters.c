/* Tests clusters of CTAs in every model: special registers, distributed shared memory, the barrier, kernels that nvcc
 * compiled from test/kernels/clusters.cu, and wrong launches and accesses. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <string.h>

#define HEAD ".version 8.3\n.target sm_90\n.address_size 64\n"
static struct heddle *h;
static struct heddle_module *m;

static const char *model_of(int i) { return i ? timed_models()->name[i - 1] : "functional"; }

static void open_with(const char *model, const char *const *set, uint32_t threads) {
    char err[512] = "";
    const struct heddle_options o = {.model = model, .set = set, .threads = threads, .cycle_limit = 2000000};
    h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
}

static void load(const char *text) {
    m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
}

static enum heddle_status launch(const char *kernel, struct heddle_dim grid, uint32_t threads,
                                 struct heddle_dim cluster, const struct heddle_arg *args, int n) {
    ck_assert_int_eq(heddle_set_clusters(h, cluster, true), HEDDLE_OK);
    return heddle_launch(h, m, kernel, grid, (struct heddle_dim){threads, 1, 1}, 0, args, n);
}

/* Launches a kernel with the address of `out` as its only argument. */
static void run(struct heddle_dim grid, uint32_t threads, struct heddle_dim cluster, void *out, size_t bytes) {
    uint64_t at = heddle_alloc(h, bytes);
    const struct heddle_arg arg = {&at, 8};
    ck_assert_msg(launch("k", grid, threads, cluster, &arg, 1) == HEDDLE_OK, "%s: %s", heddle_error(h),
                  heddle_machine(h));
    ck_assert_int_eq(heddle_read(h, at, out, bytes), HEDDLE_OK);
}

/* ---- special registers ---- */

#define REGISTERS(X)                                                                                                   \
    X(0, "clusterid.x")                                                                                                \
    X(1, "clusterid.y")                                                                                                \
    X(2, "clusterid.z")                                                                                                \
    X(3, "nclusterid.x")                                                                                               \
    X(4, "nclusterid.y")                                                                                               \
    X(5, "nclusterid.z")                                                                                               \
    X(6, "cluster_ctaid.x")                                                                                            \
    X(7, "cluster_ctaid.y")                                                                                            \
    X(8, "cluster_ctaid.z")                                                                                            \
    X(9, "cluster_nctaid.x")                                                                                           \
    X(10, "cluster_nctaid.y")                                                                                          \
    X(11, "cluster_nctaid.z")                                                                                          \
    X(12, "cluster_ctarank")                                                                                           \
    X(13, "cluster_nctarank")

static const char registers[] =
    HEAD ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %q;\n"
         "ld.param.u64 %d1,[p]; mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ctaid.y; mov.u32 %r3,%ctaid.z;\n"
         "mad.lo.u32 %r2,%r3,3,%r2; mad.lo.u32 %r1,%r2,4,%r1; mul.wide.u32 %d2,%r1,64; add.u64 %d1,%d1,%d2;\n"
#define X(i, name) "mov.u32 %r4,%" name "; st.global.u32 [%d1+4*" #i "],%r4;\n"
    REGISTERS(X)
#undef X
        "mov.pred %q,%is_explicit_cluster; selp.u32 %r4,1,0,%q; st.global.u32 [%d1+4*14],%r4; ret;\n}\n";

/* A grid of 4 x 3 x 2 CTAs in clusters of odd shapes; {0, 0, 0}: no clusters. */
static const struct heddle_dim shapes[] = {{0, 0, 0}, {2, 3, 1}, {1, 1, 2}, {4, 3, 1}, {2, 3, 2}, {1, 3, 1}};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

START_TEST(special_registers) {
    static uint32_t out[2][3][4][16];
    open_with(model_of(_i), NULL, 1);
    load(registers);
    for (int s = 0; s < N_SHAPES; s++) {
        const uint32_t x = shapes[s].x ? shapes[s].x : 1, y = shapes[s].x ? shapes[s].y : 1,
                       z = shapes[s].x ? shapes[s].z : 1;
        run((struct heddle_dim){4, 3, 2}, 32, shapes[s], out, sizeof out);
        for (uint32_t i = 0; i < 24; i++) {
            const uint32_t a = i % 4, b = i / 4 % 3, c = i / 12;
            const uint32_t want[15] = {a / x,
                                       b / y,
                                       c / z,
                                       4 / x,
                                       3 / y,
                                       2 / z,
                                       a % x,
                                       b % y,
                                       c % z,
                                       x,
                                       y,
                                       z,
                                       a % x + x * (b % y + y * (c % z)),
                                       x * y * z,
                                       s != 0};
            ck_assert_msg(!memcmp(out[c][b][a], want, sizeof want), "%s: shape %d, CTA (%u,%u,%u)", model_of(_i), s, a,
                          b, c);
        }
    }
    heddle_close(h);
}
END_TEST

/* ---- distributed shared memory ---- */

/* In a cluster of 3 CTAs with 40 threads, CTA r is rank r, and `next` is rank (r + 1) % 3. Word t of CTA r is first
 * w(r, t) = 1000 r + t.
 * - Words 0 to 3 of the result: a vector load from `next`, at words 4 (t / 4) to 4 (t / 4) + 3.
 * - Then each thread stores w + 7 to word 64 + t of `next`, adds 3 to word t of `next` through a generic address, and
 *   arrives at the mbarrier of `next`.
 * - Words 4 to 7: word 64 + t of the CTA itself, w(prev, t) + 7; its word t, w(r, t) + 3; getctarank of its own address
 *   times 10 plus that of the mapped address, 10 r + next; and 111, the sum of three results of isspacep: 10, because
 *   the mapped address is not in .shared::cta; 1, because it is in .shared::cluster; 100, because the CTA's own address
 *   is in both. */
static const char shared[] =
    HEAD ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<40>; .reg .b64 %d<9>; .reg .pred %q<5>;\n"
         ".shared .align 16 .b32 s[128]; .shared .align 8 .b64 bar;\n"
         "ld.param.u64 %d1,[p]; mov.u32 %r1,%tid.x; mov.u32 %r2,%cluster_ctarank; mov.u32 %r3,%ctaid.x;\n"
         "mov.u32 %r4,s; mad.lo.u32 %r5,%r1,4,%r4; mad.lo.u32 %r6,%r2,1000,%r1; st.shared.u32 [%r5],%r6;\n"
         "mov.u32 %r30,bar; setp.ne.u32 %q1,%r1,0; @!%q1 mbarrier.init.shared.b64 [%r30],40;\n"
         "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
         "add.u32 %r7,%r2,1; rem.u32 %r7,%r7,3; shr.u32 %r8,%r1,2; mad.lo.u32 %r8,%r8,16,%r4;\n"
         "mapa.shared::cluster.u32 %r9,%r8,%r7; ld.shared::cluster.v4.u32 {%r10,%r11,%r12,%r13},[%r9];\n"
         "barrier.cluster.arrive; barrier.cluster.wait;\n"
         "add.u32 %r14,%r6,7; mapa.shared::cluster.u32 %r15,%r5,%r7; st.shared::cluster.u32 [%r15+256],%r14;\n"
         "cvt.u64.u32 %d2,%r5; cvta.shared.u64 %d2,%d2; mapa.u64 %d3,%d2,%r7; red.add.u32 [%d3],3;\n"
         "fence.acq_rel.cluster; mapa.shared::cluster.u32 %r31,%r30,%r7;\n"
         "mbarrier.arrive.release.cluster.shared::cluster.b64 _,[%r31];\n"
         "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q2,[%r30],0; @!%q2 bra W;\n"
         "ld.shared.u32 %r16,[%r5+256]; ld.shared.u32 %r17,[%r5];\n"
         "getctarank.u64 %r18,%d2; getctarank.shared::cluster.u32 %r19,%r15; mad.lo.u32 %r18,%r18,10,%r19;\n"
         "isspacep.shared::cta %q1,%d3; isspacep.shared::cluster %q2,%d3; selp.u32 %r20,20,10,%q1;\n"
         "selp.u32 %r21,1,0,%q2; add.u32 %r20,%r20,%r21; isspacep.shared::cta %q1,%d2;\n"
         "isspacep.shared::cluster %q2,%d2; and.pred %q1,%q1,%q2; selp.u32 %r21,100,0,%q1; add.u32 %r20,%r20,%r21;\n"
         "mad.lo.u32 %r22,%r3,40,%r1; mul.wide.u32 %d4,%r22,32; add.u64 %d1,%d1,%d4;\n"
         "st.global.v4.u32 [%d1],{%r10,%r11,%r12,%r13}; st.global.v4.u32 [%d1+16],{%r16,%r17,%r18,%r20};\n"
         "barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";

static void check_shared(const char *who) {
    static uint32_t out[6][40][8];
    run((struct heddle_dim){6, 1, 1}, 40, (struct heddle_dim){3, 1, 1}, out, sizeof out);
    for (uint32_t i = 0; i < 240; i++) {
        const uint32_t r = i / 40 % 3, t = i % 40, next = (r + 1) % 3, prev = (r + 2) % 3, at = 1000 * next + t / 4 * 4;
        const uint32_t want[8] = {at, at + 1, at + 2, at + 3, 1000 * prev + t + 7, 1000 * r + t + 3, 10 * r + next,
                                  111};
        for (int k = 0; k < 8; k++)
            ck_assert_msg(out[i / 40][t][k] == want[k], "%s: CTA %u, thread %u, word %d: %u, not %u", who, i / 40, t, k,
                          out[i / 40][t][k], want[k]);
    }
}

START_TEST(distributed_shared_memory) {
    open_with(model_of(_i), NULL, 2);
    load(shared);
    check_shared(model_of(_i));
    heddle_close(h);
}
END_TEST

/* The checker finds no mistake in the kernel of distributed_shared_memory: the barrier of the cluster and the mbarriers
 * order all its accesses. */
START_TEST(the_checker_knows_clusters) {
    char err[512] = "";
    h = heddle_open(&(struct heddle_options){.check = true}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    load(shared);
    check_shared("check");
    heddle_close(h);
}
END_TEST

/* Lane t of an instruction reads device memory if t % 3 is 0, shared memory of its own CTA if t % 3 is 1, and shared
 * memory of the other CTA if t % 3 is 2. In a CTA of rank r, it reads 5, 100 r + t or 100 (1 - r) + t. A warp of 64
 * lanes has two rows. */
START_TEST(lanes_of_one_instruction) {
    static const char text[] =
        HEAD ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %q<3>;\n"
             ".shared .align 8 .b32 s[64]; ld.param.u64 %d1,[p]; mov.u32 %r1,%cluster_ctarank; mov.u32 %r2,%tid.x;\n"
             "mov.u32 %r3,s; mad.lo.u32 %r3,%r2,4,%r3; mad.lo.u32 %r4,%r1,100,%r2; st.shared.u32 [%r3],%r4;\n"
             "mad.lo.u32 %r5,%r1,64,%r2; mul.wide.u32 %d2,%r5,4; add.u64 %d2,%d1,%d2; mov.u32 %r6,5;\n"
             "st.global.u32 [%d2],%r6; barrier.cluster.arrive; barrier.cluster.wait;\n"
             "cvt.u64.u32 %d3,%r3; cvta.shared.u64 %d3,%d3; xor.b32 %r7,%r1,1; mapa.u64 %d4,%d3,%r7;\n"
             "rem.u32 %r8,%r2,3; setp.eq.u32 %q1,%r8,1; setp.eq.u32 %q2,%r8,2; mov.u64 %d5,%d2;\n"
             "@%q1 mov.u64 %d5,%d3; @%q2 mov.u64 %d5,%d4; ld.u32 %r4,[%d5]; st.global.u32 [%d2],%r4;\n"
             "barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
    static const char *const sizes[] = {"sm.warp_size=32", "sm.warp_size=64", "sm.warp_size=8"};
    const char *const set[] = {sizes[_i / 2], NULL};
    uint32_t out[2][64];
    open_with(_i % 2 ? "spe" : "functional", set, 1);
    load(text);
    run((struct heddle_dim){2, 1, 1}, 64, (struct heddle_dim){2, 1, 1}, out, sizeof out);
    for (uint32_t i = 0; i < 128; i++) {
        const uint32_t r = i / 64, t = i % 64, want = t % 3 == 0 ? 5 : 100 * (t % 3 == 1 ? r : 1 - r) + t;
        ck_assert_msg(out[r][t] == want, "%s: CTA %u, thread %u: %u, not %u", set[0], r, t, out[r][t], want);
    }
    heddle_close(h);
}
END_TEST

/* Rank 0 writes a word of device memory, and rank 1 reads it. The barrier of the cluster orders them; a barrier of each
 * CTA does not, and the checker finds the race. */
START_TEST(the_checker_knows_the_barrier) {
    static const char *const barriers[] = {"barrier.cluster.arrive; barrier.cluster.wait;", "bar.sync 0;"};
    for (int i = 0; i < 2; i++) {
        char err[512] = "", text[1024];
        uint32_t word = 0;
        h = heddle_open(&(struct heddle_options){.check = true}, err, sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        snprintf(text, sizeof text,
                 HEAD ".visible .entry k(.param .u64 p) { .reg .b32 %%r<4>; .reg .b64 %%d<3>; .reg .pred %%q;\n"
                      "ld.param.u64 %%d1,[p]; mov.u32 %%r1,%%cluster_ctarank; setp.eq.u32 %%q,%%r1,0;\n"
                      "@%%q st.global.u32 [%%d1],%%r1; %s @!%%q ld.global.u32 %%r2,[%%d1]; ret; }\n",
                 barriers[i]);
        load(text);
        uint64_t at = heddle_alloc(h, 4);
        const struct heddle_arg arg = {&at, 8};
        heddle_write(h, at, &word, 4);
        enum heddle_status s = launch("k", (struct heddle_dim){2, 1, 1}, 1, (struct heddle_dim){2, 1, 1}, &arg, 1);
        ck_assert_msg(s == (i ? HEDDLE_FAULT : HEDDLE_OK), "%d: %s", i, heddle_error(h));
        heddle_close(h);
    }
}
END_TEST

/* ---- kernels of nvcc ---- */

/* Cluster c of 4 CTAs sums the numbers 400 c to 400 c + 399: 400 * 400 c + 399 * 200. */
static void check_sum(void) {
    enum { CLUSTERS = 5, EACH = 100, N = CLUSTERS * 4 * EACH };
    static uint32_t in[N];
    uint32_t out[CLUSTERS] = {0}, each = EACH;
    for (uint32_t i = 0; i < N; i++)
        in[i] = i;
    uint64_t from = heddle_alloc(h, sizeof in), to = heddle_alloc(h, sizeof out);
    heddle_write(h, from, in, sizeof in);
    heddle_write(h, to, out, sizeof out);
    const struct heddle_arg args[] = {{&from, 8}, {&to, 8}, {&each, 4}};
    enum heddle_status s =
        launch("cluster_sum", (struct heddle_dim){4 * CLUSTERS, 1, 1}, 64, (struct heddle_dim){4, 1, 1}, args, 3);
    ck_assert_msg(s == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, to, out, sizeof out);
    for (uint32_t c = 0; c < CLUSTERS; c++)
        ck_assert_uint_eq(out[c], 160000 * c + 79800);
}

/* Two clusters of 8 CTAs make a histogram of the numbers i * i % 48, for i below 1000. Each CTA holds six bins. */
static void check_histogram(void) {
    enum { N = 1000, BINS = 48 };
    static uint32_t in[N];
    uint32_t out[BINS] = {0}, want[BINS] = {0}, n = N, each = 6;
    for (uint32_t i = 0; i < N; i++)
        want[in[i] = i * i % BINS]++;
    uint64_t from = heddle_alloc(h, sizeof in), to = heddle_alloc(h, sizeof out);
    heddle_write(h, from, in, sizeof in);
    heddle_write(h, to, out, sizeof out);
    const struct heddle_arg args[] = {{&from, 8}, {&to, 8}, {&n, 4}, {&each, 4}};
    heddle_set_clusters(h, (struct heddle_dim){8, 1, 1}, false);
    enum heddle_status s = heddle_launch(h, m, "cluster_histogram", (struct heddle_dim){16, 1, 1},
                                         (struct heddle_dim){64, 1, 1}, 4 * each, args, 4);
    ck_assert_msg(s == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, to, out, sizeof out);
    ck_assert(!memcmp(out, want, sizeof out));
}

START_TEST(kernels_of_nvcc) {
    open_with(model_of(_i), NULL, 1);
    m = heddle_module_file(h, "test/kernels/clusters.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    check_sum();
    check_histogram();
    heddle_close(h);
}
END_TEST

/* All statistics of clusters, and the cycles, are the same with any number of host threads. */
START_TEST(threads_change_nothing) {
    static const char *const names[] = {"gpu.cycles",          "cluster.accesses",         "cluster.bytes",
                                        "cluster.wait_cycles", "cluster.bank_wait_cycles", "cluster.cycles"};
    double first[6];
    for (uint32_t threads = 1; threads <= 4; threads++) {
        open_with("spe", NULL, threads);
        m = heddle_module_file(h, "test/kernels/clusters.ptx");
        check_histogram();
        for (int i = 0; i < 6; i++) {
            double v = heddle_stat(h, -1, names[i]);
            if (threads == 1)
                first[i] = v;
            ck_assert_msg(v == first[i] && v > 0, "%s: %g, not %g", names[i], v, first[i]);
        }
        heddle_close(h);
    }
}
END_TEST

/* ---- time ---- */

/* The threads of rank 0 load `LOADS` words of rank 1, each at an address that depends on the last one. */
enum { LOADS = 8 };
static double chain(const char *latency) {
    static const char one[] = "add.u32 %r6,%r5,%r4; ld.shared::cluster.u32 %r4,[%r6];\n";
    const char *const set[] = {latency, NULL};
    char text[2048];
    uint32_t out[2];
    int n = snprintf(text, sizeof text,
                     HEAD ".visible .entry k(.param .u64 p) {\n.reg .b32 %%r<9>; .reg .b64 %%d<3>; .reg .pred %%q;\n"
                          ".shared .align 8 .b32 s[64]; ld.param.u64 %%d1,[p]; mov.u32 %%r1,%%cluster_ctarank;\n"
                          "xor.b32 %%r2,%%r1,1; mov.u32 %%r3,s; mapa.shared::cluster.u32 %%r5,%%r3,%%r2;\n"
                          "barrier.cluster.arrive; barrier.cluster.wait; setp.ne.u32 %%q,%%r1,0; mov.u32 %%r4,0;\n"
                          "mov.u32 %%r7,%%clock; @%%q bra E;\n");
    for (int i = 0; i < LOADS; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s", one);
    snprintf(text + n, sizeof text - (size_t)n,
             "E: add.u32 %%r7,%%r7,%%r4; mov.u32 %%r8,%%clock; sub.u32 %%r8,%%r8,%%r7; barrier.cluster.arrive;\n"
             "barrier.cluster.wait; mul.wide.u32 %%d2,%%r1,4; add.u64 %%d1,%%d1,%%d2; st.global.u32 [%%d1],%%r8; ret;\n"
             "}\n");
    open_with("spe", set, 1);
    load(text);
    run((struct heddle_dim){2, 1, 1}, 32, (struct heddle_dim){2, 1, 1}, out, sizeof out);
    /* a request of 8 bytes and a reply of 8 + 4 bytes: all lanes load one word */
    ck_assert_double_eq(heddle_stat(h, -1, "cluster.accesses"), LOADS);
    ck_assert_double_eq(heddle_stat(h, -1, "cluster.bytes"), LOADS * 20);
    ck_assert_double_eq(heddle_stat(h, -1, "cluster.wait_cycles"), 0);
    heddle_close(h);
    return out[0];
}

/* A crossing that takes 32 cycles longer makes each load 64 cycles longer, a multiple of the cycles between edges. */
START_TEST(each_load_crosses_twice) {
    double fast = chain("cluster.latency=68"), slow = chain("cluster.latency=100");
    ck_assert_double_eq(slow - fast, LOADS * 64);
}
END_TEST

/* Returns the cycles of eight barriers in a row. */
static double barriers(const char *latency) {
    const char *const set[] = {latency, NULL};
    char text[1024];
    uint32_t out[2];
    int n =
        snprintf(text, sizeof text,
                 HEAD ".visible .entry k(.param .u64 p) {\n.reg .b32 %%r<4>; .reg .b64 %%d<3>; ld.param.u64 %%d1,[p];\n"
                      "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %%r1,%%clock;\n");
    for (int i = 0; i < LOADS; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "barrier.cluster.arrive; barrier.cluster.wait;\n");
    snprintf(text + n, sizeof text - (size_t)n,
             "mov.u32 %%r2,%%clock; sub.u32 %%r2,%%r2,%%r1; mov.u32 %%r3,%%cluster_ctarank;\n"
             "mul.wide.u32 %%d2,%%r3,4; add.u64 %%d1,%%d1,%%d2; st.global.u32 [%%d1],%%r2; ret;\n}\n");
    open_with("spe", set, 1);
    load(text);
    run((struct heddle_dim){2, 1, 1}, 32, (struct heddle_dim){2, 1, 1}, out, sizeof out);
    heddle_close(h);
    return out[0];
}

/* A barrier takes two crossings, too. */
START_TEST(a_barrier_crosses_twice) {
    ck_assert_double_eq(barriers("cluster.latency=96") - barriers("cluster.latency=64"), LOADS * 64);
}
END_TEST

/* In a cluster of 4 CTAs, ranks 1 to 3 load a row of 32 words from rank 0 at once. A request has 8 bytes, which the
 * port of rank 0 receives in one cycle: the second request waits 1 cycle, and the third 2 cycles. The replies of
 * 8 + 128 bytes are ready one cycle after another, and take 9 cycles each: the second waits 8 cycles, and the third 16.
 * These are 27 cycles. */
START_TEST(ports_are_shared) {
    static const char text[] =
        HEAD ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %q;\n"
             ".shared .align 8 .b32 s[32]; mov.u32 %r1,%cluster_ctarank; mov.u32 %r2,%tid.x; mov.u32 %r3,s;\n"
             "mad.lo.u32 %r3,%r2,4,%r3; st.shared.u32 [%r3],%r2; mapa.shared::cluster.u32 %r5,%r3,0;\n"
             "barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %q,%r1,0; @%q bra E;\n"
             "ld.shared::cluster.u32 %r4,[%r5]; E: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
    uint32_t unused;
    open_with("spe", NULL, 1);
    load(text);
    run((struct heddle_dim){4, 1, 1}, 32, (struct heddle_dim){4, 1, 1}, &unused, sizeof unused);
    ck_assert_double_eq(heddle_stat(h, -1, "cluster.packets"), 3);
    ck_assert_double_eq(heddle_stat(h, -1, "cluster.bytes"), 3 * 144);
    ck_assert_double_eq(heddle_stat(h, -1, "cluster.wait_cycles"), 27);
    heddle_close(h);
}
END_TEST

/* Two SMs hold two clusters of 2 CTAs. The CTAs of rank 1 end after the first barrier, and the CTAs of a third cluster
 * begin in their places. Then the CTA of rank 0 of one of the first clusters reads the memory of the CTA of rank 1 of
 * its cluster. The fault names CTA 1 or 3, which had this place before, and not CTA 4 or 5, which has it now. */
START_TEST(places_are_used_again) {
    static const char text[] =
        HEAD ".visible .entry k() {\n.reg .b32 %r<9>; .reg .pred %q; .shared .align 8 .b32 s[32]; mov.u32 %r3,s;\n"
             "mov.u32 %r1,%cluster_ctarank; barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %q,%r1,1;\n"
             "@%q exit; mov.u32 %r5,200; L: sub.u32 %r5,%r5,1; setp.ne.u32 %q,%r5,0; @%q bra L;\n"
             "add.u32 %r3,%r3,%r5; mapa.shared::cluster.u32 %r4,%r3,1; ld.shared::cluster.u32 %r6,[%r4]; ret;\n}\n";
    const char *const set[] = {"gpu.sms=2", "sm.ctas=2", NULL};
    open_with("spe", set, 1);
    load(text);
    ck_assert_int_eq(launch("k", (struct heddle_dim){6, 1, 1}, 32, (struct heddle_dim){2, 1, 1}, NULL, 0),
                     HEDDLE_FAULT);
    ck_assert_msg(strstr(heddle_error(h), "memory of CTA (1,0,0)") || strstr(heddle_error(h), "memory of CTA (3,0,0)"),
                  "%s", heddle_error(h));
    heddle_close(h);
}
END_TEST

/* ---- wrong launches ---- */

#define SAID(...) ck_assert_msg(strstr(heddle_error(h), __VA_ARGS__) != NULL, "%s", heddle_error(h))

START_TEST(wrong_clusters_are_refused) {
    static const struct {
        const char *declared, *said; /* expected message; NULL if the launch is valid */
        struct heddle_dim grid, cluster;
        bool large;
    } rows[] = {
        {"", "clusters of 17 x 1 x 1 CTAs: each at least 1, and at most 16 in all", {34, 1, 1}, {17, 1, 1}, true},
        {"", "clusters of 4 x 4 x 2 CTAs: each at least 1, and at most 16 in all", {4, 4, 2}, {4, 4, 2}, true},
        {"", "at most 8 in all, or 16 if the launch allows", {9, 1, 1}, {9, 1, 1}, false},
        {"", NULL, {16, 1, 1}, {16, 1, 1}, true},
        {"", NULL, {8, 1, 1}, {8, 1, 1}, false},
        {"", "a grid of 4 x 3 x 1 CTAs, which clusters of 2 x 2 x 1 CTAs do not divide", {4, 3, 1}, {2, 2, 1}, false},
        {".reqnctapercluster 2,1,1",
         "clusters of 4 x 1 x 1 CTAs, but its .reqnctapercluster requires 2 x 1 x 1",
         {4, 1, 1},
         {4, 1, 1},
         false},
        {".reqnctapercluster 2,1,1", NULL, {4, 1, 1}, {2, 1, 1}, false},
        {".reqnctapercluster 2,1,1", NULL, {4, 1, 1}, {0, 0, 0}, false},
        {".reqnctapercluster 2,1,1", "a grid of 3 x 1 x 1 CTAs", {3, 1, 1}, {0, 0, 0}, false},
        {".explicitcluster", "it has .explicitcluster", {4, 1, 1}, {0, 0, 0}, false},
        {".explicitcluster", NULL, {4, 1, 1}, {1, 1, 1}, false},
        {".maxclusterrank 4", "clusters of 8 CTAs, but its .maxclusterrank allows 4", {8, 1, 1}, {8, 1, 1}, false},
        {".maxclusterrank 4", NULL, {8, 1, 1}, {4, 1, 1}, false},
        {".reqntid 1 .reqnctapercluster 2 .blocksareclusters", NULL, {3, 1, 1}, {0, 0, 0}, false},
    };
    open_with(_i ? "spe" : "functional", NULL, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD ".visible .entry k() %s { ret; }\n", rows[i].declared);
        load(text);
        ck_assert_int_eq(heddle_set_clusters(h, rows[i].cluster, rows[i].large), HEDDLE_OK);
        enum heddle_status s = heddle_launch(h, m, "k", rows[i].grid, (struct heddle_dim){1, 1, 1}, 0, NULL, 0);
        ck_assert_msg(s == (rows[i].said ? HEDDLE_USAGE : HEDDLE_OK), "%zu: %s", i, heddle_error(h));
        if (rows[i].said)
            SAID(rows[i].said);
    }
    ck_assert_int_eq(heddle_set_clusters(h, (struct heddle_dim){2, 0, 1}, true), HEDDLE_USAGE);
    SAID("clusters of 2 x 0 x 1 CTAs: each at least 1");
    heddle_close(h);
}
END_TEST

/* An SM of fermi holds one CTA of 1024 threads, so a GPC of 3 SMs never holds a cluster of 4. */
START_TEST(a_cluster_must_fit_into_a_gpc) {
    const char *const set[] = {"cluster.sms=3", NULL};
    open_with("spe", set, 1);
    load(HEAD ".visible .entry k() { ret; }\n");
    ck_assert_int_eq(launch("k", (struct heddle_dim){4, 1, 1}, 1024, (struct heddle_dim){4, 1, 1}, NULL, 0),
                     HEDDLE_USAGE);
    SAID("a cluster of 4 CTAs does not fit into a GPC: its 3 SMs (cluster.sms) hold 1 of these CTAs each");
    ck_assert_int_eq(launch("k", (struct heddle_dim){6, 1, 1}, 1024, (struct heddle_dim){3, 1, 1}, NULL, 0), HEDDLE_OK);
    /* fermi has 15 SMs: five GPCs hold one such cluster each */
    ck_assert_int_eq(heddle_max_clusters(h, m, "k", (struct heddle_dim){1024, 1, 1}, 0), 5);
    heddle_close(h);
}
END_TEST

/* ---- wrong kernels ---- */

/* A kernel that is wrong, and parts of the message. %r1 is the rank of the CTA in its cluster, and %r2 the address of
 * 128 bytes of shared memory. */
struct wrong {
    const char *code, *said, *place;
};

/* Runs `n` wrong kernels on 2 CTAs, in clusters of `ctas`. */
static void check_wrong(const struct wrong *rows, size_t n, const char *model, uint32_t ctas) {
    open_with(model, NULL, 1);
    for (size_t i = 0; i < n; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 HEAD ".visible .entry k() { .reg .b32 %%r<6>; .reg .b64 %%d<2>; .reg .pred %%q;\n"
                      ".shared .align 8 .b8 s[128]; mov.u32 %%r1,%%cluster_ctarank; mov.u32 %%r2,s; \n%s ret; }\n",
                 rows[i].code);
        load(text);
        ck_assert_int_eq(launch("k", (struct heddle_dim){2, 1, 1}, 32, (struct heddle_dim){ctas, 1, 1}, NULL, 0),
                         HEDDLE_FAULT);
        SAID(rows[i].said);
        SAID(rows[i].place);
    }
    heddle_close(h);
}

START_TEST(wrong_accesses_are_faults) {
    static const struct wrong rows[] = {
        {"mapa.shared::cluster.u32 %r3,%r2,1; st.shared::cluster.u32 [%r3+128],%r1;",
         "out-of-bounds: write of 4 bytes at 0x80 of the shared memory of CTA (1,0,0), which has rank 1 in the "
         "cluster; "
         "a CTA has 128 bytes of shared memory in kernel 'k'",
         "CTA (0,0,0), warp 0, lane 0"},
        {"mapa.shared::cluster.u32 %r3,%r2,2; ld.shared::cluster.u32 %r4,[%r3];",
         "read of 4 bytes of the shared memory of rank 2 of the cluster (shared::cluster address 0x180000); the "
         "cluster "
         "has 2 CTAs",
         "k.ptx:6:"},
        {"mapa.shared::cluster.u32 %r3,%r2,1; ld.shared::cluster.u32 %r4,[%r3+2];", "misaligned", "CTA (0,0,0)"},
        {"setp.eq.u32 %q,%r1,1; @%q exit; mov.u32 %r5,4000; L: sub.u32 %r5,%r5,1; setp.ne.u32 %q,%r5,0; @%q bra L;"
         "mapa.shared::cluster.u32 %r3,%r2,1; add.u32 %r3,%r3,%r5; ld.shared::cluster.u32 %r4,[%r3];",
         "use after free: read of 4 bytes at 0x0 of the shared memory of CTA (1,0,0), which has rank 1 in the cluster "
         "and has ended",
         "CTA (0,0,0), warp 0, lane 0"},
        {"barrier.cluster.arrive; barrier.cluster.arrive;",
         "a thread arrives at the barrier of the cluster again; barrier.cluster.wait comes first", "k.ptx:6:"},
        {"barrier.cluster.wait;", "a thread waits at the barrier of the cluster without having arrived", "k.ptx:6:"},
    };
    check_wrong(rows, sizeof rows / sizeof rows[0], _i ? "spe" : "functional", 2);
}
END_TEST

/* In a launch without clusters, a large or negative address is not one of another CTA. */
START_TEST(wrong_accesses_without_a_cluster_are_of_the_cta) {
    static const struct wrong rows[] = {
        {"st.shared.u32 [%r2+-4],%r1;", "out-of-bounds write of 4 bytes at 0xfffffffc (shared memory)",
         "the address is 4 bytes before the start of shared memory\n  the CTA has 128 bytes of shared memory"},
        {"cvt.u64.u32 %d1,%r2; sub.u64 %d1,%d1,64; ld.shared.u32 %r1,[%d1];",
         "out-of-bounds read of 4 bytes at 0xffffffffffffffc0 (shared memory)", "the address is 64 bytes before"},
        {"ld.shared.u32 %r1,[%r2+0x180000];", "out-of-bounds read of 4 bytes at 0x180000 (shared memory)",
         "lane 0, thread (0,0,0)\n  the CTA has 128 bytes of shared memory\n  all 32 executing lanes fail"},
    };
    check_wrong(rows, sizeof rows / sizeof rows[0], _i ? "spe" : "functional", 1);
}
END_TEST

/* mapa gives the shared::cluster address of the CTA itself, without a cluster too. */
START_TEST(the_own_address_needs_no_cluster) {
    uint32_t got = 0;
    open_with(_i ? "spe" : "functional", NULL, 1);
    load(HEAD ".visible .entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %d; .shared .b32 s[32];\n"
              "mov.u32 %r1,s; mapa.shared::cluster.u32 %r2,%r1,0; mov.u32 %r3,41; st.shared.u32 [%r1],%r3;\n"
              "ld.shared::cluster.u32 %r3,[%r2]; ld.param.u64 %d,[p]; st.global.u32 [%d],%r3; ret; }\n");
    const uint64_t to = heddle_alloc(h, 4);
    const struct heddle_arg arg = {&to, sizeof to};
    ck_assert_int_eq(launch("k", (struct heddle_dim){1, 1, 1}, 32, (struct heddle_dim){1, 1, 1}, &arg, 1), HEDDLE_OK);
    ck_assert_int_eq(heddle_read(h, to, &got, 4), HEDDLE_OK);
    ck_assert_uint_eq(got, 41);
    heddle_close(h);
}
END_TEST

/* Rank 1 waits forever at a barrier of its CTA, so no thread of it arrives at the barrier of the cluster. In the second
 * launch it exits instead, which counts as an arrival. */
START_TEST(a_deadlock_names_who_is_missing) {
    static const char text[] = HEAD
        ".visible .entry k() { .reg .b32 %r<3>; .reg .pred %q; mov.u32 %r1,%cluster_ctarank; setp.eq.u32 %q,%r1,1;\n"
        "@%q bar.sync 1,64; barrier.cluster.arrive; barrier.cluster.wait; ret; }\n"
        ".visible .entry j() { .reg .b32 %r<3>; .reg .pred %q; mov.u32 %r1,%cluster_ctarank; setp.eq.u32 %q,%r1,1;\n"
        "@%q exit; barrier.cluster.arrive; barrier.cluster.wait; ret; }\n";
    open_with(model_of(_i), NULL, 1);
    load(text);
    ck_assert_int_eq(launch("k", (struct heddle_dim){4, 1, 1}, 32, (struct heddle_dim){2, 1, 1}, NULL, 0),
                     HEDDLE_DEADLOCK);
    SAID("barrier of the cluster: 32 of the 32 live threads of CTA (1,0,0)");
    ck_assert_msg(launch("j", (struct heddle_dim){4, 1, 1}, 32, (struct heddle_dim){2, 1, 1}, NULL, 0) == HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_close(h);
}
END_TEST

SUITE(host_clusters) {
    const int all = 1 + timed_models()->n;
    TEST_LOOP(special_registers, 0, all);
    TEST_LOOP(distributed_shared_memory, 0, all);
    TEST_LOOP(lanes_of_one_instruction, 0, 6);
    TEST(the_checker_knows_clusters);
    TEST(the_checker_knows_the_barrier);
    TEST_LOOP(kernels_of_nvcc, 0, all);
    TEST(threads_change_nothing);
    TEST(each_load_crosses_twice);
    TEST(a_barrier_crosses_twice);
    TEST(ports_are_shared);
    TEST(places_are_used_again);
    TEST_LOOP(wrong_clusters_are_refused, 0, 2);
    TEST(a_cluster_must_fit_into_a_gpc);
    TEST_LOOP(wrong_accesses_are_faults, 0, 2);
    TEST_LOOP(wrong_accesses_without_a_cluster_are_of_the_cta, 0, 2);
    TEST_LOOP(the_own_address_needs_no_cluster, 0, 2);
    TEST_LOOP(a_deadlock_names_who_is_missing, 0, all);
}
