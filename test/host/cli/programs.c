/* Tests programs (the steps in *.heddle files, host/program) by running heddle. */
#include "benchmarks/bench.h"
#include "cli_help.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Writes p.heddle. */
__attribute__((format(printf, 1, 2))) static void program(const char *fmt, ...) {
    char text[8192];
    va_list list;
    va_start(list, fmt);
    int n = vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    ck_assert_int_lt(n, (int)sizeof text);
    write_file("p.heddle", text, (size_t)n);
}

/* Writes a program of benchmarks/ to p.heddle, with `from` replaced by `to`. */
static void example(const char *name, const char *from, const char *to) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/benchmarks/%s.heddle", cli_root, name);
    char *text = slurp(path), *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    program("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(text);
}

static cJSON *json(const char *path) {
    char *text = slurp(path);
    cJSON *o = cJSON_Parse(text);
    free(text);
    ck_assert_ptr_nonnull(o);
    return o;
}

/* LUD's result is equal to a textbook decomposition in double precision. A program's check against a file accepts this
 * result, and detects a wrong element. */
START_TEST(results_are_right_and_checked_by_files) {
    enum { N = 128 };
    static double a[N * N];
    static float got[N * N];
    uint64_t seed = 6;
    example("lud", "diagonal = \"n\";", "diagonal = \"n\"; save = \"lu.bin\";");
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    char *text = slurp("lu.bin");
    memcpy(got, text, sizeof got);
    free(text);
    for (int i = 0; i < N * N; i++)
        a[i] = (double)bench_uniform(&seed, -1, 1) + (i % (N + 1) == 0 ? N : 0);
    for (int k = 0; k < N; k++)
        for (int i = k + 1; i < N; i++) {
            a[i * N + k] /= a[k * N + k];
            for (int j = k + 1; j < N; j++)
                a[i * N + j] -= a[i * N + k] * a[k * N + j];
        }
    for (int i = 0; i < N * N; i++)
        EXPECT(fabs(a[i] - (double)got[i]) <= 1e-4 * fmax(1, fabs(a[i])), "%d: %g and %g", i, a[i], (double)got[i]);
    for (int i = 0; i < N * N; i++)
        got[i] = (float)a[i];
    write_file("want.bin", got, sizeof got);
    example("lud", "model = \"functional\";", "file = \"want.bin\"; tolerance = 1e-4;");
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    SAYS(out, "pass");
    got[4321] += 1; /* row 33, column 97 */
    write_file("want.bin", got, sizeof got);
    STATUS(HEDDLE_WRONG, "run p.heddle -m functional --json r.json");
    SAYS(err, "p.heddle:");
    SAYS(err, "error: matrix[4321] is ");
    SAYS(err, "(1 of 16384 values differ)");
    SAYS(out, "WRONG");
    cJSON *o = json("r.json");
    ck_assert_str_eq(cJSON_GetObjectItem(o, "check")->valuestring, "fail");
    cJSON_Delete(o);
    STATUS(HEDDLE_WRONG, "compare p.heddle -m functional,spe -j1");
    SAYS(out, "WRONG");
    SAYS(err, "matrix[4321]");
    write_file("want.bin", got, 8);
    STATUS(HEDDLE_USAGE, "run p.heddle -m functional");
    SAYS(err, "the file has 8 bytes, and 'matrix' has 65536");
}
END_TEST

#define VECADD "module = \"vecadd.ptx\"; values = { n = 100; };\n"
#define ABC                                                                                                            \
    "buffers = { a = { type = \"f32\"; count = \"n\"; generate = \"sequence\"; };\n"                                   \
    "b = { type = \"f32\"; count = \"n\"; generate = \"sequence\"; start = 0.5; step = 2; };\n"                        \
    "c = { type = \"f32\"; count = \"n\"; generate = \"none\"; save = \"c.bin\"; }; };\n"
#define LAUNCH "{ launch = \"vecadd\"; grid = \"blocks(n, 32)\"; block = 32; args = (\"a\", \"b\", \"c\", \"n\"); }"

static void floats(const char *name, float *to, size_t n) {
    FILE *f = fopen(name, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(to, sizeof *to, n + 1, f), n);
    fclose(f);
}

START_TEST(buffers_are_generated_and_saved) {
    float c[100];
    program(VECADD ABC "steps = ( " LAUNCH " );");
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    ck_assert_ptr_null(strstr(out, "check"));
    floats("c.bin", c, 100);
    for (int i = 0; i < 100; i++)
        ck_assert_float_eq(c[i], (float)i + 0.5f + 2 * (float)i);
    remove("c.bin");
    STATUS(HEDDLE_OK, "bench p.heddle -m functional");
    SAYS(out, "ran");
    ck_assert(!exists("c.bin"));
}
END_TEST

