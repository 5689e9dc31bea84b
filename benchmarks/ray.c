/* ray: traces the rays of a picture. It shows the ground, and spheres of all sizes around the middle of the picture. A
 * third of the spheres do not reflect. The reference rounds where the kernel does, so that every ray takes the same
 * path, and brightness is equal bit for bit.
 *   size small: 48 x 32 pixels, 8 spheres, 0.07 M warp instructions and 1.4 M thread instructions
 *   size paper: 256 x 256 pixels, 16 spheres, 4.8 M warp instructions and 122 M thread instructions (the original has
 *     256 x 256 pixels, the dual-path paper 250 M thread instructions) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_ray;

enum { WIDTH = 16, HEIGHT = 8, OBJECTS = 17, TURNS = 5 };
static const float near = 1e-3f;

/* The kernel's source has a struct with this layout. */
struct object {
    float x, y, z, size, colour, mirror, shine;
    int plane;
};
struct vector {
    float x, y, z;
};
struct scene {
    struct object object[OBJECTS];
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

static float meets(const struct object *o, const struct ray *r) {
    float t;
    if (o->plane) {
        struct vector normal = {o->x, o->y, o->z};
        float down = dot(r->by, normal);
        t = down < 0 ? (o->size - dot(r->from, normal)) / down : 0;
    } else {
        struct vector to = {o->x - r->from.x, o->y - r->from.y, o->z - r->from.z};
        float middle = dot(to, r->by), inside = fmaf(o->size, o->size, fmaf(middle, middle, -dot(to, to)));
        if (!(inside > 0))
            return 0;
        float half = sqrtf(inside);
        t = middle - half >= near ? middle - half : middle + half;
    }
    return t >= near ? t : 0;
}

/* Returns the index of the first object that the ray hits, or -1 if it reaches the sky. */
static int first(const struct scene *scene, const struct ray *r, float *distance) {
    int hit = -1;
    *distance = 1e9f;
    for (int i = 0; i < scene->n; i++) {
        float t = meets(&scene->object[i], r);
        if (t > 0 && t < *distance) {
            *distance = t;
            hit = i;
        }
    }
    return hit;
}

/* Returns the object with the colour that it has at the hit point `at`. Sets *normal to the surface normal there. */
static struct object surface(const struct object *o, struct vector at, struct vector *normal) {
    struct object s = *o;
    if (o->plane) {
        *normal = (struct vector){o->x, o->y, o->z};
        s.colour = ((int)floorf(at.x) + (int)floorf(at.z)) & 1 ? 0.9f : s.colour * 0.5f;
    } else {
        *normal = scaled((struct vector){at.x - o->x, at.y - o->y, at.z - o->z}, 1 / o->size);
    }
    return s;
}

static float lit(const struct scene *scene, const struct object *o, const struct ray *next, struct vector normal) {
    const struct vector lamp = {0.48f, 0.6f, -0.64f};
    float light = 0.1f * o->colour, facing = dot(normal, lamp);
    struct ray towards = {next->from, lamp};
    if (!(facing > 0))
        return light * (1 + 0.5f * facing);
    for (int i = 0; i < scene->n; i++)
        if (meets(&scene->object[i], &towards) > 0)
            return light * (1 + facing);
    float gleam = fmaxf(dot(next->by, lamp), 0);
    gleam = gleam * gleam;
    gleam = gleam * gleam;
    return fmaf(o->shine, gleam * gleam, fmaf(o->colour, facing, light));
}

/* Returns the brightness that the ray sees. `turns`: number of reflections that may still follow; `weight`: part of
 * this light that reaches the eye. The ray's direction need not have length one. */
static float trace(const struct scene *scene, struct ray r, int turns, float weight) {
    if (weight <= 0.01f)
        return 0;
    if (turns == 0)
        return fmaf(0.3f, r.by.y, 0.4f);
    float distance;
    r.by = scaled(r.by, 1 / sqrtf(dot(r.by, r.by)));
    int hit = first(scene, &r, &distance);
    if (hit < 0)
        return fmaf(0.3f, r.by.y, 0.4f);
    struct vector at = along(r.from, r.by, distance), normal;
    struct object s = surface(&scene->object[hit], at, &normal);
    struct ray next = {along(at, normal, near), along(r.by, normal, -2 * dot(r.by, normal))};
    float light = lit(scene, &s, &next, normal);
    return fmaf(s.mirror, trace(scene, next, turns - 1, weight * s.mirror), (1 - s.mirror) * light);
}

static void fill(struct scene *scene) {
    uint64_t seed = 52;
    scene->object[0] = (struct object){0, 1, 0, 0, 0.4f, 0.2f, 0, 1};
    for (int i = 1; i < scene->n; i++) {
        struct object *s = &scene->object[i];
        s->size = bench_uniform(&seed, 0.3f, 1.2f);
        s->x = bench_uniform(&seed, -5, 5);
        s->y = s->size + bench_uniform(&seed, 0, 3);
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
    uint64_t symbol = heddle_symbol(h, m, "ray_objects", NULL), picture = bench_buffer(h, NULL, bytes);
    if (!symbol || !picture || heddle_write(h, symbol, scene.object, (size_t)n * sizeof *scene.object) != HEDDLE_OK)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(width, WIDTH), bench_blocks(height, HEIGHT), 1}, block = {WIDTH, HEIGHT, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "ray", grid, block, BENCH_ARG(picture), BENCH_ARG(width), BENCH_ARG(height), BENCH_ARG(n));
    if (s != HEDDLE_OK || (s = heddle_read(h, picture, want + pixels, bytes)) != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < pixels; i++) {
        float x = ((float)(i % width) - 0.5f * (float)width) / (float)height;
        float y = (0.5f * (float)height - (float)(i / width)) / (float)height - 0.2f;
        want[i] = trace(&scene, (struct ray){{0, 3, -8}, {x, y, 1}}, TURNS, 1);
    }
    return bench_compare(want + pixels, want, pixels, 0, "pixel", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    bool small = size == BENCH_SMALL;
    uint32_t width = small ? 48 : 256, height = small ? 32 : 256;
    float *both = calloc((size_t)width * height, 2 * sizeof *both);
    enum heddle_status s =
        both ? run_on(h, m, small ? 9 : OBJECTS, both, width, height, why, why_size) : bench_no_memory(why, why_size);
    free(both);
    return s;
}

const struct bench bench_ray = {
    "ray",       "spheres with shadows and reflections; loops of every pixel's own, breaks, if and else",
    "dual-path", "ray.ptx",
    run,
};
