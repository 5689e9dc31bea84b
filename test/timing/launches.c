/* Tests whole launches: when a launch ends, which cache contents stay for the next launch, for what warps wait, and
 * where code is placed. Statistics must not depend on host threads or on polling. */
#include "host/heddle.h"
#include "test/test.h"
#include "timing/report/stat.h"
#include <stdio.h>

static struct heddle *h;
static uint64_t buffer;
static char text[32 * 1024];

static void open_with(const char *config, const char *const *set, uint32_t threads) {
    char err[512] = "";
    heddle_close(h);
    h = heddle_open(&(struct heddle_options){.model = "spe", .config = config, .set = set, .threads = threads}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    buffer = heddle_alloc(h, 1 << 20);
}

static void open_set(const char *config, const char *a, const char *b) {
    const char *set[] = {a, b, NULL};
    open_with(config, a ? set : NULL, 1);
}

static void setup(void) { h = NULL; }
static void teardown(void) { heddle_close(h); }

static struct heddle_module *load(const char *ptx) {
    struct heddle_module *m = heddle_module_text(h, "t.ptx", ptx, strlen(ptx));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    return m;
}

static void launch(struct heddle_module *m, const char *kernel, uint32_t grid, uint32_t block) {
    const struct heddle_arg args[] = {{&buffer, 8}};
    ck_assert_msg(heddle_launch(h, m, kernel, (struct heddle_dim){grid, 1, 1}, (struct heddle_dim){block, 1, 1}, 0,
                                args, 1) == HEDDLE_OK,
                  "%s", heddle_error(h));
}

static double stat(const char *name) { return heddle_stat(h, heddle_launches(h) - 1, name); }

#define HEAD ".version 6.0\n.target sm_70\n.address_size 64\n"

/* Adds kernel `name` to the text. It computes the thread's address (%a1, 4 bytes per thread), executes `body` `n`
 * times, and exits. */
static int add_kernel(int at, const char *name, const char *body, int n) {
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "%s.visible .entry %s(.param .u64 p)\n{\n.reg .b32 %%r<9>; .reg .b64 %%a<5>;\n"
                   " ld.param.u64 %%a1,[p]; mov.u32 %%r1,%%tid.x; mul.wide.u32 %%a2,%%r1,4; add.u64 %%a1,%%a1,%%a2;\n",
                   at ? "" : HEAD, name);
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %s\n", body);
    return at + snprintf(text + at, sizeof text - (size_t)at, " ret;\n}\n");
}

static const char *kernel(const char *body, int n) {
    add_kernel(0, "k", body, n);
    return text;
}

/* Fermi has 15 SMs with two schedulers. A launch of two CTAs uses two SMs. The other 13 SMs have no warp in both of
 * their slots in every cycle. An SM that ran a CTA in an earlier launch counts again from the start of the next launch.
 * So each launch has cycles x 15 x 2 slots. At least cycles x 13 x 2 of them have no warp. */
START_TEST(sms_without_ctas_count_their_slots) {
    open_set("fermi", NULL, NULL);
    struct heddle_module *m = load(kernel("add.u32 %r1,%r1,%r1;", 20));
    for (int i = 0; i < 3; i++) {
        launch(m, "k", i == 1 ? 30 : 2, 32);
        const double cycles = stat("gpu.cycles");
        ck_assert_double_eq(stat("gpu.ctas"), i == 1 ? 30 : 2);
        ck_assert_double_eq(stat("issue.slots"), cycles * 15 * 2);
        ck_assert_double_eq(stat("gpu.sm_cycles"), cycles * 15);
        if (i != 1)
            ck_assert_double_ge(stat("issue.no_warp"), cycles * 13 * 2);
    }
}
END_TEST

/* A profile and samples need the counts of each SM. So all SMs then take part in a launch from its start, and the
 * statistics are the same. */
START_TEST(sms_without_ctas_count_the_same_with_a_profile) {
    static const char *const names[] = {"gpu.cycles", "issue.slots", "issue.no_warp", "storage.entry_bits"};
    double plain[4];
    char err[512] = "";
    open_set("tiny", "gpu.sms=6", NULL);
    launch(load(kernel("add.u32 %r1,%r1,%r1;", 20)), "k", 2, 32);
    for (int i = 0; i < 4; i++)
        plain[i] = stat(names[i]);
    heddle_close(h);
    const char *set[] = {"gpu.sms=6", NULL};
    h = heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = set, .profile = true}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    buffer = heddle_alloc(h, 1 << 20);
    launch(load(kernel("add.u32 %r1,%r1,%r1;", 20)), "k", 2, 32);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(stat(names[i]), plain[i]);
}
END_TEST

