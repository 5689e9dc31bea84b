/* shade1 to shade10: path-traced pictures of four scenes with few or many materials, in ten combinations (settings).
 * The reference shares the intersection test and the shaders with the kernel (shade_scene.h), but not the tree: it
 * tries every triangle. The code states every rounding explicitly, so that pictures are equal bit for bit. As in the
 * paper (section IV-B), only sampled CTAs of a large picture run: tiles of 8 x 8 pixels, in a regular grid over a
 * picture of 1920 x 1280.
 *   size small: 6 tiles, 64 triangles at most, at most 0.5 M warp instructions
 *   size paper: 96 tiles (192 warps for the 64 slots of the preset turing), 1,024 triangles at most, 0.06 M to
 *     31 M warp instructions
 * shadeunit1 to shadeunit10: the same pictures, with the triangle that each ray hits as an input. */
#include "bench.h"
#include <stdlib.h>
#include <string.h>
#define SHARED static
#define SHADER static
#include "shade_scene.h"

extern const struct bench bench_shade1, bench_shade2, bench_shade3, bench_shade4, bench_shade5, bench_shade6,
    bench_shade7, bench_shade8, bench_shade9, bench_shade10, bench_shadeunit1, bench_shadeunit2, bench_shadeunit3,
    bench_shadeunit4, bench_shadeunit5, bench_shadeunit6, bench_shadeunit7, bench_shadeunit8, bench_shadeunit9,
    bench_shadeunit10;

enum { BLOCK = 8, LEAF = 4, STACKED = 32 };
enum scene { HILLS, CITY, LEAVES, HALL };
static void (*const shaders[SHADERS])(struct path *, const struct surface *,
                                      const float *) = {SHADER_KINDS(SHADERS_OF)};

/* `materials` is a string with a digit, '0' to '7', for each kind of material of the scene. Each triangle gets one of
 * these kinds, with equal odds, and a random tint. */
struct setting {
    enum scene scene;
    const char *materials;
    int rays;
};
static const struct setting settings[] = {
    {HILLS, "05", 4},        {HILLS, "01234567", 6}, {CITY, "036", 4},      {CITY, "01234567", 6}, {LEAVES, "0247", 5},
    {LEAVES, "01234567", 8}, {HALL, "0346", 6},      {HALL, "01234567", 8}, {LEAVES, "1777", 8},   {HALL, "4442", 5},
};

struct world {
    struct triangle *triangle; /* room for `most` triangles */
    struct node *node;         /* 2 x most + 1 elements */
    /* walks of all rays: first the walk of ray 0 of each pixel, then that of ray 1 of each pixel, and so on */
    struct walk *walk;
    /* for each walk: the number of its visits, then the address of each visited pair of nodes or leaf */
    uint64_t *visit;
    size_t visits, room;
    uint64_t node_at, triangle_at; /* device addresses */
    /* unit: the simulated walk unit walks the tree, not the kernel; full: memory ran out */
    bool unit, full;
    float *texture, *want, *got;
    int n, most, nodes;
    int width, height; /* size in pixels of the picture that consists of the computed tiles, side by side */
    struct view view;
    const struct setting *setting;
    uint64_t seed;
};

static void add(struct world *w, struct vector a, struct vector b, struct vector c) {
    const char *m = w->setting->materials;
    if (w->n == w->most)
        return;
    uint64_t drawn = bench_random(&w->seed);
    int material = (m[drawn % strlen(m)] - '0') * TINTS + (int)(drawn >> 40) % TINTS;
    w->triangle[w->n++] = (struct triangle){a, along(b, a, -1), along(c, a, -1), material};
}

static struct vector anywhere(struct world *w, float low, float high) {
    struct vector v;
    v.x = bench_uniform(&w->seed, -4, 4);
    v.y = bench_uniform(&w->seed, low, high);
    v.z = bench_uniform(&w->seed, -2, 6);
    return v;
}

