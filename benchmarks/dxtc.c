/* dxtc: compresses a picture with DXT1, which stores four bits per pixel. The picture has slow changes of colour and
 * some noise. The reference sorts, tries and rounds as the kernel does, so that both make the same choice between
 * candidates with nearly equal errors. The compressed squares must be equal.
 *   size small: 8 squares, 0.14 M warp and 4.3 M thread instructions
 *   size paper: 256 squares (64 x 64 pixels), 4.6 M warp and 137 M thread instructions (18 G in the dual-path
 *     paper, 130 times as many) */
#include "bench.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_dxtc;

enum { PIXELS = 16, BLOCK = 64, WAYS = 969 };

typedef float colour[3];

/* Lists all ways to divide 16 sorted pixels into four consecutive runs. The four runs get the first end colour, the
 * colours at one third and two thirds of the way from the first to the last, and the last end colour. */
static void cut(uint32_t ways[WAYS]) {
    uint32_t n = 0;
    for (uint32_t a = 0; a <= PIXELS; a++)
        for (uint32_t b = a; b <= PIXELS; b++)
            for (uint32_t c = b; c <= PIXELS; c++) {
                uint32_t way = 0;
                for (uint32_t i = 0; i < PIXELS; i++)
                    way |= (i < a ? 0u : i < b ? 2u : i < c ? 3u : 1u) << 2 * i;
                ways[n++] = way;
            }
}

static uint32_t rounded(float *v) {
    static const float most[3] = {31, 63, 31};
    uint32_t bits = 0;
    for (int i = 0; i < 3; i++) {
        float whole = floorf(fmaf(fminf(fmaxf(v[i], 0), 1), most[i], 0.5f));
        bits = bits << (i == 1 ? 6 : 5) | (uint32_t)whole;
        v[i] = whole / most[i];
    }
    return bits;
}

/* Returns the error, minus a constant, of the best end colours for one way to divide the pixels. */
static float attempt(colour *sorted, uint32_t way, uint32_t ends[2]) {
    static const float part[4] = {0, 1, 1 / 3.0f, 2 / 3.0f};
    float aa = 0, bb = 0, ab = 0, lost = 0;
    colour ax = {0}, bx = {0}, one, other;
    for (int i = 0; i < PIXELS; i++) {
        float b = part[way >> 2 * i & 3], a = 1 - b;
        aa = fmaf(a, a, aa);
        bb = fmaf(b, b, bb);
        ab = fmaf(a, b, ab);
        for (int c = 0; c < 3; c++) {
            ax[c] = fmaf(a, sorted[i][c], ax[c]);
            bx[c] = fmaf(b, sorted[i][c], bx[c]);
        }
    }
    float factor = 1 / fmaf(aa, bb, -(ab * ab));
    for (int c = 0; c < 3; c++) {
        one[c] = fmaf(ax[c], bb, -(bx[c] * ab)) * factor;
        other[c] = fmaf(bx[c], aa, -(ax[c] * ab)) * factor;
    }
    ends[0] = rounded(one);
    ends[1] = rounded(other);
    for (int c = 0; c < 3; c++) {
        float square = fmaf(one[c] * one[c], aa, other[c] * other[c] * bb);
        lost += fmaf(2.0f, fmaf(one[c] * other[c], ab, -fmaf(one[c], ax[c], other[c] * bx[c])), square);
    }
    return lost;
}

static void axis_of(colour *pixel, float axis[3]) {
    float mean[3] = {0}, m[3][3] = {{0}};
    for (int i = 0; i < PIXELS; i++)
        for (int c = 0; c < 3; c++)
            mean[c] = fmaf(pixel[i][c], 1.0f / PIXELS, mean[c]);
    for (int i = 0; i < PIXELS; i++)
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++)
                m[c][d] = fmaf(pixel[i][c] - mean[c], pixel[i][d] - mean[d], m[c][d]);
    axis[0] = axis[1] = axis[2] = 1;
    for (int round = 0; round < 8; round++) {
        float next[3];
        for (int c = 0; c < 3; c++)
            next[c] = fmaf(axis[2], m[c][2], fmaf(axis[1], m[c][1], axis[0] * m[c][0]));
        float most = fmaxf(fmaxf(next[0], next[1]), next[2]), scale = 1 / (most > 0 ? most : 1);
        for (int c = 0; c < 3; c++)
            axis[c] = next[c] * scale;
    }
}

