/* sad: motion estimation between two frames. The second frame is the first with noise, shifted by a few pixels; the
 * shift differs by macroblock. The reference computes each sum directly from the pixels.
 *   size small: 2 macroblocks, 0.17 M warp and 5.1 M thread instructions
 *   size paper: 176 x 144 as in Parboil, 8.4 M warp and 252 M thread instructions */
#include "bench.h"
#include <stdlib.h>

extern const struct bench bench_sad;

enum { RANGE = 16, SIDE = 2 * RANGE + 1, POSITIONS = SIDE * SIDE, PADDED = 1096, KINDS = 7, SUMS = 41 };

struct frames {
    uint32_t mb_width, mb_height, width, height;
    uint16_t *reference, *frame; /* width x height each */
    uint16_t *wide;              /* `reference` with a border of RANGE pixels: (width + 2 RANGE) x (height + 2 RANGE) */
    uint16_t *want, *got;        /* SUMS x macroblocks x PADDED elements in each array */
};

/* Returns the pixel at (x, y), or the nearest pixel of the frame if (x, y) is outside. */
static int texel(const struct frames *f, int x, int y) {
    int right = (int)f->width - 1, bottom = (int)f->height - 1;
    x = x < 0 ? 0 : x > right ? right : x;
    y = y < 0 ? 0 : y > bottom ? bottom : y;
    return f->reference[y * (int)f->width + x];
}

static void fill(struct frames *f) {
    uint64_t seed = 23;
    for (uint32_t i = 0; i < f->width * f->height; i++) {
        uint32_t x = i % f->width, y = i / f->width, coarse = (x / 6 * 73 + y / 5 * 151) & 127;
        f->reference[i] = (uint16_t)(coarse + bench_random(&seed) % 96);
    }
    for (uint32_t i = 0; i < f->width * f->height; i++) {
        uint32_t x = i % f->width, y = i / f->width, mb = y / 16 * f->mb_width + x / 16;
        f->frame[i] =
            (uint16_t)(texel(f, (int)x + (int)(mb % 7) - 3, (int)y - (int)(mb % 5)) + (int)(bench_random(&seed) % 4));
    }
}

/* Extends the reference frame by its nearest pixels. */
static void widen(const struct frames *f) {
    const int width = (int)f->width + 2 * RANGE, height = (int)f->height + 2 * RANGE;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            f->wide[y * width + x] = (uint16_t)texel(f, x - RANGE, y - RANGE);
}

/* Sets sum[k] to the sum of absolute differences between a block of w x h pixels at (x, y) and the block of the
 * reference frame that is (k - RANGE, dy) pixels away. The inner loop has a constant length: it becomes vector code. */
static void add_row(const struct frames *f, int x, int y, int w, int h, int dy, uint16_t sum[SIDE]) {
    const int wide = (int)f->width + 2 * RANGE;
    int all[SIDE] = {0};
    for (int i = y; i < y + h; i++)
        for (int j = x; j < x + w; j++) {
            const int pixel = f->frame[i * (int)f->width + j];
            const uint16_t *other = f->wide + (i + dy + RANGE) * wide + j;
            for (int k = 0; k < SIDE; k++)
                all[k] += abs(pixel - other[k]);
        }
    for (int k = 0; k < SIDE; k++)
        sum[k] = (uint16_t)all[k];
}

static void reference(const struct frames *f) {
    /* width and height of each kind of block, in the order of the kinds in the result array */
    static const int size[KINDS][2] = {{16, 16}, {16, 8}, {8, 16}, {8, 8}, {8, 4}, {4, 8}, {4, 4}};
    uint32_t mbs = f->mb_width * f->mb_height;
    uint16_t *out = f->want;
    widen(f);
    for (int kind = 0; kind < KINDS; kind++) {
        int w = size[kind][0], h = size[kind][1], across = 16 / w, blocks = across * (16 / h);
        for (uint32_t mb = 0; mb < mbs; mb++)
            for (int b = 0; b < blocks; b++, out += PADDED)
                for (int dy = -RANGE; dy <= RANGE; dy++)
                    add_row(f, (int)(mb % f->mb_width) * 16 + b % across * w,
                            (int)(mb / f->mb_width) * 16 + b / across * h, w, h, dy, out + (dy + RANGE) * SIDE);
    }
}