/* Tests the steps swap, copy, zero, set and loop, and the condition `when`. Each of them changes the result. */
START_TEST(each_step_has_its_effect) {
    float c[100];
    program(VECADD ABC "steps = ( " LAUNCH ",\n"       /* now c = 3 i + 0.5 */
                       "{ swap = (\"a\", \"c\"); },\n" /* now a = 3 i + 0.5 and c = i */
                       "{ zero = \"b\"; },\n"          /* b = 0 */
                       "{ set = \"b\"; at = \"n - 1\"; value = 1000; },\n"
                       "{ loop = \"k\"; from = 1; below = 8; by = 3; steps = (\n" /* 1, 4, 7 */
                       "  { set = \"b\"; at = \"k\"; value = \"k * 100\"; when = \"k != 4\"; } ); },\n"
                       "{ copy = (\"a\", \"c\"); when = 0; }, " LAUNCH " );");
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    floats("c.bin", c, 100);
    for (int i = 0; i < 100; i++) {
        float b = i == 1 ? 100 : i == 7 ? 700 : i == 99 ? 1000 : 0;
        EXPECT(c[i] == 3 * (float)i + 0.5f + b, "%d: %g", i, (double)c[i]);
    }
    program(VECADD ABC "steps = ( { copy = (\"b\", \"c\"); } );");
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    floats("c.bin", c, 100);
    ck_assert_float_eq(c[99], 198.5f);
}
END_TEST

/* The second launch hits the L2 for lines that the first launch read. Each launch of vecadd reads 2 x 4 lines of 128
 * bytes. */
START_TEST(caches_stay_warm) {
    program(VECADD ABC "steps = ( { loop = \"i\"; below = 2; steps = (" LAUNCH "); } );");
    STATUS(HEDDLE_OK, "run p.heddle --json r.json");
    cJSON *o = json("r.json"), *k = cJSON_GetObjectItem(o, "kernels");
    const cJSON *first = cJSON_GetObjectItem(cJSON_GetArrayItem(k, 0), "stats"),
                *second = cJSON_GetObjectItem(cJSON_GetArrayItem(k, 1), "stats");
    ck_assert_double_ge(number(first, "l2.misses"), 8);
    ck_assert_double_lt(number(second, "l2.misses"), number(first, "l2.misses") / 2);
    ck_assert_double_lt(number(second, "gpu.cycles"), number(first, "gpu.cycles"));
    cJSON_Delete(o);
}
END_TEST

/* Passes arguments of every type to a kernel, which stores its parameters. */
START_TEST(arguments_are_converted_to_the_parameters_type) {
    write_kernel(".param .u64 p, .param .u32 u, .param .s32 s, .param .f32 f, .param .f64 d, .param .u8 c, "
                 ".param .align 4 .b8 s3[12], .param .u64 q",
                 ".reg .f64 %d; ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[u]; st.global.u32 [%rd1],%r1;"
                 "ld.param.s32 %r1,[s]; st.global.u32 [%rd1+4],%r1; ld.param.f32 %f1,[f]; st.global.f32 [%rd1+8],%f1;"
                 "ld.param.u8 %r1,[c]; st.global.u32 [%rd1+12],%r1; ld.param.f64 %d,[d]; st.global.f64 [%rd1+16],%d;"
                 "ld.param.u32 %r1,[s3+8]; st.global.u32 [%rd1+24],%r1; ld.param.u64 %rd2,[q]; sub.s64 %rd2,%rd2,%rd1;"
                 "st.global.u32 [%rd1+28],%rd2;");
    uint32_t s[3] = {1, 2, 77}, o[8];
    write_file("s.bin", s, sizeof s);
    program("module = \"k.ptx\"; values = { n = 5; x = 2.5; };\n"
            "buffers = { o = { type = \"u32\"; count = 8; generate = \"none\"; save = \"o.bin\"; }; };\n"
            "steps = ( { launch = \"k\"; grid = 1; block = (1, 1, 1);\n"
            "args = (\"o\", \"n * 2\", -3, \"x\", \"f64:1 / x\", \"u8:0xff\", \"bytes:s.bin\", \"o[n + 1]\"); } );");
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    char *text = slurp("o.bin");
    memcpy(o, text, sizeof o);
    float f;
    double d;
    memcpy(&f, &o[2], 4);
    memcpy(&d, &o[4], 8);
    free(text);
    ck_assert_uint_eq(o[0], 10);
    ck_assert_int_eq((int32_t)o[1], -3);
    ck_assert_float_eq(f, 2.5f);
    ck_assert_double_eq(d, 1 / 2.5);
    ck_assert_uint_eq(o[3], 255);
    ck_assert_uint_eq(o[6], 77);
    ck_assert_uint_eq(o[7], 6 * 4);
}
END_TEST

