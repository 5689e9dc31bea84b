/* Tests texture and surface instructions on one object. Coordinates and results are given for each lane. */
#include "isa/exec/exec_tex.h"
#include "isa/machine/texture.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"
#include <math.h>

enum { BYTES = 4096, COORDS = 4 };
static struct asm_program *a;
static struct memory mem;
static struct launch launch;
static struct cta *cta;
static struct warp *w;
static struct effects fx;
static struct texture t;
static opnd_t handle, out[4], coord[COORDS], in_value[4];

static unsigned char *texels(void) { return mem.list[0].host; }

/* Creates a texture or surface object over `BYTES` bytes; the pitch is a multiple of 8 bytes. */
static void setup(uint8_t format, uint8_t channels, uint32_t width, uint32_t height, uint32_t depth) {
    static const unsigned bytes[] = {1, 1, 2, 2, 4, 4, 2, 4};
    a = asm_new();
    mem_init(&mem, 0);
    t = (struct texture){.data = mem_alloc(&mem, BYTES, 0, NULL, false),
                         .width = width,
                         .height = height,
                         .depth = depth,
                         .channels = channels,
                         .format = format,
                         .address = {TEX_CLAMP, TEX_CLAMP, TEX_CLAMP}};
    t.pitch = (uint64_t)width * bytes[format] * channels;
    t.slice = t.pitch * (height ? height : 1);
    handle = asm_const(a, 8, TEXTURE_HANDLE);
    for (int i = 0; i < 4; i++) {
        out[i] = asm_reg(a, 4);
        in_value[i] = asm_reg(a, 4);
    }
    for (int i = 0; i < COORDS; i++)
        coord[i] = asm_reg(a, 4);
}

static void teardown(void) {
    cta_free(cta);
    cta = NULL;
    mem_free_all(&mem);
    asm_free(a);
}

/* Adds an instruction with n_out destination registers, n coordinates and n_in source values. */
static struct inst *emit(const char *opcode, int n_out, int n, int n_in) {
    uint32_t list[12], k = 0;
    struct inst *in = asm_op(a, opcode, OPND_SINK, handle, OPND_ZERO, OPND_ZERO);
    for (int i = 0; i < n_out; i++)
        list[k++] = out[i];
    for (int i = 0; i < n; i++)
        list[k++] = coord[i];
    for (int i = 0; i < n_in; i++)
        list[k++] = in_value[i];
    in->list = asm_list(a, list, k);
    in->n_list = (uint8_t)k;
    in->msize = (uint8_t)n_out;
    in->rsize = 4;
    launch = asm_launch(a, &mem, 1, 32);
    launch.textures = &t;
    launch.n_textures = 1;
    cta_free(cta);
    cta = cta_new(&launch);
    cta_start(cta, (struct dim3){0, 0, 0}, 0);
    w = cta->warps;
    return in;
}

static void set_f(int i, int lane, float x) { ((float *)reg_ptr(w, coord[i]))[lane] = x; }
static void set_i(int i, int lane, int32_t x) { ((int32_t *)reg_ptr(w, coord[i]))[lane] = x; }
static void set_v(int i, int lane, uint32_t x) { ((uint32_t *)reg_ptr(w, in_value[i]))[lane] = x; }
static float got_f(int i, int lane) { return ((float *)reg_ptr(w, out[i]))[lane]; }
static uint32_t got(int i, int lane) { return ((uint32_t *)reg_ptr(w, out[i]))[lane]; }

static void fill_floats(const float *v, size_t n) { memcpy(texels(), v, n * sizeof *v); }

/* Creates a row of four texels: 10 20 30 40. */
static void row_of_four(void) {
    setup(TEX_F32, 1, 4, 0, 0);
    fill_floats((float[]){10, 20, 30, 40}, 4);
}

