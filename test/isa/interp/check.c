/* Tests the checker through the library. Each kernel of test/kernels/mistakes.cu has one error, and correct kernels
 * stand next to it for comparison. A launch has one block of 64 threads and one buffer of 1024 bytes. The buffer is at
 * 0x10000000, the first address of its context, and is never written. */
#include "benchmarks/bench.h"
#include "test/test.h"
#include <stdio.h>

enum { BYTES = 1024, THREADS = 64 };
#define FILE_NAME "test/kernels/mistakes.ptx"

static struct heddle *h;
static struct heddle_module *m;
static uint64_t out;

static void open_with(const char *reconv) {
    char err[512] = "";
    const char *set[] = {reconv, NULL};
    h = heddle_open(&(struct heddle_options){.check = true, .set = reconv ? set : NULL}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    out = heddle_alloc(h, BYTES);
    m = heddle_module_file(h, FILE_NAME);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
}

static void setup(void) { open_with(NULL); }
static void teardown(void) { heddle_close(h); }

static enum heddle_status launch(const char *kernel, uint32_t blocks) {
    const struct heddle_arg arg = BENCH_ARG(out);
    return heddle_launch(h, m, kernel, (struct heddle_dim){blocks, 1, 1}, (struct heddle_dim){THREADS, 1, 1}, 0, &arg,
                         1);
}

/* Launches the kernel, which must fail with exactly this report. */
static void expect_report(const char *kernel, const char *report) {
    ck_assert_int_eq(launch(kernel, 1), HEDDLE_FAULT);
    ck_assert_str_eq(heddle_error(h), report);
}

static void is_clean(const char *kernel, uint32_t blocks) {
    enum heddle_status s = launch(kernel, blocks);
    ck_assert_msg(s == HEDDLE_OK, "%s: %.900s", kernel, heddle_error(h));
}

START_TEST(out_of_bounds_says_how_far) {
    int32_t n = BYTES / 4 - 24; /* thread 24 is the first thread that reads beyond the end */
    const struct heddle_arg args[] = {BENCH_ARG(out), BENCH_ARG(n)};
    const struct heddle_dim grid = {1, 1, 1}, block = {THREADS, 1, 1};
    ck_assert_int_eq(heddle_launch(h, m, "out_of_bounds", grid, block, 0, args, 2), HEDDLE_FAULT);
    ck_assert_str_eq(heddle_error(h),
                     "out-of-bounds write of 4 bytes at 0x10000400 (global memory) in kernel 'out_of_bounds'\n"
                     "  at " FILE_NAME ":58:2 (mistakes.cu:6)\n"
                     "    mistakes.cu:6: a[n + t] = t;\n"
                     "    \tst.global.u32 \t[%rd4], %r2;\n"
                     "    \t^~~~~~~~~~~~~~~~~~~~~~~~~~\n"
                     "  CTA (0,0,0), warp 0, lane 24, thread (24,0,0)\n"
                     "  the address is 0 bytes past the end of buffer 1 (1024 bytes at 0x10000000)\n"
                     "  parameter 1 [1,024 bytes] points to this buffer\n"
                     "  8 of the 32 executing lanes are outside this buffer: 24-31\n");
    n = 0;
    ck_assert_int_eq(heddle_launch(h, m, "out_of_bounds", grid, block, 0, args, 2), HEDDLE_OK);
    /* From a null pointer, the lanes 0 to 7 reach the addresses below device memory, where no buffer is near. The other
     * lanes write to the buffer at 0x10000000, and do not fail. */
    const uint64_t null = 0;
    const struct heddle_arg low[] = {BENCH_ARG(null), BENCH_ARG(n)};
    n = 0x10000000 / 4 - 8;
    ck_assert_int_eq(heddle_launch(h, m, "out_of_bounds", grid, block, 0, low, 2), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "  8 of the 32 executing lanes fail: 0-7\n"));
    ck_assert_ptr_null(strstr(heddle_error(h), "this buffer"));
}
END_TEST