START_TEST(matrices_and_their_parts) {
    static const char market[] = "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n\n3 3 4\n"
                                 "1 1 2.5\n3 1 -1\n2 2 4\n3 2 8e-1\n";
    /* compressed sparse rows: row 0 has columns 0 and 2, row 1 has 1 and 2, row 2 has 0 and 1 */
    static const uint32_t offsets[] = {0, 2, 4, 6}, targets[] = {0, 2, 1, 2, 0, 1};
    static const float values[] = {2.5f, -1, 4, 0.8f, -1, 0.8f};
    write_file("m.mtx", market, sizeof market - 1);
    program("module = \"vecadd.ptx\"; graphs = { m = { file = \"m.mtx\"; }; };\n"
            "buffers = { o = { type = \"u32\"; graph = \"m\"; part = \"offsets\"; save = \"o.bin\"; };\n"
            "t = { type = \"u32\"; graph = \"m\"; part = \"targets\"; save = \"t.bin\"; };\n"
            "v = { type = \"f32\"; graph = \"m\"; part = \"values\"; save = \"v.bin\"; };\n"
            "n = { type = \"u32\"; count = 1; generate = \"constant\"; save = \"n.bin\"; \n"
            "      value = \"m.rows * 1000 + m.columns * 100 + m.edges * 10 + t.count - m.nodes\"; }; };\n"
            "steps = ( );");
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    char *o = slurp("o.bin"), *t = slurp("t.bin"), *v = slurp("v.bin"), *n = slurp("n.bin");
    ck_assert_mem_eq(o, offsets, sizeof offsets);
    ck_assert_mem_eq(t, targets, sizeof targets);
    ck_assert_mem_eq(v, values, sizeof values);
    uint32_t sum;
    memcpy(&sum, n, 4);
    ck_assert_uint_eq(sum, 3000 + 300 + 60 + 6 - 3);
    free(o), free(t), free(v), free(n);
}
END_TEST

/* The program generates 100,000 normal values, so their mean and deviation have relative errors of about 1/316. Uniform
 * integers must include each integer of their range. */
START_TEST(distributions) {
    enum { N = 100000 };
    static float x[N];
    program(
        "module = \"vecadd.ptx\"; values = { n = 100000; };\n"
        "buffers = { x = { type = \"f32\"; count = \"n\"; generate = \"normal\"; mean = 3; deviation = 2; seed = 9;\n"
        "save = \"x.bin\"; };\n"
        "k = { type = \"s8\"; count = 1000; generate = \"uniform\"; low = -3; high = 4; save = \"k.bin\"; };\n"
        "u = { type = \"f64\"; count = 1000; generate = \"uniform\"; low = 2; high = 3; save = \"u.bin\"; }; };\n"
        "steps = ();");
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    floats("x.bin", x, N);
    double sum = 0, squares = 0;
    int beyond = 0, seen[7] = {0};
    for (int i = 0; i < N; i++) {
        sum += (double)x[i];
        squares += ((double)x[i] - 3) * ((double)x[i] - 3);
        beyond += fabs((double)x[i] - 3) > 4; /* values more than two standard deviations from the mean: 4.55 % */
    }
    ck_assert_double_eq_tol(sum / N, 3, 0.03);
    ck_assert_double_eq_tol(squares / N, 4, 0.08);
    ck_assert(beyond > 4300 && beyond < 4800);
    char *k = slurp("k.bin"), *u = slurp("u.bin");
    for (int i = 0; i < 1000; i++) {
        EXPECT(k[i] >= -3 && k[i] < 4, "%d", k[i]);
        seen[k[i] + 3]++;
        double d;
        memcpy(&d, u + 8 * i, 8);
        EXPECT(d >= 2 && d < 3, "%g", d);
    }
    for (int i = 0; i < 7; i++)
        ck_assert_int_gt(seen[i], 90); /* expected number of values: 143, with a standard deviation of 11 */
    free(k), free(u);
}
END_TEST

