/* Tests reports of races in global and shared memory. The kernels of test/kernels/races.cu order their threads in all
 * usual ways and have no races. In a variant of each kernel, one step is left out, and this variant races at the marked
 * lines. The kernels are compiled for two architectures, and run with one and two host threads, and in the path order
 * of each model. */
#include "benchmarks/bench.h"
#include "test/test.h"

enum { BYTES = 65536, THREADS = 64, BLOCKS = 4, LINE = 512 };
#define SOURCE "test/kernels/races.cu"

struct kernel {
    const char *name, *tag; /* tag: the mark of the two racing lines; NULL: the kernel has no race */
};
static const struct kernel kernels[] = {
    {"count", NULL},
    {"count_plain", "count"},
    {"last_block", NULL},
    {"last_block_no_fence", "last_block"},
    {"grid", NULL},
    {"grid_no_fence", "grid"},
    {"grid_no_reader_fence", "grid"},
    {"grid_no_barrier", "grid"},
    {"chain", NULL},
    {"chain_no_fence", "chain"},
    {"chain_no_reader_fence", "chain"},
    {"chain_plain_flag", "chain"},
    {"look_back", NULL},
    {"look_back_no_fence", "look_back"},
    {"look_back_no_barrier", "look_back_prefix"},
    {"lock", NULL},
    {"lock_no_fence", "lock"},
    {"lanes_lock", NULL},
    {"lanes_lock_no_fence", "lanes_lock"},
    {"message", NULL},
    {"message_relaxed", "message"},
    {"message_no_acquire", "message"},
    {"message_no_barrier", "message"},
    {"scope", NULL},
    {"scope_block_fence", "scope"},
    {"shared_flag", NULL},
    {"shared_flag_no_fence", "shared_flag"},
    {"shared_flag_no_reader_fence", "shared_flag"},
    {"block", NULL},
    {"block_no_barrier", "block"},
    {"same_value", NULL},
    {"all_fence", NULL},
    {"all_fence_no_fence", "all_fence"},
    /* needs sm_80 */
    {"mbarrier", NULL},
    {"mbarrier_no_barrier", "mbarrier_init"},
    {"mbarrier_no_wait", "mbarrier"},
    {"mbarrier_all", NULL},
    {"mbarrier_all_no_second", "mbarrier_all"},
};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0], N_SM75 = N_KERNELS - 5 };

/* Launches the kernel and writes the report to `text`. */
static enum heddle_status run(const char *file, const char *kernel, const char *reconv, uint32_t threads, char *text,
                              size_t size) {
    char err[512] = "";
    const char *set[] = {reconv, NULL};
    const struct heddle_dim grid = {BLOCKS, 1, 1}, block = {THREADS, 1, 1};
    struct heddle_options o = {.check = true, .set = set, .threads = threads, .cycle_limit = 10000000};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_file(h, file);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t a = heddle_alloc(h, BYTES);
    ck_assert_int_eq(heddle_clear(h, a, BYTES), HEDDLE_OK);
    const struct heddle_arg arg = BENCH_ARG(a);
    enum heddle_status s = heddle_launch(h, m, kernel, grid, block, 0, &arg, 1);
    snprintf(text, size, "%s", heddle_error(h));
    heddle_close(h);
    return s;
}

/* Returns true if one part of the report names two source lines that both have this tag. A part begins with a headline
 * and ends at the next "help:". It names a line as "(races.cu:LINE)". */
static bool has_race_at(const char *report, const char *tag) {
    bool tagged[LINE] = {false};
    char line[256], mark[64];
    FILE *f = fopen(SOURCE, "r");
    ck_assert_ptr_nonnull(f);
    snprintf(mark, sizeof mark, "// TAG %s\n", tag);
    for (int i = 1; i < LINE && fgets(line, sizeof line, f); i++)
        tagged[i] = strstr(line, mark) != NULL;
    fclose(f);
    for (const char *at = report; (at = strstr(at, "race: ")); at++) {
        const char *end = strstr(at, "help:");
        int n = 0;
        for (const char *p = at; (p = strstr(p, "(races.cu:")) && p < end; p++) {
            int i = atoi(p + strlen("(races.cu:"));
            n += i > 0 && i < LINE && tagged[i];
        }
        if (n == 2)
            return true;
    }
    return false;
}