START_TEST(misaligned_and_freed) {
    expect_report(
        "misaligned",
        "misaligned write of 4 bytes at 0x10000002 (global memory) in kernel 'misaligned'\n"
        "  at " FILE_NAME ":77:2 (mistakes.cu:9)\n"
        "    mistakes.cu:9: extern \"C\" __global__ void misaligned(char *a) { *(int *)(a + 2) = threadIdx.x; }\n"
        "    \tst.global.u32 \t[%rd2+2], %r1;\n"
        "    \t^~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "  CTA (0,0,0), warp 0, lane 0, thread (0,0,0)\n"
        "  the address is not a multiple of 4\n"
        "  all 32 executing lanes fail\n");
    ck_assert_int_eq(heddle_free(h, out), HEDDLE_OK);
    ck_assert_int_eq(launch("init_global", 1), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "use after free: write of 4 bytes"));
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "(mistakes.cu:14)"));
}
END_TEST

START_TEST(uninitialised_global_memory) {
    expect_report("uninit_global",
                  "uninitialised read of 4 bytes at 0x10000000 (global memory) in kernel 'uninit_global'\n"
                  "  at " FILE_NAME ":97:2 (mistakes.cu:11)\n"
                  "    mistakes.cu:11: extern \"C\" __global__ void uninit_global(int *a) { a[threadIdx.x] += 1; }\n"
                  "    ld.global.u32 \t%r2, [%rd4];\n"
                  "    ^\n"
                  "  CTA (0,0,0), thread (0,0,0) (warp 0, lane 0)\n"
                  "  the address is 0 bytes into buffer 1 (1024 bytes at 0x10000000)\n"
                  "  64 occurrences; this is the first\n"
                  "  help: a buffer has no content until it is written: copy data there, clear it, or let a "
                  "kernel write it\n"
                  "check: 64 mistakes at 1 place in kernel 'uninit_global'\n");
}
END_TEST

/* Memory counts as initialised if an earlier launch or the host wrote it, or if the host cleared it. This applies to
 * each byte separately. */
START_TEST(initialised_global_memory) {
    uint32_t words[THREADS] = {0};
    is_clean("init_global", 1);
    /* init_global wrote the even words. uninit_global reads the first 64 words, so the 32 odd words among them are
     * reported. */
    launch("uninit_global", 1);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "  32 occurrences; this is the first\n"));
    /* the previous launch has written all words that this launch reads */
    ck_assert_int_eq(launch("uninit_global", 1), HEDDLE_OK);
    out = heddle_alloc(h, BYTES);
    ck_assert_int_eq(heddle_write(h, out, words, sizeof words), HEDDLE_OK);
    is_clean("uninit_global", 1);
    out = heddle_alloc(h, BYTES);
    /* the host writes all words except the first */
    ck_assert_int_eq(heddle_write(h, out + 4, words, sizeof words - 4), HEDDLE_OK);
    ck_assert_int_eq(launch("uninit_global", 1), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "check: 1 mistake at 1 place"));
    out = heddle_alloc(h, BYTES);
    ck_assert_int_eq(heddle_clear(h, out, BYTES), HEDDLE_OK);
    is_clean("uninit_global", 1);
}
END_TEST

/* A surface counts as initialised completely as soon as a kernel has stored to it. A surface that is only read does not
 * count as initialised. */
