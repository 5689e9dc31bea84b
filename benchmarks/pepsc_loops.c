/* NAME_loop: the ten programs of the set `pepsc` as plain loops, for one CTA of 32 threads without shared memory
 * (kernels/loops.cu). NAME_sides: four of them in source form (kernels/sides.cu). The PEPSC paper measured its
 * prefetchers on plain loops (sections IV, IV-B). The references compute in double; results are compared within 1e-4 of
 * max(1, |value|), and nw's scores exactly.
 *   small: arrays of 24 to 200 KB, 0.005 to 0.1 M warp instructions
 *   paper: arrays of 0.2 to 4 MB, more than the L2 of the preset pepsc (128 KB); 0.1 to 2 M warp instructions */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, MAX_ARRAYS = 8 };

/* One run: the library, the host's arrays, and where to put an error. */
struct loops {
    struct heddle *h;
    struct heddle_module *m;
    char *why;
    size_t why_size;
    bool small;
    const char *form; /* "loop" or "sides" */
    uint64_t seed;
    float *array[MAX_ARRAYS]; /* freed at the end */
    int n_arrays;
};

/* Returns a new zeroed array of n floats on the host, or NULL. */
static float *zeros(struct loops *r, size_t n) {
    float *a = calloc(n ? n : 1, sizeof *a);
    if (a)
        r->array[r->n_arrays++] = a;
    else
        bench_no_memory(r->why, r->why_size);
    return a;
}

/* Returns a new array of n random floats in [lo, hi), or NULL. */
static float *random_floats(struct loops *r, size_t n, float lo, float hi) {
    float *a = zeros(r, n);
    if (a)
        bench_fill(a, n, &r->seed, lo, hi);
    return a;
}

struct kernel_name {
    char text[24];
};

/* Returns the name of the kernel for a program in the form r->form ("loop" or "sides"). */
static struct kernel_name name_of(const struct loops *r, const char *program) {
    struct kernel_name k;
    snprintf(k.text, sizeof k.text, "%s_%s", program, r->form);
    return k;
}

static bool in_sides(const struct loops *r) { return strcmp(r->form, "sides") == 0; }

#define BUFFER(data, n) bench_buffer(r->h, data, (uint64_t)(n) * sizeof(float))
#define LAUNCH(name, ...)                                                                                              \
    BENCH_LAUNCH(r->h, r->m, name_of(r, name).text, ((struct heddle_dim){1, 1, 1}),                                    \
                 ((struct heddle_dim){LANES, 1, 1}), __VA_ARGS__)

/* Reads n floats of a buffer and compares them with `want`. */
static enum heddle_status compare(struct loops *r, uint64_t buffer, const float *want, size_t n, const char *what) {
    float *got = zeros(r, n);
    if (!got)
        return HEDDLE_USAGE;
    enum heddle_status s = heddle_read(r->h, buffer, got, n * sizeof *got);
    return s != HEDDLE_OK ? s : bench_compare(got, want, n, 1e-4, what, r->why, r->why_size);
}

static enum heddle_status run_nw(struct loops *r) {
    const uint32_t n = r->small ? 96 : 512, width = n + 1, gap = 10;
    const size_t words = (size_t)(2 * n + 1) * width;
    int32_t *score = (int32_t *)zeros(r, words), *match = (int32_t *)zeros(r, words);
    uint32_t *got = (uint32_t *)zeros(r, words);
    if (!score || !match || !got)
        return HEDDLE_USAGE;
    for (size_t i = 0; i < words; i++)
        match[i] = (int32_t)(bench_random(&r->seed) % 21) - 10;
    for (uint32_t i = 0; i <= n; i++)
        score[(size_t)i * width + i] = score[(size_t)i * width] = -(int32_t)(i * gap);
    uint64_t scores = BUFFER(score, words), matches = BUFFER(match, words);
    if (!scores || !matches)
        return heddle_status(r->h);
    enum heddle_status s = LAUNCH("nw", BENCH_ARG(scores), BENCH_ARG(matches), BENCH_ARG(n), BENCH_ARG(gap));
    if (s != HEDDLE_OK || (s = heddle_read(r->h, scores, got, words * sizeof *got)) != HEDDLE_OK)
        return s;
    for (uint32_t i = 1; i <= n; i++)
        for (uint32_t j = 1; j <= n; j++) {
            const size_t d = i + j;
            const int32_t both = score[(d - 2) * width + i - 1] + match[d * width + i];
            const int32_t above = score[(d - 1) * width + i - 1], left = score[(d - 1) * width + i];
            const int32_t one = (above > left ? above : left) - (int32_t)gap;
            score[d * width + i] = both > one ? both : one;
        }
    return bench_compare_words(got, (const uint32_t *)score, words, "score", r->why, r->why_size);
}

