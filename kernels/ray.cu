// ray: a picture of spheres above a chequered ground, with shadows and up to five reflections; a thread for each
// pixel. A loop follows a ray: it finds the nearest object, and ends at the sky. A second search, towards the lamp,
// finds obstacles in between. Then the pixel's light of this turn goes on a pile, and the reflected ray is next. At
// the end the pile is added up from the last turn to the first.
// From: the ray tracer in the programs that came with GPGPU-Sim's first paper (RAY, by Maxime): its loop of as many
//   reflections, objects in constant memory that are spheres or planes, a pile, and blocks of the same shape. There, a
//   pixel has three colours.
// Divergence: an if for pixels of the picture around everything; a loop whose length differs by thread; in it a
//   uniform loop over objects with an if and else by kind, uniform, and in its else an if without else (the sphere is
//   hit) around two (which side), then an if without else (nearer); an if without else for a hit, around an if and
//   else by kind with an if and else (chequers), and an if and else for lit sides, around a loop over objects that
//   differs in length, with the same tests in it, and an if and else for shadow. A loop over the pile. Nesting: 7.
// Instructions after reconvergence: 2 (which side) and 3 (hit?) in the test of a sphere, 3 (loop) after the nearer if,
//   24 (lamp) after the if and else by kind, 22 (reflection) after that for lit sides.
// Barriers: none. Block: 16 x 8. Shared memory: none; 32 bytes of constant memory an object.
// Loops of unknown length are not unrolled and sides stay branches, as the compilers of the original's time left them.
enum { OBJECTS = 32, TURNS = 5 };
#define NEAR             1e-3f
#define FAR              1e9f
#define SIDE(name)       asm volatile("// " name)        // a side with a comment is not turned into a selection
#define JOIN(name, c, x) asm volatile("// " name : c(x)) // x is a new value here, so sides do not skip the join

struct object {
    float x, y, z, size, colour, mirror, shine; // plane: its normal, and its distance from the origin
    int plane;
};
__constant__ struct object ray_objects[OBJECTS];

struct vector {
    float x, y, z;
};

static __device__ float dot(struct vector a, struct vector b) { return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x)); }
static __device__ struct vector along(struct vector from, struct vector by, float t) {
    struct vector v = {fmaf(by.x, t, from.x), fmaf(by.y, t, from.y), fmaf(by.z, t, from.z)};
    return v;
}
static __device__ struct vector unit(struct vector v) {
    float scale = 1 / sqrtf(dot(v, v));
    struct vector u = {v.x * scale, v.y * scale, v.z * scale};
    return u;
}

// The distance of an object along a ray of unit length; 0: no hit
static __device__ float meets(const struct object *o, struct vector from, struct vector by) {
    float t = 0;
    if (o->plane) {
        SIDE("plane");
        struct vector normal = {o->x, o->y, o->z};
        float down = dot(by, normal);
        if (down < 0) {
            SIDE("down");
            t = (o->size - dot(from, normal)) / down;
            if (t < NEAR) {
                SIDE("too near");
                t = 0;
            }
        }
    } else {
        SIDE("sphere");
        struct vector to = {o->x - from.x, o->y - from.y, o->z - from.z};
        float middle = dot(to, by), inside = fmaf(o->size, o->size, fmaf(middle, middle, -dot(to, to)));
        if (inside > 0) {
            SIDE("hit");
            float half = sqrtf(inside);
            t = middle - half;
            if (t < NEAR) {
                SIDE("far side");
                t = middle + half;
            }
            JOIN("distance", "+f", t);
            if (t < NEAR) {
                SIDE("behind");
                t = 0;
            }
        }
    }
    return t;
}

static __device__ bool shadowed(struct vector from, struct vector by, int objects) {
    bool dark = false;
#pragma unroll 1
    for (int i = 0; i < objects && !dark; i++)
        dark = meets(&ray_objects[i], from, by) > 0;
    return dark;
}

extern "C" __global__ void ray(float *brightness, int width, int height, int objects) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height) {
        struct vector from = {0, 3, -8}, lamp = {0.48f, 0.6f, -0.64f};
        struct vector by = {(column - 0.5f * width) / height, (0.5f * height - row) / height - 0.2f, 1};
        float pile[TURNS], mirrors[TURNS], weight = 1;
        int n = 0;
#pragma unroll 1
        for (int turn = 0; turn < TURNS && n == turn; turn++) {
            float nearest = FAR;
            int hit = -1;
            by = unit(by);
#pragma unroll 1
            for (int i = 0; i < objects; i++) {
                float t = meets(&ray_objects[i], from, by);
                if (t > 0 && t < nearest) {
                    SIDE("nearer");
                    nearest = t;
                    hit = i;
                }
            }
            if (hit >= 0) {
                const struct object *o = &ray_objects[hit];
                struct vector at = along(from, by, nearest), normal;
                float colour = o->colour;
                if (o->plane) {
                    SIDE("plane");
                    normal.x = o->x;
                    normal.y = o->y;
                    normal.z = o->z;
                    if (((int)floorf(at.x) + (int)floorf(at.z)) & 1) {
                        SIDE("light square");
                        colour = 0.9f;
                    } else {
                        SIDE("dark square");
                        colour *= 0.5f;
                    }
                } else {
                    SIDE("sphere");
                    float scale = 1 / o->size;
                    normal.x = (at.x - o->x) * scale;
                    normal.y = (at.y - o->y) * scale;
                    normal.z = (at.z - o->z) * scale;
                }
                float light = 0.1f * colour, facing = dot(normal, lamp), back = -2 * dot(by, normal);
                at = along(at, normal, NEAR);
                by = along(by, normal, back);
                if (facing > 0) {
                    SIDE("lit");
                    if (shadowed(at, lamp, objects)) {
                        SIDE("shadow");
                        light *= 1 + facing;
                    } else {
                        SIDE("lamp");
                        float gleam = fmaxf(dot(by, lamp), 0);
                        gleam *= gleam;
                        gleam *= gleam;
                        light = fmaf(o->shine, gleam * gleam, fmaf(colour, facing, light));
                    }
                } else {
                    SIDE("dark side");
                    light *= 1 + 0.5f * facing;
                }
                pile[turn] = light;
                mirrors[turn] = o->mirror;
                weight *= o->mirror;
                from = at;
                if (weight > 0.01f) {
                    SIDE("reflects");
                    n++;
                } else {
                    SIDE("ends");
                    n += 2;
                }
            }
            JOIN("next turn", "+r", n);
        }
        // n is the number of turns, and one more if the last object does not reflect
        float sum = fmaf(0.3f, by.y, 0.4f);
        if (weight <= 0.01f) {
            SIDE("no sky");
            n--;
            sum = 0;
        }
#pragma unroll 1
        for (int turn = n - 1; turn >= 0; turn--)
            sum = fmaf(mirrors[turn], sum, (1 - mirrors[turn]) * pile[turn]);
        brightness[row * width + column] = sum;
    }
}