START_TEST(surfaces) {
    static const struct {
        const char *access;
        bool written;
    } rows[] = {{"sust.b.1d.b32.trap [%s,{%r1}],{%r2};", true},
                {"suld.b.1d.b32.trap {%r2},[%s,{%r1}];", false},
                {"@%q sust.b.1d.b32.trap [%s,{%r1}],{%r2};", false}, /* no lane executes it */
                {"sured.b.add.1d.u32.trap [%s,{%r1}],%r2;", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 s)\n{\n"
                 ".reg .b32 %%r<5>; .reg .b64 %%p, %%s; .reg .pred %%q;\nld.param.u64 %%p,[p]; ld.param.u64 %%s,[s];\n"
                 "mov.u32 %%r1,4; mov.u32 %%r2,7; setp.eq.u32 %%q,%%r1,%%r2; %s\nld.global.u32 %%r3,[%%p+64];\n"
                 "add.u32 %%r3,%%r3,%%r2; st.global.u32 [%%p+128],%%r3;\nret;\n}\n",
                 rows[i].access);
        struct heddle_module *k = heddle_module_text(h, "t.ptx", text, strlen(text));
        ck_assert_msg(k != NULL, "%s", heddle_error(h));
        uint64_t p = heddle_alloc(h, BYTES);
        const struct heddle_texture t = {.data = p, .width = BYTES / 4, .format = HEDDLE_U32};
        uint64_t surface = heddle_surface_object(h, &t);
        ck_assert_uint_ne(surface, 0);
        const struct heddle_arg args[] = {BENCH_ARG(p), BENCH_ARG(surface)};
        const struct heddle_dim one = {1, 1, 1};
        enum heddle_status status = heddle_launch(h, k, "k", one, one, 0, args, 2);
        ck_assert_msg(status == (rows[i].written ? HEDDLE_OK : HEDDLE_FAULT), "%s: %s", rows[i].access,
                      heddle_error(h));
        ck_assert(rows[i].written || strstr(heddle_error(h), "uninitialised read of 4 bytes"));
    }
}
END_TEST

START_TEST(uninitialised_shared_memory) {
    expect_report("uninit_shared",
                  "uninitialised read of 4 bytes at 0x100 (shared memory) in kernel 'uninit_shared'\n"
                  "  at " FILE_NAME ":153:2 (mistakes.cu:23)\n"
                  "    mistakes.cu:23: out[t] = s[t + 1]; // no thread writes s[64]\n"
                  "    ld.shared.u32 \t%r5, [%r4+4];\n"
                  "    ^\n"
                  "  CTA (0,0,0), thread (63,0,0) (warp 1, lane 31)\n"
                  "  help: shared memory has no content when a block begins: let a thread write it first, then a "
                  "barrier\n"
                  "check: 1 mistake at 1 place in kernel 'uninit_shared'\n");
    is_clean("init_shared", 1); /* the kernel does not read the padding */
}
END_TEST

/* Shared memory is uninitialised at the start of each block, so each of three blocks gives a report. */
START_TEST(shared_memory_begins_empty_in_each_block) {
    ck_assert_int_eq(launch("uninit_shared", 3), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "check: 3 mistakes at 1 place"));
    /* in each of 3 blocks: 32 uninitialised reads and 64 races */
    ck_assert_int_eq(launch("race_read", 3), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "check: 288 mistakes at 2 places"));
}
END_TEST

/* Warp 0 runs to its end before warp 1. It reads 32 words that warp 1 has not written yet: 32 uninitialised reads. Then
 * each write of warp 1 races with a read of warp 0, and each read of warp 1 races with a write of warp 0. */
START_TEST(race_of_a_write_and_a_read) {
    expect_report(
        "race_read",
        "uninitialised read of 4 bytes at 0xfc (shared memory) in kernel 'race_read'\n"
        "  at " FILE_NAME ":227:2 (mistakes.cu:42)\n"
        "    mistakes.cu:42: out[t] = s[63 - t];\n"
        "    ld.shared.u32 \t%r9, [%r8];\n"
        "    ^\n"
        "  CTA (0,0,0), thread (0,0,0) (warp 0, lane 0)\n"
        "  32 occurrences; this is the first\n"
        "  help: shared memory has no content when a block begins: let a thread write it first, then a barrier\n"
        "race: write of 4 bytes at 0x80 (shared memory) in kernel 'race_read'\n"
        "  at " FILE_NAME ":221:2 (mistakes.cu:41)\n"
        "    mistakes.cu:41: s[t] = t;\n"
        "    st.shared.u32 \t[%r4], %r1;\n"
        "    ^\n"
        "  CTA (0,0,0), thread (32,0,0) (warp 1, lane 0)\n"
        "  thread (31,0,0) (warp 0, lane 31) reads it at " FILE_NAME
        ":227:2 (mistakes.cu:42), and no barrier orders the two\n"
        "  64 occurrences; this is the first\n"
        "  help: put __syncthreads() (bar.sync 0) between the two, or make both atomic\n"
        "check: 96 mistakes at 2 places in kernel 'race_read'\n");
}
END_TEST