/* A texture reads the buffer to which its name refers; after a swap step this is the other buffer. Kernel k reads texel
 * 0 twice: through the module's texture reference and through a texture object. */
START_TEST(textures_follow_their_buffers) {
    static const char ptx[] =
        ".version 6.0\n.target sm_50\n.address_size 64\n.global .texref image;\n"
        ".visible .entry k(.param .u64 p, .param .u64 t)\n{\n"
        ".reg .b64 %rd<3>; .reg .f32 %f<9>; .reg .b32 %r<3>; mov.u32 %r1, 0;\n"
        "ld.param.u64 %rd1,[p]; ld.param.u64 %rd2,[t];\n"
        "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [image, {%r1}]; st.global.f32 [%rd1], %f1;\n"
        "tex.1d.v4.f32.s32 {%f5,%f6,%f7,%f8}, [%rd2, {%r1}]; st.global.f32 [%rd1+4], %f5;\nret;\n}\n";
    float o[2];
    write_file("k.ptx", ptx, sizeof ptx - 1);
    for (int swapped = 0; swapped < 2; swapped++) {
        program("module = \"k.ptx\";\n"
                "buffers = { a = { type = \"f32\"; count = 4; generate = \"sequence\"; start = 10; };\n"
                "b = { type = \"f32\"; count = 4; generate = \"sequence\"; start = 20; };\n"
                "o = { type = \"f32\"; count = 2; generate = \"zero\"; save = \"o.bin\"; }; };\n"
                "textures = { image = { buffer = \"a\"; size = \"4\"; format = \"f32\"; }; };\n"
                "steps = ( { launch = \"k\"; grid = 1; block = 1; args = (\"o\", \"tex:image\"); },\n"
                "{ swap = (\"a\", \"b\"); when = %d; },\n"
                "{ launch = \"k\"; grid = 1; block = 1; args = (\"o\", \"tex:image\"); } );",
                swapped);
        STATUS(HEDDLE_OK, "run p.heddle -m functional");
        floats("o.bin", o, 2);
        ck_assert_float_eq(o[0], swapped ? 20 : 10);
        ck_assert_float_eq(o[1], swapped ? 20 : 10);
    }
}
END_TEST

START_TEST(variables_of_a_module) {
    static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n.const .align 4 .b8 table[8];\n"
                              ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
                              "ld.param.u64 %rd1,[p]; ld.const.u32 %r1,[table+4]; st.global.u32 [%rd1],%r1; ret;\n}\n";
    write_file("k.ptx", ptx, sizeof ptx - 1);
    program("modules = { one = \"k.ptx\"; two = \"vecadd.ptx\"; };\n"
            "buffers = { t = { symbol = \"table\"; type = \"u32\"; count = 2; generate = \"sequence\"; start = 41; };\n"
            "o = { type = \"u32\"; count = 1; generate = \"none\"; save = \"o.bin\"; }; };\n"
            "steps = ( { launch = \"k\"; grid = 1; block = 1; args = (\"o\"); } );");
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    char *o = slurp("o.bin");
    ck_assert_int_eq(o[0], 42);
    free(o);
    program("module = \"k.ptx\"; buffers = { t = { symbol = \"table\"; type = \"u32\"; count = 3; generate = \"zero\"; "
            "}; };"
            "steps = ();");
    STATUS(HEDDLE_USAGE, "run p.heddle");
    SAYS(err, "the variable has 8 bytes, and 't' 12");
}
END_TEST

/* The result of this kernel depends on timing, so a run in another model gives a different result, which the check
 * detects. The loop checks the result in each iteration. */
START_TEST(checks_against_a_model) {
    write_kernel(".param .u64 p", "ld.param.u64 %rd1,[p]; mov.u32 %r1,%clock; st.global.u32 [%rd1],%r1;");
    program("module = \"k.ptx\"; buffers = { o = { type = \"u32\"; count = 1; generate = \"zero\"; }; };\n"
            "steps = ( { check = \"o\"; model = \"functional\"; },\n"
            "{ loop = \"i\"; below = 3; steps = ( { launch = \"k\"; grid = 1; block = 1; args = (\"o\"); },\n"
            "  { check = \"o\"; model = \"functional\"; } ); } );");
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    STATUS(HEDDLE_WRONG, "run p.heddle -m spe");
    SAYS(err, "p.heddle:4:");
    SAYS(err, "o[0] is ");
    SAYS(err, "functional says ");
    program("module = \"k.ptx\"; buffers = { o = { type = \"u32\"; count = 1; generate = \"zero\"; }; };\n"
            "steps = ( { check = \"o\"; model = \"functionnal\"; } );");
    STATUS(HEDDLE_USAGE, "run p.heddle");
    SAYS(err, "functionnal");
}
END_TEST