/* For a warp, its last store is complete when it leaves the L1. The acknowledgement of the store arrives 140 cycles
 * later:
 * - 8 until the first flit of the line is at the L2, and 3 for its other three flits
 * - 120 in the ROP
 * - 1 for the tags, and 8 for the way of the acknowledgement back
 * With peer.sm_hold_stores, a CTA is held until all acknowledgements have arrived, so the CTA ends in this cycle.
 * Without it, the CTA ends with the store, and the machine drains for 140 cycles. The launch ends in the same cycle in
 * both cases. */
START_TEST(a_cta_ends_with_its_stores_or_their_acknowledgements) {
    open_set("fermi", NULL, NULL);
    launch(load(kernel("st.global.u32 [%a1],%r1;", 1)), "k", 1, 32);
    double ended = stat("gpu.cycles"), drained = stat("gpu.drained_cycles");
    ck_assert_double_eq(drained, ended + 140);
    open_set("fermi", "peer.sm_hold_stores=true", NULL);
    launch(load(kernel("st.global.u32 [%a1],%r1;", 1)), "k", 1, 32);
    ck_assert_double_eq(stat("gpu.cycles"), drained);
    ck_assert_double_eq(stat("gpu.drained_cycles"), drained);
}
END_TEST

/* A CTA that is held keeps its slot. With one slot for CTAs, each of ten CTAs with one store therefore takes 140 cycles
 * more. CTAs start only at the edges of windows of 16 cycles, so a CTA takes a multiple of 16. */
START_TEST(a_held_cta_keeps_its_slot) {
    double cycles[2];
    for (int hold = 0; hold < 2; hold++) {
        open_set("fermi", hold ? "peer.sm_hold_stores=true" : "peer.sm_hold_stores=false", "sm.ctas=1");
        struct heddle_module *m = load(kernel("st.global.u32 [%a1],%r1;", 1));
        launch(m, "k", 15, 32);
        double one = stat("gpu.cycles");
        launch(m, "k", 15 * 11, 32);
        cycles[hold] = (stat("gpu.cycles") - one) / 10;
    }
    ck_assert_double_ge(cycles[1] - cycles[0], 140 - 16);
    ck_assert_double_le(cycles[1] - cycles[0], 140 + 16);
}
END_TEST

/* If no warp waits for a read, its reply may arrive after the CTA has ended. The time until then is part of
 * drained_cycles. */
START_TEST(drained_is_not_before_the_end) {
    open_set("fermi", NULL, NULL);
    launch(load(kernel("ld.global.u32 %r2,[%a1+128]; st.global.u32 [%a1],%r2;", 3)), "k", 40, 64);
    ck_assert_double_ge(stat("gpu.drained_cycles"), stat("gpu.cycles"));
    /* the only accesses are to parameters and code, and the warp waits for them */
    launch(load(kernel("", 0)), "k", 1, 32);
    ck_assert_double_eq(stat("gpu.drained_cycles"), stat("gpu.cycles"));
}
END_TEST

/* The L1 is emptied between launches. The caches for instructions and constants (for example the kernel's parameters)
 * keep their contents. */
START_TEST(launches_keep_instructions_and_constants) {
    open_set("fermi", NULL, NULL);
    struct heddle_module *m = load(kernel("ld.global.u32 %r2,[%a1];", 2));
    launch(m, "k", 1, 32);
    ck_assert_double_eq(stat("fetch.misses"), 1);
    ck_assert_double_ge(stat("l1c.misses"), 1);
    ck_assert_double_ge(stat("l1.misses"), 1);
    launch(m, "k", 1, 32);
    ck_assert_double_eq(stat("fetch.misses"), 0);
    ck_assert_double_eq(stat("l1c.misses"), 0);
    ck_assert_double_ge(stat("l1.misses"), 1);
}
END_TEST

