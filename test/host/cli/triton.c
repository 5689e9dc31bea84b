/* Tests `heddle run --triton`: the launch that the metadata describe, for the layouts of several versions of Triton,
 * and messages about wrong metadata. */
#include "cli_help.h"
#include <stdio.h>
#include <unistd.h>

/* Each CTA stores its threads, the CTAs of the grid and of a cluster, and the dynamic shared memory to out[4 * CTA]. If
 * a scratch pointer is not null, the CTA then stores to the last word of its own part, and adds 1000 to the threads. */
static const char kernel[] =
    ".version 8.7\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 smem[];\n"
    ".visible .entry fill(.param .u64 .ptr .global .align 1 p0, .param .u32 p1%s)\n{\n"
    ".reg .b32 %%r<12>; .reg .b64 %%d<6>; .reg .pred %%p;\n"
    "ld.param.b64 %%d1, [p0]; mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%nctaid.x;\n"
    "mov.u32 %%r4, %%cluster_nctaid.x; mov.u32 %%r5, %%dynamic_smem_size; ld.param.b32 %%r6, [p1];\n"
    "mul.wide.u32 %%d2, %%r1, 16; add.u64 %%d1, %%d1, %%d2;\n%s"
    "st.global.v4.b32 [%%d1], {%%r2, %%r3, %%r4, %%r5};\nret;\n}\n";
static const char use_scratch[] =
    "ld.param.b64 %d3, [p2]; setp.eq.u64 %p, %d3, 0; add.u32 %r7, %r1, 1; mul.lo.u32 %r7, %r7, %r6;\n"
    "cvt.u64.u32 %d4, %r7; add.u64 %d3, %d3, %d4; @!%p st.global.b32 [%d3 + -4], %r1; @!%p add.u32 %r2, %r2, 1000;\n";

static void write_text(const char *name, const char *text) { write_file(name, text, strlen(text)); }

/* Writes fill.ptx. The kernel has `scratch` parameters for scratch buffers, as in some version of Triton. */
static void write_fill(int scratch) {
    static const char *const more[] = {"", ", .param .u64 .ptr .global .align 1 p2",
                                       ", .param .u64 .ptr .global .align 1 p2, .param .u64 .ptr .global .align 1 p3"};
    char text[4096];
    snprintf(text, sizeof text, kernel, more[scratch], scratch ? use_scratch : "");
    write_text("fill.ptx", text);
}

struct launch {
    const char *metadata;
    int scratch;
    uint32_t threads, ctas, cluster, shared; /* values that the kernel stores, with --grid 3 */
};
#define REST "\"name\": \"fill\", \"num_stages\": 3"
static const struct launch launches[] = {
    /* Triton 2.1: no target, no clusters */
    {"{\"num_warps\": 4, \"shared\": 0, \"constants\": {}, " REST "}", 0, 128, 3, 1, 0},
    /* Triton 2.2: the target is a list */
    {"{\"num_warps\": 1, \"num_ctas\": 1, \"cluster_dims\": [1, 1, 1], \"target\": [\"cuda\", 90], \"shared\": "
     "512, " REST "}",
     0, 32, 3, 1, 512},
    /* Triton 3.3 with clusters: the grid counts programs */
    {"{\"num_warps\": 2, \"num_ctas\": 2, \"cluster_dims\": [2, 1, 1], \"shared\": 64, \"global_scratch_size\": 256, "
     "\"global_scratch_align\": 128, \"target\": {\"backend\": \"cuda\", \"arch\": 90, \"warp_size\": 32}, " REST "}",
     1, 1064, 6, 2, 64},
    /* Triton 3.5: no cluster_dims, two buffers */
    {"{\"num_warps\": 2, \"num_ctas\": 2, \"shared\": 64, \"global_scratch_size\": 0, \"profile_scratch_size\": 0, "
     "\"ctas_per_cga\": null, " REST "}",
     2, 64, 6, 2, 64},
    /* ctas_per_cga: the grid counts CTAs */
    {"{\"num_warps\": 2, \"num_ctas\": 1, \"ctas_per_cga\": [3, 1, 1], \"shared\": 64, \"global_scratch_size\": 0, "
     "\"profile_scratch_size\": 0, " REST "}",
     2, 64, 3, 3, 64},
};