START_TEST(faults_are_located_in_kernel_and_program) {
    program(VECADD ABC
            "steps = (\n{ launch = \"vecadd\"; grid = 4; block = 32; args = (\"a\", \"b\", \"c\", 1000); } );");
    STATUS(HEDDLE_FAULT, "run p.heddle");
    SAYS(err, "p.heddle:6: out-of-bounds read of 4 bytes");
    ck_assert_int_eq(occurrences(err, "kernel 'vecadd'"), 1);
    SAYS(err, "vecadd.ptx:");
    ck_assert(!exists("c.bin"));
    write_kernel("", "L: bra L;");
    program("module = \"k.ptx\"; steps = ( { launch = \"k\"; grid = 1; block = 1; } );");
    STATUS(HEDDLE_DEADLOCK, "run p.heddle --cycle-limit 1000");
    STATUS(HEDDLE_DEADLOCK, "compare p.heddle -m spe,dpe --cycle-limit 1000");
    SAYS(out, "limit");
}
END_TEST

static const struct {
    const char *text, *say;
    int status;
} wrong[] = {
    {"", "p.heddle: error: which kernels? module = \"X.ptx\"", 2},
    {"module = ", "p.heddle:1:1: error: syntax error\nmodule = \n^~~", 2},
    {"values = { n = 1 }\nmodule = \"k\";\nvalues = { n = 2; };", "p.heddle:3:1: error: duplicate setting name", 2},
    {"values = { n = 1; m = 2 };\nsteps = ( launch );", "p.heddle:2:1: error: syntax error\nsteps = ( launch );\n", 2},
    {"steps = ( launch );", "help: before or in it a ';' or a ',' is missing", 2},
    {"modul = 1;", "p.heddle:1:1: error: there is no 'modul' here; did you mean 'module'?", 2},
    {VECADD, "what does it do? steps = ", 2},
    {"module = \"no.ptx\"; steps = ();", "no.ptx: it is not there, and no kernel of Heddle", 2},
    {"module = \"./no.ptx\"; steps = ();", "no.ptx: No such file", 2},
    {"values = { n = 5000000000; };", "p.heddle:1: error: 5000000000 takes more than 31 bits", 2},
    {"# @include\n@include \"x\"", "p.heddle:2: error: a program is one file", 2},
    {"values = { a = \"n * 2\";\nb = 1;\nn = 3; };",
     "p.heddle:1:17: error: 'n' is not known yet: it stands further down, in line 3, and values are made in their "
     "order\nvalues = { a = \"n * 2\";\n                ^\n",
     2},
    {"values = { a = \"a\"; };", "'a' is not known while it is made itself", 2},
    {VECADD "paper = { n = \"m\"; };", "there is no value 'm'", 2},
    {"values = { a = \"g.nodes\"; }; graphs = { g = { generate = \"hubs\"; nodes = 9; }; };",
     "'g.nodes' is not known here: values are made before graphs", 2},
    {VECADD
     "graphs = { f = { generate = \"hubs\"; nodes = \"g.nodes\"; };\ng = { generate = \"hubs\"; nodes = 9; }; };",
     "'g.nodes' is not known yet: it stands further down, in line 3, and graphs are made", 2},
    {VECADD "graphs = { g = { generate = \"hubs\"; nodes = \"a.count\"; }; }; buffers = { a = { file = \"x\"; }; };",
     "'a.count' is not known here: graphs are made before buffers", 2},
    {VECADD "buffers = { b = { type = \"f32\"; count = \"a.count\"; generate = \"zero\"; };\na = { file = \"x\"; }; };",
     "p.heddle:2:42: error: 'a.count' is not known yet: it stands further down, in line 3", 2},
    {VECADD "buffers = { a = { type = \"f32\"; count = \"a.count\"; generate = \"zero\"; }; };",
     "'a.count' is not known while it is made itself", 2},
    {VECADD ABC "steps = ( { loop = \"i\"; below = 2; steps = (); },\n{ zero = \"a\"; when = \"n > i\"; } );",
     "p.heddle:6:27: error: 'i' counts the loop of line 5, and is known in its steps alone", 2},
    {VECADD ABC "steps = ( { loop = \"i\"; below = 2; steps = (); },\n{ launch = \"vecadd\"; grid = 1; block = 1; "
                "args = (\"a\", \"b\", \"c\", \"i\"); } );",
     "'i' counts the loop of line 5", 2},
    {VECADD ABC "steps = ( { zero = \"a\"; when = \"a > 0\"; } );",
     "'a' is a buffer, and a number is expected here; 'a.count' is how many values it has", 2},
    {VECADD "graphs = { g = { generate = \"hubs\"; nodes = 9; }; }; steps = ( { swap = 1; when = \"g\"; } );",
     "'g' is a graph, and a number is expected here; there are g.nodes", 2},
    {VECADD "paper = { m = 3; };", "'m' is not among the values", 2},
    {VECADD "buffers = { a = { type = \"f23\"; count = 1; generate = \"zero\"; }; };",
     "p.heddle:2:27: error: there is no type 'f23'", 2},
    {VECADD "buffers = { a = { count = 1; generate = \"zero\"; }; };", "of what? type = ", 2},
    {VECADD "buffers = { a = { type = \"f32\"; generate = \"zero\"; }; };", "how many elements?", 2},
    {VECADD "buffers = { a = { type = \"f32\"; cuont = 3; generate = \"zero\"; }; };", "did you mean 'count'?", 2},
    {VECADD "buffers = { a = { type = \"f32\"; count = 3; generate = \"unifrom\"; }; };",
     "there is no generator 'unifrom'; did you mean 'uniform'?", 2},
    {VECADD "buffers = { a = { type = \"f32\"; count = 3; generate = \"zero\"; seed = 1; }; };",
     "there is no 'seed' here", 2},
    {VECADD "buffers = { a = { type = \"f32\"; count = 0; generate = \"zero\"; }; };",
     "'count' is 0, and must be from 1", 2},
    {VECADD "buffers = { a = { type = \"f32\"; count = \"n - 100\"; generate = \"zero\"; }; }; steps = ();",
     "'count' is 0, and must be from 1", 2},
    {VECADD "buffers = { a = { type = \"f32\"; count = 3; }; };", "is missing", 2},
    {VECADD "buffers = { a = { type = \"f32\"; count = 3; generate = \"zero\"; file = \"p.heddle\"; }; };", "at a time",
     2},
    {VECADD "buffers = { a = { type = \"f32\"; file = \"no.bin\"; }; };", "no.bin: No such file", 2},
    {VECADD "buffers = { a = { type = \"u8\"; count = 3; file = \"p.heddle\"; }; }; steps = ();",
     "bytes, and 3 values of u8 have 3", 2},
    {VECADD "buffers = { a = { type = \"u8\"; count = 300; generate = \"sequence\"; }; }; steps = ();",
     "256 is no u8 value (0 to 255)", 2},
    {VECADD "buffers = { a = { type = \"u8\"; count = 3; generate = \"zero\"; set = ((3, 1)); }; }; steps = ();",
     "'index' is 3, and must be from 0 to 2", 2},
    {VECADD "buffers = { n = { type = \"u8\"; count = 3; generate = \"zero\"; }; };", "'n' is a value already", 2},
    {VECADD "buffers = { a = { type = \"u8\"; graph = \"g\"; part = \"offsets\"; }; };", "there is no graph 'g'", 2},
    {VECADD "graphs = { g = { generate = \"raod\"; width = 3; height = 3; }; };", "did you mean 'road'?", 2},
    {VECADD "graphs = { g = { generate = \"road\"; width = 3; }; };", "height = NUMBER is missing", 2},
    {VECADD "graphs = { g = { file = \"p.heddle\"; }; }; steps = ();", "p.heddle:1: this is no matrix-market file", 2},
    {VECADD ABC "steps = ( { lanch = \"vecadd\"; } );", "there is no step 'lanch'; did you mean 'launch'?", 2},
    {VECADD ABC "steps = ( { launch = \"vecadd\"; block = 32; } );", "grid is missing", 2},
    {VECADD ABC "steps = ( { launch = \"vecad\"; grid = 1; block = 32; } );",
     "there is no kernel 'vecad'; did you mean 'vecadd'?", 2},
    {VECADD ABC "steps = ( { launch = \"vecadd\"; grid = \"m + 1\"; block = 32; } );",
     "p.heddle:5:40: error: there is no value 'm'", 2},
    {VECADD ABC "steps = ( { launch = \"vecadd\"; grid = \"1 / (n - n)\"; block = 32; } );", "a division by zero", 2},
    {VECADD ABC "steps = ( { launch = \"vecadd\"; grid = \"n - n\"; block = 32; } );",
     "'grid' is 0, and must be from 1", 2},
    {VECADD ABC "steps = ( { launch = \"vecadd\"; grid = 1; block = 2000; args = (\"a\", \"b\", \"c\", 1); } );",
     "p.heddle:5: kernel 'vecadd': a block of 2000 x 1 x 1 threads", 2},
    {VECADD ABC "steps = ( { launch = \"vecadd\"; grid = 1; block = 32; args = (\"a\", \"b\"); } );",
     "takes 4 arguments, and 2 were given (in this order)", 2},
    {VECADD ABC "steps = ( { launch = \"vecadd\"; grid = 1; block = 32; args = (\"a\", \"b\", \"cc\", 1); } );",
     "there is no buffer or value 'cc'", 2},
    {VECADD ABC "steps = ( { launch = \"vecadd\"; grid = 1; block = 32; args = (\"a\", \"b\", \"c[100]\", 1); } );",
     "element 100 of 'c', which has 100", 2},
    {VECADD ABC "steps = ( { launch = \"vecadd\"; grid = 1; block = 32; args = (\"a\", \"b\", \"c\", \"f32:1\"); } );",
     "f32 is floating point, the parameter is an integer", 2},
    {VECADD ABC "steps = ( { launch = \"vecadd\"; grid = 1; block = 32; args = (\"a\", \"b\", \"c\", 1.5); } );",
     "1.5 is no whole number", 2},
    {VECADD ABC "steps = ( { until_zero = \"a\"; limit = 3;\n steps = ( { set = \"a\"; value = 1; } ); } );",
     "p.heddle:5:13: error: the loop did not end: 'a' is not zero after 3 rounds", 4},
    {VECADD ABC "steps = ( { loop = \"n\"; below = 2; steps = (); } );", "'n' is a value already", 2},
    {VECADD ABC "steps = ( { loop = \"i\"; steps = (); } );", "how far?", 2},
    {VECADD ABC "steps = ( { swap = (\"a\"); } );", "it is written swap = ", 2},
    {VECADD ABC "steps = ( { check = \"a\"; } );", "against what?", 2},
    {VECADD ABC "steps = ( { check = \"a\"; file = \"no.bin\"; } );", "no.bin: No such file", 2},
    {VECADD "buffers = { a = { type = \"u8\"; count = 3; generate = \"zero\"; }; };\n"
            "steps = ( { check = \"a\"; model = \"functional\"; tolerance = 1; } );",
     "a tolerance is for f32 and f64", 2},
};

