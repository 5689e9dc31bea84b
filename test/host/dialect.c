/* Tests PTX syntax that ptxas accepts and that compilers no longer emit. One warp runs each kernel, and thread t writes
 * one word. Expected results are derived by hand. ptxas of CUDA 13 accepts all of these texts. */
#include "host/heddle.h"
#include "test/test.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct heddle *h;

static void setup(void) {
    char err[512] = "";
    h = heddle_open(&(struct heddle_options){.model = "functional"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
}
static void teardown(void) { heddle_close(h); }

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"
#define FUNCTIONS                                                                                                      \
    ".func (.reg .u32 r) f(.reg .u32 a) { add.u32 r, a, 1; ret; }\n"                                                   \
    ".func (.reg .u32 r) g(.reg .u32 a) { mul.lo.u32 r, a, 10; ret; }\n"
#define ENTRY                                                                                                          \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>; .reg .u16 %h<4>; .reg .u32 %r<8>; .reg .u64 %d<8>;\n"      \
    ".reg .f32 %f<4>; .reg .u64 %out; .reg .u32 %t;\n"                                                                 \
    "ld.param.u64 %out, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %out, %t, 4, %out;\n"
/* Calls the function whose address is in entry t % 2 of the table `jt`. */
#define THROUGH(space)                                                                                                 \
    "and.b32 %r1, %t, 1; mov.u64 %d1, jt; mad.wide.u32 %d1, %r1, 8, %d1; ld." space ".u64 %d2, [%d1];\n"               \
    "call (%r0), %d2, (%t), jt;"

/* The expected word of thread t is factor * t + more. If odd_factor or odd_more is not 0, the expected word of an odd
 * thread is odd_factor * t + odd_more. */
static const struct {
    const char *module, *body;
    uint32_t factor, more, odd_factor, odd_more;
} cases[] = {
    /* a constant operand is converted to the type of the instruction */
    {"", "mov.u32 %r0, 0x1122334455667788;", 0, 0x55667788, 0, 0},
    {"", "mov.s32 %r0, -99999999999;", 0, 0xb7891801, 0, 0}, /* 2^37 - 99999999999 = 0xb7891801 + 8 * 2^32 */
    {"", "add.u32 %r0, %t, 0x100000003;", 1, 3, 0, 0},
    {"", "mov.u16 %h1, 65539; cvt.u32.u16 %r0, %h1;", 0, 3, 0, 0},
    {"", "cvt.s32.s8 %r0, 200;", 0, (uint32_t)-56, 0, 0},
    {"", "cvt.u64.u8 %d1, 300; cvt.u32.u64 %r0, %d1;", 0, 44, 0, 0},
    {"", "mad.wide.s16 %r0, 40000, 2, 0;", 0, 0xffff3880, 0, 0}, /* 40000 - 65536 = -25536; times 2 this is -51072 */
    {"", "mov.b32 %r0, {1, 65538};", 0, 0x20001, 0, 0},
    {"", "min.s32 %r0, 0xffffffff, 0;", 0, UINT32_MAX, 0, 0},
    {"", "setp.eq.s16 %p1, 65535, -1; selp.u32 %r0, 5, 6, %p1;", 0, 5, 0, 0},
    {"", "mov.pred %p1, 0x100000000; selp.u32 %r0, 5, 6, %p1;", 0, 5, 0, 0},
    {"", "st.global.u32 [%out], 0; st.global.u8 [%out], 300; ld.global.u32 %r0, [%out];", 0, 44, 0, 0},
    {"", "mov.u32 %r0, (~1) / 3 >> 62;", 0, 1, 0, 0}, /* 0x5555555555555554 >> 62 */
    {"", "mov.u32 %r0, -7 % 3 + WARP_SZ;", 0, 32, 0, 0},
    {".global .u8 v = 256; .global .s16 w[2] = {-1, 65537};",
     "ld.global.u8 %r1, [v]; ld.global.u32 %r2, [w]; add.u32 %r0, %r1, %r2;", 0, 0x1ffff, 0, 0},
    /* an operand that is a register plus a constant */
    {"", "mov.u32 %r0, %t+5;", 1, 5, 0, 0},
    {"", "add.u32 %r0, %t+5, %t+-2;", 2, 3, 0, 0},
    {"", "cvt.u64.u32 %d1, %t+1; cvt.u32.u64 %r0, %d1+0x100000007;", 1, 8, 0, 0},
    {"", "cvt.u16.u32 %h1, %t; mov.u16 %h2, %h1+65535; cvt.u32.u16 %r0, %h2+1;", 1, 0, 0, 0}, /* in 16 bits */
    {"", "st.global.u32 [%out], %t+9; ld.global.u32 %r0, [%out];", 1, 9, 0, 0},
    {"", "setp.eq.u32 %p1, %t+1, %t+1; selp.u32 %r0, %t+2, 0, %p1;", 1, 2, 0, 0},
    {"", "cvta.to.global.u64 %d1, %out+0; sub.u64 %d2, %d1+8, %d1; cvt.u32.u64 %r0, %d2;", 0, 8, 0, 0},
    /* tables of functions */
    {FUNCTIONS ".global .u64 jt[] = {f, g};\n", THROUGH("global"), 1, 1, 10, 0},
    {FUNCTIONS ".const .u64 jt[2] = {g, f};\n", THROUGH("const"), 10, 0, 1, 1},
    {FUNCTIONS ".global .u64 jt[2][1] = {{f}, {g}};\n", THROUGH("global"), 1, 1, 10, 0},
    /* functions whose parameters and results are vector registers */
    {".func (.reg .v2 .u32 r) swap(.reg .v2 .u32 a) { mov.u32 r.x, a.y; mov.u32 r.y, a.x; ret; }\n",
     ".reg .v2 .u32 a, b; mov.u32 a.x, %t; mov.u32 a.y, 7; call (b), swap, (a); mad.lo.u32 %r0, b.x, 100, b.y;", 1, 700,
     0, 0},
    {".func (.reg .u32 s) last(.reg .u32 f, .reg .v4 .u16 a) { cvt.u32.u16 s, a.w; mad.lo.u32 s, s, f, f; ret; }\n",
     ".reg .v4 .u16 a; cvt.u16.u32 a.x, %t; mov.u16 a.y, 1; mov.u16 a.z, 2; cvt.u16.u32 a.w, %t;\n"
     "call (%r0), last, (3, a);",
     3, 3, 0, 0},
    {".func (.reg .v2 .pred r) both(.reg .v2 .pred a) { mov.pred r.x, a.y; not.pred r.y, a.x; ret; }\n",
     ".reg .v2 .pred a, b; and.b32 %r1, %t, 1; setp.ne.u32 a.x, %r1, 0; mov.pred a.y, 1; call (b), both, (a);\n"
     "selp.u32 %r1, 1, 0, b.x; selp.u32 %r2, 2, 0, b.y; add.u32 %r0, %r1, %r2;",
     0, 3, 0, 1},
    /* preprocessor lines, and old syntax of function prototypes */
    {"# 1 \"x.cu\"\n# 7 \"y.h\" 1 3\n#line 9 \"z.h\"\n",
     "mov.u32 %r0, %t; # 3 \"x.cu\"\n# 4 \"x.cu\"\nadd.u32 %r0, %r0, 1;", 1, 1, 0, 0},
    {".func (.reg .u32 r) f(.reg .u32 a)\n.extern .func away()\n.func never() .noreturn\n" FUNCTIONS,
     "call (%r0), f, (%t);", 1, 1, 0, 0},
};

START_TEST(runs) {
    enum { THREADS = 32 };
    char text[4096];
    uint32_t out[THREADS];
    snprintf(text, sizeof text, "%s%s%s%s%s", HEAD, cases[_i].module, ENTRY, cases[_i].body,
             "\nst.global.u32 [%out], %r0;\nret;\n}\n");
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t at = heddle_alloc(h, sizeof out);
    const struct heddle_arg arg = {&at, 8};
    const struct heddle_dim one = {1, 1, 1}, block = {THREADS, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "k", one, block, 0, &arg, 1) == HEDDLE_OK, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, at, out, sizeof out), HEDDLE_OK);
    bool odd = cases[_i].odd_factor || cases[_i].odd_more;
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t want =
            odd && t % 2 ? cases[_i].odd_factor * t + cases[_i].odd_more : cases[_i].factor * t + cases[_i].more;
        ck_assert_msg(out[t] == want, "%s\nthread %u has %#x, not %#x", cases[_i].body, t, out[t], want);
    }
}
END_TEST

