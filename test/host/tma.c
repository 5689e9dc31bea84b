/* Tests tensor copies: random tensors and boxes against a reference in plain C that does not share code with the
 * simulator. */
#include "test/every_model.h"
#include "test/host/tma_rig.h"
#include "test/random.h"

/* ---- the reference ---- */

/* A random tensor and a copy of a box, as plain values. */
struct tensor_case {
    unsigned rank, element, type, swizzle, steps_used;
    bool nan, im2col;
    int64_t dim[DIMS], stride[DIMS], box[DIMS], step[DIMS], at[DIMS];
    int lower[3], upper[3], offset[3];
    unsigned channels, pixels;
};

static unsigned char have_tensor[TENSOR], want_tensor[TENSOR], have_shared[SHARED], want_shared[SHARED];

/* Returns the place of byte `at` of shared memory after the swizzle: units of 16 bytes change places within 32, 64 or
 * 128 bytes. The number of the row of 128 bytes selects the exchange. */
static uint32_t placed(unsigned swizzle, uint32_t at) {
    static const uint32_t rows[] = {1, 2, 4, 8};
    uint32_t unit = at / 16 % 8, row = at / 128;
    return at / 128 * 128 + (unit ^ row % rows[swizzle]) * 16 + at % 16;
}

static uint32_t pitch_of(const struct tensor_case *c, uint32_t row_bytes) {
    static const uint32_t span[] = {0, 32, 64, 128};
    return c->swizzle ? span[c->swizzle] : row_bytes;
}

/* Moves one element between the tensor and shared memory in the reference. */
static void move(const struct tensor_case *c, bool store, const int64_t at[DIMS], uint32_t shared) {
    bool inside = true;
    int64_t address = 0;
    for (unsigned i = 0; i < c->rank; i++) {
        inside &= at[i] >= 0 && at[i] < c->dim[i];
        address += at[i] * (i ? c->stride[i] : c->element);
    }
    for (unsigned b = 0; b < c->element; b++) {
        const uint32_t to = placed(c->swizzle, shared + b);
        if (store && inside)
            want_tensor[address + b] = want_shared[to];
        else if (!store && inside)
            want_shared[to] = want_tensor[address + b];
        else if (!store) /* NaN is 0x7fff or 0x7fffffff */
            want_shared[to] = !c->nan ? 0 : b == c->element - 1 ? 0x7f : 0xff;
    }
}

/* Returns the number of bytes in the box. */
static uint32_t reference_tile(const struct tensor_case *c, bool store) {
    int64_t n[DIMS] = {1, 1, 1, 1, 1}, at[DIMS];
    for (unsigned i = 0; i < c->rank; i++)
        n[i] = i ? (c->box[i] + c->step[i] - 1) / c->step[i] : c->box[0];
    const uint32_t pitch = pitch_of(c, (uint32_t)n[0] * c->element);
    uint32_t row = 0;
    for (int64_t i4 = 0; i4 < n[4]; i4++)
        for (int64_t i3 = 0; i3 < n[3]; i3++)
            for (int64_t i2 = 0; i2 < n[2]; i2++)
                for (int64_t i1 = 0; i1 < n[1]; i1++, row++)
                    for (int64_t i0 = 0; i0 < n[0]; i0++) {
                        const int64_t index[DIMS] = {i0, i1, i2, i3, i4};
                        for (unsigned i = 0; i < DIMS; i++)
                            at[i] = c->at[i] + index[i] * (i ? c->step[i] : 1);
                        move(c, store, at, row * pitch + (uint32_t)i0 * c->element);
                    }
    return row * (uint32_t)n[0] * c->element;
}

/* Visits the pixels in the order W, H, D, N from the base position on, within the bounding box of base positions. */
static uint32_t reference_im2col(const struct tensor_case *c) {
    int64_t base[DIMS], at[DIMS] = {0};
    const uint32_t pitch = pitch_of(c, c->channels * c->element);
    memcpy(base, c->at, sizeof base);
    for (unsigned p = 0; p < c->pixels; p++) {
        for (unsigned ch = 0; ch < c->channels; ch++) {
            for (unsigned i = 1; i < c->rank; i++)
                at[i] = base[i] + (i < c->rank - 1 ? c->offset[i - 1] : 0);
            at[0] = base[0] + ch;
            move(c, false, at, p * pitch + ch * c->element);
        }
        bool carry = true;
        for (unsigned i = 1; i < c->rank - 1 && carry; i++) {
            base[i] += c->step[i];
            carry = base[i] > c->dim[i] - 1 + c->upper[i - 1];
            if (carry)
                base[i] = c->lower[i - 1];
        }
        base[c->rank - 1] += carry;
    }
    return c->pixels * c->channels * c->element;
}