static double srad_coefficient(const double *image, uint32_t rows, uint32_t cols, uint32_t i, double spread,
                               double slope[4]) {
    const uint32_t row = i / cols, col = i % cols;
    const double centre = image[i];
    slope[0] = image[row ? i - cols : i] - centre;
    slope[1] = image[row < rows - 1 ? i + cols : i] - centre;
    slope[2] = image[col ? i - 1 : i] - centre;
    slope[3] = image[col < cols - 1 ? i + 1 : i] - centre;
    double squares = 0, laplace = 0;
    for (int k = 0; k < 4; k++) {
        squares += slope[k] * slope[k] / (centre * centre);
        laplace += slope[k] / centre;
    }
    const double divisor = 1 + 0.25 * laplace, q = (0.5 * squares - laplace * laplace / 16) / (divisor * divisor);
    return fmin(fmax(1 / (1 + (q - spread) / (spread * (1 + spread))), 0), 1);
}

/* Performs one round of the algorithm on the image; `slopes` and `coefficient` are scratch. */
static void srad_round(double *image, double (*slopes)[4], double *coefficient, uint32_t rows, uint32_t cols,
                       double lambda) {
    const uint32_t size = rows * cols;
    double sum = 0, sum2 = 0;
    for (uint32_t i = 0; i < size; i++) {
        sum += image[i];
        sum2 += image[i] * image[i];
    }
    const double mean = sum / size, spread = (sum2 / size - mean * mean) / (mean * mean);
    for (uint32_t i = 0; i < size; i++)
        coefficient[i] = srad_coefficient(image, rows, cols, i, spread, slopes[i]);
    for (uint32_t i = 0; i < size; i++) {
        const double *c = &coefficient[i], *s = slopes[i];
        const double below = c[i / cols < rows - 1 ? cols : 0], right = c[i % cols < cols - 1];
        image[i] += 0.25 * lambda * (c[0] * s[0] + below * s[1] + c[0] * s[2] + right * s[3]);
    }
}

static enum heddle_status run_srad(struct loops *r) {
    const uint32_t rows = r->small ? 32 : 192, cols = r->small ? 64 : 256, size = rows * cols;
    const uint32_t rounds = r->small ? 1 : 2;
    const float lambda = 0.5f;
    float *image = random_floats(r, size, 1, 2);
    double *exact = calloc((size_t)size * 6, sizeof *exact);
    uint64_t pixels = image ? BUFFER(image, size) : 0, slopes = BUFFER(NULL, 4 * size), c = BUFFER(NULL, size);
    enum heddle_status s = HEDDLE_USAGE;
    if (exact && pixels && slopes && c)
        s = LAUNCH("srad", BENCH_ARG(pixels), BENCH_ARG(slopes), BENCH_ARG(c), BENCH_ARG(rows), BENCH_ARG(cols),
                   BENCH_ARG(lambda), BENCH_ARG(rounds));
    if (s == HEDDLE_OK) {
        for (uint32_t i = 0; i < size; i++)
            exact[i] = (double)image[i];
        for (uint32_t k = 0; k < rounds; k++)
            srad_round(exact, (double(*)[4])(exact + 2 * size), exact + size, rows, cols, (double)lambda);
        for (uint32_t i = 0; i < size; i++)
            image[i] = (float)exact[i];
        s = compare(r, pixels, image, size, "image");
    }
    free(exact);
    return s;
}