/* Thread t reads s[63 - t] and then writes s[t]. A barrier comes before the reads. After it warp 1 continues first,
 * because warp 1 completed the barrier. So thread 63 writes s[63] before thread 0 reads it. */
START_TEST(race_of_a_read_and_a_write) {
    ck_assert_int_eq(launch("race_write", 1), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "race: read of 4 bytes at 0xfc (shared memory)"));
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "thread (63,0,0) (warp 1, lane 31) writes it at"));
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "check: 64 mistakes at 1 place"));
}
END_TEST

/* Warp 1 reads the word and ends. Then warp 0 reads it, and thread 0 writes it. The write races only with the reads of
 * warp 1. */
START_TEST(race_of_one_reader_with_all) {
    ck_assert_int_eq(launch("broadcast", 1), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "race: write of 4 bytes at 0x0 (shared memory)"));
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "  CTA (0,0,0), thread (0,0,0) (warp 0, lane 0)\n"
                                                  "  thread (33,0,0) (warp 1, lane 1) reads it at"));
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "check: 1 mistake at 1 place"));
}
END_TEST

START_TEST(neighbouring_bytes_do_not_race) { is_clean("bytes", 1); }
END_TEST

START_TEST(values_of_one_instruction) {
    expect_report("same_word",
                  "race: write of 4 bytes at 0x0 (shared memory) in kernel 'same_word'\n"
                  "  at " FILE_NAME ":352:2 (mistakes.cu:70)\n"
                  "    mistakes.cu:70: s = threadIdx.x;\n"
                  "    st.shared.u32 \t[_ZZ9same_wordE1s], %r1;\n"
                  "    ^\n"
                  "  CTA (0,0,0), thread (1,0,0) (warp 0, lane 1)\n"
                  "  thread (0,0,0) (warp 0, lane 0) writes another value there, in the same instruction: " FILE_NAME
                  ":352:2 (mistakes.cu:70)\n"
                  "  31 occurrences; this is the first\n"
                  "  help: it is undefined which of the values remains: let one thread store, or use an atomic\n"
                  "check: 31 mistakes at 1 place in kernel 'same_word'\n");
    is_clean("same_value", 1);
}
END_TEST

START_TEST(atomics) {
    ck_assert_int_eq(launch("count_plain", 1), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "race: write of 4 bytes at 0x0 (shared memory)"));
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "atom.shared.add.u32"));
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "(mistakes.cu:89), and no barrier orders the two"));
    is_clean("count_atomic", 1);
}
END_TEST

START_TEST(paths_of_a_warp) {
    /* `@p bra; bra` is one inverted branch, whose target is the path of lanes 16 to 31: SPE executes it first */
    expect_report("race_of_paths",
                  "race: write of 4 bytes at 0x0 (shared memory) in kernel 'race_of_paths'\n"
                  "  at " FILE_NAME ":521:2 (mistakes.cu:110)\n"
                  "    mistakes.cu:110: s[t] = t;\n"
                  "    st.shared.u32 \t[%r2], %r1;\n"
                  "    ^\n"
                  "  CTA (0,0,0), thread (0,0,0) (warp 0, lane 0)\n"
                  "  thread (16,0,0) (warp 0, lane 16) reads it at " FILE_NAME
                  ":532:2 (mistakes.cu:113), on another path of the same warp, and nothing orders the two\n"
                  "  16 occurrences; this is the first\n"
                  "  help: put __syncwarp() (bar.warp.sync) after the paths have met and before the second access\n"
                  "check: 16 mistakes at 1 place in kernel 'race_of_paths'\n");
    is_clean("ordered_paths", 1);
}
END_TEST