static void check_1d(const float *x, const float *want, int n) {
    struct inst *in = emit("tex.1d.v4.f32.f32", 4, 1, 0);
    for (int l = 0; l < n; l++)
        set_f(0, l, x[l]);
    exec_inst(w, in, (1u << n) - 1, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    for (int l = 0; l < n; l++)
        ck_assert_msg(got_f(0, l) == want[l], "at %g: %g, not %g", x[l], got_f(0, l), want[l]);
    teardown();
}

START_TEST(nearest_texel) {
    row_of_four();
    check_1d((float[]){0, 0.99f, 1, 3.5f, 4, -0.5f, 1e30f, -INFINITY}, (float[]){10, 10, 20, 40, 40, 10, 40, 10}, 8);
}
END_TEST

/* x = 1.5 is the centre of texel 1, and 1.75 is a quarter of a texel further. 1.501 is 0.256 / 256 texels further, so
 * the weight of texel 2 is rounded to 0. 1.502 is 0.512 / 256 texels further, so the weight is rounded to 1/256, which
 * gives 20 + 10/256. */
START_TEST(linear_filter) {
    row_of_four();
    t.linear = true;
    check_1d((float[]){1.5f, 1.75f, 1.501f, 1.502f, 0, 4}, (float[]){20, 22.5f, 20, 20 + 10 / 256.0f, 10, 40}, 6);
}
END_TEST

static const struct {
    enum texture_address mode;
    float x[5], want[5];
} modes[] = {
    /* normalised coordinates: 0.125 is the centre of texel 0 of four texels */
    {TEX_CLAMP, {-0.2f, 0.125f, 0.9f, 1, 7.3f}, {10, 10, 40, 40, 40}},
    {TEX_WRAP, {-0.2f, 1.125f, 1.9f, 1, -3.9f}, {40, 10, 40, 10, 10}},
    {TEX_MIRROR, {-0.1f, 1.1f, 1.9f, 2.3f, -0.9f}, {10, 40, 10, 20, 40}},
    {TEX_BORDER, {-0.01f, 0.3f, 0.99f, 1, 2}, {0, 20, 40, 0, 0}},
};

START_TEST(address_modes) {
    row_of_four();
    t.normalized_coords = true;
    t.address[0] = modes[_i].mode;
    check_1d(modes[_i].x, modes[_i].want, 5);
}
END_TEST

/* Samples at the right edge (x = 1), halfway between the last texel and the next. TEX_WRAP takes the mean of 40 and of
 * the first texel, 10. TEX_CLAMP and TEX_MIRROR repeat the last texel. TEX_BORDER takes the mean of 40 and 0. */
START_TEST(filter_at_the_edge) {
    static const float want[] = {[TEX_WRAP] = 25, [TEX_CLAMP] = 40, [TEX_MIRROR] = 40, [TEX_BORDER] = 20};
    row_of_four();
    t.linear = t.normalized_coords = true;
    t.address[0] = (uint8_t)_i;
    check_1d((float[]){_i == TEX_MIRROR ? 1.0f : 0.99999994f + 0.0f}, (float[]){want[_i]}, 1);
}
END_TEST

START_TEST(wrap_needs_normalised_coordinates) {
    row_of_four();
    t.address[0] = TEX_WRAP;
    check_1d((float[]){4.5f, -0.5f}, (float[]){40, 10}, 2);
}
END_TEST

START_TEST(integer_coordinates) {
    row_of_four();
    t.linear = true;
    struct inst *in = emit("tex.1d.v4.f32.s32", 4, 1, 0);
    static const int32_t x[] = {0, 3, 4, -1};
    static const float want[] = {10, 40, 0, 0}; /* a texel out of bounds reads as zero */
    for (int l = 0; l < 4; l++)
        set_i(0, l, x[l]);
    exec_inst(w, in, 0xf, &fx);
    for (int l = 0; l < 4; l++)
        ck_assert_float_eq(got_f(0, l), want[l]);
    ck_assert_uint_eq(fx.space, SPACE_TEX);
    ck_assert_uint_eq(fx.addr[1], t.data + 12);
    ck_assert_uint_eq(fx.msize, 4);
    teardown();
}
END_TEST

/* The texture has 3 x 2 texels: 0 1 2 in row 0, 10 11 12 in row 1. The point (1.5, 1) is halfway between the rows, so 1
 * and 11 have equal weights. */
START_TEST(two_dimensions) {
    setup(TEX_F32, 1, 3, 2, 0);
    fill_floats((float[]){0, 1, 2, 10, 11, 12}, 6);
    struct inst *in = emit("tex.2d.v4.f32.f32", 4, 2, 0);
    set_f(0, 0, 2.2f);
    set_f(1, 0, 1.9f);
    set_f(0, 1, 1.5f);
    set_f(1, 1, 1);
    exec_inst(w, in, 1, &fx);
    ck_assert_float_eq(got_f(0, 0), 12);
    ck_assert_float_eq(got_f(1, 0), 0); /* channels that the format lacks are read as 0, 0 and 1 */
    ck_assert_float_eq(got_f(3, 0), 1);
    t.linear = true;
    exec_inst(w, in, 2, &fx);
    ck_assert_float_eq(got_f(0, 1), 6);
    teardown();
}
END_TEST

/* 2 x 2 x 2 texels with value x + 10 y + 100 z; the centre is the mean of all eight: 55.5. */
START_TEST(three_dimensions) {
    setup(TEX_F32, 1, 2, 2, 2);
    float v[8];
    for (int i = 0; i < 8; i++)
        v[i] = (float)((i & 1) + 10 * (i >> 1 & 1) + 100 * (i >> 2));
    fill_floats(v, 8);
    t.linear = true;
    struct inst *in = emit("tex.3d.v4.f32.f32", 4, 3, 0);
    for (int i = 0; i < 3; i++)
        set_f(i, 0, 1);
    exec_inst(w, in, 1, &fx);
    ck_assert_float_eq(got_f(0, 0), 55.5f);
    t.linear = false;
    exec_inst(w, in, 1, &fx);
    ck_assert_float_eq(got_f(0, 0), 111);
    teardown();
}
END_TEST

START_TEST(layers) {
    setup(TEX_F32, 1, 2, 2, 0);
    t.layers = 3;
    float v[12];
    for (int i = 0; i < 12; i++)
        v[i] = (float)i;
    fill_floats(v, 12);
    struct inst *in = emit("tex.a2d.v4.f32.f32", 4, 3, 0);
    static const int32_t layer[] = {0, 2, 7}; /* the last layer number is out of range, so the last layer is read */
    for (int l = 0; l < 3; l++) {
        set_i(0, l, layer[l]);
        set_f(1, l, 1);
        set_f(2, l, 0);
    }
    exec_inst(w, in, 7, &fx);
    ck_assert_float_eq(got_f(0, 0), 1);
    ck_assert_float_eq(got_f(0, 1), 9);
    ck_assert_float_eq(got_f(0, 2), 9);
    teardown();
}
END_TEST

/* A cube map whose faces have one texel each. Their values are 0 to 5, in the order +x -x +y -y +z -z. */
START_TEST(cube_faces) {
    setup(TEX_F32, 1, 1, 1, 0);
    t.slice = 4;
    fill_floats((float[]){0, 1, 2, 3, 4, 5}, 6);
    struct inst *in = emit("tex.cube.v4.f32.f32", 4, 3, 0);
    for (int l = 0; l < 6; l++)
        for (int i = 0; i < 3; i++)
            set_f(i, l, i == l / 2 ? (l & 1 ? -2.0f : 2.0f) : 0.5f);
    exec_inst(w, in, 0x3f, &fx);
    for (int l = 0; l < 6; l++)
        ck_assert_float_eq(got_f(0, l), (float)l);
    teardown();
}
END_TEST

static const struct {
    uint8_t format;
    bool normalized;
    uint32_t stored, want;
} formats[] = {
    {TEX_U8, false, 0xff, 0xff},
    {TEX_S8, false, 0xff, 0xffffffff},
    {TEX_U16, false, 0xffff, 0xffff},
    {TEX_S16, false, 0x8000, 0xffff8000},
    {TEX_U32, false, 0x89abcdef, 0x89abcdef},
    {TEX_F16, false, 0x3e00, 0x3fc00000}, /* 1.5 */
    {TEX_U8, true, 0xff, 0x3f800000},     /* 1 */
    {TEX_S8, true, 0x80, 0xbf800000},     /* -128 / 127 is below -1 and is clamped to -1 */
    {TEX_U16, true, 0x0000, 0},
    {TEX_S16, true, 0x7fff, 0x3f800000},
};

START_TEST(channel_formats) {
    setup(formats[_i].format, 2, 2, 0, 0);
    t.normalized_read = formats[_i].normalized;
    static const unsigned bytes[] = {1, 1, 2, 2, 4, 4, 2, 4};
    unsigned n = bytes[formats[_i].format];
    memcpy(texels() + 3 * n, &formats[_i].stored, n); /* texel 1, channel 1 */
    struct inst *in = emit("tex.1d.v4.u32.s32", 4, 1, 0);
    set_i(0, 0, 1);
    exec_inst(w, in, 1, &fx);
    ck_assert_uint_eq(got(1, 0), formats[_i].want);
    teardown();
}
END_TEST

/* A gather at (2, 1) of the texture with 3 x 2 texels reads (1,0) (2,0) (1,1) (2,1), and returns them counter-clockwise
 * from the lower left. */
START_TEST(gather_four) {
    setup(TEX_F32, 1, 3, 2, 0);
    fill_floats((float[]){0, 1, 2, 10, 11, 12}, 6);
    struct inst *in = emit("tld4.r.2d.v4.f32.f32", 4, 2, 0);
    set_f(0, 0, 2);
    set_f(1, 0, 1);
    exec_inst(w, in, 1, &fx);
    static const float want[] = {11, 12, 2, 1};
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(got_f(i, 0), want[i]);
    teardown();
}
END_TEST

START_TEST(queries) {
    static const struct {
        const char *opcode;
        uint32_t want;
    } q[] = {{"txq.width.b32", 6},
             {"txq.height.b32", 5},
             {"txq.depth.b32", 2},
             {"txq.channel_data_type.b32", 0x10dd},
             {"txq.channel_order.b32", 0x10b2},
             {"txq.normalized_coords.b32", 1},
             {"txq.filter_mode.b32", 1},
             {"txq.addr_mode_1.b32", 4},
             {"suq.width.b32", 6},
             {"suq.channel_order.b32", 0x10b2}};
    setup(TEX_F16, 2, 6, 5, 2);
    t.linear = t.normalized_coords = true;
    t.address[1] = TEX_BORDER;
    struct inst *in = emit(q[_i].opcode, 1, 0, 0);
    exec_inst(w, in, 2, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    ck_assert_uint_eq(got(0, 1), q[_i].want);
    teardown();
}
END_TEST

START_TEST(bad_handles) {
    row_of_four();
    struct inst *in = emit("tex.1d.v4.f32.s32", 4, 1, 0);
    launch.n_textures = 0;
    exec_inst(w, in, 4, &fx);
    ck_assert_int_eq(fx.fault, FAULT_BAD_TEXTURE);
    ck_assert_uint_eq(fx.fault_lane, 2);
    ck_assert_str_eq(fx.fault_text, "0x7e500000 is not the handle of a texture or surface");
    free(fx.fault_text);
    launch.n_textures = 1;
    t.data = 0;
    t.name = "tex_in";
    exec_inst(w, in, 4, &fx);
    ck_assert_str_eq(fx.fault_text, "nothing is bound to 'tex_in'");
    free(fx.fault_text);
    t.data = mem.list[0].begin;
    t.width = BYTES; /* beyond the memory */
    set_i(0, 2, BYTES / 4);
    exec_inst(w, in, 4, &fx);
    ck_assert_int_eq(fx.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(fx.fault_address, t.data + BYTES);
    teardown();
}
END_TEST

/* A surface of 4 x 3 texels of one word. The coordinate x is in bytes, y in rows. */
START_TEST(surface_bytes) {
    setup(TEX_U32, 1, 4, 3, 0);
    struct inst *st = emit("sust.b.2d.b32.trap", 0, 2, 1);
    set_i(0, 5, 8);
    set_i(1, 5, 2);
    set_v(0, 5, 0x12345678);
    exec_inst(w, st, 1u << 5, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    ck_assert_uint_eq(((uint32_t *)texels())[2 * 4 + 2], 0x12345678);
    ck_assert_uint_eq(fx.addr[5], t.data + 40);
    struct inst *ld = emit("suld.b.2d.v2.b32.trap", 2, 2, 0);
    ((uint32_t *)texels())[2 * 4 + 3] = 99;
    set_i(0, 5, 8);
    set_i(1, 5, 2);
    exec_inst(w, ld, 1u << 5, &fx);
    ck_assert_uint_eq(got(0, 5), 0x12345678);
    ck_assert_uint_eq(got(1, 5), 99);
    struct inst *byte = emit("suld.b.2d.b8.trap", 1, 2, 0);
    set_i(0, 5, 9);
    set_i(1, 5, 2);
    exec_inst(w, byte, 1u << 5, &fx);
    ck_assert_uint_eq(got(0, 5), 0x56);
    teardown();
}
END_TEST

/* x = 16 is one texel beyond the right edge, and x = -4 is one texel beyond the left edge. */
START_TEST(surface_edges) {
    setup(TEX_U32, 1, 4, 0, 0);
    memcpy(texels(), (uint32_t[]){1, 2, 3, 4}, 16);
    struct inst *clamp = emit("suld.b.1d.b32.clamp", 1, 1, 0);
    set_i(0, 0, 16);
    set_i(0, 1, -4);
    exec_inst(w, clamp, 3, &fx);
    ck_assert_uint_eq(got(0, 0), 4);
    ck_assert_uint_eq(got(0, 1), 1);
    struct inst *zero = emit("suld.b.1d.b32.zero", 1, 1, 0);
    set_i(0, 0, 16);
    memset(reg_ptr(w, out[0]), 0xff, 128);
    exec_inst(w, zero, 1, &fx);
    ck_assert_uint_eq(got(0, 0), 0);
    struct inst *lost = emit("sust.b.1d.b32.zero", 0, 1, 1);
    set_i(0, 0, 16);
    set_v(0, 0, 77);
    exec_inst(w, lost, 1, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    ck_assert_uint_eq(((uint32_t *)texels())[4], 0);
    struct inst *trap = emit("sust.b.1d.b32.trap", 0, 1, 1);
    set_i(0, 3, 16);
    exec_inst(w, trap, 8, &fx);
    ck_assert_int_eq(fx.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(fx.fault_lane, 3);
    ck_assert_ptr_nonnull(strstr(fx.fault_text, "surface access outside 4 x 1 x 1 texels"));
    free(fx.fault_text);
    teardown();
}
END_TEST

/* sust.p converts the value: 0.5 in unorm8 is 127.5, which is rounded to the even number 128. Integers saturate. */
START_TEST(surface_formats) {
    setup(TEX_U8, 4, 4, 0, 0);
    t.normalized_read = true;
    struct inst *st = emit("sust.p.1d.v4.f32.trap", 0, 1, 4);
    static const float v[] = {0.5f, 1, -3, 9};
    set_i(0, 0, 2);
    for (int i = 0; i < 4; i++)
        memcpy((uint32_t *)reg_ptr(w, in_value[i]), &v[i], 4);
    exec_inst(w, st, 1, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    static const unsigned char want[] = {128, 255, 0, 255};
    ck_assert_mem_eq(texels() + 8, want, 4);
    t.normalized_read = false;
    struct inst *ints = emit("sust.p.1d.v4.u32.trap", 0, 1, 4);
    set_i(0, 0, 1);
    for (int i = 0; i < 4; i++)
        set_v(i, 0, 100u * (uint32_t)i);
    exec_inst(w, ints, 1, &fx);
    static const unsigned char want_ints[] = {0, 100, 200, 255};
    ck_assert_mem_eq(texels() + 4, want_ints, 4);
    teardown();
}
END_TEST

/* Each lane adds its lane number to one word of the surface. A second atomic computes a signed minimum. */
START_TEST(surface_reductions) {
    setup(TEX_S32, 1, 4, 0, 0);
    struct inst *add = emit("sured.b.add.1d.u32.trap", 0, 1, 1);
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        set_i(0, (int)l, 4);
        set_v(0, (int)l, l);
    }
    exec_inst(w, add, LANES_ALL, &fx);
    ck_assert_uint_eq(((uint32_t *)texels())[1], 496);
    struct inst *min = emit("sured.p.min.1d.b32.trap", 0, 1, 1);
    for (int l = 0; l < WARP_LANES; l++) {
        set_i(0, l, 1);
        set_v(0, l, (uint32_t)(5 - l));
    }
    exec_inst(w, min, LANES_ALL, &fx);
    ck_assert_int_eq(((int32_t *)texels())[1], -26);
    teardown();
}
END_TEST

SUITE(isa_exec_tex) {
    TEST(nearest_texel);
    TEST(linear_filter);
    TEST_LOOP(address_modes, 0, 4);
    TEST_LOOP(filter_at_the_edge, 0, 4);
    TEST(wrap_needs_normalised_coordinates);
    TEST(integer_coordinates);
    TEST(two_dimensions);
    TEST(three_dimensions);
    TEST(layers);
    TEST(cube_faces);
    TEST_LOOP(channel_formats, 0, 10);
    TEST(gather_four);
    TEST_LOOP(queries, 0, 10);
    TEST(bad_handles);
    TEST(surface_bytes);
    TEST(surface_edges);
    TEST(surface_formats);
    TEST(surface_reductions);
}