static enum heddle_status run_binopt(struct loops *r) {
    const uint32_t steps = r->small ? 256 : 1024, options = r->small ? 1 : 8;
    float *leaves = random_floats(r, (size_t)options * (steps + 1), 0, 100), *result = zeros(r, options);
    float *up = random_floats(r, options, 0.49f, 0.5f), *down = random_floats(r, options, 0.49f, 0.5f);
    double tree[1025];
    if (!leaves || !result || !up || !down)
        return HEDDLE_USAGE;
    uint64_t values = BUFFER(leaves, options * (steps + 1)), spare = BUFFER(NULL, steps + 1);
    uint64_t results = BUFFER(NULL, options), rises = BUFFER(up, options), falls = BUFFER(down, options);
    if (!values || !spare || !results || !rises || !falls)
        return heddle_status(r->h);
    enum heddle_status s = LAUNCH("binopt", BENCH_ARG(results), BENCH_ARG(values), BENCH_ARG(spare), BENCH_ARG(rises),
                                  BENCH_ARG(falls), BENCH_ARG(steps), BENCH_ARG(options));
    if (s != HEDDLE_OK)
        return s;
    for (uint32_t o = 0; o < options; o++) {
        for (uint32_t i = 0; i <= steps; i++)
            tree[i] = (double)leaves[(size_t)o * (steps + 1) + i];
        for (uint32_t step = steps; step > 0; step--)
            for (uint32_t i = 0; i < step; i++)
                tree[i] = (double)up[o] * tree[i + 1] + (double)down[o] * tree[i];
        result[o] = (float)tree[0];
    }
    return compare(r, results, result, options, "value");
}

static double normal_below(double d) { return 0.5 * erfc(-d * M_SQRT1_2); }

