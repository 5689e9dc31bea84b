/* Tests bulk copies and tensor copies: random tensors and boxes against a reference in plain C that does not share code
 * with the simulator, and examples with values derived by hand. */
#include "host/heddle.h"
#include "isa/tensormap.h"
#include "test/every_model.h"
#include "test/random.h"
#include "test/test.h"
#include <stdio.h>

enum { SHARED = 16384, TENSOR = 1 << 16, THREADS = 64, DIMS = 5 };

struct rig {
    struct heddle *h;
    struct heddle_module *m;
    uint64_t tensor, out;
};

static void rig_open_set(struct rig *r, const char *model, const char *config, bool check, const char *option) {
    const char *const set[] = {"sm.shared_bytes=49152", option, NULL};
    char err[512] = "";
    r->h = heddle_open(
        &(struct heddle_options){.model = model, .config = config, .set = set, .cycle_limit = 10000000, .check = check},
        err, sizeof err);
    ck_assert_msg(r->h != NULL, "%s", err);
    r->tensor = heddle_alloc(r->h, TENSOR);
    r->out = heddle_alloc(r->h, SHARED);
    r->m = NULL;
}

static void rig_open_checked(struct rig *r, const char *model, const char *config, bool check) {
    rig_open_set(r, model, config, check, NULL);
}

static void rig_open(struct rig *r, const char *model, const char *config) {
    rig_open_checked(r, model, config, false);
}

/* Runs a kernel of one CTA: the thread 0 fills shared memory from `out`, all threads wait, thread 0 executes `body`,
 * and all threads write shared memory to `out`. Registers: %r1 shared memory, %r2 mbarrier, %d1 map, %d2 tensor. */
static enum heddle_status rig_run(struct rig *r, const char *body, const unsigned char map[TENSOR_MAP_BYTES]) {
    static char text[16384];
    snprintf(text, sizeof text,
             ".version 8.7\n.target sm_100a\n.address_size 64\n"
             ".visible .entry k(.param .align 64 .b8 m[128], .param .u64 t, .param .u64 o)\n{\n"
             ".reg .b16 %%h<8>; .reg .b32 %%r<32>; .reg .b64 %%d<16>; .reg .pred %%q<4>;\n"
             ".shared .align 1024 .b8 s[%d]; .shared .align 8 .b8 b[16];\n"
             "mov.b64 %%d1,m; cvta.param.u64 %%d1,%%d1; ld.param.u64 %%d2,[t]; ld.param.u64 %%d3,[o];\n"
             "mov.u32 %%r1,s; mov.u32 %%r2,b; mov.u32 %%r3,%%tid.x; setp.ne.u32 %%q1,%%r3,0;\n"
             "mul.wide.u32 %%d4,%%r3,4; add.u64 %%d3,%%d3,%%d4; mad.lo.u32 %%r4,%%r3,4,%%r1; mov.u32 %%r5,0;\n"
             "IN:\n ld.global.u32 %%r6,[%%d3]; st.shared.u32 [%%r4],%%r6; add.u64 %%d3,%%d3,%d; add.u32 %%r4,%%r4,%d;\n"
             "add.u32 %%r5,%%r5,%d; setp.lt.u32 %%q2,%%r5,%d;\n @%%q2 bra IN;\n"
             "fence.proxy.async.shared::cta; bar.sync 0;\n @%%q1 bra OUT;\n"
             "mbarrier.init.shared::cta.b64 [%%r2],1; fence.mbarrier_init.release.cluster;\n"
             "{\n%s\n}\nOUT:\n bar.sync 0; sub.u64 %%d3,%%d3,%d; sub.u32 %%r4,%%r4,%d; mov.u32 %%r5,0;\n"
             "BACK:\n ld.shared.u32 %%r6,[%%r4]; st.global.u32 [%%d3],%%r6; add.u64 %%d3,%%d3,%d; add.u32 "
             "%%r4,%%r4,%d;\n add.u32 %%r5,%%r5,%d; setp.lt.u32 %%q2,%%r5,%d;\n @%%q2 bra BACK;\n ret;\n}\n",
             SHARED, 4 * THREADS, 4 * THREADS, 4 * THREADS, SHARED, body, SHARED, SHARED, 4 * THREADS, 4 * THREADS,
             4 * THREADS, SHARED);
    r->m = heddle_module_text(r->h, "k.ptx", text, strlen(text));
    if (!r->m)
        return HEDDLE_USAGE;
    const struct heddle_arg args[] = {{map, TENSOR_MAP_BYTES}, {&r->tensor, 8}, {&r->out, 8}};
    const struct heddle_dim one = {1, 1, 1}, block = {THREADS, 1, 1};
    return heddle_launch(r->h, r->m, "k", one, block, 0, args, 3);
}

