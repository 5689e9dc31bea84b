/* Runs the inputs in test/fuzz/found/, which once crashed, hung or leaked. A build with SAN=1 checks them with the
 * fuzzer's sanitizers. */
#include "fuzz_stages.h"
#include "test.h"
#include <dirent.h>
#include <stdio.h>

static struct fuzz_counts again(const char *path) {
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    static uint8_t text[1 << 20];
    size_t size = fread(text, 1, sizeof text, f);
    fclose(f);
    ck_assert_msg(size < sizeof text, "%s: too long", path);
    fuzz_stages(text, size, FUZZ_PARSE);
    fuzz_stages(text, size, FUZZ_TIME);
    return fuzz_stages(text, size, FUZZ_EXECUTE);
}

/* Runs every file of a folder. If `end` is true, all kernels in these files must end without a fault. */
static void all_of(const char *folder, bool end) {
    DIR *dir = opendir(folder);
    ck_assert_msg(dir != NULL, "%s: no such folder", folder);
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        char path[512];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        struct fuzz_counts done = again(path);
        if (end)
            ck_assert_msg(done.kernels > 0 && done.ended == done.kernels, "%s: %d kernels, %d lower, %d end", path,
                          done.kernels, done.lowered, done.ended);
        n++;
    }
    closedir(dir);
    ck_assert_int_gt(n, 0);
}

START_TEST(found_inputs_do_no_harm) { all_of("test/fuzz/found", false); }
END_TEST
/* The seed inputs of the fuzzer must execute the instructions for which they were written. */
START_TEST(seeds_reach_their_end) { all_of("test/fuzz/seeds", true); }
END_TEST

/* Runs all stages of the fuzz targets on a valid kernel. */
START_TEST(a_kernel_reaches_its_end) {
    static const char text[] = ".version 7.0 .target sm_70 .address_size 64\n"
                               ".visible .entry k(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r; "
                               "ld.param.u64 %d0, [p]; ld.global.u32 %r, [%d0]; st.global.u32 [%d0+4], %r; ret; }";
    struct fuzz_counts n = fuzz_stages((const uint8_t *)text, sizeof text - 1, FUZZ_EXECUTE);
    ck_assert_int_eq(n.kernels, 1);
    ck_assert_int_eq(n.lowered, 1);
    ck_assert_int_eq(n.ended, 1);
}
END_TEST

SUITE(fuzz_found) {
    TEST(found_inputs_do_no_harm);
    TEST(seeds_reach_their_end);
    TEST(a_kernel_reaches_its_end);
}