static enum heddle_status run_black(struct loops *r) {
    const uint32_t n = r->small ? 2048 : 65536;
    const float rate = 0.02f, volatility = 0.30f;
    float *price = random_floats(r, n, 5, 30), *strike = random_floats(r, n, 1, 100);
    float *years = random_floats(r, n, 0.25f, 10), *call = zeros(r, n), *put = zeros(r, n);
    if (!price || !strike || !years || !call || !put)
        return HEDDLE_USAGE;
    uint64_t prices = BUFFER(price, n), strikes = BUFFER(strike, n), times = BUFFER(years, n);
    uint64_t calls = BUFFER(NULL, n), puts = BUFFER(NULL, n);
    if (!prices || !strikes || !times || !calls || !puts)
        return heddle_status(r->h);
    enum heddle_status s = LAUNCH("black", BENCH_ARG(calls), BENCH_ARG(puts), BENCH_ARG(prices), BENCH_ARG(strikes),
                                  BENCH_ARG(times), BENCH_ARG(rate), BENCH_ARG(volatility), BENCH_ARG(n));
    if (s != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < n; i++) {
        const double p = (double)price[i], x = (double)strike[i], t = (double)years[i], v = (double)volatility;
        const double d1 = (log(p / x) + ((double)rate + v * v / 2) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
        const double discounted = x * exp(-(double)rate * t);
        call[i] = (float)(p * normal_below(d1) - discounted * normal_below(d2));
        put[i] = (float)(discounted * normal_below(-d2) - p * normal_below(-d1));
    }
    s = compare(r, calls, call, n, "call");
    return s != HEDDLE_OK ? s : compare(r, puts, put, n, "put");
}

/* Transforms n complex numbers by the recursive definition: even and odd elements, then their combination. */
static void transform(const double *in, double *out, uint32_t n, uint32_t stride) {
    if (n == 1) {
        memcpy(out, in, 2 * sizeof *out);
        return;
    }
    transform(in, out, n / 2, 2 * stride);
    transform(in + 2 * stride, out + n, n / 2, 2 * stride);
    for (uint32_t k = 0; k < n / 2; k++) {
        const double angle = -2 * M_PI * k / n, *even = out + 2 * k, *odd = out + n + 2 * k;
        const double x = odd[0] * cos(angle) - odd[1] * sin(angle), y = odd[0] * sin(angle) + odd[1] * cos(angle);
        const double a[2] = {even[0], even[1]};
        out[2 * k] = a[0] + x;
        out[2 * k + 1] = a[1] + y;
        out[n + 2 * k] = a[0] - x;
        out[n + 2 * k + 1] = a[1] - y;
    }
}

static enum heddle_status run_fft(struct loops *r) {
    const uint32_t n = r->small ? 1024 : 16384;
    float *in = random_floats(r, (size_t)2 * n, -1, 1), *twiddle = zeros(r, n);
    double *exact = calloc((size_t)4 * n, sizeof *exact);
    enum heddle_status s = HEDDLE_USAGE;
    if (in && twiddle && exact) {
        for (uint32_t k = 0; k < n / 2; k++) {
            twiddle[2 * k] = (float)cos(2 * M_PI * k / n);
            twiddle[2 * k + 1] = (float)-sin(2 * M_PI * k / n);
        }
        uint64_t from = BUFFER(in, 2 * n), to = BUFFER(NULL, 2 * n), powers = BUFFER(twiddle, n);
        s = !from || !to || !powers ? heddle_status(r->h)
                                    : LAUNCH("fft", BENCH_ARG(from), BENCH_ARG(to), BENCH_ARG(powers), BENCH_ARG(n));
        if (s == HEDDLE_OK) {
            for (uint32_t i = 0; i < 2 * n; i++)
                exact[i] = (double)in[i];
            transform(exact, exact + 2 * n, n, 1);
            for (uint32_t i = 0; i < 2 * n; i++)
                in[i] = (float)exact[2 * n + i];
            /* the stages alternate between two arrays; after an even number of stages (10 or 14), the result is in
             * `from` */
            s = compare(r, from, in, (size_t)2 * n, "result");
        }
    }
    free(exact);
    return s;
}

static enum heddle_status run_fwt(struct loops *r) {
    const uint32_t n = r->small ? 4096 : 65536;
    float *data = zeros(r, n);
    if (!data)
        return HEDDLE_USAGE;
    for (uint32_t i = 0; i < n; i++) /* small integers, so that all sums are exact */
        data[i] = (float)(bench_random(&r->seed) % 16);
    uint64_t buffer = BUFFER(data, n);
    if (!buffer)
        return heddle_status(r->h);
    enum heddle_status s = LAUNCH("fwt", BENCH_ARG(buffer), BENCH_ARG(n));
    if (s != HEDDLE_OK)
        return s;
    for (uint32_t bit = 1; bit < n; bit *= 2)
        for (uint32_t i = 0; i < n; i++)
            if (!(i & bit)) {
                const float a = data[i], b = data[i | bit];
                data[i] = a + b;
                data[i | bit] = a - b;
            }
    return compare(r, buffer, data, n, "result");
}

static enum heddle_status run_lps(struct loops *r) {
    const uint32_t nx = r->small ? 32 : 96, ny = r->small ? 16 : 32, nz = r->small ? 8 : 32, rounds = r->small ? 1 : 2;
    const uint32_t cells = nx * ny * nz;
    float *box = random_floats(r, cells, 0, 1), *next = zeros(r, cells);
    if (!box || !next)
        return HEDDLE_USAGE;
    uint64_t from = BUFFER(box, cells), to = BUFFER(NULL, cells);
    if (!from || !to)
        return heddle_status(r->h);
    enum heddle_status s =
        LAUNCH("lps", BENCH_ARG(from), BENCH_ARG(to), BENCH_ARG(nx), BENCH_ARG(ny), BENCH_ARG(nz), BENCH_ARG(rounds));
    if (s != HEDDLE_OK)
        return s;
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < cells; i++) {
            const uint32_t x = i % nx, y = i / nx % ny, z = i / nx / ny;
            const bool inside = x && x < nx - 1 && y && y < ny - 1 && z && z < nz - 1;
            if (in_sides(r)) {
                next[i] = (box[x ? i - 1 : i + 1] + box[x < nx - 1 ? i + 1 : i - 1] + box[y ? i - nx : i + nx] +
                           box[y < ny - 1 ? i + nx : i - nx] + box[z ? i - nx * ny : i + nx * ny] +
                           box[z < nz - 1 ? i + nx * ny : i - nx * ny]) /
                          6;
                continue;
            }
            next[i] =
                inside ? (box[i - 1] + box[i + 1] + box[i - nx] + box[i + nx] + box[i - nx * ny] + box[i + nx * ny]) / 6
                       : box[i];
        }
        float *swap = box;
        box = next;
        next = swap;
    }
    return compare(r, rounds % 2 ? to : from, box, cells, "cell");
}