static void run_ok(struct rig *r, const char *body, const unsigned char map[TENSOR_MAP_BYTES]) {
    const enum heddle_status s = rig_run(r, body, map);
    ck_assert_msg(s == HEDDLE_OK, "%s\n%.900s", body, heddle_error(r->h));
}

#define WAIT  "W: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q2,[%r2],0;\n @!%q2 bra W;\n"
#define FLUSH "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"

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

/* ---- copies without a tensor ---- */

#define EXPECT_TX(n) "mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r2]," #n ";\n"
#define LOAD16(to, from)                                                                                               \
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+" #to "],[%d2+" #from "],16,[%r2];\n"

/* Bodies of kernels, and the words that shared memory or the tensor must have after each. Before the body, word i of
 * shared memory is i, and word i of the tensor is 1000 + i. */
static const struct {
    const char *body;
    bool in_tensor;
    unsigned at;
    uint32_t want[5];
} copies[] = {
    {EXPECT_TX(16) LOAD16(32, 48) WAIT, false, 8, {1012, 1013, 1014, 1015, 12}},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2+16],[%r1+64],16;\n" FLUSH, true, 4, {16, 17, 18, 19, 1008}},
    /* the mask copies bytes 0 to 3 and 8 to 9 of each 16, which are word 0 and the low half of word 2; 1006 = 0x3ee, 18
     * = 0x12 */
    {"mov.u16 %h1,0x030f; cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d2+16],[%r1+64],16,%h1;\n" FLUSH,
     true,
     4,
     {16, 1005, 18, 1007, 1008}},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2],[%r1+16],16;\n" FLUSH,
     true,
     0,
     {1004, 1006, 1008, 1010, 1004}},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%d2],[%r1+16],16;\n" FLUSH,
     true,
     0,
     {4, 5, 6, 7, 1004}},
    /* 1000 = 0x3e8, 4 = 0x004; 1001 = 0x3e9, 5; 1002 = 0x3ea, 6; 1003 = 0x3eb, 7 */
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.and.b64 [%d2],[%r1+16],16;\n" FLUSH,
     true,
     0,
     {0, 1, 2, 3, 1004}},
    {EXPECT_TX(16) "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                   "[%r1+16],[%r1+160],16,[%r2];\n" WAIT,
     false,
     4,
     {40, 41, 42, 43, 8}},
    {EXPECT_TX(16) "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s32 "
                   "[%r1+16],[%r1+160],16,[%r2];\n" WAIT,
     false,
     4,
     {44, 46, 48, 50, 8}},
    {EXPECT_TX(8) "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1+8],{5,%r1},[%r2];\n"
                  "mov.u32 %r7,77; st.shared.u32 [%r1+12],%r7;\n" WAIT,
     false,
     1,
     {1, 5, 77, 4, 5}},
    {EXPECT_TX(
         4) "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r1+8],2,[%r2];\n" WAIT,
     false,
     1,
     {1, 0, 3, 4, 5}}, /* 2 >= 2: 0 */
    {"st.bulk.weak.shared::cta [%r1+8],16,0;\n", false, 1, {1, 0, 0, 0, 0}},
    {EXPECT_TX(
         32) "mov.u16 %h1,1; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
             "[%r1],[%d2],32,[%r2],%h1;\n" WAIT,
     false,
     5,
     {1005, 1006, 1007, 8, 9}},
    {"cp.async.bulk.prefetch.L2.global [%d2],64;\n", false, 0, {0, 1, 2, 3, 4}},
};

static void words(struct rig *r) {
    for (uint32_t i = 0; i < SHARED / 4; i++)
        memcpy(want_shared + (size_t)4 * i, &i, 4);
    for (uint32_t i = 0; i < TENSOR / 4; i++)
        memcpy(want_tensor + (size_t)4 * i, &(uint32_t){1000 + i}, 4);
    upload(r);
}