/* ---- random cases ---- */

static void draw_common(uint64_t *r, struct tensor_case *c, unsigned least_rank) {
    static const struct {
        unsigned type, bytes;
    } types[] = {{TENSOR_U8, 1}, {TENSOR_U16, 2}, {TENSOR_S32, 4}, {TENSOR_U64, 8}, {TENSOR_F16, 2}, {TENSOR_F32, 4}};
    const unsigned t = test_random_below(r, 6);
    *c = (struct tensor_case){.rank = least_rank + test_random_below(r, DIMS + 1 - least_rank),
                              .element = types[t].bytes,
                              .type = types[t].type,
                              .swizzle = test_random_below(r, 4)};
    c->nan = t >= 4 && test_random_below(r, 2);
    int64_t bytes = 0;
    for (unsigned i = 0; i < DIMS; i++) {
        c->dim[i] = i < c->rank ? 1 + test_random_below(r, i ? 5 : 40) : 1;
        c->stride[i] = bytes;
        c->step[i] = i < c->rank && test_random_below(r, 3) == 0 ? 1 + test_random_below(r, 3) : 1;
        bytes = i == 0 ? (c->dim[0] * c->element + 15) / 16 * 16 + 16 * test_random_below(r, 2) : bytes * c->dim[i];
    }
    ck_assert_int_le(bytes, TENSOR);
}

/* Returns a random number of elements for a row: their bytes are a multiple of 16, and at most the span of the
 * swizzle. */
static unsigned draw_row(uint64_t *r, const struct tensor_case *c) {
    static const unsigned most[] = {8, 2, 4, 8};
    return (1 + test_random_below(r, most[c->swizzle])) * 16 / c->element;
}

static void draw_tile(uint64_t *r, struct tensor_case *c) {
    draw_common(r, c, 1);
    uint32_t rows = 1;
    for (unsigned i = 0; i < DIMS; i++) {
        c->box[i] = i == 0 ? draw_row(r, c) : i < c->rank ? 1 + test_random_below(r, 4) : 1;
        c->at[i] = i < c->rank ? (int64_t)test_random_below(r, (uint32_t)c->dim[i] + 6) - 3 : 0;
        rows *= i ? (uint32_t)((c->box[i] + c->step[i] - 1) / c->step[i]) : 1;
    }
    if (rows * 128 > SHARED)
        c->box[1] = c->box[2] = 1;
}

static void draw_im2col(uint64_t *r, struct tensor_case *c) {
    draw_common(r, c, 3);
    c->im2col = true;
    c->channels = draw_row(r, c);
    c->pixels = 1 + test_random_below(r, 40);
    c->at[0] = test_random_below(r, (uint32_t)c->dim[0]);
    c->at[c->rank - 1] = test_random_below(r, (uint32_t)c->dim[c->rank - 1]);
    for (unsigned i = 0; i < c->rank - 2; i++) {
        c->offset[i] = (int)test_random_below(r, 3);
        c->lower[i] = (int)test_random_below(r, 3) - 2;
        c->upper[i] = (int)test_random_below(r, 4) - 2;
        while (c->lower[i] > c->dim[i + 1] - 1 + c->upper[i])
            c->upper[i]++;
        c->at[i + 1] =
            c->lower[i] + (int64_t)test_random_below(r, (uint32_t)(c->dim[i + 1] + c->upper[i] - c->lower[i]));
    }
}

static void encode(const struct rig *r, const struct tensor_case *c, unsigned char raw[TENSOR_MAP_BYTES]) {
    struct tensor_map m = {.type = (uint8_t)c->type,
                           .rank = (uint8_t)c->rank,
                           .swizzle = (uint8_t)c->swizzle,
                           .fills_nan = c->nan,
                           .im2col = c->im2col,
                           .address = r->tensor,
                           .channels = c->channels,
                           .pixels = c->pixels};
    for (unsigned i = 0; i < DIMS; i++) {
        m.dim[i] = (uint64_t)c->dim[i];
        m.stride[i] = (uint64_t)c->stride[i];
        m.box[i] = (uint32_t)c->box[i];
        m.step[i] = (uint32_t)c->step[i];
    }
    for (unsigned i = 0; i < 3; i++) {
        m.lower[i] = c->lower[i];
        m.upper[i] = c->upper[i];
    }
    const char *wrong = tensor_map_wrong(&m);
    ck_assert_msg(!wrong, "%s", wrong);
    tensor_map_write(&m, raw);
}