static enum heddle_status run_lu(struct loops *r) {
    const uint32_t n = r->small ? 48 : 224, size = n * n;
    float *a = random_floats(r, size, 0, 1);
    double *exact = calloc(size, sizeof *exact);
    enum heddle_status s = HEDDLE_USAGE;
    if (a && exact) {
        for (uint32_t i = 0; i < n; i++) /* makes the diagonal dominant, so that the decomposition needs no pivoting */
            a[i * n + i] += (float)n;
        uint64_t buffer = BUFFER(a, size);
        s = buffer ? LAUNCH("lu", BENCH_ARG(buffer), BENCH_ARG(n)) : heddle_status(r->h);
        for (uint32_t i = 0; i < size; i++)
            exact[i] = (double)a[i];
        for (uint32_t k = 0; k < n - 1; k++)
            for (uint32_t i = k + 1; i < n; i++) {
                exact[i * n + k] /= exact[k * n + k];
                for (uint32_t j = k + 1; j < n; j++)
                    exact[i * n + j] -= exact[i * n + k] * exact[k * n + j];
            }
        for (uint32_t i = 0; i < size; i++)
            a[i] = (float)exact[i];
        if (s == HEDDLE_OK)
            s = compare(r, buffer, a, size, "element");
    }
    free(exact);
    return s;
}

/* Returns the value up to which the normal distribution has the integral `p`, by Moro's approximation. */
static double normal_at(double p) {
    static const double c[] = {0.3374754822726147, 0.9761690190917186, 0.1607979714918209,
                               0.0276438810333863, 0.0038405729373609, 0.0003951896511919,
                               0.0000321767881768, 0.0000002888167364, 0.0000003960315187};
    const double y = p - 0.5;
    double z = y * y, sum = c[8];
    if (fabs(y) < 0.42)
        return y * (((-25.44106049637 * z + 41.39119773534) * z - 18.61500062529) * z + 2.50662823884) /
               ((((3.13082909833 * z - 21.06224101826) * z + 23.08336743743) * z - 8.47351093090) * z + 1);
    z = log(-log(y > 0 ? 1 - p : p));
    for (int i = 7; i >= 0; i--)
        sum = c[i] + z * sum;
    return y < 0 ? -sum : sum;
}

static enum heddle_status run_mc(struct loops *r) {
    /* the source form uses the sizes of the benchmark mc and uniform random numbers */
    const bool uniform = in_sides(r);
    const uint32_t n = uniform ? r->small ? 2 : 60 : r->small ? 1 : 4, paths = r->small ? 4096 : 65536;
    float *options = zeros(r, 4 * n), *want = zeros(r, 2 * n);
    float *normal = uniform ? random_floats(r, paths, 0.02f, 0.98f) : random_floats(r, paths, -2, 2);
    if (!options || !normal || !want)
        return HEDDLE_USAGE;
    for (uint32_t o = 0; o < n; o++) {
        bench_fill(&options[4 * o], 1, &r->seed, 5, 50);
        bench_fill(&options[4 * o + 1], 1, &r->seed, 10, 25);
        bench_fill(&options[4 * o + 2], 1, &r->seed, 0, 0.2f);
        bench_fill(&options[4 * o + 3], 1, &r->seed, 0.1f, 0.3f);
    }
    uint64_t of = BUFFER(options, 4 * n), at = BUFFER(normal, paths), sums = BUFFER(NULL, 2 * n);
    uint64_t lanes = BUFFER(NULL, uniform ? paths : 2 * LANES);
    if (!of || !at || !sums || !lanes)
        return heddle_status(r->h);
    enum heddle_status s =
        LAUNCH("mc", BENCH_ARG(sums), BENCH_ARG(lanes), BENCH_ARG(of), BENCH_ARG(at), BENCH_ARG(paths), BENCH_ARG(n));
    if (s != HEDDLE_OK)
        return s;
    for (uint32_t o = 0; o < n; o++) {
        double sum = 0, sum2 = 0;
        for (uint32_t i = 0; i < paths; i++) {
            const float *p = &options[4 * o];
            const double deviation = uniform ? normal_at((double)normal[i]) : (double)normal[i];
            const double growth = exp((double)p[2] + (double)p[3] * deviation);
            const double gain = fmax(0, (double)p[0] * growth - (double)p[1]);
            sum += gain;
            sum2 += gain * gain;
        }
        want[2 * o] = (float)sum;
        want[2 * o + 1] = (float)sum2;
    }
    return compare(r, sums, want, 2 * n, "sum");
}