/* Runs a kernel with blocks of one warp. In the body, %t is the thread, %a the address of s[t], and %p is t < 16.
 * Before the body, all lanes store to their words in one instruction. These stores are ordered before all accesses of
 * the body. */
static enum heddle_status run_paths(const char *body) {
    char text[2048];
    snprintf(text, sizeof text,
             ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
             ".reg .u32 %%t, %%a, %%s, %%v; .reg .pred %%p, %%q; .shared .u32 s[32];\n"
             "mov.u32 %%t, %%tid.x; mov.u32 %%s, s; mad.lo.u32 %%a, %%t, 4, %%s; setp.lt.u32 %%p, %%t, 16;\n"
             "st.shared.u32 [%%a], %%t;\n%s\nEND: ret;\n}\n",
             body);
    m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct heddle_arg arg = BENCH_ARG(out);
    return heddle_launch(h, m, "k", (struct heddle_dim){2, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, &arg, 1);
}

/* All lanes store the same vector of elements to one address. If an element of the vector is the thread's number, then
 * in each of two blocks 31 lanes store another value than the lane before. If all lanes store equal values, there is no
 * report. */
START_TEST(values_of_vectors) {
    static const struct {
        const char *store;
        bool race;
    } stores[] = {
        {"st.shared.v2.u32 [%s], {%v, %v};", false},        {"st.shared.v2.u32 [%s], {%v, %t};", true},
        {"st.shared.v2.u32 [%s], {%t, %v};", true},         {"st.shared.v4.u32 [%s], {%v, %v, %v, %t};", true},
        {"st.shared.v2.u8 [%s], {%v, %v};", false},         {"st.shared.v2.u8 [%s], {%v, %t};", true},
        {"st.shared.v4.u16 [%s], {%v, %v, %t, %v};", true},
    };
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) {
        char body[128];
        snprintf(body, sizeof body, "bar.warp.sync -1; mov.u32 %%v, 7;\n%s", stores[i].store);
        enum heddle_status s = run_paths(body);
        ck_assert_msg(s == (stores[i].race ? HEDDLE_FAULT : HEDDLE_OK), "%s: %.600s", body, heddle_error(h));
        if (stores[i].race) {
            ck_assert_ptr_nonnull(strstr(heddle_error(h), "writes another value there, in the same instruction"));
            ck_assert_msg(strstr(heddle_error(h), "check: 62 mistakes at 1 place") != NULL, "%s: %.600s", body,
                          heddle_error(h));
        }
    }
}
END_TEST

/* Lanes 0 to 7 write words, and lanes 8 to 15 read them. In the first kernel, all these lanes execute a branch between
 * the write and the read, which orders them. In the second kernel, write and read are on the two sides of a branch. */
START_TEST(halves_that_meet) {
    ck_assert_int_eq(run_paths("@!%p bra END;\nsetp.lt.u32 %q, %t, 8;\n@!%q bra MEET;\nst.shared.u32 [%a], 1;\n"
                               "MEET: @%q bra END;\nld.shared.u32 %v, [%a+-32];"),
                     HEDDLE_OK);
    ck_assert_int_eq(run_paths("@!%p bra END;\nsetp.lt.u32 %q, %t, 8;\n@%q bra WRITE;\n"
                               "ld.shared.u32 %v, [%a+-32];\nbra.uni END;\nWRITE: st.shared.u32 [%a], 1;"),
                     HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "on another path of the same warp"));
}
END_TEST

/* Each half of the warp reads word 0 on its own path, and then one lane of a half writes this word. Several orders are
 * tested, so that in at least one of them the writer runs last. */