static void ground(struct world *w, int side, float rough) {
    for (int i = 0; i < side * side; i++) {
        float step = 16.0f / (float)side, x = (float)(i % side) * step - 8, z = (float)(i / side) * step - 5;
        struct vector corner[4];
        /* the height of a corner is a function of its x and z, so that adjacent squares share corners */
        for (int k = 0; k < 4; k++) {
            float cx = x + (k & 1 ? step : 0), cz = z + (k & 2 ? step : 0);
            uint64_t at = (uint64_t)(int64_t)(cx * 64 + cz * 8192 + 1e6f);
            corner[k] = (struct vector){cx, rough * bench_uniform(&at, -1, 1), cz};
        }
        add(w, corner[0], corner[2], corner[1]);
        add(w, corner[1], corner[2], corner[3]);
    }
}

static void box(struct world *w, struct vector low, struct vector high) {
    static const uint8_t face[6][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 4, 5},
                                       {2, 3, 6, 7}, {0, 2, 4, 6}, {1, 3, 5, 7}};
    for (int f = 0; f < 6; f++) {
        struct vector c[4];
        for (int k = 0; k < 4; k++) {
            int at = face[f][k];
            c[k] = (struct vector){at & 1 ? high.x : low.x, at & 2 ? high.y : low.y, at & 4 ? high.z : low.z};
        }
        add(w, c[0], c[1], c[2]);
        add(w, c[1], c[3], c[2]);
    }
}

static void build(struct world *w) {
    int side = w->most > 100 ? 16 : 4;
    ground(w, w->setting->scene == HILLS ? (w->most > 100 ? 32 : 8) : side, w->setting->scene == HILLS ? 0.8f : 0);
    if (w->setting->scene == HALL)
        box(w, (struct vector){-6, -0.5f, -5}, (struct vector){6, 5, 9});
    while (w->setting->scene != HILLS && w->n < w->most) {
        struct vector at = anywhere(w, 0, 3), to = at;
        float size = bench_uniform(&w->seed, 0.1f, 0.6f);
        if (w->setting->scene == LEAVES)
            add(w, at, along(at, (struct vector){1, bench_uniform(&w->seed, -1, 1), 0}, size),
                along(at, (struct vector){bench_uniform(&w->seed, -1, 1), 0.5f, 1}, size));
        else {
            to.x += size;
            to.z += size;
            at.y = w->setting->scene == CITY ? 0 : at.y;
            to.y = w->setting->scene == CITY ? to.y : at.y + size;
            box(w, at, to);
        }
    }
}