/* A module that contains only functions cannot be launched, but it can be inspected. */
START_TEST(a_module_of_functions) {
    static const char text[] = HEAD FUNCTIONS ".extern .func away();\n";
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    struct heddle_kernel_info info;
    char *listing;
    size_t len;
    FILE *out = open_memstream(&listing, &len);
    ck_assert_msg(m != NULL && out, "%s", heddle_error(h));
    ck_assert_ptr_null(heddle_kernel(m, 0));
    ck_assert_str_eq(heddle_function(m, 0), "f");
    ck_assert_str_eq(heddle_function(m, 1), "g");
    ck_assert_ptr_null(heddle_function(m, 2));
    ck_assert_ptr_null(heddle_function(m, -1));
    ck_assert_int_eq(heddle_kernel_info(h, m, "g", &info), HEDDLE_OK);
    ck_assert_uint_eq(info.instructions, 4); /* 4 instructions: load parameter, multiply, store result, ret */
    ck_assert_int_eq(heddle_listing(h, m, "g", NULL, out), HEDDLE_OK);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(listing, "mul.lo.u32"));
    free(listing);
    const struct heddle_dim one = {1, 1, 1};
    ck_assert_int_eq(heddle_launch(h, m, "g", one, one, 0, NULL, 0), HEDDLE_USAGE);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "no kernel is called 'g'; it has no kernel at all"));
}
END_TEST