static void check_kernel(const char *file, const struct kernel *k, const char *reconv, uint32_t threads) {
    static char text[65536];
    enum heddle_status s = run(file, k->name, reconv, threads, text, sizeof text);
    if (!k->tag) {
        ck_assert_msg(s == HEDDLE_OK, "%s, %s: %.900s", k->name, reconv, text);
        return;
    }
    ck_assert_msg(s == HEDDLE_FAULT, "%s, %s: status %d: %.900s", k->name, reconv, s, text);
    ck_assert_msg(has_race_at(text, k->tag), "%s, %s: not the lines with '%s': %.900s", k->name, reconv, k->tag, text);
}

START_TEST(sm_75) { check_kernel("test/kernels/races_sm75.ptx", &kernels[_i], "reconv=spe", 1); }
END_TEST

START_TEST(sm_80) {
    check_kernel("test/kernels/races_sm80.ptx", &kernels[_i], "reconv=spe", 2);
    check_kernel("test/kernels/races_sm80.ptx", &kernels[_i], "reconv=its", 1);
}
END_TEST

/* The report must not depend on the number of host threads. */
START_TEST(threads) {
    static char one[65536], two[65536];
    run("test/kernels/races_sm75.ptx", "grid_no_fence", "reconv=spe", 1, one, sizeof one);
    run("test/kernels/races_sm75.ptx", "grid_no_fence", "reconv=spe", 2, two, sizeof two);
    ck_assert_str_eq(one, two);
}
END_TEST

/* Four blocks of two warps execute `*a += 1`, which is a load and a store. The checker counts reports by place, which
 * is a pair of instructions:
 * - Load and store: in each of the 8 warps, lane 0 writes a word that lane 1 has read. (The checker represents a
 *   broadcast by two lanes.) In each of the 7 warps after the first, these two lanes also read a word that another warp
 *   wrote. So there are 8 + 7 * 2 = 22 reports.
 * - Store and store: each of the 7 warps after the first overwrites a word that another warp wrote, which gives 7
 *   reports. */
START_TEST(both_places) {
    static char text[65536];
    static const char read[] = "race: write of 4 bytes at 0x10000000 (global memory) in kernel 'count_plain'\n",
                      block[] = "  CTA (0,0,0), thread (0,0,0) (warp 0, lane 0)\n"
                                "  the address is 0 bytes into buffer 1 (65536 bytes at 0x10000000)\n"
                                "  thread (1,0,0) (warp 0, lane 1) reads it at test/kernels/races_sm75.ptx:",
                      end[] = ", and several lanes write it in the same instruction, so updates are lost\n  22 "
                              "occurrences; this is the first\n";
    ck_assert_int_eq(run("test/kernels/races_sm75.ptx", "count_plain", "reconv=spe", 1, text, sizeof text),
                     HEDDLE_FAULT);
    ck_assert_ptr_eq(strstr(text, read), text);
    ck_assert_ptr_nonnull(strstr(text, block));
    ck_assert_ptr_nonnull(strstr(text, end));
    ck_assert_ptr_nonnull(strstr(text, "check: 29 mistakes at 2 places in kernel 'count_plain'\n"));
}
END_TEST

/* Each block reads the sum of the previous block. So block 1 is the first block that races, with the store of block
 * 0. */
