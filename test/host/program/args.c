/* Tests host/program/args.c, which reads kernel arguments from the command line. */
#include "host/program/args.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static char why[512];

static bool parses(const char *spec, struct arg *a) { return arg_parse(spec, a, why, sizeof why); }

/* Returns the value that the text gives, as 8 bytes in little-endian order. Fails the test if the text is refused. */
static uint64_t value_of(const char *spec) {
    struct arg a;
    uint64_t v;
    ck_assert_msg(parses(spec, &a), "%s: %s", spec, why);
    ck_assert_int_eq(a.kind, ARG_VALUE);
    memcpy(&v, a.value, sizeof v);
    arg_free(&a);
    return v;
}

static bool refused(const char *spec) {
    struct arg a;
    bool fine = parses(spec, &a);
    arg_free(&a);
    return !fine;
}

START_TEST(integers_accept_exactly_their_range) {
    ck_assert_uint_eq(value_of("u8:255"), 255);
    ck_assert_uint_eq(value_of("u8:0xff"), 255);
    ck_assert_uint_eq(value_of("s8:-128"), 0x80);
    ck_assert_uint_eq(value_of("s8:127"), 127);
    ck_assert_uint_eq(value_of("s32:-1"), 0xffffffffu);
    ck_assert_uint_eq(value_of("u64:18446744073709551615"), UINT64_MAX);
    ck_assert_uint_eq(value_of("s64:-9223372036854775808"), 1ull << 63);
    static const char *const bad[] = {"u8:256",
                                      "u8:300",
                                      "u8:-1",
                                      "s8:128",
                                      "s8:-129",
                                      "u16:65536",
                                      "s16:-32769",
                                      "u32:4294967296",
                                      "s32:2147483648",
                                      "u64:18446744073709551616",
                                      "s64:9223372036854775808",
                                      "u32:",
                                      "u32:1x",
                                      "u32: 1",
                                      "u32:1.5",
                                      "u32:--1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(refused(bad[i]), "%s was taken", bad[i]);
}
END_TEST

START_TEST(a_refused_value_names_its_range) {
    ck_assert(refused("u8:300"));
    ck_assert_str_eq(why, "argument 'u8:300': '300' is no u8 value (0 to 255)");
    ck_assert(refused("s16:40000"));
    ck_assert_str_eq(why, "argument 's16:40000': '40000' is no s16 value (-32768 to 32767)");
}
END_TEST

START_TEST(floats_accept_decimal_hex_bits_and_specials) {
    ck_assert_uint_eq(value_of("f32:1.0"), 0x3f800000u);
    ck_assert_uint_eq(value_of("f32:0x1.8p1"), 0x40400000u); /* 0x1.8 is 1.5, and p1 doubles it: 3 */
    ck_assert_uint_eq(value_of("f32:0f3F800000"), 0x3f800000u);
    ck_assert_uint_eq(value_of("f32:-inf"), 0xff800000u);
    ck_assert_uint_eq(value_of("f32:nan") & 0x7f800000u, 0x7f800000u);
    ck_assert_uint_eq(value_of("f32:1e-45"), 1); /* the smallest subnormal number is accepted */
    ck_assert_uint_eq(value_of("f64:1.0"), 0x3ff0000000000000ull);
    ck_assert_uint_eq(value_of("f64:0d3FF0000000000000"), 0x3ff0000000000000ull);
    static const char *const bad[] = {"f32:", "f32:1e39", "f64:1e309", "f32:x", "f32:1.0f", "f32: 1", "f32:0f3F8"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(refused(bad[i]), "%s was taken", bad[i]);
}
END_TEST

START_TEST(sizes_accept_k_m_g) {
    uint64_t v;
    ck_assert(parse_bytes("12", &v) && v == 12);
    ck_assert(parse_bytes("16K", &v) && v == 16384);
    ck_assert(parse_bytes("3M", &v) && v == 3145728);
    ck_assert(parse_bytes("2g", &v) && v == 2147483648ull);
    static const char *const bad[] = {"", "K", "1T", "1KB", "-1", "1.5K", "18446744073709551616", "17179869184G"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!parse_bytes(bad[i], &v), "%s was taken", bad[i]);
}
END_TEST

START_TEST(buffers_name_files_and_sizes) {
    struct arg a;
    ck_assert(parses("out:dir/a:b.bin:4K", &a)); /* the name may contain colons; the size follows the last colon */
    ck_assert_int_eq(a.kind, ARG_OUT);
    ck_assert_str_eq(a.out_file, "dir/a:b.bin");
    ck_assert_uint_eq(a.bytes, 4096);
    arg_free(&a);
    ck_assert(parses("inout:x.bin:y.bin", &a));
    ck_assert_str_eq(a.in_file, "x.bin");
    ck_assert_str_eq(a.out_file, "y.bin");
    arg_free(&a);
    ck_assert(parses("zero:1M", &a));
    ck_assert_int_eq(a.kind, ARG_ZERO);
    ck_assert_uint_eq(a.bytes, 1048576);
    arg_free(&a);
    static const char *const bad[] = {"in:",      "out:x",    "out::4", "out:x:0", "out:x:y", "inout:x",
                                      "inout::y", "inout:x:", "zero:",  "zero:0",  "bytes:",  "12",
                                      "i32:4",    "",         ":4",     "U32:4"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(refused(bad[i]), "%s was taken", bad[i]);
}
END_TEST

/* The parameters of a kernel: a pointer, a float, a struct of 12 bytes and a byte. */
static const struct heddle_param params[] = {
    {"p", ".u64", 0, 8},
    {"x", ".f32", 8, 4},
    {"s", ".b8", 12, 12},
    {"n", ".u8", 24, 1},
};

/* Returns whether an argument fits a parameter of a module with this address size. */
static bool fits(const char *spec, const struct heddle_param *p, int address_size) {
    struct arg a;
    ck_assert(parses(spec, &a));
    FILE *null = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(null);
    bool fine = args_match(&a, 1, p, 1, "k", address_size, "-a, ", null);
    fclose(null);
    arg_free(&a);
    return fine;
}

START_TEST(values_must_have_the_size_and_kind_of_the_parameter) {
    ck_assert(fits("f32:1", &params[1], 64));
    ck_assert(!fits("u32:1", &params[1], 64)); /* an integer argument does not fit a float parameter */
    ck_assert(!fits("f64:1", &params[1], 64));
    ck_assert(fits("u8:1", &params[3], 64));
    /* the signedness is ignored, since compilers declare an int parameter as .u32 */
    ck_assert(fits("s8:1", &params[3], 64));
    ck_assert(!fits("u32:1", &params[3], 64));
    /* a struct parameter accepts only arguments of the form `bytes` */
    ck_assert(!fits("u64:1", &params[2], 64));
    struct heddle_param pair = {"pair", ".b8", 0, 8}; /* a struct with the size of a u64 does not accept a u64 either */
    ck_assert(!fits("u64:1", &pair, 64));
    struct heddle_param bits = {"b", ".b32", 0, 4};
    ck_assert(fits("f32:1", &bits, 64) && fits("s32:1", &bits, 64));
}
END_TEST

START_TEST(buffers_need_a_parameter_that_holds_an_address) {
    struct heddle_param narrow = {"q", ".u32", 0, 4}, real = {"d", ".f64", 0, 8}, block = {"b", ".b8", 0, 8};
    ck_assert(fits("zero:4", &params[0], 64));
    ck_assert(!fits("zero:4", &params[0], 32));
    ck_assert(fits("zero:4", &narrow, 32));
    ck_assert(!fits("zero:4", &narrow, 64));
    ck_assert(!fits("zero:4", &real, 64));
    ck_assert(!fits("zero:4", &block, 64));
}
END_TEST

START_TEST(a_mismatch_lists_parameters_and_arguments) {
    struct arg a[2];
    ck_assert(parses("zero:4", &a[0]) && parses("u64:1", &a[1]));
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    ck_assert(!args_match(a, 2, params, 4, "k", 64, "-a, ", f));
    fclose(f);
    ck_assert_str_eq(text, "kernel 'k' takes 4 arguments, and 2 were given (-a, in this order):\n"
                           "   1  .u64  p  <-  zero:4\n"
                           "   2  .f32  x  <-  u64:1   u64 has 8 bytes, the parameter 4\n"
                           "   3  .b8   s[12]  <-  (missing)\n"
                           "   4  .u8   n  <-  (missing)\n");
    free(text);
    arg_free(&a[0]);
    arg_free(&a[1]);
}
END_TEST

START_TEST(input_files_must_exist_and_have_content) {
    char path[] = "/tmp/heddle_args_XXXXXX", spec[64];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    snprintf(spec, sizeof spec, "in:%s", path);
    struct arg a;
    ck_assert(parses(spec, &a));
    ck_assert(!arg_load(&a, why, sizeof why)); /* empty */
    ck_assert_int_eq(write(fd, "abc", 3), 3);
    ck_assert(arg_load(&a, why, sizeof why));
    ck_assert_uint_eq(a.bytes, 3);
    char in[4] = "";
    ck_assert_uint_eq(fread(in, 1, sizeof in, a.in), 3);
    ck_assert_str_eq(in, "abc");
    arg_free(&a);
    snprintf(spec, sizeof spec, "bytes:%s", path);
    ck_assert(parses(spec, &a));
    ck_assert(arg_load(&a, why, sizeof why));
    ck_assert_uint_eq(a.bytes, 3);
    ck_assert_mem_eq(a.data, "abc", 3);
    arg_free(&a);
    snprintf(spec, sizeof spec, "in:%s", path);
    close(fd);
    unlink(path);
    ck_assert(parses(spec, &a));
    ck_assert(!arg_load(&a, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "No such file"));
    arg_free(&a);
    ck_assert(parses("in:/", &a));
    ck_assert(!arg_load(&a, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "is not a regular file"));
    arg_free(&a);
}
END_TEST

START_TEST(textures_are_buffers_with_properties) {
    struct arg a;
    ck_assert_msg(
        parses("tex:inout:a:b,size=6x5x4,format=u16x2,levels=3,pitch=1K,read=normalized,address=wrap/border", &a), "%s",
        why);
    ck_assert_int_eq(a.kind, ARG_INOUT);
    ck_assert_int_eq(a.object, ARG_TEXTURE);
    ck_assert_str_eq(a.out_file, "b");
    const struct heddle_texture *t = a.texture;
    ck_assert(t->width == 6 && t->height == 5 && t->depth == 4 && t->levels == 3 && t->pitch == 1024);
    ck_assert(t->format == HEDDLE_U16 && t->channels == 2 && t->normalized_read && !t->normalized_coords);
    ck_assert(t->sampler.address[0] == HEDDLE_WRAP && t->sampler.address[1] == HEDDLE_BORDER &&
              t->sampler.address[2] == HEDDLE_BORDER);
    arg_free(&a);
    ck_assert(parses("sampler:filter=linear,level-filter=linear,coords=normalized", &a));
    ck_assert(a.object == ARG_SAMPLER && a.texture->sampler.linear && a.texture->sampler.linear_levels &&
              !a.texture->sampler.texel_coords);
    arg_free(&a);
}
END_TEST

static const struct {
    const char *spec, *message;
} bad_textures[] = {
    {"tex:u32:4,size=4", "begins with a buffer"},
    {"tex:sampler:filter=linear,size=4", "begins with a buffer"},
    {"tex:zero:64", "its size is missing"},
    {"tex:zero:64,", "its size is missing"},
    {"tex:zero:64,size=4x", "'size' takes texels"},
    {"tex:zero:64,size=0", "'size' takes texels"},
    {"tex:zero:64,size=4x4x4x4", "'size' takes texels"},
    {"tex:zero:64,size=99999999999", "'size' takes texels"},
    {"surf:zero:64,size=4,format=u8x3", "'format' takes"},
    {"surf:zero:64,size=4,format=f64", "'format' takes"},
    {"surf:zero:64,size=4,layers=-1", "'layers' takes a positive number"},
    {"surf:zero:64,size=4,address=wrap/wrap/wrap/wrap", "'address' takes"},
    {"surf:zero:64,size=4,filter", "'filter' takes nearest or linear"},
    {"surf:zero:64,size=4,filtre=linear", "'filtre' is no property; they are size"},
    {"sampler:size=4", "'size' is no property; they are coords"},
};

START_TEST(bad_textures_say_why) {
    ck_assert(refused(bad_textures[_i].spec));
    ck_assert_msg(strstr(why, bad_textures[_i].message) != NULL, "%s", why);
}
END_TEST

SUITE(host_args) {
    TEST(integers_accept_exactly_their_range);
    TEST(a_refused_value_names_its_range);
    TEST(floats_accept_decimal_hex_bits_and_specials);
    TEST(sizes_accept_k_m_g);
    TEST(buffers_name_files_and_sizes);
    TEST(values_must_have_the_size_and_kind_of_the_parameter);
    TEST(buffers_need_a_parameter_that_holds_an_address);
    TEST(a_mismatch_lists_parameters_and_arguments);
    TEST(input_files_must_exist_and_have_content);
    TEST(textures_are_buffers_with_properties);
    TEST_LOOP(bad_textures_say_why, 0, sizeof bad_textures / sizeof bad_textures[0]);
}