START_TEST(mistakes_are_named) {
    program("%s", wrong[_i].text);
    STATUS(wrong[_i].status, "run p.heddle -m functional");
    SAYS(err, wrong[_i].say);
    ck_assert(!exists("c.bin"));
}
END_TEST

START_TEST(programs_are_accepted_as_benchmarks) {
    program(VECADD ABC "steps = ( " LAUNCH " );");
    STATUS(
        HEDDLE_OK,
        "compare p.heddle '%s/benchmarks/lud.heddle' $HEDDLE_KERNELS/vecadd.ptx vecadd -m spe,dpe -j1 -g 4 -b 32 "
        "-a zero:400 -a zero:400 -a zero:400 -a u32:100 --columns gpu.cycles,speed-up,energy.total_joules --csv t.csv",
        cli_root);
    SAYS(out, "p.heddle");
    SAYS(out, "ran");
    char *csv = slurp("t.csv");
    SAYS(csv, "benchmark,model,check,gpu.cycles,speed-up,energy.total_joules");
    free(csv);
    STATUS(HEDDLE_USAGE, "compare p.heddle -m spe --columns gpu.cycle");
    SAYS(err, "there is no statistic 'gpu.cycle'; did you mean 'gpu.cycles'?");
    STATUS(HEDDLE_USAGE, "compare p.heddle -m spe --columns gpu.cycles,");
    STATUS(HEDDLE_USAGE, "compare p.heddle -m spe -g 4");
    SAYS(err, "--grid is for a kernel of a PTX file, and none is among the names");
    STATUS(HEDDLE_USAGE, "compare $HEDDLE_KERNELS/vecadd.ptx -m spe -g 4");
    SAYS(err, "--block is missing");
    STATUS(HEDDLE_USAGE, "bench $HEDDLE_KERNELS/vecadd.ptx -g 4 -b 32 -a zero:4");
    SAYS(err, "takes 4 arguments, and 1 was given");
    SAYS(out, "refused");
    STATUS(HEDDLE_USAGE, "bench no.heddle");
    SAYS(err, "no.heddle: No such file");
    STATUS(HEDDLE_USAGE, "bench ./vecadd");
    SAYS(err, "a file is a program (X.heddle) or a kernel's");
    STATUS(HEDDLE_USAGE, "run p.heddle -g 4");
    SAYS(err, "p.heddle says itself what it launches");
    STATUS(HEDDLE_USAGE, "run p.heddle --json c.bin");
    SAYS(err, "c.bin");
}
END_TEST