START_TEST(places_of_two_blocks) {
    static char text[65536];
    run("test/kernels/races_sm75.ptx", "chain_no_fence", "reconv=spe", 1, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "  CTA (1,0,0), thread (0,0,0) (warp 0, lane 0)\n"));
    ck_assert_ptr_nonnull(strstr(text, "  CTA (0,0,0), thread (0,0,0) (warp 0, lane 0) writes it at "));
    ck_assert_ptr_nonnull(strstr(text, ", and nothing orders the two CTAs\n"));
}
END_TEST

/* In a grid of 2 x 3 x 2, only the first and the last CTA access the word. The message has all three coordinates of
 * both CTAs, whichever of them accesses the word last. */
START_TEST(places_in_three_dimensions) {
    static const char kernel[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .pred %q; .reg .b32 %r<9>; .reg .b64 %a;\n ld.param.u64 %a,[p]; mov.u32 %r1,%ctaid.x;\n"
        " mov.u32 %r2,%ctaid.y; mov.u32 %r3,%ctaid.z; mad.lo.u32 %r4,%r3,3,%r2; mad.lo.u32 %r4,%r4,2,%r1;\n"
        " add.u32 %r5,%r4,10; rem.u32 %r5,%r5,11; setp.ne.u32 %q,%r5,10; @%q ret;\n" /* only CTAs 0 and 11 continue */
        " st.global.u32 [%a],%r4; ret;\n}\n";
    char err[512] = "";
    struct heddle *h = heddle_open(&(struct heddle_options){.check = true, .threads = 1}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", kernel, strlen(kernel));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t a = heddle_alloc(h, 4);
    const struct heddle_arg arg = BENCH_ARG(a);
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){2, 3, 2}, (struct heddle_dim){1, 1, 1}, 0, &arg, 1),
                     HEDDLE_FAULT);
    const char *text = heddle_error(h);
    ck_assert_msg(strstr(text, "  CTA (1,2,1), thread (0,0,0)") && strstr(text, "  CTA (0,0,0), thread (0,0,0)"), "%s",
                  text);
    heddle_close(h);
}
END_TEST

/* Two writes of equal values: the launch succeeds, and a note names the locations of both writes. */
START_TEST(notes) {
    static char text[65536];
    ck_assert_int_eq(run("test/kernels/races_sm75.ptx", "same_value", "reconv=spe", 1, text, sizeof text), HEDDLE_OK);
    ck_assert_ptr_eq(strstr(text, "note: unordered write of 4 bytes at 0x1000000c (global memory)"), text);
    ck_assert_ptr_nonnull(strstr(text, "writes the same value at "));
    ck_assert_ptr_null(strstr(text, "check:"));
}
END_TEST

/* Launches are ordered one after another: a launch may access memory that an earlier launch accessed, without further
 * order. */
START_TEST(launches_are_ordered) {
    char err[512] = "";
    const struct heddle_dim grid = {BLOCKS, 1, 1}, block = {THREADS, 1, 1};
    struct heddle *h = heddle_open(&(struct heddle_options){.check = true}, err, sizeof err);
    struct heddle_module *m = heddle_module_file(h, "test/kernels/races_sm75.ptx");
    uint64_t a = heddle_alloc(h, BYTES);
    ck_assert_int_eq(heddle_clear(h, a, BYTES), HEDDLE_OK);
    const struct heddle_arg arg = BENCH_ARG(a);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(heddle_launch(h, m, "same_value", grid, block, 0, &arg, 1), HEDDLE_OK);
        ck_assert_int_eq(heddle_launch(h, m, "count", grid, block, 0, &arg, 1), HEDDLE_OK);
        ck_assert_int_eq(heddle_launch(h, m, "block", grid, block, 0, &arg, 1), HEDDLE_OK);
    }
    heddle_close(h);
}
END_TEST

SUITE(isa_check_races) {
    TEST_LOOP(sm_75, 0, N_SM75);
    TEST_LOOP(sm_80, 0, N_KERNELS);
    TEST(threads);
    TEST(both_places);
    TEST(places_of_two_blocks);
    TEST(places_in_three_dimensions);
    TEST(notes);
    TEST(launches_are_ordered);
}
