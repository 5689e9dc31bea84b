/* Tests kernels that need more registers than regs.max: which values are spilled to local memory, which limits are
 * impossible, and the cost of spilling. */
#include "host/heddle.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>

struct machine {
    struct heddle *h;
    struct heddle_module *m;
};

/* Loads a module whose kernel loads %f1 to %f<n> from words 1 to n of the buffer, in this order. Then the kernel adds
 * them in this order, and stores the sum to word 0. The address %d1 takes two registers and is live to the end. Each
 * value takes one register, so the kernel needs n + 2 registers. */
static struct machine limited_sums(int n, const char *model, const char *const *set, const char *directive) {
    char err[512] = "", text[8192];
    struct machine x = {heddle_open(&(struct heddle_options){.model = model, .set = set, .config = "tiny"}, err, 512),
                        NULL};
    ck_assert_msg(x.h != NULL, "%s", err);
    int at = snprintf(text, sizeof text,
                      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) %s {\n"
                      ".reg .b64 %%d<3>; .reg .f32 %%f<200>;\nld.param.u64 %%d1, [p];\n",
                      directive);
    for (int i = 1; i <= n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "ld.global.f32 %%f%d, [%%d1+%d];\n", i, 4 * i);
    for (int i = 2; i <= n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "add.f32 %%f%d, %%f%d, %%f%d;\n", 100 + i,
                       i == 2 ? 1 : 99 + i, i);
    snprintf(text + at, sizeof text - (size_t)at, "st.global.f32 [%%d1], %%f%d;\nret;\n}\n", 100 + n);
    x.m = heddle_module_text(x.h, "s.ptx", text, strlen(text));
    ck_assert_msg(x.m != NULL, "%s", heddle_error(x.h));
    return x;
}

static struct machine sums(int n, const char *model, const char *const *set) { return limited_sums(n, model, set, ""); }

static uint32_t registers(struct machine *x) {
    struct heddle_kernel_info info;
    ck_assert_msg(heddle_kernel_info(x->h, x->m, "k", &info) == HEDDLE_OK, "%s", heddle_error(x->h));
    return info.registers;
}

static char *show(struct machine *x) {
    char *shown = NULL;
    size_t size;
    FILE *f = open_memstream(&shown, &size);
    ck_assert_msg(heddle_listing(x->h, x->m, "k", "spill", f) == HEDDLE_OK, "%s", heddle_error(x->h));
    fclose(f);
    return shown;
}

START_TEST(without_a_limit_all_is_in_registers) {
    struct machine x = sums(20, "spe", NULL);
    ck_assert_uint_eq(registers(&x), 22);
    char *shown = show(&x);
    ck_assert_str_eq(shown, "pass 'spill' is for machines with a limit of registers a thread (regs.max, "
                            "pepsc.registers); model 'spe' "
                            "does without\n");
    free(shown);
    heddle_close(x.h);
}
END_TEST

/* Ten values and an address, with a limit of eight registers. After the last load twelve registers are live. So four
 * values are spilled; each is written once and read once. */
START_TEST(values_beyond_the_limit_are_spilled) {
    struct machine x = sums(10, "spe", (const char *const[]){"regs.max=8", NULL});
    char *shown = show(&x);
    ck_assert_uint_eq(registers(&x), 8);
    ck_assert_int_eq(occurrences(shown, " is kept in local memory, at "), 4);
    ck_assert_int_eq(occurrences(shown, "  ld.b32 "), 4);
    ck_assert_int_eq(occurrences(shown, "  st.b32 "), 4);
    free(shown);
    heddle_close(x.h);
}
END_TEST

/* A loop loads eight values under a guard and adds them. Lanes whose guard is false keep the old value. So each value
 * would be live in all iterations, and spilling would free no register. The pass must therefore first define each
 * reloaded value in all lanes. The address, the sum and the counter take four registers. */