/* With peer.sm_atomic_wait, a warp's second atomic waits for the first atomic. So four atomics take three round trips
 * more than one atomic. A round trip takes
 * - for global memory at least 8 + 120 + 1 + 8 cycles (crossbar, ROP, L2, crossbar)
 * - for shared memory 26 cycles
 * Without the option, the atomics overlap. */
START_TEST(atomics_overlap_or_not) {
    static const char *const bodies[2] = {"red.global.add.u32 [%a1],1; add.u64 %a1,%a1,4096;",
                                          "red.shared.add.u32 [s],1;"};
    static const double trip[2] = {137, 26};
    for (int b = 0; b < 2; b++)
        for (int wait = 0; wait < 2; wait++) {
            double cycles[2];
            for (int many = 0; many < 2; many++) {
                open_set("fermi", wait ? "peer.sm_atomic_wait=true" : "peer.sm_atomic_wait=false", "l1i.size=0");
                add_kernel(0, "k", bodies[b], many ? 4 : 1);
                if (b) { /* inserts the declaration of the shared array before the code */
                    char *at = strstr(text, " ld.param");
                    memmove(at + 18, at, strlen(at) + 1);
                    memcpy(at, ".shared .b32 s[4];", 18);
                }
                struct heddle_module *m = load(text);
                launch(m, "k", 1, 32); /* after the first launch, the L2 contains the lines */
                launch(m, "k", 1, 32);
                cycles[many] = stat("gpu.cycles");
            }
            if (wait)
                ck_assert_double_ge(cycles[1] - cycles[0], 3 * trip[b]);
            else
                ck_assert_double_lt(cycles[1] - cycles[0], (b ? 3 : 1) * trip[b] + 3 * 32);
        }
}
END_TEST

/* A kernel of 16 instructions fills one line of 128 bytes. If it is packed directly after a kernel of 8 instructions,
 * it is in two lines. If it is not packed, it starts at the beginning of a line. */
START_TEST(code_is_packed_or_begins_a_line) {
    static const char *const set[2] = {"peer.fetch_packed=false", "peer.fetch_packed=true"};
    for (int packed = 0; packed < 2; packed++) {
        open_set("fermi", set[packed], NULL);
        add_kernel(add_kernel(0, "first", "xor.b32 %r1,%r1,%r1;", 3), "k", "xor.b32 %r1,%r1,%r1;", 11);
        struct heddle_module *m = load(text);
        launch(m, "first", 1, 32);
        ck_assert_double_eq(stat("fetch.misses"), 1);
        open_set("fermi", set[packed], NULL);
        launch(load(text), "k", 1, 32);
        ck_assert_double_eq(stat("fetch.misses"), packed ? 2 : 1);
    }
}
END_TEST

/* The kernel has 16 instructions of 8 bytes. It is packed after a kernel of 9 instructions, so it begins at byte 72 and
 * ends at byte 200.
 * - If fetches of two instructions end at the end of a line, there are 9 fetches: at 72, 88, 104 and 120 (a single
 *   instruction), then at 128, 144, 160, 176 and 192 (a single instruction).
 * - If a fetch may cross from one line to the next, there are 8 fetches. The second line is read in both cases. */
START_TEST(fetches_end_with_the_line_or_cross) {
    static const char *const set[2] = {"peer.fetch_crosses_lines=false", "peer.fetch_crosses_lines=true"};
    for (int crosses = 0; crosses < 2; crosses++) {
        open_set("fermi", set[crosses], "peer.fetch_packed=true");
        add_kernel(add_kernel(0, "first", "xor.b32 %r1,%r1,%r1;", 4), "k", "xor.b32 %r1,%r1,%r1;", 11);
        launch(load(text), "k", 1, 32);
        ck_assert_double_eq(stat("fetch.fetches"), crosses ? 8 : 9);
        ck_assert_double_eq(stat("fetch.misses"), 2);
    }
}
END_TEST

/* A kernel with local memory, atomics on shared and global memory, loads of all widths, scattered stores, and a
 * barrier. */