static void check_copy(const char *model, int i) {
    static const unsigned char none[TENSOR_MAP_BYTES];
    struct rig r;
    uint32_t have[5];
    rig_open(&r, model, "h100");
    words(&r);
    run_ok(&r, copies[i].body, none);
    heddle_read(r.h, (copies[i].in_tensor ? r.tensor : r.out) + (uint64_t)4 * copies[i].at, have, sizeof have);
    for (int k = 0; k < 5; k++)
        ck_assert_msg(have[k] == copies[i].want[k], "%s: word %d is %u, not %u", copies[i].body, k, have[k],
                      copies[i].want[k]);
    heddle_close(r.h);
}

START_TEST(copies_do_what_they_say) {
    check_copy("functional", _i);
    check_copy("spe", _i);
}
END_TEST

/* ---- mistakes ---- */

static const struct {
    const char *body, *says;
} mistakes[] = {
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2],[%r1],24;\n", "a bulk copy of 24 bytes"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2+8],[%r1],16;\n", "misaligned"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2],[%r1+4],16;\n", "misaligned"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2+1048576],[%r1],16;\n", "a bulk write of 16 bytes at global"},
    {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1],[%d2],16,[%r2+8];\n", "there is no mbarrier"},
    {"cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%d1,{0}],[%r1];\n", "cuTensorMapEncode"},
    {"cp.async.bulk.global.shared::cta [%d2],[%r1],16;\n", "has .bulk_group"},
    {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1,{0}],[%r1];\n", "takes 2 coordinates, found 1"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],[%d2],16;\n", "has other operands"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.s32 [%d2],[%r1],16;\n", "no such reduction"},
    {"st.bulk.weak.shared::cta [%r1],16,1;\n", "expects the constant 0, found an integer"},
    {"st.bulk.weak.shared::cta [%r1],16,%r3;\n", "expects the constant 0, found '%r3'"},
    /* 4 GiB, for an address in the CTA and for its address in the cluster */
    {"st.bulk.weak.shared::cta [%r1],4294967296,0;\n", "a bulk write of 4294967296 bytes at shared"},
    {"mapa.shared::cluster.u32 %r7,%r1,0; st.bulk.weak.shared::cta [%r7],4294967296,0;\n",
     "a bulk write of 4294967296 bytes at shared"},
};

START_TEST(mistakes_are_reported) {
    static const unsigned char none[TENSOR_MAP_BYTES];
    struct rig r;
    rig_open(&r, "functional", "h100");
    words(&r);
    ck_assert_int_ne(rig_run(&r, mistakes[_i].body, none), HEDDLE_OK);
    ck_assert_msg(strstr(heddle_error(r.h), mistakes[_i].says) != NULL, "%s: %s", mistakes[_i].body, heddle_error(r.h));
    heddle_close(r.h);
}
END_TEST

/* Boxes of 4 GiB: 256 bytes in 2^24 rows. */
START_TEST(boxes_larger_than_shared_memory_are_refused) {
    static const char *const bodies[] = {
        EXPECT_TX(16) "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
                      "[%r1],[%d1,{0,0,0,0}],[%r2];\n",
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%d1,{0,0,0,0}],[%r1];\n",
        "cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%d1,{0,0,0,0}];\n",
    };
    struct rig r;
    unsigned char map[TENSOR_MAP_BYTES];
    rig_open(&r, "functional", "h100");
    const struct tensor_map m = {.type = TENSOR_F32,
                                 .rank = 4,
                                 .address = r.tensor,
                                 .dim = {64, 1, 1, 1, 1},
                                 .stride = {0, 256, 256, 256},
                                 .box = {64, 256, 256, 256, 1},
                                 .step = {1, 1, 1, 1, 1}};
    tensor_map_write(&m, map);
    ck_assert_int_eq(rig_run(&r, bodies[_i], map), HEDDLE_FAULT);
    ck_assert_msg(strstr(heddle_error(r.h), "the box has more bytes than the shared memory of a CTA") != NULL, "%s",
                  heddle_error(r.h));
    heddle_close(r.h);
}
END_TEST

/* A copy of 1 KiB makes eight requests. Each request reads a line of global memory and writes it to the banks of shared
 * memory. The copy is the only one, so the unit is busy from its issue to its end. With a latency that is 50 cycles
 * shorter, the copy ends about 50 cycles earlier; the clock of DRAM may change this by a few cycles. Two copies of 128
 * bytes are in the unit at the same time. */