START_TEST(guarded_values_are_spilled) {
    char err[512] = "";
    const char *const set[] = {"regs.max=9", NULL};
    struct machine x = {heddle_open(&(struct heddle_options){.model = "spe", .set = set, .config = "tiny"}, err, 512),
                        NULL};
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .b64 %d<3>; .reg .f32 %f<20>; .reg .b32 %r<3>; .reg .pred %p<3>;\nld.param.u64 %d1, [p];\n"
        "mov.u32 %r1, 0;\nmov.f32 %f9, 0f00000000;\nL: setp.lt.u32 %p1, %r1, 3;\n"
        "@%p1 ld.global.f32 %f1, [%d1];\n@%p1 ld.global.f32 %f2, [%d1+4];\n@%p1 ld.global.f32 %f3, [%d1+8];\n"
        "@%p1 ld.global.f32 %f4, [%d1+12];\n@%p1 ld.global.f32 %f5, [%d1+16];\n@%p1 ld.global.f32 %f6, [%d1+20];\n"
        "@%p1 ld.global.f32 %f7, [%d1+24];\n@%p1 ld.global.f32 %f8, [%d1+28];\n"
        "@%p1 add.f32 %f9, %f9, %f1;\n@%p1 add.f32 %f9, %f9, %f2;\n@%p1 add.f32 %f9, %f9, %f3;\n"
        "@%p1 add.f32 %f9, %f9, %f4;\n@%p1 add.f32 %f9, %f9, %f5;\n@%p1 add.f32 %f9, %f9, %f6;\n"
        "@%p1 add.f32 %f9, %f9, %f7;\n@%p1 add.f32 %f9, %f9, %f8;\nadd.u32 %r1, %r1, 1;\n"
        "setp.lt.u32 %p2, %r1, 5;\n@%p2 bra L;\nst.global.f32 [%d1+32], %f9;\nret;\n}\n";
    ck_assert_msg(x.h != NULL, "%s", err);
    x.m = heddle_module_text(x.h, "g.ptx", text, strlen(text));
    ck_assert_msg(x.m != NULL, "%s", heddle_error(x.h));
    ck_assert_uint_le(registers(&x), 9);
    float in[9] = {1, 2, 3, 4, 5, 6, 7, 8, 0};
    uint64_t at = heddle_alloc(x.h, sizeof in);
    struct heddle_arg arg = {&at, 8};
    heddle_write(x.h, at, in, sizeof in);
    ck_assert_msg(heddle_launch(x.h, x.m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, &arg,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(x.h));
    heddle_read(x.h, at, in, sizeof in);
    ck_assert_float_eq(in[8], 3 * 36);
    heddle_close(x.h);
}
END_TEST

/* A kernel may have its own limit (.maxnreg). If the machine also has a limit, the lower one applies. */
START_TEST(a_kernel_may_have_a_lower_limit) {
    static const char *const set[] = {"regs.max=10", NULL};
    struct machine x = limited_sums(10, "functional", NULL, ".maxnreg 8"),
                   y = limited_sums(10, "spe", set, ".maxnreg 8"), z = limited_sums(10, "spe", set, ".maxnreg 11"),
                   w = limited_sums(10, "spe", NULL, ".maxnreg 100");
    ck_assert_uint_eq(registers(&x), 8);
    ck_assert_uint_eq(registers(&y), 8);
    ck_assert_uint_eq(registers(&z), 10);
    ck_assert_uint_eq(registers(&w), 12);
    heddle_close(x.h);
    heddle_close(y.h);
    heddle_close(z.h);
    heddle_close(w.h);
}
END_TEST

/* A limit that is not exceeded changes nothing. */
START_TEST(a_sufficient_limit_changes_nothing) {
    struct machine x = sums(10, "spe", (const char *const[]){"regs.max=12", NULL});
    char *shown = show(&x);
    ck_assert_uint_eq(registers(&x), 12);
    ck_assert_int_eq(occurrences(shown, "local["), 0);
    free(shown);
    heddle_close(x.h);
}
END_TEST

/* One register is too few for an address, which needs two. The message names the location and the number of registers
 * needed. */
START_TEST(too_low_limits_are_rejected) {
    struct machine x = sums(3, "spe", (const char *const[]){"regs.max=1", NULL});
    struct heddle_kernel_info info;
    ck_assert_int_ne(heddle_kernel_info(x.h, x.m, "k", &info), HEDDLE_OK);
    ck_assert_msg(strstr(heddle_error(x.h), "kernel 'k' needs ") && strstr(heddle_error(x.h), "; regs.max is 1"), "%s",
                  heddle_error(x.h));
    heddle_close(x.h);
}
END_TEST

/* A lane of the PEPSC core has 16 registers, which acts like regs.max=16. If regs.max is set, the smaller limit
 * applies. */
START_TEST(registers_of_a_lane_are_a_limit) {
    static const struct {
        const char *set[3];
        uint32_t have;
    } rows[] = {{{"pepsc.registers=16"}, 16},
                {{"pepsc.registers=16", "regs.max=12"}, 12},
                {{"pepsc.registers=12", "regs.max=16"}, 12},
                {{"pepsc.registers=32", "regs.max=0"}, 22},
                {{"pepsc.registers=0"}, 22}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct machine x = sums(20, "spe", rows[i].set);
        ck_assert_uint_eq(registers(&x), rows[i].have);
        heddle_close(x.h);
    }
    struct machine x = sums(3, "spe", (const char *const[]){"regs.max=4", "pepsc.registers=1", NULL});
    struct heddle_kernel_info info;
    ck_assert_int_ne(heddle_kernel_info(x.h, x.m, "k", &info), HEDDLE_OK);
    ck_assert_msg(strstr(heddle_error(x.h), "; pepsc.registers is 1") != NULL, "%s", heddle_error(x.h));
    heddle_close(x.h);
}
END_TEST

/* One warp executes each spill load and spill store of the listing once. The results with and without a register limit
 * are equal. */
START_TEST(loads_and_stores_are_counted) {
    static const char *const models[] = {"spe", "dpe", "dws", "its", "si", "spe+dac", "spe+chain+fold"};
    float in[64], out[2];
    for (int i = 0; i < 64; i++)
        in[i] = ldexpf((float)(i * 37 % 101) - 50.3f, i % 9);
    for (int m = 0; m < 7; m++)
        for (int limited = 0; limited < 2; limited++) {
            struct machine x = sums(30, models[m], (const char *const[]){limited ? "regs.max=8" : "regs.max=0", NULL});
            uint64_t at = heddle_alloc(x.h, sizeof in);
            struct heddle_arg args[] = {{&at, 8}};
            struct heddle_dim one = {1, 1, 1};
            ck_assert_int_eq(heddle_write(x.h, at, in, sizeof in), HEDDLE_OK);
            ck_assert_msg(heddle_launch(x.h, x.m, "k", one, one, 0, args, 1) == HEDDLE_OK, "%s", heddle_error(x.h));
            ck_assert_int_eq(heddle_read(x.h, at, &out[limited], 4), HEDDLE_OK);
            char *shown = show(&x);
            int loads = limited ? occurrences(shown, "  ld.b32 ") : 0,
                stores = limited ? occurrences(shown, "  st.b32 ") : 0;
            ck_assert_double_eq(heddle_stat(x.h, 0, "regs.spill_loads"), loads);
            ck_assert_double_eq(heddle_stat(x.h, 0, "regs.spill_stores"), stores);
            ck_assert(!limited || (loads && stores));
            free(shown);
            heddle_close(x.h);
        }
    ck_assert_int_eq(memcmp(&out[0], &out[1], 4), 0);
}
END_TEST

/* An SM with 4096 registers holds two warps if a thread needs 62 registers. With a limit of 8 registers per thread, it
 * holds more warps. */
START_TEST(occupancy_follows_the_limit) {
    double warps[2];
    for (int limited = 0; limited < 2; limited++) {
        struct machine x =
            sums(60, "spe", (const char *const[]){"sm.registers=4096", limited ? "regs.max=8" : "regs.max=0", NULL});
        uint64_t at = heddle_alloc(x.h, 256);
        struct heddle_arg args[] = {{&at, 8}};
        ck_assert_msg(heddle_launch(x.h, x.m, "k", (struct heddle_dim){16, 1, 1}, (struct heddle_dim){32, 1, 1}, 0,
                                    args, 1) == HEDDLE_OK,
                      "%s", heddle_error(x.h));
        warps[limited] = heddle_stat(x.h, 0, "gpu.max_resident_warps");
        heddle_close(x.h);
    }
    ck_assert_double_eq(warps[0], 2); /* 62 registers are rounded up to 64, so 4096 / (64 * 32) = 2 warps fit */
    ck_assert_double_gt(warps[1], 2);
}
END_TEST

SUITE(mechanisms_spill) {
    TEST(guarded_values_are_spilled);
    TEST(without_a_limit_all_is_in_registers);
    TEST(values_beyond_the_limit_are_spilled);
    TEST(a_kernel_may_have_a_lower_limit);
    TEST(a_sufficient_limit_changes_nothing);
    TEST(too_low_limits_are_rejected);
    TEST(registers_of_a_lane_are_a_limit);
    TEST(loads_and_stores_are_counted);
    TEST(occupancy_follows_the_limit);
}