START_TEST(readers_on_two_paths) {
    ck_assert_int_eq(run_paths("@%p bra SIDE;\nld.shared.u32 %v, [%s];\nsetp.eq.u32 %q, %t, 16;\n"
                               "@%q st.shared.u32 [%s], %v;\nbra.uni END;\nSIDE: ld.shared.u32 %v, [%s];"),
                     HEDDLE_FAULT);
    ck_assert_int_eq(run_paths("@!%p bra SIDE;\nld.shared.u32 %v, [%s];\nsetp.eq.u32 %q, %t, 0;\n"
                               "@%q st.shared.u32 [%s], %v;\nbra.uni END;\nSIDE: ld.shared.u32 %v, [%s];"),
                     HEDDLE_FAULT);
    ck_assert_int_eq(run_paths("@%p bra SIDE;\nld.shared.u32 %v, [%s];\nbra.uni END;\n"
                               "SIDE: ld.shared.u32 %v, [%s];\nsetp.eq.u32 %q, %t, 0;\n@%q st.shared.u32 [%s], %v;"),
                     HEDDLE_FAULT);
}
END_TEST

/* Barriers order the accesses of a block. When a block reuses the shared memory of a block that has ended, the
 * accesses of the ended block do not count. */
START_TEST(barriers_order) {
    static const char *const kernels[] = {"double_buffer", "warp_barrier", "arrive", "ordered_paths"};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        is_clean(kernels[i], 3);
}
END_TEST

/* Half of the lanes of warp 1 arrive at a barrier. The other lanes exit, which completes the barrier. */
START_TEST(a_barrier_for_some_lanes) {
    static const char report[] =
        "divergent barrier: only 16 of a warp's 32 live threads arrive in kernel 'partial_barrier'\n"
        "  at " FILE_NAME ":620:2 (mistakes.cu:134)\n"
        "    mistakes.cu:134: __syncthreads();\n"
        "    bar.sync \t0;\n"
        "    ^\n"
        "  CTA (0,0,0), thread (32,0,0) (warp 1, lane 0)\n"
        "  lanes 0x0000ffff arrive, 0xffffffff are live\n"
        "  help: move the barrier out of the condition, so that all threads of the block reach the same one\n"
        "check: 1 mistake at 1 place in kernel 'partial_barrier'\n";
    expect_report("partial_barrier", report);
    heddle_close(h);
    open_with("reconv=minpc");
    expect_report("partial_barrier", report);
}
END_TEST

START_TEST(different_barriers) {
    heddle_close(h);
    open_with("reconv=its");
    ck_assert_int_eq(launch("two_barriers", 1), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(
        heddle_error(h), "divergent barrier: threads of one warp wait at different barriers in kernel 'two_barriers'\n"
                         "  at " FILE_NAME ":658:2 (mistakes.cu:144)\n"
                         "    mistakes.cu:144: __syncthreads();\n"
                         "    bar.sync \t0;\n"
                         "    ^\n"
                         "  CTA (0,0,0), thread (0,0,0) (warp 0, lane 0)\n"
                         "  thread (1,0,0) (warp 0, lane 1) waits at " FILE_NAME ":664:2 (mistakes.cu:141)\n"));
}
END_TEST

START_TEST(blocks_of_malloc) {
    static const struct {
        const char *kernel, *headline, *where, *line;
    } cases[] = {
        {"heap_bounds", "out-of-bounds write of 4 bytes at",
         "  the address is 0 bytes past the end of a block of 40 bytes", "mistakes.cu:176"},
        {"heap_freed", "use after free: read of 4 bytes at", "  the address is 12 bytes into a block of 40 bytes",
         "mistakes.cu:185"},
        {"heap_uninit", "uninitialised read of 4 bytes at", "  the address is 16 bytes into a block of 40 bytes",
         "mistakes.cu:191"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_int_eq(launch(cases[i].kernel, 1), HEDDLE_FAULT);
        ck_assert_ptr_eq(strstr(heddle_error(h), cases[i].headline), heddle_error(h));
        ck_assert_ptr_nonnull(strstr(heddle_error(h), cases[i].where));
        ck_assert_ptr_nonnull(strstr(heddle_error(h), cases[i].line));
        ck_assert_ptr_nonnull(strstr(heddle_error(h), "check: 64 mistakes at 1 place"));
    }
    ck_assert_int_eq(launch("heap_freed", 1), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "  thread (0,0,0) (warp 0, lane 0) freed it at " FILE_NAME));
    is_clean("heap_fine", 3);
}
END_TEST