START_TEST(statistics_of_copies) {
    static const char large[] = EXPECT_TX(1024) "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                                                "[%r1],[%d2],1024,[%r2];\n" WAIT;
    static const char two[] = EXPECT_TX(256) "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                                             "[%r1],[%d2],128,[%r2];\n"
                                             "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                                             "[%r1+128],[%d2+128],128,[%r2];\n" WAIT;
    static const unsigned char none[TENSOR_MAP_BYTES];
    static const char *const latencies[] = {"tma.latency=150", "tma.latency=100"};
    double took[2];
    for (int i = 0; i < 2; i++) {
        struct rig r;
        rig_open_set(&r, "spe", "h100", false, latencies[i]);
        run_ok(&r, large, none);
        ck_assert_double_eq(heddle_stat(r.h, -1, "tma.copies"), 1);
        ck_assert_double_eq(heddle_stat(r.h, -1, "tma.bytes"), 1024);
        ck_assert_double_eq(heddle_stat(r.h, -1, "tma.requests"), 8);
        took[i] = heddle_stat(r.h, -1, "tma.copy_cycles");
        ck_assert_double_gt(took[i], 100);
        ck_assert_double_eq(heddle_stat(r.h, -1, "tma.busy_cycles"), took[i]);
        heddle_close(r.h);
    }
    ck_assert_double_gt(took[0] - took[1], 45);
    ck_assert_double_lt(took[0] - took[1], 55);
    struct rig r;
    rig_open(&r, "spe", "h100");
    run_ok(&r, two, none);
    ck_assert_double_eq(heddle_stat(r.h, -1, "tma.copies"), 2);
    ck_assert_double_eq(heddle_stat(r.h, -1, "tma.bytes"), 256);
    ck_assert_double_lt(heddle_stat(r.h, -1, "tma.busy_cycles"), heddle_stat(r.h, -1, "tma.copy_cycles"));
    heddle_close(r.h);
}
END_TEST

/* The first body has no mistake. Each of the other bodies reads the destination, or overwrites the source, before the
 * wait. */
static const struct {
    const char *body, *says;
} checked[] = {
    {EXPECT_TX(16) LOAD16(32, 48) WAIT "ld.shared.u32 %r7,[%r1+32]; st.shared.u32 [%r1+32],%r7;\n"
                                       "fence.proxy.async.shared::cta;\n"
                                       "cp.async.bulk.global.shared::cta.bulk_group [%d2],[%r1+32],16;\n" FLUSH
                                       "st.shared.u32 [%r1+32],%r3;\n",
     NULL},
    {EXPECT_TX(16) LOAD16(32, 48) "ld.shared.u32 %r7,[%r1+32]; st.shared.u32 [%r1+64],%r7;\n" WAIT, "unfinished copy"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d2],[%r1],16;\n st.shared.u32 [%r1+12],%r3;\n" FLUSH,
     "unfinished copy"},
};

START_TEST(the_checker_knows_unfinished_copies) {
    static const unsigned char none[TENSOR_MAP_BYTES];
    struct rig r;
    rig_open_checked(&r, "functional", "h100", true);
    words(&r);
    const enum heddle_status s = rig_run(&r, checked[_i].body, none);
    ck_assert_msg(s == (checked[_i].says ? HEDDLE_FAULT : HEDDLE_OK), "%.900s", heddle_error(r.h));
    ck_assert_msg(!checked[_i].says || strstr(heddle_error(r.h), checked[_i].says), "%.900s", heddle_error(r.h));
    heddle_close(r.h);
}
END_TEST

SUITE(host_tma) {
    TEST(statistics_of_copies);
    TEST_LOOP(the_checker_knows_unfinished_copies, 0, (int)(sizeof checked / sizeof checked[0]));
    TEST_LOOP(columns_along_w, 0, 10);
    TEST_LOOP(numbers_of_4_and_6_bits, 0, 3);
    TEST_LOOP(maps_that_cannot_be, 0, 7);
    TEST_LOOP(random_boxes_equal_the_reference, 0, 3);
    TEST_LOOP(every_model_copies_the_same, 0, timed_models()->n);
    TEST_LOOP(copies_do_what_they_say, 0, (int)(sizeof copies / sizeof copies[0]));
    TEST_LOOP(boxes_larger_than_shared_memory_are_refused, 0, 3);
    TEST_LOOP(mistakes_are_reported, 0, (int)(sizeof mistakes / sizeof mistakes[0]));
}
