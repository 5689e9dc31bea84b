#ifndef BENCHMARKS_SHADE_SCENE_H
#define BENCHMARKS_SHADE_SCENE_H
/* Code that the kernel of shade and its reference share: scenes, the intersection test and the shaders of eight
 * materials, in C and CUDA C with every rounding written out. The macro SHARED precedes each function. The macro SHADER
 * precedes the functions that are in the table of shaders. */
#include <math.h>
enum { KINDS = 8, TINTS = 4, SHADERS = KINDS * TINTS, TEXELS = 4096, FAR_AWAY = 1000000 };
#define EDGE 1e-3f /* distance between the last hit and the start of the next ray */

struct vector {
    float x, y, z;
};
struct triangle {
    struct vector corner, one, other; /* one, other: the two edges that begin at `corner`, as vectors */
    int material;
};
struct node { /* node of a tree of boxes */
    struct vector low;
    int first; /* first triangle, or first of two adjacent children */
    struct vector high;
    int count; /* number of triangles; 0: a node with children */
};
struct hit { /* the nearest triangle of a ray */
    float far;
    int triangle; /* -1: the ray reaches the sky */
};
struct walk { /* the record of a heddle.walk (isa/walk.h) */
    struct hit hit;
    unsigned long long list; /* device address of the list of boxes and triangles that the walk reads */
};
struct path {
    struct vector from, by; /* origin of the ray, and its direction, a vector of length one */
    float weight, light;
    unsigned random, alive;
};
struct surface {
    struct vector at, normal; /* the normal points to the origin of the ray */
    int inside;               /* the ray came from behind the triangle */
};

SHARED float dot(struct vector a, struct vector b) { return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x)); }
SHARED struct vector cross(struct vector a, struct vector b) {
    struct vector v = {fmaf(a.y, b.z, -(a.z * b.y)), fmaf(a.z, b.x, -(a.x * b.z)), fmaf(a.x, b.y, -(a.y * b.x))};
    return v;
}
SHARED struct vector along(struct vector from, struct vector by, float t) {
    struct vector v = {fmaf(by.x, t, from.x), fmaf(by.y, t, from.y), fmaf(by.z, t, from.z)};
    return v;
}
SHARED struct vector unit(struct vector v) {
    float scale = 1 / sqrtf(dot(v, v));
    struct vector u = {v.x * scale, v.y * scale, v.z * scale};
    return u;
}

/* Returns the distance of the triangle along the ray; FAR_AWAY: no hit (Moeller and Trumbore). */
SHARED float meets(const struct triangle *t, struct vector from, struct vector by) {
    struct vector p = cross(by, t->other), minus = t->corner, s, q;
    float turn = dot(t->one, p), inverse = 1 / turn, u, v, far;
    s.x = from.x - minus.x;
    s.y = from.y - minus.y;
    s.z = from.z - minus.z;
    u = dot(s, p) * inverse;
    if (fabsf(turn) < 1e-9f || u < 0 || u > 1)
        return FAR_AWAY;
    q = cross(s, t->one);
    v = dot(by, q) * inverse;
    far = dot(t->other, q) * inverse;
    return v < 0 || u + v > 1 || far < EDGE ? FAR_AWAY : far;
}

/* Returns whether a ray enters the box of node `n` before the distance `most`. `inverse`: reciprocals of the components
 * of the ray's direction. *at gets the distance at which the ray enters the box. */
SHARED int enters(const struct node *n, struct vector from, struct vector inverse, float most, float *at) {
    float x1 = (n->low.x - from.x) * inverse.x, x2 = (n->high.x - from.x) * inverse.x;
    float y1 = (n->low.y - from.y) * inverse.y, y2 = (n->high.y - from.y) * inverse.y;
    float z1 = (n->low.z - from.z) * inverse.z, z2 = (n->high.z - from.z) * inverse.z;
    float in = fmaxf(fmaxf(fminf(x1, x2), fminf(y1, y2)), fmaxf(fminf(z1, z2), 0.0f));
    float out = fminf(fminf(fmaxf(x1, x2), fmaxf(y1, y2)), fminf(fmaxf(z1, z2), most));
    *at = in;
    return in <= out;
}

/* Returns the next random number of the path, in [-1, 1). */
SHARED float either(struct path *p) {
    p->random = p->random * 1664525u + 1013904223u;
    return (p->random >> 8) * 0x1p-23f - 1;
}
SHARED float texel(const float *texture, float x, float y) {
    return texture[((int)floorf(x) * 64 + (int)floorf(y)) & (TEXELS - 1)];
}
SHARED void mirrored(struct path *p, const struct surface *s, float jitter) {
    struct vector by = along(p->by, s->normal, -2 * dot(p->by, s->normal));
    if (jitter > 0) {
        by.x = fmaf(jitter, either(p), by.x);
        by.y = fmaf(jitter, either(p), by.y);
        by.z = fmaf(jitter, either(p), by.z);
        by = unit(by);
    }
    p->by = by;
    p->from = along(s->at, s->normal, EDGE);
}
SHARED void scattered(struct path *p, const struct surface *s) {
    struct vector by = s->normal;
    by.x = fmaf(0.57f, either(p), by.x);
    by.y = fmaf(0.57f, either(p), by.y);
    by.z = fmaf(0.57f, either(p), by.z);
    p->by = unit(by);
    p->from = along(s->at, s->normal, EDGE);
}

/* The shaders of eight kinds of materials. Each kind has four materials, which differ in tint. Each material has a
 * function of its own (MATERIAL), as in games. */
