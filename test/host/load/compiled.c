/* Runs the kernels that nvcc compiled from test/kernels/compiled.cu, and compares their results with equivalent C
 * functions. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 32 };
static const char *const models[] = {"functional", "spe"};
static struct heddle *h;
static struct heddle_module *m;

static void open_model(const char *model) {
    char err[512] = "";
    h = heddle_open(&(struct heddle_options){.model = model}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    m = heddle_module_file(h, "test/kernels/compiled.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
}

#define FINE(call)                                                                                                     \
    do {                                                                                                               \
        enum heddle_status status_ = (call);                                                                           \
        ck_assert_msg(status_ == HEDDLE_OK, "%s", heddle_error(h));                                                    \
    } while (0)

static uint64_t buffer(const void *data, uint64_t bytes) {
    uint64_t at = heddle_alloc(h, bytes);
    ck_assert_uint_ne(at, 0);
    if (data)
        FINE(heddle_write(h, at, data, bytes));
    return at;
}

/* Runs a kernel with one CTA. Its first argument is out[THREADS], unless `out` is NULL. */
static void run(const char *kernel, uint32_t dynamic_shared, const struct heddle_arg *more, int n, void *out) {
    const struct heddle_dim grid = {1, 1, 1}, block = {THREADS, 1, 1};
    struct heddle_arg args[8];
    uint64_t at = out ? buffer(NULL, THREADS * 4) : 0;
    int k = 0;
    if (out)
        args[k++] = (struct heddle_arg){&at, 8};
    for (int i = 0; i < n; i++)
        args[k++] = more[i];
    FINE(heddle_launch(h, m, kernel, grid, block, dynamic_shared, args, k));
    if (out)
        FINE(heddle_read(h, at, out, THREADS * 4));
}

static int areas(int t) { return t % 2 ? t * (t + 1) + 4000 : 3 * t * t; }
static int ackermann(int a, int n) {
    return a == 0 ? n + 1 : n == 0 ? ackermann(a - 1, 1) : ackermann(a - 1, ackermann(a, n - 1));
}
static int recursion(int t) { return ackermann(2, t % 8); }
static int unary(int which, int x) { return which == 0 ? 2 * x : which == 1 ? x * x : -x; }
static int pointers(int t) { return unary(t % 3, t) + 1000 * unary((t + 2) % 3, t); }
static int reversed(uint32_t x) {
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return (int)r;
}
static int switches(int t) {
    const int v[] = {17,    t * t, t ^ 5, -t, __builtin_popcount((unsigned)t), t << 3, 99, t / 3, reversed((uint32_t)t),
                     t % 7, 99};
    return v[t % 11];
}
static int last_first(int t) { return 255 - t + 1000; } /* 1 KiB of shared memory: the last word has index 255 */
/* the kernel adds 1000 times the number of CTAs in its cluster, which is 1 */
static int other_end(int t) { return 3 * (31 - t) + 1000; }
static int from_heap(int t) { return (0 + 1 + 2 + 3) * t; }

static const struct {
    const char *name;
    int (*want)(int t);
    uint32_t dynamic_shared;
} kernels[] = {
    {"virtual_calls", areas, 0}, {"recursion", recursion, 0},          {"pointers", pointers, 0},
    {"switches", switches, 0},   {"dynamic_shared", last_first, 1024}, {"clustered", other_end, 0},
    {"heap", from_heap, 0},
};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };

START_TEST(kernels_without_input) {
    int out[THREADS];
    open_model(models[_i / N_KERNELS]);
    run(kernels[_i % N_KERNELS].name, kernels[_i % N_KERNELS].dynamic_shared, NULL, 0, out);
    for (int t = 0; t < THREADS; t++)
        ck_assert_msg(out[t] == kernels[_i % N_KERNELS].want(t), "%s, thread %d: %d, not %d",
                      kernels[_i % N_KERNELS].name, t, out[t], kernels[_i % N_KERNELS].want(t));
    heddle_close(h);
}
END_TEST

/* a[i] = i * i and b = 5, so thread t computes ((t + 7) mod 40)^2 + 5. */
START_TEST(a_struct_is_read_in_place) {
    struct {
        int a[40];
        long long b;
    } p = {.b = 5};
    int out[THREADS], i = 7;
    for (int k = 0; k < 40; k++)
        p.a[k] = k * k;
    open_model(models[_i]);
    run("grid_constant", 0, (const struct heddle_arg[]){{&p, sizeof p}, {&i, sizeof i}}, 2, out);
    for (int t = 0; t < THREADS; t++)
        ck_assert_int_eq(out[t], (t + 7) % 40 * ((t + 7) % 40) + 5);
    heddle_close(h);
}
END_TEST

/* Thread t gets t * (0 + 1 + ... + 19) = 190 t. */
START_TEST(arrays_on_the_stack) {
    int out[THREADS], n = 20;
    open_model(models[_i]);
    run("vla", 0, (const struct heddle_arg[]){{&n, sizeof n}}, 1, out);
    for (int t = 0; t < THREADS; t++)
        ck_assert_int_eq(out[t], 190 * t);
    heddle_close(h);
}
END_TEST