static const char all_kinds[] = HEAD
    ".const .b32 c[64];\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %a<9>; .reg .f64 %d<3>; .reg .b16 %h;\n"
    ".local .align 8 .b8 l[256]; .shared .b32 s[64];\n"
    " ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x;\n"
    " mad.lo.u32 %r4,%r2,%r3,%r1; mul.wide.u32 %a2,%r4,4; add.u64 %a2,%a1,%a2; mov.u32 %r7,s; and.b32 %r6,%r1,63;\n"
    " shl.b32 %r6,%r6,2; add.u32 %r7,%r7,%r6; st.shared.u32 [%r7],%r1; bar.sync 0;\n"
    " mov.u64 %a3,l; st.local.u32 [%a3+16],%r1; st.local.f64 [%a3+64],0d3FF0000000000000; ld.local.u32 %r5,[%a3+16];\n"
    " mov.u64 %a4,c; and.b32 %r6,%r4,31; mul.wide.u32 %a5,%r6,4; add.u64 %a4,%a4,%a5; ld.const.u32 %r6,[%a4];\n"
    " atom.shared.add.u32 %r8,[s],%r6; ld.global.u16 %h,[%a2]; ld.global.f64 %d1,[%a1+8]; ld.global.cg.u32 %r8,[%a2];\n"
    " mul.lo.u32 %r6,%r4,40503; and.b32 %r6,%r6,4095; mul.wide.u32 %a6,%r6,4; add.u64 %a6,%a6,%a1;\n"
    " atom.global.add.u32 %r8,[%a6+65536],1; st.global.u8 [%a6+131072],%r3; mul.wide.u32 %a7,%r4,8; add.u64 "
    "%a7,%a7,%a1; st.global.f64 [%a7+262144],%d1;\n"
    " st.global.u32 [%a2+524288],%r5; ret;\n}\n";