START_TEST(launches_of_each_version) {
    const struct launch *l = &launches[_i];
    uint32_t words[4 * 8];
    write_text("fill.json", l->metadata);
    write_fill(l->scratch);
    STATUS(HEDDLE_OK, "run --triton fill.json -g 3 -m functional -a out:o.bin:%u -a u32:256", l->ctas * 16);
    FILE *f = fopen("o.bin", "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(words, 16, 8, f), l->ctas);
    fclose(f);
    for (uint32_t i = 0; i < l->ctas; i++) {
        ck_assert_uint_eq(words[4 * i], l->threads);
        ck_assert_uint_eq(words[4 * i + 1], l->ctas);
        ck_assert_uint_eq(words[4 * i + 2], l->cluster);
        ck_assert_uint_eq(words[4 * i + 3], l->shared);
    }
}
END_TEST

static const struct mistake {
    const char *metadata, *message;
} mistakes[] = {
    {"{\"name\": \"fill\",\n \"num_warps\" 4}", "fill.json:2:14: not JSON"},
    {"[1]", "fill.json: expected an object"},
    {"{\"num_warps\": 4, \"shared\": 0}", "fill.json: \"name\" must be the name of the kernel, and it is missing"},
    {"{\"name\": 3, \"num_warps\": 4, \"shared\": 0}", "and it is 3"},
    {"{\"name\": \"fill\", \"shared\": 0}", "\"num_warps\" must be a whole number from 1 to 32, and it is missing"},
    {"{\"name\": \"fill\", \"shared\": 0, \"num_warps\": 33}", "from 1 to 32, and it is 33"},
    {"{\"name\": \"fill\", \"shared\": 0, \"num_warps\": 1.5}", "and it is 1.5"},
    {"{\"name\": \"fill\", \"shared\": -1, \"num_warps\": 1}", "\"shared\" must be a whole number from 0 to 232448"},
    {"{\"name\": \"fill\", \"shared\": 0, \"num_warps\": 1, \"num_ctas\": 17}", "\"num_ctas\" must be"},
    {"{\"name\": \"fill\", \"shared\": 0, \"num_warps\": 1, \"cluster_dims\": [2, 1]}",
     "\"cluster_dims\" must be a list"},
    {"{\"name\": \"fill\", \"shared\": 0, \"num_warps\": 1, \"num_ctas\": 2, \"cluster_dims\": [4, 1, 1]}",
     "a list whose product is \"num_ctas\", and it is [4,1,1]"},
    {"{\"name\": \"fill\", \"shared\": 0, \"num_warps\": 1, \"target\": {\"backend\": \"hip\", \"warp_size\": 64}}",
     "\"target\" must be of the backend \"cuda\""},
    {"{\"name\": \"fill\", \"shared\": 0, \"num_warps\": 1, \"warp_size\": 64}", "\"warp_size\" must be"},
    {"{\"name\": \"fill\", \"shared\": 0, \"num_warps\": 1, \"global_scratch_size\": \"x\"}",
     "\"global_scratch_size\" must be"},
    {"{\"name\": \"other\", \"shared\": 0, \"num_warps\": 1}",
     "\"name\" is 'other', but the kernel of fill.ptx is 'fill'"},
};

START_TEST(wrong_metadata) {
    write_fill(0);
    write_text("fill.json", mistakes[_i].metadata);
    STATUS(HEDDLE_USAGE, "run --triton fill.json -g 1 -m functional -a zero:64 -a u32:0");
    SAYS(err, mistakes[_i].message);
}
END_TEST

START_TEST(wrong_use) {
    write_fill(2);
    write_text("fill.json", launches[3].metadata);
    STATUS(HEDDLE_USAGE, "run --triton fill.json -g 1 -b 32");
    SAYS(err, "--block and --triton exclude each other");
    STATUS(HEDDLE_USAGE, "run --triton fill.json -m functional -g 1 -a zero:64");
    SAYS(err, "-a, then the buffers that Triton adds");
    STATUS(HEDDLE_USAGE, "run --triton fill.json -g 2147483647 -a zero:64 -a u32:0");
    SAYS(err, "the grid has 4294967294 CTAs in X, and at most 2147483647 are possible");
    rename("fill.ptx", "other.ptx");
    STATUS(HEDDLE_USAGE, "run --triton fill.json -g 1");
    SAYS(err, "the PTX is expected beside fill.json, or as FILE");
    STATUS(HEDDLE_OK, "run --triton fill.json other.ptx -g 1 -m functional -a zero:64 -a u32:0");
    STATUS(HEDDLE_USAGE, "run --triton missing.json other.ptx -g 1");
    SAYS(err, "missing.json: No such file");
    STATUS(HEDDLE_USAGE, "run --triton other.ptx -g 1");
    SAYS(err, "does not end in .json");
}
END_TEST

SUITE(host_cli_triton) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST_LOOP(launches_of_each_version, 0, sizeof launches / sizeof *launches);
    TEST_LOOP(wrong_metadata, 0, sizeof mistakes / sizeof *mistakes);
    TEST(wrong_use);
}