static float part(struct vector v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
static float middle(const struct triangle *t, int axis) {
    return 3 * part(t->corner, axis) + part(t->one, axis) + part(t->other, axis);
}
static int by_axis(const void *a, const void *b, void *axis) {
    float x = middle(a, *(int *)axis), y = middle(b, *(int *)axis);
    return (x > y) - (x < y);
}

/* Extends the box of node `n` so that it contains point `v`, with a margin that exceeds the rounding errors of the
 * traversal. */
static void widen(struct node *n, struct vector v) {
    const float more = 1e-2f;
    n->low = (struct vector){fminf(n->low.x, v.x - more), fminf(n->low.y, v.y - more), fminf(n->low.z, v.z - more)};
    n->high = (struct vector){fmaxf(n->high.x, v.x + more), fmaxf(n->high.y, v.y + more), fmaxf(n->high.z, v.z + more)};
}

/* Builds a tree over the triangles: halves the triangles of a node along the longest side of its box until a node has
 * at most LEAF triangles. Node 0 is the root. The loop finishes one node after another and appends the children to the
 * array. */
static void plant(struct world *w) {
    w->nodes = 2; /* number 1 is unused: pairs of children begin at multiples of 64 bytes */
    w->node[0] = (struct node){.first = 0, .count = w->n};
    for (int at = 0; at < w->nodes; at += at ? 1 : 2) {
        struct node *n = &w->node[at];
        n->low = (struct vector){1e9f, 1e9f, 1e9f};
        n->high = (struct vector){-1e9f, -1e9f, -1e9f};
        for (int i = n->first; i < n->first + n->count; i++) {
            const struct triangle *t = &w->triangle[i];
            widen(n, t->corner);
            widen(n, along(t->corner, t->one, 1));
            widen(n, along(t->corner, t->other, 1));
        }
        if (n->count <= LEAF)
            continue;
        struct vector size = along(n->high, n->low, -1);
        int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2, half = n->count / 2;
        qsort_r(w->triangle + n->first, (size_t)n->count, sizeof *w->triangle, by_axis, &axis);
        w->node[w->nodes] = (struct node){.first = n->first, .count = half};
        w->node[w->nodes + 1] = (struct node){.first = n->first + half, .count = n->count - half};
        n->first = w->nodes;
        n->count = 0;
        w->nodes += 2;
    }
}

static void note(struct world *w, uint64_t word) {
    if (w->visits == w->room) {
        size_t room = w->room ? 2 * w->room : 4096;
        uint64_t *more = realloc(w->visit, room * sizeof *more);
        w->full |= !more;
        if (!more)
            return;
        w->visit = more;
        w->room = room;
    }
    w->visit[w->visits++] = word;
}

/* Returns the distance at which the ray enters the box, or a distance beyond `most` if it does not. */
static float entry(const struct node *n, const struct path *p, struct vector inverse, float most) {
    float at;
    return enters(n, p->from, inverse, most, &at) ? at : FAR_AWAY;
}

struct entered {
    int node;
    float from; /* distance at which the ray enters the node */
};

/* Walks through the tree as a hardware unit does: it reads two children, or the triangles of a leaf, at once, and
 * enters the nearer child first. Notes each such visit. Returns the nearest triangle. */
static int walk_tree(struct world *w, const struct path *p, float *far) {
    struct vector inverse = {1 / p->by.x, 1 / p->by.y, 1 / p->by.z};
    struct entered stack[STACKED] = {{0, 0}};
    int depth = 1, hit = -1;
    *far = FAR_AWAY;
    while (depth--) {
        const struct node *n = &w->node[stack[depth].node];
        if (stack[depth].from > *far)
            continue;
        note(w, n->count ? w->triangle_at + (uint64_t)n->first * sizeof *w->triangle
                         : w->node_at + (uint64_t)n->first * sizeof *n);
        for (int k = 0; k < 2 && !n->count; k++) {
            struct entered e = {n->first + k, entry(&w->node[n->first + k], p, inverse, *far)};
            if (e.from == FAR_AWAY)
                continue;
            stack[depth++] = e;
            if (k && depth > 1 && stack[depth - 2].node == n->first && stack[depth - 2].from < e.from) {
                stack[depth - 1] = stack[depth - 2];
                stack[depth - 2] = e;
            }
        }
        for (int i = n->first; i < n->first + n->count; i++) {
            float t = meets(&w->triangle[i], p->from, p->by);
            if (t < *far || (t == *far && i < hit)) {
                *far = t;
                hit = i;
            }
        }
    }
    return hit;
}

/* Tries every triangle. */
static int try_all(const struct world *w, const struct path *p, float *far) {
    int hit = -1;
    *far = FAR_AWAY;
    for (int k = 0; k < w->n; k++) {
        float t = meets(&w->triangle[k], p->from, p->by);
        if (t < *far) {
            *far = t;
            hit = k;
        }
    }
    return hit;
}

static float reference(struct world *w, int column, int row) {
    struct path p;
    struct walk *found = w->walk + row * w->width + column;
    aim(&p, sampled(&w->view, column / BLOCK, column % BLOCK), sampled(&w->view, row / BLOCK, row % BLOCK),
        w->view.width, w->view.height);
    for (int i = 0; i < w->setting->rays && p.alive; i++, found += w->width * w->height) {
        float far;
        size_t list = w->visits;
        int hit;
        if (w->unit) {
            note(w, 0);
            hit = walk_tree(w, &p, &far);
            if (w->full)
                return 0;
            w->visit[list] = w->visits - list - 1;
            *found = (struct walk){.hit = {far, hit}, .list = list * sizeof *w->visit};
        } else {
            hit = try_all(w, &p, &far);
        }
        if (hit < 0)
            return fmaf(p.weight, fmaf(0.5f, p.by.y, 0.5f), p.light);
        struct surface s;
        arrive(&s, &p, &w->triangle[hit], far);
        shaders[w->triangle[hit].material](&p, &s, w->texture);
    }
    return p.light;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct world *w, char *why,
                                 size_t why_size) {
    bench_fill(w->texture, TEXELS, &w->seed, 0, 1);
    build(w);
    plant(w);
    size_t pixels = (size_t)w->width * (size_t)w->height, bytes = pixels * sizeof *w->got;
    w->node_at = bench_buffer(h, w->node, (size_t)w->nodes * sizeof *w->node);
    w->triangle_at = bench_buffer(h, w->triangle, (size_t)w->n * sizeof *w->triangle);
    for (size_t i = 0; i < pixels; i++)
        w->want[i] = reference(w, (int)i % w->width, (int)i / w->width);
    if (w->full)
        return bench_no_memory(why, why_size);
    uint64_t first = w->node_at;
    if (w->unit) {
        size_t walks = pixels * (size_t)w->setting->rays;
        uint64_t lists = bench_buffer(h, w->visit, w->visits * sizeof *w->visit);
        for (size_t i = 0; i < walks; i++)
            w->walk[i].list += lists;
        first = lists ? bench_buffer(h, w->walk, walks * sizeof *w->walk) : 0;
    }
    uint64_t texture = bench_buffer(h, w->texture, TEXELS * sizeof(float)), picture = bench_buffer(h, NULL, bytes);
    if (!first || !w->triangle_at || !texture || !picture)
        return heddle_status(h);
    struct heddle_dim grid = {(uint32_t)w->width / BLOCK, (uint32_t)w->height / BLOCK, 1}, block = {BLOCK, BLOCK, 1};
    int rays = w->setting->rays;
    enum heddle_status s =
        BENCH_LAUNCH(h, m, w->unit ? "shadeunit" : "shade", grid, block, BENCH_ARG(first), BENCH_ARG(w->triangle_at),
                     BENCH_ARG(texture), BENCH_ARG(picture), BENCH_ARG(w->view), BENCH_ARG(rays));
    if (s != HEDDLE_OK || (s = heddle_read(h, picture, w->got, bytes)) != HEDDLE_OK)
        return s;
    return bench_compare(w->got, w->want, pixels, 0, "pixel", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, int number, bool unit, enum bench_size size,
                              char *why, size_t why_size) {
    bool small = size == BENCH_SMALL;
    const struct view view = {1920, 1280, small ? 640 : 160};
    struct world w = {.most = small ? 64 : 1024,
                      .view = view,
                      .width = view.width / view.step * BLOCK,
                      .height = view.height / view.step * BLOCK,
                      .unit = unit,
                      .setting = &settings[number - 1],
                      .seed = 60 + (uint64_t)number};
    size_t most = (size_t)w.most, pixels = (size_t)w.width * (size_t)w.height;
    w.triangle = calloc(most, sizeof *w.triangle);
    w.node = calloc(2 * most + 1, sizeof *w.node);
    w.walk = calloc(pixels * (size_t)w.setting->rays, sizeof *w.walk);
    w.texture = calloc(TEXELS + 2 * pixels, sizeof *w.texture);
    enum heddle_status s;
    if (w.triangle && w.node && w.walk && w.texture) {
        w.want = w.texture + TEXELS;
        w.got = w.want + pixels;
        s = run_on(h, m, &w, why, why_size);
    } else
        s = bench_no_memory(why, why_size);
    free(w.triangle);
    free(w.node);
    free(w.walk);
    free(w.visit);
    free(w.texture);
    return s;
}

#define SHADE_RUN(name, n, given)                                                                                      \
    static enum heddle_status name(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,         \
                                   size_t why_size) {                                                                  \
        return run(h, m, n, given, size, why, why_size);                                                               \
    }
#define SHADE(n, what)                                                                                                 \
    SHADE_RUN(run##n, n, false)                                                                                        \
    SHADE_RUN(run_hit##n, n, true)                                                                                     \
    const struct bench bench_shade##n = {"shade" #n, "paths of light with shaders behind a call: " what, "subwarp",    \
                                         "shade.ptx", run##n};                                                         \
    const struct bench bench_shadeunit##n = {"shadeunit" #n, "the same with the walk in the walk unit: " what,         \
                                             "subwarp", "shadeunit.ptx", run_hit##n};
SHADE(1, "hills of two materials")
SHADE(2, "hills of eight")
SHADE(3, "a city of three")
SHADE(4, "a city of eight")
SHADE(5, "leaves of four")
SHADE(6, "leaves of eight")
SHADE(7, "a hall with four")
SHADE(8, "a hall with eight")
SHADE(9, "leaves, mostly of glass")
SHADE(10, "a hall, mostly of marble")