static const char *const options[][2] = {
    {"fermi", NULL},
    {"fermi-gpgpusim", NULL},
    {"fermi-gpgpusim", "l1.sectored=true"},
    {"fermi-gpgpusim", "dram.atom=32"},
    {"fermi-gpgpusim", "l2.mshrs=1"},
    {"fermi-gpgpusim", "icnt.speedup=8"},
    {"fermi-gpgpusim", "icnt.speedup=1"},
    {"fermi-gpgpusim", "lsu.line=32"},
    {"fermi-gpgpusim", "l2.line=256"},
    {"fermi-gpgpusim", "l2.size=0"},
    {"fermi-gpgpusim", "l1.size=0"},
    {"fermi-gpgpusim", "memory.model=fixed"},
    {"fermi-gpgpusim", "l2.write_acks=false"},
    {"fermi-gpgpusim", "l1.index=xor"},
    {"fermi-gpgpusim", "peer.icnt_input_flits=1"},
    {"fermi-gpgpusim", "fetch.miss_latency=50"},
    {"turing-rtx2060", NULL},
    {"volta-classic", NULL},
    {"volta-classic", "peer.lsu_serial_returns=true"},
    {"volta-classic", "peer.lsu_descending_order=true"},
    {"volta-classic", "peer.fetch_retires_warps=true"},
    {"volta-classic", "peer.fetch_retry=true"},
    {"volta-classic", "peer.l2_sector_replies=true"},
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

/* Memory contents after the launch must not depend on the machine, because the kernel does not observe the order of its
 * atomics. Statistics must not depend on host threads or on polling. */
START_TEST(statistics_do_not_depend_on_how_the_simulator_runs) {
    static double was[1024];
    static uint8_t out[1 << 20], want[1 << 20];
    static const uint32_t threads[] = {1, 2, 8, 1}; /* the last run polls */
    const char *set[3] = {"gpu.poll=false", options[_i][1], NULL};
    int n;
    const struct stat_def *d = stat_defs(&n);
    ck_assert_int_le(n, (int)(sizeof was / sizeof was[0]));
    open_with("tiny", (const char *const[]){"sm.warps=48", "sm.registers=32768", "sm.shared_bytes=16384", NULL}, 1);
    launch(load(all_kinds), "k", 30, 96);
    heddle_read(h, buffer, want, sizeof want);
    /* tests run 0, and one of the other runs; with HEDDLE_EVERY, all runs */
    for (int run = 0; run < 4; run++) {
        if (run && run != 1 + _i % 3 && !test_every())
            continue;
        set[0] = run == 3 ? "gpu.poll=true" : "gpu.poll=false";
        open_with(options[_i][0], set, threads[run]);
        struct heddle_module *m = load(all_kinds);
        launch(m, "k", 30, 96);
        heddle_read(h, buffer, out, sizeof out);
        out[0] = want[0];
        ck_assert_mem_eq(out + 65536, want + 65536, 65536);
        ck_assert_mem_eq(out + 262144, want + 262144, sizeof out - 262144);
        launch(m, "k", 30, 96);
        for (int i = 0; i < n; i++) {
            if (strncmp(d[i].name, "host.", 5) == 0)
                continue;
            if (run)
                EXPECT(stat(d[i].name) == was[i], "%s: %g, not %g, with %u threads%s", d[i].name, stat(d[i].name),
                       was[i], threads[run], run == 3 ? ", polling" : "");
            was[i] = stat(d[i].name);
        }
        ck_assert_double_ge(stat("gpu.drained_cycles"), stat("gpu.cycles"));
    }
}
END_TEST

/* Buffers are at addresses from 0x10000000 on with gaps between them, or from 0xc0000000 on without gaps. Kernels must
 * be able to use both kinds. */
START_TEST(buffers_lie_apart_or_packed) {
    uint32_t out[32];
    open_set("fermi", NULL, NULL);
    ck_assert_uint_eq(buffer, 0x10000000);
    ck_assert_uint_gt(heddle_alloc(h, 4), buffer + (1 << 20));
    open_set("fermi", "peer.memory_placement=packed", NULL);
    ck_assert_uint_eq(buffer, 0xc0000000);
    ck_assert_uint_eq(heddle_alloc(h, 4), buffer + (1 << 20));
    launch(load(kernel("st.global.u32 [%a1],%r1;", 1)), "k", 1, 32);
    heddle_read(h, buffer, out, sizeof out);
    for (uint32_t i = 0; i < 32; i++)
        ck_assert_uint_eq(out[i], i);
}
END_TEST

/* Each program has its own code addresses. So a program does not hit on instruction lines of another program, and its
 * own lines are still in the caches when it runs again. */
START_TEST(programs_have_lines_of_their_own) {
    static const char *const set[] = {"l1i.size=64K", "gpu.sms=1", NULL};
    int at = add_kernel(0, "j", "add.u32 %r1,%r1,%r1;", 40);
    add_kernel(at, "k", "xor.b32 %r1,%r1,%r1;", 40);
    open_with("fermi", set, 1);
    launch(load(text), "k", 1, 32);
    double alone = stat("fetch.misses");
    ck_assert_double_gt(alone, 0);
    open_with("fermi", set, 1);
    struct heddle_module *m = load(text);
    launch(m, "j", 1, 32);
    launch(m, "k", 1, 32);
    ck_assert_double_eq(stat("fetch.misses"), alone);
    launch(m, "j", 1, 32);
    ck_assert_double_eq(stat("fetch.misses"), 0);
    launch(m, "k", 1, 32);
    ck_assert_double_eq(stat("fetch.misses"), 0);
}
END_TEST

/* CTAs are distributed over the 15 SMs round-robin. An SM gets at most one CTA per cycle. As long as all SMs have room,
 * CTA n runs on SM n mod 15. */
START_TEST(ctas_are_dealt_out_in_turn) {
    enum { CTAS = 60, SMS = 15 };
    uint32_t sm[CTAS];
    open_set("fermi", NULL, NULL);
    launch(load(HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %a<5>;\n ld.param.u64 %a1,[p];\n"
                     " mov.u32 %r1,%ctaid.x; mov.u32 %r2,%smid; mul.wide.u32 %a2,%r1,4; add.u64 %a1,%a1,%a2;\n"
                     " st.global.u32 [%a1],%r2; ret;\n}\n"),
           "k", CTAS, 32);
    ck_assert_int_eq(heddle_read(h, buffer, sm, sizeof sm), HEDDLE_OK);
    for (uint32_t i = 0; i < CTAS; i++)
        ck_assert_uint_eq(sm[i], i % SMS);
}
END_TEST

/* A launch that reads 8 KB of the L2, which the previous launch brought:
 * - with gpu.cold_launches, each launch misses, and takes as long as the first launch
 * - without it, no access of the second launch misses */
START_TEST(cold_launches_find_no_line) {
    for (int cold = 0; cold < 2; cold++) {
        open_set("fermi", cold ? "gpu.cold_launches=true" : "gpu.cold_launches=false", NULL);
        struct heddle_module *m = load(kernel("ld.global.u32 %r2,[%a1]; add.u32 %r1,%r1,%r2;", 1));
        launch(m, "k", 1, 1024);
        double first = stat("gpu.cycles"), misses = stat("l2.misses");
        launch(m, "k", 1, 1024);
        ck_assert_double_ge(misses, 32);
        ck_assert_double_eq(stat("l2.misses"), cold ? misses : 0);
        ck_assert(cold ? stat("gpu.cycles") == first : stat("gpu.cycles") < first);
    }
}
END_TEST

/* A kernel of more than 100 instructions of 8 bytes, without loads. A cold launch reads only its parameter and its
 * instructions from DRAM. With l2.holds_code, its reads are those with a perfect instruction cache. */
START_TEST(instructions_stay_in_the_l2) {
    static const char *const ways[] = {"l2.holds_code=off", "l2.holds_code=on", "fetch.perfect=on"};
    double reads[3];
    for (int i = 0; i < 3; i++) {
        const char *set[] = {"gpu.cold_launches=on", ways[i], NULL};
        open_with("fermi", set, 1);
        struct heddle_module *m = load(kernel("add.u32 %r1,%r1,%r1;", 100));
        launch(m, "k", 1, 32);
        launch(m, "k", 1, 32);
        reads[i] = stat("dram.read_bytes");
    }
    ck_assert_double_ge(reads[0], reads[2] + 100 * 8);
    ck_assert_double_eq(reads[1], reads[2]);
}
END_TEST

/* Four CTAs of four warps on one SM. The first warp of each CTA executes 500 iterations of 8 additions on 16 lanes, 2
 * cycles each, and a branch 13 cycles after its comparison, which stalls the warp for 5. With sched.skewed, each of
 * these warps has a sub-core of its own: at most 500 x (16 + 13 + 5) cycles and the launch of 1,854 and 265, 19,119.
 * Without, they share one: 4 x 500 x 16 = 32,000. */
START_TEST(skewed_warps_share_the_sub_cores) {
    static const char *const text_of_k =
        HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p; .reg .b32 %r<12>; .reg .b64 %rd1;\n"
             " mov.u32 %r1,%tid.x; mov.u32 %r2,0; setp.gt.u32 %p,%r1,31; @%p ret;\n"
             "L: add.u32 %r3,%r3,%r1; add.u32 %r4,%r4,%r1; add.u32 %r5,%r5,%r1; add.u32 %r6,%r6,%r1;\n"
             " add.u32 %r7,%r7,%r1; add.u32 %r8,%r8,%r1; add.u32 %r9,%r9,%r1; add.u32 %r10,%r10,%r1;\n"
             " add.u32 %r2,%r2,1; setp.lt.u32 %p,%r2,500; @%p bra L;\n"
             " add.u32 %r3,%r3,%r4; add.u32 %r5,%r5,%r6; add.u32 %r7,%r7,%r8; add.u32 %r9,%r9,%r10;\n"
             " add.u32 %r3,%r3,%r5; add.u32 %r7,%r7,%r9; add.u32 %r3,%r3,%r7; ld.param.u64 %rd1,[p];\n"
             " st.global.u32 [%rd1],%r3; ret;\n}\n";
    double cycles[2];
    for (int on = 0; on < 2; on++) {
        open_with("gv100", (const char *const[]){"gpu.sms=1", on ? "sched.skewed=on" : "sched.skewed=off", NULL}, 1);
        launch(load(text_of_k), "k", 4, 128);
        cycles[on] = stat("gpu.cycles");
    }
    ck_assert_double_ge(cycles[0], 32000);
    ck_assert_double_ge(cycles[1], 16132);
    ck_assert_double_le(cycles[1], 19119);
}
END_TEST

/* With gpu.launch_latency, each of three launches takes exactly this time more, also if it is longer than
 * deadlock.cycles. Before the first CTA no SM has a warp: 15 SMs with 2 schedulers count 30 slots a cycle more. The
 * caches are empty at each launch, and no request is sent to DRAM, so nothing depends on the absolute time. The launch
 * runs the same with a profile, polling and two threads. */
START_TEST(a_launch_begins_after_its_latency) {
    enum { LATENCY = 12345, LAUNCHES = 3, SLOTS = 30 };
    static const char *const ways[][4] = {{"gpu.poll=off"}, {"gpu.poll=on"}, {"deadlock.cycles=10000"}};
    for (int threads = 1; threads <= 2; threads++)
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            double cycles[2], no_warp[2], idle[2];
            for (int late = 0; late < 2; late++) {
                const char *set[] = {"gpu.cold_launches=on", "memory.model=fixed",
                                     late ? "gpu.launch_latency=12345" : "gpu.launch_latency=0", ways[i][0], NULL};
                open_with("fermi", set, (uint32_t)threads);
                struct heddle_module *m = load(kernel("add.u32 %r1,%r1,%r1;", 40));
                for (int n = 0; n < LAUNCHES; n++) {
                    launch(m, "k", 20, 64);
                    ck_assert(n == 0 || stat("gpu.cycles") == cycles[late]);
                    cycles[late] = stat("gpu.cycles");
                }
                no_warp[late] = stat("issue.no_warp");
                idle[late] = stat("gpu.drained_cycles") - cycles[late];
            }
            ck_assert_double_eq(cycles[1] - cycles[0], LATENCY);
            ck_assert_double_eq(no_warp[1] - no_warp[0], (double)LATENCY * SLOTS);
            ck_assert_double_eq(idle[1], idle[0]);
        }
}
END_TEST