/* `heddle sweep` repeats a run of the database only if a file that the program reads has changed. */
START_TEST(changed_input_files_are_run_again) {
    float b[100] = {0};
    write_file("b.bin", b, sizeof b);
    program(VECADD "buffers = { a = { type = \"f32\"; count = \"n\"; generate = \"zero\"; };\n"
                   "b = { type = \"f32\"; file = \"b.bin\"; };\n"
                   "c = { type = \"f32\"; count = \"n\"; generate = \"none\"; }; };\nsteps = ( " LAUNCH " );");
    STATUS(HEDDLE_OK, "sweep p.heddle -m spe,functional -o r.db");
    SAYS(out, "2 runs done, 0 already in the database");
    STATUS(HEDDLE_OK, "sweep p.heddle -m spe,functional -o r.db");
    SAYS(out, "0 runs done, 2 already in the database");
    b[7] = 1;
    write_file("b.bin", b, sizeof b);
    STATUS(HEDDLE_OK, "sweep p.heddle -m spe,functional -o r.db");
    SAYS(out, "2 runs done, 0 already in the database");
}
END_TEST

START_TEST(run_prints_issue_slots_by_cause) {
    program(VECADD ABC "steps = ( " LAUNCH " );");
    STATUS(HEDDLE_OK, "run p.heddle");
    SAYS(out, "issue slots");
    SAYS(out, "%  waiting for a load");
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    ck_assert_ptr_null(strstr(out, "issue slots"));
}
END_TEST

