/* Tests textures, surfaces and samplers from the library call to the kernel's result, with the kernels of
 * test/compiled/textures.ptx and test/compiled/samplers.ptx. */
#include "host/heddle.h"
#include "test/test.h"

enum { THREADS = 4, OUT_WORDS = 64 };
static struct heddle *h;
static struct heddle_module *m;
static union {
    float f[OUT_WORDS];
    uint32_t u[OUT_WORDS];
} got;

static void open_file(const char *file) {
    char err[512] = "";
    h = heddle_open(&(struct heddle_options){.model = "functional"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    m = heddle_module_file(h, file);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
}
static void setup(void) { open_file("test/compiled/textures.ptx"); }
static void setup_samplers(void) { open_file("test/compiled/samplers.ptx"); }
static void teardown(void) { heddle_close(h); }

static uint64_t buffer(const void *data, uint64_t bytes) {
    uint64_t at = heddle_alloc(h, bytes);
    ck_assert_uint_ne(at, 0);
    ck_assert_int_eq(heddle_write(h, at, data, bytes), HEDDLE_OK);
    return at;
}

#define FINE(call)                                                                                                     \
    do {                                                                                                               \
        enum heddle_status status_ = (call);                                                                           \
        ck_assert_msg(status_ == HEDDLE_OK, "%s", heddle_error(h));                                                    \
    } while (0)

/* Runs a kernel with the parameters (out, in, ...) in `n` threads. `in` has four numbers for each thread. Stores the
 * results in `got`. */
static void run(const char *kernel, int n, const float (*in)[4], const uint64_t *more, int n_more) {
    uint64_t words[4] = {heddle_alloc(h, sizeof got)};
    struct heddle_arg args[4] = {{&words[0], 8}};
    int k = 1;
    if (in)
        words[k++] = buffer(in, (uint64_t)n * sizeof *in);
    for (int i = 0; i < n_more; i++)
        words[k++] = more[i];
    for (int i = 1; i < k; i++)
        args[i] = (struct heddle_arg){&words[i], 8};
    FINE(heddle_launch(h, m, kernel, (struct heddle_dim){1, 1, 1}, (struct heddle_dim){(uint32_t)n, 1, 1}, 0, args, k));
    FINE(heddle_read(h, words[0], &got, sizeof got));
}

static void check(const float *want, int n) {
    for (int i = 0; i < n; i++)
        ck_assert_msg(got.f[i] == want[i], "result %d: %g, not %g", i, got.f[i], want[i]);
}

/* Makes a texture of 4 x 4 texels with the values x + 10 y + 100 channel. */
static struct heddle_texture grid(uint32_t channels) {
    float v[16 * 4];
    for (uint32_t i = 0; i < 16 * channels; i++)
        v[i] = (float)(i / channels % 4 + 10 * (i / channels / 4) + 100 * (i % channels));
    struct heddle_texture t = {.data = buffer(v, 16ull * channels * sizeof *v),
                               .width = 4,
                               .height = 4,
                               .format = HEDDLE_F32,
                               .channels = channels};
    for (int i = 0; i < 3; i++)
        t.sampler.address[i] = HEDDLE_CLAMP;
    return t;
}

/* - Thread 0 samples the centre of texel (1, 1), thread 1 the middle between texels (1, 1) and (2, 1), thread 2 the
 *   centre of texel (3, 0).
 * - The offset moves the sampled point one texel to the right and one texel up; at the edge the coordinate is clamped.
 * - Depth comparisons: 11 <= 11 is true. Of the filtered comparisons, 12 <= 11 is false and 12 <= 12 is true, so the
 *   result is one half. 4 <= 3 is false.
 * - The second number reports that all texels are resident. */
START_TEST(offsets_and_depths) {
    struct heddle_texture t = grid(1);
    t.sampler.linear = true;
    FINE(heddle_bind_texture(h, m, "image", &t));
    run("fetch_2d", 3, (const float[][4]){{1.5f, 1.5f, 11, 0}, {2, 1.5f, 12, 0}, {3.5f, 0.5f, 4, 0}}, NULL, 0);
    check((const float[]){11, 1, 2, 1, 11.5f, 1, 2.5f, 0.5f, 3, 1, 3, 0}, 12);
}
END_TEST

/* The texture has four texels in a row. Coordinate 1.125 is texel position 4.5, which is mirrored to 3.5. With an
 * offset of one texel, position 5.5 is mirrored to 2.5, because the offset is added before mirroring. */
START_TEST(offsets_are_mirrored) {
    struct heddle_texture t = grid(1);
    t.normalized_coords = true;
    t.sampler.address[0] = HEDDLE_MIRROR;
    FINE(heddle_bind_texture(h, m, "image", &t));
    run("fetch_2d", 1, (const float[][4]){{1.125f, 0.375f, 0, 0}}, NULL, 0);
    check((const float[]){13, 1, 2, 1}, 4);
}
END_TEST

/* Makes a mipmapped texture. All texels of its levels of 4 x 4, 2 x 2 and 1 x 1 texels are 100, 200 and 300. */
static struct heddle_texture levels(bool linear) {
    float v[21];
    for (int i = 0; i < 21; i++)
        v[i] = i < 16 ? 100 : i < 20 ? 200 : 300;
    return (struct heddle_texture){.data = buffer(v, sizeof v),
                                   .width = 4,
                                   .height = 4,
                                   .levels = 3,
                                   .format = HEDDLE_F32,
                                   .normalized_coords = true,
                                   .sampler.linear_levels = linear};
}

/* Derivatives select the level: 0.25 is a distance of one texel and selects level 0; 0.5 is two texels, level 1; 1 is
 * four texels, level 2; 0.125 is half a texel, level -1, which is clamped to 0. */
START_TEST(mipmap_levels) {
    struct heddle_texture t = levels(true);
    FINE(heddle_bind_texture(h, m, "image", &t));
    run("levels_2d", 4,
        (const float[][4]){
            {0.5f, 0.5f, 0, 0.25f}, {0.5f, 0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 7, 1}, {0.5f, 0.5f, 1.25f, 0.125f}},
        NULL, 0);
    check((const float[]){100, 100, 100, 4, 150, 200, 100, 2, 300, 300, 100, 1, 225, 100, 100, 1}, 16);
}
END_TEST

/* Without filtering between levels, the nearest level is used. Halfway between two levels, the level with the
 * lower number is used. */
START_TEST(nearest_level) {
    struct heddle_texture t = levels(false);
    FINE(heddle_bind_texture(h, m, "image", &t));
    run("levels_2d", 3, (const float[][4]){{0, 0, 0.5f, 0}, {0, 0, 0.75f, 0}, {0, 0, 1.25f, 0}}, NULL, 0);
    ck_assert_float_eq(got.f[0], 100);
    ck_assert_float_eq(got.f[4], 200);
    ck_assert_float_eq(got.f[8], 200);
}
END_TEST

/* The bytes 0, 51, 102 and 255 are read as 0, 0.2, 0.4 and 1: in half precision 0, 0x3266, 0x3666, 0x3c00. */
START_TEST(half_precision) {
    static const uint8_t texel[] = {0, 51, 102, 255};
    struct heddle_texture t = {
        .data = buffer(texel, 4), .width = 1, .height = 1, .channels = 4, .format = HEDDLE_U8, .normalized_read = true};
    FINE(heddle_bind_texture(h, m, "image", &t));
    run("halves", 1, (const float[][4]){{0, 0, 0, 0}}, NULL, 0);
    static const uint32_t want[] = {0x32660000, 0x3c003666, 0x32660000, 0x3c003666};
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(got.u[i], want[i]);
}
END_TEST

/* - The gathers around the corner (2, 2) read the texels (1,2) (2,2) (2,1) (1,1), whose values are 21 22 12 11, plus
 *   100 for each component.
 * - The third gather has an offset of one texel to the right.
 * - The fourth gather compares: 317 <= 321 and 317 <= 322 are true, 317 <= 312 and 317 <= 311 are false. */
START_TEST(gather_components) {
    struct heddle_texture t = grid(4);
    FINE(heddle_bind_texture(h, m, "image", &t));
    run("gather", 1, (const float[][4]){{2, 2, 317, 0}}, NULL, 0);
    check((const float[]){21, 22, 12, 11, 121, 122, 112, 111, 222, 223, 213, 212, 1, 1, 0, 0}, 16);
}
END_TEST

/* Samples an array of two cube maps. Each face has one texel with the value 10 * cube + face. */
START_TEST(array_of_cubes) {
    float v[12];
    for (int i = 0; i < 12; i++)
        v[i] = (float)(i / 6 * 10 + i % 6);
    struct heddle_texture t = {
        .data = buffer(v, sizeof v), .width = 1, .height = 1, .layers = 2, .cube = true, .format = HEDDLE_F32};
    FINE(heddle_bind_texture(h, m, "image", &t));
    run("cubes", 3, (const float[][4]){{1, 0.2f, 0.3f, 1}, {0.1f, -2, 0.3f, 0}, {0.1f, 0.2f, -3, 1}}, NULL, 0);
    check((const float[]){10, 0, 0, 0, 3, 3, 3, 0, 15, 5, 5, 0}, 12);
}
END_TEST

static struct heddle_texture row(uint32_t n) {
    uint32_t v[32];
    for (uint32_t i = 0; i < n; i++)
        v[i] = 100 + i;
    return (struct heddle_texture){.data = buffer(v, 4ull * n), .width = n, .format = HEDDLE_U32};
}

/* Queries of the kernel return the width of the surface (8 texels) and the kinds of both handles. The sum of kinds is 1
 * for the texture plus 10 for the surface; a sampler would add 100. */
START_TEST(objects) {
    struct heddle_texture from = row(8), to = row(8);
    uint64_t handles[] = {heddle_texture_object(h, &from), heddle_surface_object(h, &to)};
    uint32_t doubled[8];
    run("double", 8, NULL, handles, 2);
    FINE(heddle_read(h, to.data, doubled, sizeof doubled));
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(doubled[i], 2 * (100 + i));
        ck_assert_uint_eq(got.u[2 * i], 8);
        ck_assert_uint_eq(got.u[2 * i + 1], 11);
    }
}
END_TEST

START_TEST(a_surface_is_bound_and_bound_again) {
    struct heddle_texture first = row(4), second = row(4);
    uint32_t v[4];
    FINE(heddle_bind_texture(h, m, "page", &first));
    run("page_add", 4, NULL, NULL, 0);
    FINE(heddle_bind_texture(h, m, "page", &second));
    run("page_add", 4, NULL, NULL, 0);
    run("page_add", 4, NULL, NULL, 0);
    FINE(heddle_read(h, first.data, v, sizeof v));
    ck_assert_uint_eq(v[3], 103 + 3);
    FINE(heddle_read(h, second.data, v, sizeof v));
    ck_assert_uint_eq(v[3], 103 + 6);
}
END_TEST

START_TEST(nothing_bound_is_a_fault) {
    uint64_t out = heddle_alloc(h, 64);
    const struct heddle_arg arg = {&out, 8};
    const struct heddle_dim one = {1, 1, 1};
    ck_assert_int_eq(heddle_launch(h, m, "page_add", one, one, 0, &arg, 1), HEDDLE_FAULT);
    ck_assert_msg(strstr(heddle_error(h), "nothing is bound to 'page'") != NULL, "%s", heddle_error(h));
}
END_TEST

static const struct {
    struct heddle_texture t; /* the test adds the address of a buffer of 64 bytes to t.data */
    const char *name, *message;
} refusals[] = {
    {{.width = 16, .format = HEDDLE_F32}, "picture", "no texture or surface is called 'picture'"},
    {{.width = 17, .format = HEDDLE_F32}, "image", "68 bytes at"},
    {{.data = 4, .width = 16, .format = HEDDLE_F32}, "image", "64 bytes at"},
    {{.width = 0}, "image", "at least one texel"},
    {{.width = 4, .channels = 3}, "image", "1, 2 or 4 channels"},
    {{.width = 4, .height = 4, .pitch = 3, .format = HEDDLE_U8}, "image", "a pitch of 3 bytes; a row has 4"},
    {{.width = 4, .height = 2, .cube = true}, "image", "square"},
    {{.width = 4, .levels = 4}, "image", "more mipmap levels"},
    {{.width = 4, .height = 2, .depth = 2, .layers = 2}, "image", "three dimensions"},
    {{.width = 1u << 27, .height = 1u << 27, .depth = 1u << 27, .format = HEDDLE_F32}, "image", "not all in one"},
    {{.width = 4, .sampler.address[1] = 4}, "image", "address mode 4"},
};

START_TEST(what_cannot_be_bound) {
    struct heddle_texture t = refusals[_i].t;
    t.data += heddle_alloc(h, 64);
    ck_assert_int_eq(heddle_bind_texture(h, m, refusals[_i].name, &t), HEDDLE_USAGE);
    ck_assert_msg(strstr(heddle_error(h), refusals[_i].message) != NULL, "%s", heddle_error(h));
}
END_TEST

static struct heddle_texture four(void) {
    static const float v[] = {10, 20, 30, 40};
    return (struct heddle_texture){
        .data = buffer(v, sizeof v), .width = 4, .format = HEDDLE_F32, .normalized_coords = true};
}

/* The kernel reads the image with the samplers `plain`, `smooth` and `texels` of the module and with a sampler object.
 * - Coordinate 1.125: `plain` wraps and selects texel 0. `smooth` reads the border, which is 0. `texels` counts
 *   coordinates in texels; with its offset of 1 it selects texel 2. The sampler object mirrors and selects texel 3.
 * - Coordinate 0.25 is the edge between texels 0 and 1. `texels` selects texel 0, with the offset texel 1. */
START_TEST(samplers_of_the_module) {
    struct heddle_texture t = four();
    uint64_t mirror = heddle_sampler_object(h, &(struct heddle_sampler){.address = {HEDDLE_MIRROR}});
    const float in[][4] = {{1.125f, 0, 0, 0}, {0.25f, 0, 0, 0}};
    FINE(heddle_bind_texture(h, m, "image", &t));
    run("look", 2, in, &mirror, 1);
    check((const float[]){10, 0, 30, 40, 20, 15, 20, 20}, 8);
    FINE(heddle_bind_sampler(h, m, "plain", &(struct heddle_sampler){.address = {HEDDLE_CLAMP}, .linear = true}));
    run("look", 2, in, &mirror, 1);
    check((const float[]){40, 0, 30, 40, 15, 15, 20, 20}, 8);
}
END_TEST

/* If a texture object is passed in place of a sampler, the sampler of this texture is used. */
START_TEST(a_texture_is_a_sampler_too) {
    struct heddle_texture t = four(), other = four();
    other.sampler.linear = true;
    FINE(heddle_bind_texture(h, m, "image", &t));
    uint64_t object = heddle_texture_object(h, &other);
    run("look", 1, (const float[][4]){{0.25f, 0, 0, 0}}, &object, 1);
    ck_assert_float_eq(got.f[3], 15);
}
END_TEST

/* The kernel returns four words: the filter mode of `smooth` (1: linear), its address mode (4: clamp_to_border),
 * whether `texels` forces unnormalised coordinates (1: yes), and whether `plain` is a sampler (1: yes). */
START_TEST(samplers_are_asked) {
    run("ask", 1, NULL, NULL, 0);
    static const uint32_t want[] = {1, 4, 1, 1};
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(got.u[i], want[i]);
}
END_TEST

START_TEST(a_sampler_is_no_texture) {
    struct heddle_texture t = four();
    ck_assert_int_eq(heddle_bind_texture(h, m, "plain", &t), HEDDLE_USAGE);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "'plain' is a sampler"));
    ck_assert_int_eq(heddle_bind_sampler(h, m, "image", &t.sampler), HEDDLE_USAGE);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "'image' is a texture or surface"));
}
END_TEST

SUITE(host_textures) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(offsets_and_depths);
    TEST(offsets_are_mirrored);
    TEST(mipmap_levels);
    TEST(nearest_level);
    TEST(half_precision);
    TEST(gather_components);
    TEST(array_of_cubes);
    TEST(objects);
    TEST(a_surface_is_bound_and_bound_again);
    TEST(nothing_bound_is_a_fault);
    TEST_LOOP(what_cannot_be_bound, 0, sizeof refusals / sizeof refusals[0]);
}

SUITE(host_samplers) {
    tcase_add_checked_fixture(tc, setup_samplers, teardown);
    TEST(samplers_of_the_module);
    TEST(a_texture_is_a_sampler_too);
    TEST(samplers_are_asked);
    TEST(a_sampler_is_no_texture);
}