SHARED void matte(struct path *p, const struct surface *s, const float *texture, float tint) {
    p->weight *= fmaf(0.4f, texel(texture, s->at.x * 8, s->at.z * 8), 0.4f + tint);
    scattered(p, s);
}
SHARED void mirror(struct path *p, const struct surface *s, const float *texture, float tint) {
    p->weight *= 0.9f - tint;
    (void)texture;
    mirrored(p, s, 0);
}
SHARED void gloss(struct path *p, const struct surface *s, const float *texture, float tint) {
    float noise = 0, scale = 4, part = 0.5f;
    for (int octave = 0; octave < 4; octave++) {
        noise = fmaf(part, texel(texture, s->at.x * scale, fmaf(s->at.y, scale, noise)), noise);
        scale *= 2;
        part *= 0.5f;
    }
    p->weight *= fmaf(0.3f, noise, 0.6f + tint);
    mirrored(p, s, 0.2f * noise);
}
SHARED void checks(struct path *p, const struct surface *s, const float *texture, float tint) {
    if (((int)floorf(s->at.x * 4) + (int)floorf(s->at.y * 4) + (int)floorf(s->at.z * 4)) & 1) {
        p->weight *= fmaf(0.1f, texel(texture, s->at.z * 32, s->at.x * 32), 0.8f - tint);
        mirrored(p, s, 0.05f);
    } else {
        p->weight *= 0.3f + tint;
        scattered(p, s);
    }
}
SHARED void marble(struct path *p, const struct surface *s, const float *texture, float tint) {
    float vein = s->at.x + s->at.y;
    for (int turn = 0; turn < 8; turn++) /* each load's address depends on the previous load */
        vein = fmaf(0.7f, texel(texture, vein * 16, s->at.z * 16), vein * 0.5f);
    vein -= floorf(vein);
    p->weight *= fmaf(0.5f, vein * (1 - vein), 0.6f + tint);
    scattered(p, s);
}
SHARED void wood(struct path *p, const struct surface *s, const float *texture, float tint) {
    float radius = sqrtf(fmaf(s->at.x, s->at.x, s->at.z * s->at.z)) * 6;
    float grain = radius + texel(texture, s->at.y * 3, radius);
    grain -= floorf(grain);
    p->weight *= fmaf(0.4f, grain, 0.3f + tint);
    scattered(p, s);
}
SHARED void lamp(struct path *p, const struct surface *s, const float *texture, float tint) {
    (void)texture;
    p->light = fmaf(p->weight * (4 + tint), fabsf(dot(p->by, s->normal)), p->light);
    p->alive = 0;
}
SHARED void glass(struct path *p, const struct surface *s, const float *texture, float tint) {
    float ratio = s->inside ? 1.5f : 1 / 1.5f, cosine = -dot(p->by, s->normal);
    float rest = fmaf(-(ratio * ratio), 1 - cosine * cosine, 1.0f), steep = 1 - cosine;
    float back = fmaf(0.96f * (steep * steep) * (steep * steep), steep, 0.04f);
    (void)texture;
    p->weight *= 1 - tint;
    if (rest <= 0 || fmaf(0.5f, either(p), 0.5f) < back)
        mirrored(p, s, 0);
    else {
        struct vector by = {p->by.x * ratio, p->by.y * ratio, p->by.z * ratio};
        p->by = unit(along(by, s->normal, fmaf(ratio, cosine, -sqrtf(rest))));
        p->from = along(s->at, s->normal, -EDGE);
    }
}

#define SHADER_KINDS(X) X(matte) X(mirror) X(gloss) X(checks) X(marble) X(wood) X(lamp) X(glass)
#define MATERIAL(kind, number, tint)                                                                                   \
    SHADER void shade_##kind##number(struct path *p, const struct surface *s, const float *texture) {                  \
        kind(p, s, texture, tint);                                                                                     \
    }
#define MATERIALS_OF(kind)                                                                                             \
    MATERIAL(kind, 0, 0) MATERIAL(kind, 1, 0.01f) MATERIAL(kind, 2, 0.02f) MATERIAL(kind, 3, 0.03f)
SHADER_KINDS(MATERIALS_OF)
/* The functions of the four materials of one kind, as entries of a table of all shaders. */
#define SHADERS_OF(kind) shade_##kind##0, shade_##kind##1, shade_##kind##2, shade_##kind##3,

/* A picture of which only tiles are computed: one at the middle of each square of `step` pixels. */
struct view {
    int width, height, step;
};
/* Returns the column or row of pixel `at` of tile number `tile`. */
SHARED int sampled(const struct view *v, int tile, int at) { return tile * v->step + v->step / 2 + at; }
/* Starts a pixel's first ray. */
SHARED void aim(struct path *p, int column, int row, int width, int height) {
    struct vector from = {0, 1.5f, -4};
    struct vector by = {(column - 0.5f * width) / height, (0.5f * height - row) / height - 0.2f, 1};
    p->from = from;
    p->by = unit(by);
    p->weight = 1;
    p->light = 0;
    p->random = (row * width + column) * 747796405u + 1;
    p->alive = 1;
}
SHARED void arrive(struct surface *s, const struct path *p, const struct triangle *t, float far) {
    struct vector n = unit(cross(t->one, t->other));
    s->at = along(p->from, p->by, far);
    s->inside = dot(n, p->by) > 0;
    s->normal = n;
    if (s->inside) {
        s->normal.x = -n.x;
        s->normal.y = -n.y;
        s->normal.z = -n.z;
    }
}
#endif