static void fill(uint64_t *r) {
    for (unsigned i = 0; i < TENSOR; i++)
        want_tensor[i] = (unsigned char)test_random_below(r, 256);
    for (unsigned i = 0; i < SHARED; i++)
        want_shared[i] = (unsigned char)test_random_below(r, 256);
}

static int coordinates(const struct tensor_case *c, char *out, size_t size) {
    int n = 0;
    for (unsigned i = 0; i < c->rank; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%d", i ? "," : "", (int)c->at[i]);
    return n;
}

/* Runs a body and compares tensor and shared memory with the reference. */
static void compare(struct rig *r, const char *body, const unsigned char map[TENSOR_MAP_BYTES], const char *what) {
    run_ok(r, body, map);
    ck_assert_int_eq(heddle_read(r->h, r->tensor, have_tensor, TENSOR), HEDDLE_OK);
    ck_assert_int_eq(heddle_read(r->h, r->out, have_shared, SHARED), HEDDLE_OK);
    for (unsigned i = 0; i < SHARED; i++)
        ck_assert_msg(have_shared[i] == want_shared[i], "%s: shared byte %u is %u, not %u\n%s", what, i, have_shared[i],
                      want_shared[i], body);
    for (unsigned i = 0; i < TENSOR; i++)
        ck_assert_msg(have_tensor[i] == want_tensor[i], "%s: tensor byte %u is %u, not %u\n%s", what, i, have_tensor[i],
                      want_tensor[i], body);
}

static void upload(struct rig *r) {
    ck_assert_int_eq(heddle_write(r->h, r->tensor, want_tensor, TENSOR), HEDDLE_OK);
    ck_assert_int_eq(heddle_write(r->h, r->out, want_shared, SHARED), HEDDLE_OK);
}

static void one_case(struct rig *r, uint64_t *random, unsigned kind) {
    struct tensor_case c;
    unsigned char map[TENSOR_MAP_BYTES];
    char body[1024], at[128];
    if (kind == 2)
        draw_im2col(random, &c);
    else
        draw_tile(random, &c);
    fill(random);
    upload(r);
    encode(r, &c, map);
    coordinates(&c, at, sizeof at);
    if (kind == 1) {
        reference_tile(&c, true);
        snprintf(body, sizeof body,
                 "cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group [%%d1,{%s}],[%%r1];\n%s", c.rank, at,
                 FLUSH);
    } else {
        const uint32_t bytes = kind == 2 ? reference_im2col(&c) : reference_tile(&c, false);
        char offsets[64] = "";
        for (unsigned i = 0, n = 0; kind == 2 && i < c.rank - 2; i++)
            n += (unsigned)snprintf(offsets + n, sizeof offsets - n, "%s%d", i ? "," : ",{", c.offset[i]);
        snprintf(body, sizeof body,
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _,[%%r2],%u;\n"
                 "cp.async.bulk.tensor.%ud.shared::cluster.global.%s.mbarrier::complete_tx::bytes "
                 "[%%r1],[%%d1,{%s}],[%%r2]%s%s;\n%s",
                 bytes, c.rank, kind == 2 ? "im2col" : "tile", at, offsets, kind == 2 ? "}" : "", WAIT);
    }
    compare(r, body, map, kind == 2 ? "im2col" : kind ? "store" : "load");
}

START_TEST(random_boxes_equal_the_reference) {
    struct rig r;
    uint64_t random = (uint64_t)_i * 77 + 5;
    rig_open(&r, "functional", "h100");
    for (int n = 0; n < 40; n++)
        one_case(&r, &random, (unsigned)_i);
    heddle_close(r.h);
}
END_TEST

START_TEST(every_model_copies_the_same) {
    struct rig r;
    uint64_t random = 4711;
    rig_open(&r, timed_models()->name[_i], "h100");
    for (unsigned kind = 0; kind < 3; kind++)
        one_case(&r, &random, kind);
    heddle_close(r.h);
}
END_TEST

/* ---- columns along W, and numbers of 4 and 6 bits ---- */

enum { HALO = 2, MOST_PIXELS = 136 };

/* Lists the pixels of a wide column in the order in which shared memory gets them: W and N of each. */
static int wide_pixels(const struct tensor_case *c, bool wide_128, int halo, int shift, int64_t w[], int64_t n[]) {
    const int64_t first = c->lower[0] + shift, last = c->dim[1] - 1 + c->upper[0] + shift;
    int64_t at = c->at[1] + shift, image = c->at[c->rank - 1];
    int count = 0;
    for (int p = 0; p < (wide_128 ? 128 : (int)c->pixels); p++) {
        w[count] = at;
        n[count++] = image;
        if (wide_128 ? p % 32 == 31 : p == (int)c->pixels - 1)
            for (int i = 1; i <= halo; i++) {
                w[count] = at + i * c->step[1];
                n[count++] = image;
            }
        at += c->step[1];
        if (at > last) {
            at = first;
            image++;
        }
    }
    return count;
}

/* Loads a column of at most 128 pixels of 64 bytes, and compares all of shared memory. */
START_TEST(columns_along_w) {
    const bool wide_128 = _i % 2;
    struct rig r;
    uint64_t random = (uint64_t)_i + 3;
    rig_open(&r, _i < 8 ? "functional" : "spe", "h100");
    for (int round = 0; round < 6; round++) {
        struct tensor_case c = {
            .rank = 3 + test_random_below(&random, 3), .element = 2, .type = TENSOR_F16, .channels = 32};
        int64_t w[MOST_PIXELS + 16], n[MOST_PIXELS + 16], bytes = 64;
        const int halo = (int)test_random_below(&random, HALO + 1), shift = (int)test_random_below(&random, 3);
        unsigned char map[TENSOR_MAP_BYTES];
        char body[1024], at[128];
        c.swizzle = 2 + (wide_128 ? 0 : test_random_below(&random, 2)); /* 128 pixels of 128 bytes do not fit */
        c.im2col = true;
        c.nan = test_random_below(&random, 2);
        c.pixels = 1 + test_random_below(&random, 40);
        for (unsigned i = 0; i < DIMS; i++) {
            c.dim[i] = i == 0 ? 32 : i < c.rank ? 3 + test_random_below(&random, 4) : 1;
            c.step[i] = i == 1 ? 1 + test_random_below(&random, 2) : 1;
            c.stride[i] = i ? bytes : 0;
            bytes *= i ? c.dim[i] : 1;
            c.at[i] = i && i < c.rank ? (int64_t)test_random_below(&random, (uint32_t)c.dim[i]) : 0;
        }
        c.lower[0] = -(int)test_random_below(&random, 2);
        c.upper[0] = -(int)test_random_below(&random, 2);
        c.at[1] = c.lower[0] - (int64_t)test_random_below(&random, 2);
        fill(&random);
        upload(&r);
        struct tensor_map m = {.type = TENSOR_F16,
                               .rank = (uint8_t)c.rank,
                               .swizzle = (uint8_t)c.swizzle,
                               .fills_nan = c.nan,
                               .im2col = wide_128 ? TENSOR_COLUMNS_WIDE_128 : TENSOR_COLUMNS_WIDE,
                               .address = r.tensor,
                               .channels = 32,
                               .pixels = wide_128 ? 0 : c.pixels};
        for (unsigned i = 0; i < DIMS; i++) {
            m.dim[i] = (uint64_t)c.dim[i];
            m.stride[i] = (uint64_t)c.stride[i];
            m.step[i] = (uint32_t)c.step[i];
        }
        m.lower[0] = c.lower[0];
        m.upper[0] = c.upper[0];
        ck_assert_msg(!tensor_map_wrong(&m), "%s", tensor_map_wrong(&m));
        tensor_map_write(&m, map);
        const int count = wide_pixels(&c, wide_128, halo, shift, w, n);
        for (int p = 0; p < count; p++)
            for (int channel = 0; channel < 32; channel++) {
                int64_t place[DIMS];
                memcpy(place, c.at, sizeof place);
                place[0] = channel;
                place[1] = w[p];
                place[c.rank - 1] = n[p];
                move(&c, false, place, (uint32_t)p * pitch_of(&c, 64) + (uint32_t)channel * 2);
            }
        coordinates(&c, at, sizeof at);
        snprintf(body, sizeof body,
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _,[%%r2],%d;\n"
                 "cp.async.bulk.tensor.%ud.shared::cluster.global.im2col::w%s.mbarrier::complete_tx::bytes "
                 "[%%r1],[%%d1,{%s}],[%%r2],{%d,%d};\n%s",
                 count * 64, c.rank, wide_128 ? "::128" : "", at, halo, shift, WAIT);
        compare(&r, body, map, "a column along W");
    }
    heddle_close(r.h);
}
END_TEST

/* Loads a box of 128 numbers in each of four rows, stores it five rows further, and compares. In shared memory, padding
 * of zeros follows 16 numbers of a type of ALIGN16B. */
START_TEST(numbers_of_4_and_6_bits) {
    static const struct {
        int type, bytes, group; /* bytes, group: bytes of 16 numbers in global and in shared memory */
        bool stores;
    } types[] = {
        {TENSOR_16U4_ALIGN8B, 8, 8, true}, {TENSOR_16U4_ALIGN16B, 8, 16, false}, {TENSOR_16U6_ALIGN16B, 12, 16, true}};
    const int in = types[_i].bytes * 8, out = types[_i].group * 8, stride = 256;
    const bool swizzled = types[_i].group == 16;
    struct rig r;
    uint64_t random = (uint64_t)_i + 1;
    unsigned char map[TENSOR_MAP_BYTES];
    char body[1024];
    rig_open(&r, "functional", "h100");
    fill(&random);
    upload(&r);
    struct tensor_map m = {.type = (uint8_t)types[_i].type,
                           .rank = 2,
                           .swizzle = swizzled ? SWIZZLE_128B : SWIZZLE_NONE,
                           .address = r.tensor,
                           .dim = {256, 16, 1, 1, 1},
                           .stride = {0, stride, 0, 0, 0},
                           .box = {128, 4, 1, 1, 1},
                           .step = {1, 1, 1, 1, 1}};
    ck_assert_msg(!tensor_map_wrong(&m), "%s", tensor_map_wrong(&m));
    tensor_map_write(&m, map);
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < out; i++) {
            const int group = i / types[_i].group, byte = i % types[_i].group;
            const unsigned char v =
                byte < types[_i].bytes ? want_tensor[(row + 3) * stride + in + group * types[_i].bytes + byte] : 0;
            want_shared[placed(swizzled ? 3 : 0, (uint32_t)(row * out + i))] = v;
        }
    for (int row = 3; row >= 0 && types[_i].stores; row--)
        memcpy(want_tensor + (row + 8) * stride, want_tensor + (row + 3) * stride + in, (size_t)in);
    snprintf(body, sizeof body,
             "mbarrier.arrive.expect_tx.shared::cta.b64 _,[%%r2],%d;\n"
             "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
             "[%%r1],[%%d1,{128,3}],[%%r2];\n%s\n%s",
             4 * out, WAIT,
             types[_i].stores ? "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1,{0,8}],[%r1];\n" FLUSH
                              : "");
    compare(&r, body, map, "packed numbers");
    heddle_close(r.h);
}
END_TEST