static enum heddle_status estimate(struct heddle *h, struct heddle_module *m, struct frames *f, uint64_t sums) {
    uint64_t bytes = (uint64_t)f->width * f->height * sizeof *f->frame;
    uint64_t frame = bench_buffer(h, f->frame, bytes), reference_at = bench_buffer(h, f->reference, bytes);
    if (!frame || !reference_at)
        return heddle_status(h);
    struct heddle_texture t = {.data = reference_at,
                               .width = f->width,
                               .height = f->height,
                               .format = HEDDLE_U16,
                               .sampler = {.address = {HEDDLE_CLAMP, HEDDLE_CLAMP, HEDDLE_CLAMP}}};
    uint64_t texture = heddle_texture_object(h, &t);
    if (!texture)
        return heddle_status(h);
    struct heddle_dim fours = {f->mb_width * 4, f->mb_height * 4, 1}, mbs = {f->mb_width, f->mb_height, 1};
    struct heddle_dim search = {61, 1, 1}, four_warps = {32, 4, 1}, warp = {32, 1, 1};
    enum heddle_status s = BENCH_LAUNCH(h, m, "sad_blocks", fours, search, BENCH_ARG(sums), BENCH_ARG(frame),
                                        BENCH_ARG(texture), BENCH_ARG(f->mb_width), BENCH_ARG(f->mb_height));
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "sad_larger_8", mbs, four_warps, BENCH_ARG(sums), BENCH_ARG(f->mb_width),
                         BENCH_ARG(f->mb_height));
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "sad_larger_16", mbs, warp, BENCH_ARG(sums), BENCH_ARG(f->mb_width),
                         BENCH_ARG(f->mb_height));
    return s;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct frames *f, char *why,
                                 size_t why_size) {
    uint32_t rows = f->mb_width * f->mb_height * SUMS;
    uint64_t bytes = (uint64_t)rows * PADDED * sizeof *f->got;
    fill(f);
    uint64_t sums = bench_buffer(h, NULL, bytes);
    if (!sums)
        return heddle_status(h);
    enum heddle_status s = estimate(h, m, f, sums);
    if (s != HEDDLE_OK || (s = heddle_read(h, sums, f->got, bytes)) != HEDDLE_OK)
        return s;
    reference(f);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t p = 0; p < POSITIONS; p++)
            if (f->got[row * PADDED + p] != f->want[row * PADDED + p]) {
                snprintf(why, why_size, "sum %u at position %u is %u, the reference says %u", row, p,
                         f->got[row * PADDED + p], f->want[row * PADDED + p]);
                return HEDDLE_WRONG;
            }
    return HEDDLE_OK;
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct frames f = {.mb_width = size == BENCH_SMALL ? 2 : 11, .mb_height = size == BENCH_SMALL ? 1 : 9};
    f.width = f.mb_width * 16;
    f.height = f.mb_height * 16;
    size_t pixels = (size_t)f.width * f.height, wide = (size_t)(f.width + 2 * RANGE) * (f.height + 2 * RANGE),
           sums = (size_t)f.mb_width * f.mb_height * SUMS * PADDED;
    uint16_t *all = calloc(2 * pixels + wide + 2 * sums, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    f.reference = all;
    f.frame = all + pixels;
    f.wide = all + 2 * pixels;
    f.want = f.wide + wide;
    f.got = f.want + sums;
    enum heddle_status s = run_on(h, m, &f, why, why_size);
    free(all);
    return s;
}

const struct bench bench_sad = {
    "sad", "motion estimation; a texture, ifs without else for those who copy, barriers", "dac", "sad.ptx", run,
};