/* Sorts pixels along their principal axis. Stores the new position of each pixel in `rank`. */
static void sort(colour *pixel, colour *sorted, int rank[PIXELS]) {
    float axis[3], along[PIXELS];
    axis_of(pixel, axis);
    for (int i = 0; i < PIXELS; i++)
        along[i] = fmaf(pixel[i][2], axis[2], fmaf(pixel[i][1], axis[1], pixel[i][0] * axis[0]));
    for (int i = 0; i < PIXELS; i++) {
        rank[i] = 0;
        for (int k = 0; k < PIXELS; k++)
            rank[i] += along[k] < along[i] || (k < i && along[k] == along[i]);
        memcpy(sorted[rank[i]], pixel[i], sizeof *sorted);
    }
}

static void compress(const uint32_t *square, const uint32_t *ways, uint32_t out[2]) {
    colour pixel[PIXELS], sorted[PIXELS];
    int rank[PIXELS];
    for (int i = 0; i < PIXELS; i++)
        for (int c = 0; c < 3; c++)
            pixel[i][c] = (float)(square[i] >> 8 * c & 255) * (1 / 255.0f);
    sort(pixel, sorted, rank);
    float least = FLT_MAX;
    uint32_t best = 0, ends[2], chosen[2] = {0, 0};
    for (uint32_t i = 0; i < WAYS; i++) {
        float lost = attempt(sorted, ways[i], ends);
        bool earlier = i % BLOCK < best % BLOCK; /* on a tie, the thread with the lower number wins */
        if (lost < least || (lost == least && earlier)) {
            least = lost;
            best = i;
            memcpy(chosen, ends, sizeof chosen);
        }
    }
    bool turned = chosen[0] < chosen[1];
    uint32_t way = ways[best] ^ (turned ? 0x55555555 : 0), bits = 0;
    for (int i = 0; i < PIXELS; i++)
        bits |= (way >> 2 * rank[i] & 3) << 2 * i;
    out[0] = chosen[!turned] << 16 | chosen[turned];
    out[1] = bits;
}

static void fill(uint32_t *picture, uint32_t squares) {
    uint64_t seed = 54;
    for (uint32_t s = 0; s < squares; s++) {
        float base[3], slope[3];
        bench_fill(base, 3, &seed, 60, 190);
        bench_fill(slope, 3, &seed, -8, 8);
        for (uint32_t i = 0; i < PIXELS; i++) {
            uint32_t pixel = 0;
            for (uint32_t c = 0; c < 3; c++) {
                float value = base[c] + slope[c] * (float)(i % 4) + slope[(c + 1) % 3] * (float)(i / 4);
                pixel |= (uint32_t)(value + bench_uniform(&seed, -9, 9)) << 8 * c;
            }
            picture[s * PIXELS + i] = pixel;
        }
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, uint32_t *picture, uint32_t squares,
                                 char *why, size_t why_size) {
    uint32_t *want = picture + squares * PIXELS, *got = want + 2 * squares, ways[WAYS], n = WAYS;
    fill(picture, squares);
    cut(ways);
    uint64_t in = bench_buffer(h, picture, squares * PIXELS * sizeof *picture),
             way = bench_buffer(h, ways, sizeof ways);
    uint64_t out = bench_buffer(h, NULL, 2 * squares * sizeof *got);
    if (!in || !way || !out)
        return heddle_status(h);
    struct heddle_dim grid = {squares, 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "dxtc", grid, block, BENCH_ARG(in), BENCH_ARG(way), BENCH_ARG(n), BENCH_ARG(out));
    if (s != HEDDLE_OK || (s = heddle_read(h, out, got, 2 * squares * sizeof *got)) != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < squares; i++)
        compress(picture + i * PIXELS, ways, want + 2 * i);
    return bench_compare_words(got, want, 2 * squares, "half of square", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t squares = size == BENCH_SMALL ? 8 : 256;
    uint32_t *all = calloc(squares, (PIXELS + 4) * sizeof *all);
    enum heddle_status s = all ? run_on(h, m, all, squares, why, why_size) : bench_no_memory(why, why_size);
    free(all);
    return s;
}

const struct bench bench_dxtc = {
    "dxtc",
    "compression of pictures; 969 trials shared out, half-warp ifs, a tree with barriers",
    "dual-path-regular",
    "dxtc.ptx",
    run,
};
