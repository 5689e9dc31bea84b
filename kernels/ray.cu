// ray: a picture of spheres above a chequered ground, with shadows and up to five reflections; a thread for each
// pixel. A loop follows a ray: it finds the nearest sphere or the ground, or ends at the sky. A second search, towards
// the lamp, finds obstacles in between. Then the pixel gets colour, and the reflected ray is next, unless the object
// does not reflect.
// From: the ray tracer in the programs that came with GPGPU-Sim's first paper (RAY, by Maxime), with a loop of as many
//   reflections, spheres and a plane in constant memory, and blocks of the same shape.
// Divergence: a loop whose length differs by thread; in it a uniform loop over spheres with an if without else (the
//   sphere is hit) around another (it is nearer); an if without else for the ground; a break for the sky; an if and
//   else for ground or sphere; an if without else for lit sides, around a loop over spheres with a break (shadow); a
//   break. Nesting: 4.
// Instructions after reconvergence: 9 (nearer?) after the sphere's if, 6 and 2 after that loop and the ground's if, 19
//   (shading) after the if and else, 3 after the if in the shadow's loop, 7 (reflection) after the lit side's.
// Barriers: none. Block: 16 x 8. Shared memory: none; 28 bytes of constant memory a sphere.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { SPHERES = 32, TURNS = 5 };
#define NEAR 1e-3f

struct sphere {
    float x, y, z, radius, colour, mirror, shine; // colour: of red; mirror: part of light reflected
};
__constant__ struct sphere ray_spheres[SPHERES];

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

// The distance of a sphere along a ray of unit length; 0: no hit
static __device__ float meets(const struct sphere *s, struct vector from, struct vector by) {
    struct vector to = {s->x - from.x, s->y - from.y, s->z - from.z};
    float middle = dot(to, by), inside = fmaf(s->radius, s->radius, fmaf(middle, middle, -dot(to, to)));
    float t = 0;
    if (inside > 0) {
        float half = sqrtf(inside);
        t = middle - half;
        if (t < NEAR)
            t = middle + half;
        if (t < NEAR)
            t = 0;
    }
    return t;
}

static __device__ bool shadowed(struct vector from, struct vector by, int spheres) {
#pragma unroll 1
    for (int i = 0; i < spheres; i++)
        if (meets(&ray_spheres[i], from, by) > 0)
            return true;
    return false;
}

extern "C" __global__ void ray(float *brightness, int width, int height, int spheres) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    struct vector from = {0, 3, -8}, lamp = {0.48f, 0.6f, -0.64f};
    struct vector by = {(column - 0.5f * width) / height, (0.5f * height - row) / height - 0.2f, 1};
    by = unit(by);
    float sum = 0, weight = 1;
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
        float nearest = 1e9f;
        int hit = -1;
#pragma unroll 1
        for (int i = 0; i < spheres; i++) {
            float t = meets(&ray_spheres[i], from, by);
            if (t > 0 && t < nearest) {
                nearest = t;
                hit = i;
            }
        }
        if (by.y < 0 && from.y < -by.y * nearest) {
            nearest = from.y / -by.y;
            hit = spheres;
        }
        if (hit < 0) {
            sum = fmaf(weight, fmaf(0.3f, by.y, 0.4f), sum);
            break;
        }
        struct vector at = along(from, by, nearest), normal;
        float colour, mirror, shine;
        if (hit == spheres) {
            normal.x = normal.z = 0;
            normal.y = 1;
            colour = ((int)floorf(at.x) + (int)floorf(at.z)) & 1 ? 0.9f : 0.2f;
            mirror = 0.2f;
            shine = 0;
        } else {
            const struct sphere *s = &ray_spheres[hit];
            float scale = 1 / s->radius;
            normal.x = (at.x - s->x) * scale;
            normal.y = (at.y - s->y) * scale;
            normal.z = (at.z - s->z) * scale;
            colour = s->colour;
            mirror = s->mirror;
            shine = s->shine;
        }
        float light = 0.1f * colour, facing = dot(normal, lamp), back = -2 * dot(by, normal);
        at = along(at, normal, NEAR);
        by = along(by, normal, back);
        if (facing > 0 && !shadowed(at, lamp, spheres)) {
            float gleam = fmaxf(dot(by, lamp), 0);
            gleam *= gleam;
            gleam *= gleam;
            light = fmaf(shine, gleam * gleam, fmaf(colour, facing, light));
        }
        sum = fmaf(weight * (1 - mirror), light, sum);
        weight *= mirror;
        if (weight < 0.01f)
            break;
        from = at;
        by = unit(by);
    }
    brightness[row * width + column] = sum;
}