/* A report does not stop the kernel. The next launch starts without earlier reports. */
START_TEST(a_launch_with_findings_counts) {
    uint32_t word = 0;
    ck_assert_int_eq(launch("uninit_global", 1), HEDDLE_FAULT);
    ck_assert_int_eq(heddle_launches(h), 1);
    ck_assert_int_eq(heddle_read(h, out + 4 * (THREADS - 1), &word, 4), HEDDLE_OK);
    ck_assert_uint_eq(word, 1); /* 0 + 1 */
    is_clean("uninit_global", 1);
    ck_assert_int_eq(heddle_launches(h), 2);
}
END_TEST

/* 24 loads of 24 uninitialised words give 24 reports, of which 20 are printed. */
START_TEST(reports_are_few) {
    char text[4096] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                      ".reg .u64 %a; .reg .u32 %v;\nld.param.u64 %a, [p];\n";
    for (int i = 0; i < 24; i++)
        sprintf(text + strlen(text), "ld.global.u32 %%v, [%%a+%d];\n", 4 * i);
    strcat(text, "ret;\n}\n");
    m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    ck_assert_int_eq(launch("k", 1), HEDDLE_FAULT);
    int n = 0;
    for (const char *at = heddle_error(h); (at = strstr(at, "uninitialised read")); at++)
        n++;
    ck_assert_int_eq(n, 20);
    ck_assert_ptr_nonnull(
        strstr(heddle_error(h), "check: 1536 mistakes at 24 places in kernel 'k', of which 20 are shown\n"));
}
END_TEST

START_TEST(only_the_functional_model_checks) {
    char err[512] = "";
    ck_assert_ptr_null(heddle_open(&(struct heddle_options){.model = "dpe", .check = true}, err, sizeof err));
    ck_assert_str_eq(err, "model 'dpe' cannot check kernels: checking is done in the functional model, whose result is "
                          "the same");
}
END_TEST

/* The checker reports nothing for the benchmarks, and their results are correct. */
START_TEST(benchmarks_are_clean) {
    for (int i = 0; i < n_benches; i++) {
        const struct bench *b = benches[i];
        char path[512], why[512] = "";
        struct heddle_module *k = heddle_module_file(h, bench_kernel_path(b->ptx, path, sizeof path));
        ck_assert_msg(k != NULL, "%s", heddle_error(h));
        enum heddle_status s = b->run(h, k, BENCH_SMALL, why, sizeof why);
        ck_assert_msg(s == HEDDLE_OK, "%s: %s%.900s", b->name, why, heddle_error(h));
    }
}
END_TEST

SUITE(isa_check) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(out_of_bounds_says_how_far);
    TEST(misaligned_and_freed);
    TEST(uninitialised_global_memory);
    TEST(initialised_global_memory);
    TEST(surfaces);
    TEST(uninitialised_shared_memory);
    TEST(shared_memory_begins_empty_in_each_block);
    TEST(race_of_a_write_and_a_read);
    TEST(race_of_a_read_and_a_write);
    TEST(race_of_one_reader_with_all);
    TEST(neighbouring_bytes_do_not_race);
    TEST(values_of_one_instruction);
    TEST(atomics);
    TEST(paths_of_a_warp);
    TEST(values_of_vectors);
    TEST(halves_that_meet);
    TEST(readers_on_two_paths);
    TEST(barriers_order);
    TEST(a_barrier_for_some_lanes);
    TEST(different_barriers);
    TEST(blocks_of_malloc);
    TEST(a_launch_with_findings_counts);
    TEST(reports_are_few);
    TEST(only_the_functional_model_checks);
    TEST(benchmarks_are_clean);
}