/* Runs `heddle inspect -` with stdin from a file. */
static int inspect_stdin(const char *file) {
    return heddle("inspect - <%s >stdout.txt 2>stderr.txt; exit $?; :", file);
}

START_TEST(ptx_from_stdin) {
    ck_assert_int_eq(inspect_stdin("$HEDDLE_KERNELS/vecadd.ptx"), HEDDLE_OK);
    SAYS(out, "vecadd\n  parameters");
    ck_assert_int_eq(inspect_stdin("/dev/null"), HEDDLE_USAGE);
    SAYS(err, "stdin: the file is empty");
    write_file("bad.ptx", "nonsense", 8);
    ck_assert_int_eq(inspect_stdin("bad.ptx"), HEDDLE_USAGE);
    SAYS(err, "stdin:1:1: error");
}
END_TEST

/* Every line of the example is also in docs/programs.md. */
START_TEST(the_document_shows_the_example) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/docs/programs.md", cli_root);
    char *page = slurp(path);
    snprintf(path, sizeof path, "%s/benchmarks/bfs.heddle", cli_root);
    char *text = slurp(path);
    for (char *line = strtok(text, "\n"), *from = page; line; line = strtok(NULL, "\n")) {
        char shown[256];
        snprintf(shown, sizeof shown, "\n    %s\n", line);
        char *at = strstr(from, shown);
        ck_assert_msg(at != NULL, "not shown, or not in its place: %s", line);
        from = at + 1;
    }
    free(text);
    free(page);
}
END_TEST

SUITE(cli_programs) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(results_are_right_and_checked_by_files);
    TEST(buffers_are_generated_and_saved);
    TEST(each_step_has_its_effect);
    TEST(caches_stay_warm);
    TEST(arguments_are_converted_to_the_parameters_type);
    TEST(matrices_and_their_parts);
    TEST(distributions);
    TEST(textures_follow_their_buffers);
    TEST(variables_of_a_module);
    TEST(checks_against_a_model);
    TEST(faults_are_located_in_kernel_and_program);
    TEST_LOOP(mistakes_are_named, 0, (int)(sizeof wrong / sizeof *wrong));
    TEST(programs_are_accepted_as_benchmarks);
    TEST(changed_input_files_are_run_again);
    TEST(run_prints_issue_slots_by_cause);
    TEST(ptx_from_stdin);
    TEST(the_document_shows_the_example);
}