START_TEST(maps_that_cannot_be) {
    static const struct {
        struct tensor_map m;
        const char *wrong;
    } cases[] = {
        {{.type = TENSOR_16U4_ALIGN16B, .rank = 1, .dim = {64}, .box = {128}, .step = {1}}, "is a multiple of 128"},
        {{.type = TENSOR_16U4_ALIGN8B, .rank = 1, .dim = {33}, .box = {32}, .step = {1}}, "of ALIGN8B of 2"},
        {{.type = TENSOR_16U6_ALIGN16B, .rank = 1, .dim = {128}, .box = {64}, .step = {1}}, "has 128 elements"},
        {{.type = TENSOR_16U6_ALIGN16B, .rank = 1, .dim = {128}, .box = {128}, .step = {1}, .swizzle = SWIZZLE_64B},
         "SWIZZLE_NONE, SWIZZLE_128B or SWIZZLE_128B_ATOM_32B"},
        {{.type = TENSOR_16U4_ALIGN8B, .rank = 1, .dim = {32}, .box = {32}, .step = {1}, .fills_nan = true},
         "only tensors of floating-point numbers"},
        {{.type = TENSOR_F16,
          .im2col = TENSOR_COLUMNS_WIDE,
          .rank = 3,
          .dim = {32, 4, 4},
          .step = {1, 1, 1},
          .channels = 32,
          .pixels = 8},
         "im2col::w has SWIZZLE_64B"},
        {{.type = N_TENSOR_TYPES, .rank = 1, .dim = {32}, .box = {32}, .step = {1}}, "the data type is known"},
    };
    const char *wrong = tensor_map_wrong(&cases[_i].m);
    ck_assert_msg(wrong && strstr(wrong, cases[_i].wrong), "%s", wrong ? wrong : "accepted");
}
END_TEST

SUITE(host_tma) {
    TEST_LOOP(columns_along_w, 0, 10);
    TEST_LOOP(numbers_of_4_and_6_bits, 0, 3);
    TEST_LOOP(maps_that_cannot_be, 0, 7);
    TEST_LOOP(random_boxes_equal_the_reference, 0, 3);
    TEST_LOOP(every_model_copies_the_same, 0, timed_models()->n);
}
