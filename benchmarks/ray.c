/* ray: spheres of all sizes around the middle of the picture, a third of them without reflection. The reference rounds
 * where the kernel does, so that every ray takes the same path, and brightness is equal bit for bit.
 *   size small: 48 x 32 pixels, 8 spheres, 0.05 M warp and 1.1 M thread instructions
 *   size paper: 256 x 256 pixels, 16 spheres, 3.8 M warp and 94 M thread instructions (original program: 256 x
 *     256 pixels; 250 M thread instructions in the dual-path paper) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_ray;

enum { WIDTH = 16, HEIGHT = 8, SPHERES = 16, TURNS = 5 };
static const float near = 1e-3f;

/* The kernel's source has a struct with this layout. */
struct sphere {
    float x, y, z, radius, colour, mirror, shine;
};
struct vector {
    float x, y, z;
};
struct scene {
    struct sphere sphere[SPHERES];
    int n;
};
struct ray {
    struct vector from, by;
};

static float dot(struct vector a, struct vector b) { return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x)); }
static struct vector scaled(struct vector v, float by) { return (struct vector){v.x * by, v.y * by, v.z * by}; }
static struct vector along(struct vector from, struct vector by, float t) {
    return (struct vector){fmaf(by.x, t, from.x), fmaf(by.y, t, from.y), fmaf(by.z, t, from.z)};
}

static float meets(const struct sphere *s, const struct ray *r) {
    struct vector to = {s->x - r->from.x, s->y - r->from.y, s->z - r->from.z};
    float middle = dot(to, r->by), inside = fmaf(s->radius, s->radius, fmaf(middle, middle, -dot(to, to)));
    if (!(inside > 0))
        return 0;
    float half = sqrtf(inside);
    if (middle - half >= near)
        return middle - half;
    return middle + half >= near ? middle + half : 0;
}

/* Returns the first sphere that the ray hits; n: the ground, -1: the sky. */
static int first(const struct scene *scene, const struct ray *r, float *distance) {
    int hit = -1;
    *distance = 1e9f;
    for (int i = 0; i < scene->n; i++) {
        float t = meets(&scene->sphere[i], r);
        if (t > 0 && t < *distance) {
            *distance = t;
            hit = i;
        }
    }
    if (r->by.y < 0 && r->from.y < -r->by.y * *distance) {
        *distance = r->from.y / -r->by.y;
        hit = scene->n;
    }
    return hit;
}

/* Returns the material at the hit point `at`, and its normal. The ground has its own material. */
static struct sphere surface(const struct scene *scene, int hit, struct vector at, struct vector *normal) {
    if (hit == scene->n) {
        bool light = ((int)floorf(at.x) + (int)floorf(at.z)) & 1;
        *normal = (struct vector){0, 1, 0};
        return (struct sphere){.colour = light ? 0.9f : 0.2f, .mirror = 0.2f};
    }
    const struct sphere *s = &scene->sphere[hit];
    *normal = scaled((struct vector){at.x - s->x, at.y - s->y, at.z - s->z}, 1 / s->radius);
    return *s;
}

static float lit(const struct scene *scene, const struct sphere *s, const struct ray *next, struct vector normal) {
    const struct vector lamp = {0.48f, 0.6f, -0.64f};
    float light = 0.1f * s->colour, facing = dot(normal, lamp);
    struct ray towards = {next->from, lamp};
    bool shadow = !(facing > 0);
    for (int i = 0; !shadow && i < scene->n; i++)
        shadow = meets(&scene->sphere[i], &towards) > 0;
    if (shadow)
        return light;
    float gleam = fmaxf(dot(next->by, lamp), 0);
    gleam = gleam * gleam;
    gleam = gleam * gleam;
    return fmaf(s->shine, gleam * gleam, fmaf(s->colour, facing, light));
}

static float trace(const struct scene *scene, struct ray r) {
    float sum = 0, weight = 1, distance;
    for (int turn = 0; turn < TURNS && weight >= 0.01f; turn++) {
        r.by = scaled(r.by, 1 / sqrtf(dot(r.by, r.by)));
        int hit = first(scene, &r, &distance);
        if (hit < 0)
            return fmaf(weight, fmaf(0.3f, r.by.y, 0.4f), sum);
        struct vector at = along(r.from, r.by, distance), normal;
        struct sphere s = surface(scene, hit, at, &normal);
        r = (struct ray){along(at, normal, near), along(r.by, normal, -2 * dot(r.by, normal))};
        sum = fmaf(weight * (1 - s.mirror), lit(scene, &s, &r, normal), sum);
        weight *= s.mirror;
    }
    return sum;
}

static void fill(struct scene *scene) {
    uint64_t seed = 52;
    for (int i = 0; i < scene->n; i++) {
        struct sphere *s = &scene->sphere[i];
        s->radius = bench_uniform(&seed, 0.3f, 1.2f);
        s->x = bench_uniform(&seed, -5, 5);
        s->y = s->radius + bench_uniform(&seed, 0, 3);
        s->z = bench_uniform(&seed, -2, 8);
        s->colour = bench_uniform(&seed, 0.2f, 1);
        s->mirror = i % 3 ? bench_uniform(&seed, 0.2f, 0.9f) : 0;
        s->shine = bench_uniform(&seed, 0, 1);
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, int n, float *want, uint32_t width,
                                 uint32_t height, char *why, size_t why_size) {
    struct scene scene = {.n = n};
    fill(&scene);
    size_t pixels = (size_t)width * height, bytes = pixels * sizeof *want;
    uint64_t symbol = heddle_symbol(h, m, "ray_spheres", NULL), picture = bench_buffer(h, NULL, bytes);
    if (!symbol || !picture || heddle_write(h, symbol, scene.sphere, (size_t)n * sizeof *scene.sphere) != HEDDLE_OK)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(width, WIDTH), bench_blocks(height, HEIGHT), 1}, block = {WIDTH, HEIGHT, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "ray", grid, block, BENCH_ARG(picture), BENCH_ARG(width), BENCH_ARG(height), BENCH_ARG(n));
    if (s != HEDDLE_OK || (s = heddle_read(h, picture, want + pixels, bytes)) != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < pixels; i++) {
        float x = ((float)(i % width) - 0.5f * (float)width) / (float)height;
        float y = (0.5f * (float)height - (float)(i / width)) / (float)height - 0.2f;
        want[i] = trace(&scene, (struct ray){{0, 3, -8}, {x, y, 1}});
    }
    return bench_compare(want + pixels, want, pixels, 0, "pixel", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    bool small = size == BENCH_SMALL;
    uint32_t width = small ? 48 : 256, height = small ? 32 : 256;
    float *both = calloc((size_t)width * height, 2 * sizeof *both);
    enum heddle_status s =
        both ? run_on(h, m, small ? 8 : SPHERES, both, width, height, why, why_size) : bench_no_memory(why, why_size);
    free(both);
    return s;
}

const struct bench bench_ray = {
    "ray",       "spheres with shadows and reflections; loops of every pixel's own, breaks, if and else",
    "dual-path", "ray.ptx",
    run,
};