static void refused(const char *path, const char *why) {
    ck_assert_ptr_null(heddle_module_file(h, path));
    ck_assert_msg(strstr(heddle_error(h), why) != NULL, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_status(h), HEDDLE_USAGE);
}

static char *fifo_path;
static void *write_later(void *text) {
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    FILE *f = fopen(fifo_path, "w");
    fputs(text, f);
    fclose(f);
    return NULL;
}

static void *stop_later(void *none) {
    (void)none;
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    heddle_stop(h);
    return NULL;
}

/* Reads a FIFO to its end, even if the writer opens the FIFO after the reader. heddle_stop() ends the wait for a
 * writer, and does not affect later calls. */
START_TEST(a_fifo_is_read) {
    char folder[] = "/tmp/heddle-dialect-XXXXXX", path[64];
    pthread_t other;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/fifo", folder);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    fifo_path = path;
    for (int i = 0; i < 2; i++) {
        pthread_create(&other, NULL, stop_later, NULL);
        ck_assert_ptr_null(i ? heddle_module_part(h, path, 0) : heddle_module_file(h, path));
        ck_assert_int_eq(heddle_status(h), HEDDLE_STOPPED);
        ck_assert_ptr_nonnull(strstr(heddle_error(h), "stopped before its end was read"));
        pthread_join(other, NULL);
        pthread_create(&other, NULL, write_later, (char[]){HEAD FUNCTIONS});
        struct heddle_module *m = i ? heddle_module_part(h, path, 0) : heddle_module_file(h, path);
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        ck_assert_str_eq(heddle_function(m, 1), "g");
        pthread_join(other, NULL);
    }
    ck_assert_ptr_null(heddle_module_part(h, path, 1)); /* it has been read */
    ck_assert_int_eq(heddle_status(h), HEDDLE_OK);
    unlink(path);
    rmdir(folder);
}
END_TEST

/* Files that cannot hold PTX are refused without reading them; reading the first of these files would never end. */
START_TEST(files_that_are_none) {
    char folder[] = "/tmp/heddle-dialect-XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    refused("/dev/zero", "/dev/zero: is a device, not a PTX file");
    refused(folder, "is a directory, not a PTX file");
    snprintf(path, sizeof path, "%s/large.ptx", folder);
    refused(path, "No such file or directory");
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    ck_assert(fd >= 0 && ftruncate(fd, 1000000000) == 0);
    close(fd);
    refused(path, "too long to be PTX: the limit is 256 MiB");
    ck_assert_int_eq(truncate(path, 0), 0);
    refused(path, "the file is empty");
    unlink(path);
    rmdir(folder);
}
END_TEST

SUITE(host_dialect) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST_LOOP(runs, 0, sizeof cases / sizeof *cases);
    TEST(a_module_of_functions);
    TEST(a_fifo_is_read);
    TEST(files_that_are_none);
}