static enum heddle_status run_sde(struct loops *r) {
    const uint32_t paths = r->small ? 256 : 1024, steps = r->small ? 64 : 256;
    const float dt = 0.01f;
    float *place = random_floats(r, paths, -1, 1), *force = zeros(r, steps);
    float *noise = random_floats(r, (size_t)paths * steps, -0.05f, 0.05f);
    if (!place || !force || !noise)
        return HEDDLE_USAGE;
    for (uint32_t i = 0; i < steps; i++)
        force[i] = (float)(0.3 * cos(0.05 * i));
    uint64_t places = BUFFER(place, paths), forces = BUFFER(force, steps), noises = BUFFER(noise, paths * steps);
    if (!places || !forces || !noises)
        return heddle_status(r->h);
    enum heddle_status s = LAUNCH("sde", BENCH_ARG(places), BENCH_ARG(noises), BENCH_ARG(forces), BENCH_ARG(dt),
                                  BENCH_ARG(paths), BENCH_ARG(steps));
    if (s != HEDDLE_OK)
        return s;
    for (uint32_t p = 0; p < paths; p++) {
        double x = (double)place[p];
        for (uint32_t i = 0; i < steps; i++)
            x += (x - x * x * x + (double)force[i]) * (double)dt + (double)noise[(size_t)i * paths + p];
        place[p] = (float)x;
    }
    return compare(r, places, place, paths, "place");
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size, const char *form, enum heddle_status (*program)(struct loops *)) {
    struct loops r = {
        .h = h, .m = m, .why = why, .why_size = why_size, .small = size == BENCH_SMALL, .form = form, .seed = 46};
    const enum heddle_status s = program(&r);
    for (int i = 0; i < r.n_arrays; i++)
        free(r.array[i]);
    return s;
}

#define PROGRAM(name_, form_, set_, file_, help_)                                                                      \
    static enum heddle_status run_##name_##_##form_(struct heddle *h, struct heddle_module *m, enum bench_size size,   \
                                                    char *why, size_t why_size) {                                      \
        return run(h, m, size, why, why_size, #form_, run_##name_);                                                    \
    }                                                                                                                  \
    extern const struct bench bench_##name_##_##form_;                                                                 \
    const struct bench bench_##name_##_##form_ = {#name_ "_" #form_, help_, set_, file_, run_##name_##_##form_};
#define LOOP(name_, help_)  PROGRAM(name_, loop, "pepsc-loops", "loops.ptx", help_)
#define SIDES(name_, help_) PROGRAM(name_, sides, "pepsc-sides", "sides.ptx", help_)

LOOP(nw, "scores of sequences, by antidiagonals; one warp, plain loops")
LOOP(srad, "diffusion on a picture; one warp, plain loops, five loads of one array")
LOOP(binopt, "prices by binomial trees; one warp, plain loops")
LOOP(black, "prices by a formula; one warp, a plain loop, chains of arithmetic")
LOOP(fft, "a Fourier transform by radix 2; one warp, plain loops")
LOOP(fwt, "a Walsh transform in place; one warp, plain loops")
LOOP(lps, "Jacobi's iteration on a box; one warp, plain loops, an if and else for faces")
LOOP(lu, "LU decomposition in place; one warp, plain loops")
LOOP(mc, "prices by Monte Carlo; one warp, plain loops, a serial sum at the end")
LOOP(sde, "paths with noise; one warp, plain loops with a long stride")
SIDES(lps, "Jacobi's iteration on a box with insulated faces; arithmetic on both sides of a branch")
SIDES(lu, "LU decomposition, a row and a column at a time; arithmetic on both sides of a branch")
SIDES(srad, "diffusion on a picture; nine cases with four differences each")
SIDES(mc, "prices by Monte Carlo, with normal numbers by two formulas; a serial sum in shared memory")