/* Texel (x, y) of `flat` is x + 10 y; the texel of layer 1 is 1000 more. Texel x of the one-dimensional texture is 3 x,
 * and face 0 of the cube is 7. Thread t samples at x = t + 0.5 in row 0 and adds: t three times (without a level, with
 * a level, with gradients), 3 t, t + 1000, 7, and the first texel of the gather, which is (t, 1) with the value t
 * + 10. */
START_TEST(texture_objects) {
    float flat[2 * 128], line[32], faces[6] = {7, 1, 2, 3, 4, 5}, out[THREADS];
    for (int i = 0; i < 256; i++)
        flat[i] = (float)(i % 32 + 10 * (i / 32 % 4) + i / 128 * 1000);
    for (int i = 0; i < 32; i++)
        line[i] = (float)(3 * i);
    open_model(models[_i]);
    const struct heddle_texture t[] = {
        {.data = buffer(flat, sizeof flat), .width = 32, .height = 4, .format = HEDDLE_F32},
        {.data = buffer(line, sizeof line), .width = 32, .format = HEDDLE_F32},
        {.data = buffer(flat, sizeof flat), .width = 32, .height = 4, .layers = 2, .format = HEDDLE_F32},
        {.data = buffer(faces, sizeof faces), .width = 1, .height = 1, .cube = true, .format = HEDDLE_F32}};
    uint64_t handles[4];
    struct heddle_arg args[4];
    for (int i = 0; i < 4; i++) {
        handles[i] = heddle_texture_object(h, &t[i]);
        args[i] = (struct heddle_arg){&handles[i], 8};
    }
    run("textures", 0, args, 4, out);
    for (int i = 0; i < THREADS; i++)
        ck_assert_float_eq(out[i], (float)(3 * i + 3 * i + (i + 1000) + 7 + (i + 10)));
    heddle_close(h);
}
END_TEST

/* Texel t in row 1 of the first surface is 32 + t. Thread t reads this texel, stores 32 + t + t to row 0 of the first
 * surface, and stores 32 + t to layer 1 of the second surface. */
START_TEST(surface_objects) {
    int rows[128], layers[256];
    for (int i = 0; i < 128; i++)
        rows[i] = i;
    open_model(models[_i]);
    const struct heddle_texture t[] = {
        {.data = buffer(rows, sizeof rows), .width = 32, .height = 4, .format = HEDDLE_S32},
        {.data = buffer(NULL, sizeof layers), .width = 32, .height = 4, .layers = 2, .format = HEDDLE_S32}};
    uint64_t handles[2] = {heddle_surface_object(h, &t[0]), heddle_surface_object(h, &t[1])};
    run("surfaces", 0, (const struct heddle_arg[]){{&handles[0], 8}, {&handles[1], 8}}, 2, NULL);
    FINE(heddle_read(h, t[0].data, rows, sizeof rows));
    FINE(heddle_read(h, t[1].data, layers, sizeof layers));
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(rows[i], 32 + i + i);
        ck_assert_int_eq(layers[128 + i], 32 + i);
    }
    heddle_close(h);
}
END_TEST

/* The kernel's printf() prints the same text as the host's printf(). */
START_TEST(printf_of_every_conversion) {
    char want[1024], got[1024];
    int n = snprintf(want, sizeof want, "%d|%5d|%-5d|%05d|%+d|%u|%x|%#X|%o|%c|%s|%%|%f|%.3e|%g|%G|%a\n", -7, 42, 42, 42,
                     42, 4000000000u, 255, 255, 8, 'z', "text", 1.5, 12345.678, 0.0001, 1e20, 1.0);
    n += snprintf(want + n, sizeof want - (size_t)n, "%lld|%llu|%llx|%p|%hd|%hhu|%ld|%zu|%*d|%.*f|%10s|%-10s|\n",
                  -1234567890123ll, 18446744073709551615ull, 0xabcdefull, (void *)16, (short)-3, (unsigned char)200,
                  -5l, (size_t)9, 6, 12, 2, 3.14159, "right", "left");
    int out[THREADS], saved = dup(1);
    FILE *to = tmpfile();
    ck_assert(to != NULL && saved >= 0);
    fflush(stdout);
    ck_assert_int_ge(dup2(fileno(to), 1), 0);
    open_model(models[_i]);
    run("prints", 0, NULL, 0, out);
    fflush(stdout);
    ck_assert_int_ge(dup2(saved, 1), 0);
    close(saved);
    rewind(to);
    got[fread(got, 1, sizeof got - 1, to)] = '\0';
    fclose(to);
    ck_assert_str_eq(got, want);
    heddle_close(h);
}
END_TEST

SUITE(host_compiled) {
    TEST_LOOP(kernels_without_input, 0, 2 * N_KERNELS);
    TEST_LOOP(a_struct_is_read_in_place, 0, 2);
    TEST_LOOP(arrays_on_the_stack, 0, 2);
    TEST_LOOP(texture_objects, 0, 2);
    TEST_LOOP(surface_objects, 0, 2);
    TEST_LOOP(printf_of_every_conversion, 0, 2);
}