/* Latencies of presets. An empty kernel takes 2,119 cycles on a card (configs/gv100.cfg, [amali]); the caches are empty
 * before each launch. The configurations of the reference simulator have 5,000. */
START_TEST(presets_have_the_latencies_of_their_sources) {
    static const char *const empty = HEAD ".visible .entry k(.param .u64 p)\n{\n ret;\n}\n";
    open_set("gv100", "gpu.cold_launches=true", NULL);
    for (int n = 0; n < 2; n++) {
        launch(load(empty), "k", 1, 128);
        ck_assert_double_ge(stat("gpu.cycles"), 2119 * 0.97);
        ck_assert_double_le(stat("gpu.cycles"), 2119 * 1.03);
    }
    static const char *const peers[] = {"turing-gpgpusim", "volta-gpgpusim"};
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        open_set(peers[i], NULL, NULL);
        ck_assert_double_eq(heddle_option(h, "gpu.launch_latency"), 5000);
    }
    open_set("h100", NULL, NULL);
    ck_assert_double_eq(heddle_option(h, "gpu.launch_latency"), 0);
}
END_TEST

/* The functional model has no time, so it has no launch latency. */
START_TEST(the_functional_model_has_no_launch_latency) {
    const char *set[] = {"gpu.launch_latency=5000", NULL};
    char err[512] = "";
    h = heddle_open(&(struct heddle_options){.model = "functional", .config = "fermi", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    buffer = heddle_alloc(h, 1 << 20);
    launch(load(kernel("st.global.u32 [%a1],%r1;", 1)), "k", 1, 64);
    uint32_t word[64];
    ck_assert_int_eq(heddle_read(h, buffer, word, sizeof word), HEDDLE_OK);
    ck_assert_uint_eq(word[63], 63);
    ck_assert(!(stat("gpu.cycles") > 0));
}
END_TEST
SUITE(timing_launches) {
    TEST(programs_have_lines_of_their_own);
    TEST(ctas_are_dealt_out_in_turn);
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(a_cta_ends_with_its_stores_or_their_acknowledgements);
    TEST(a_held_cta_keeps_its_slot);
    TEST(drained_is_not_before_the_end);
    TEST(launches_keep_instructions_and_constants);
    TEST(cold_launches_find_no_line);
    TEST(instructions_stay_in_the_l2);
    TEST(skewed_warps_share_the_sub_cores);
    TEST_SPEED(a_launch_begins_after_its_latency);
    TEST_SPEED(presets_have_the_latencies_of_their_sources);
    TEST(the_functional_model_has_no_launch_latency);
    TEST(sms_without_ctas_count_their_slots);
    TEST(sms_without_ctas_count_the_same_with_a_profile);
    TEST(atomics_overlap_or_not);
    TEST(code_is_packed_or_begins_a_line);
    TEST(fetches_end_with_the_line_or_cross);
    TEST(buffers_lie_apart_or_packed);
    TEST_LOOP(statistics_do_not_depend_on_how_the_simulator_runs, 0, N_OPTIONS);
}
