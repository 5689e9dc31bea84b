// shadeunit: as shade, but the walk unit of the machine searches the tree (heddle.walk): only the shaders, their call
// and the loop over rays remain. The walk of each ray is an input.
// From: the ray-tracing kernels of the subwarp-interleaving paper (sections II and V-B), where a hardware unit
//   traverses the tree and the kernel waits for its result. The scenes are those of shade.
// Divergence: a loop over a path's rays, whose length differs by thread; in it a break for the sky, and an indirect
//   call with up to 32 targets, which contain loops, ifs and elses and wait for loads of a texture. Nesting: 2.
// Instructions after reconvergence: 2 (loop) after the call.
// Barriers: none. Block: 8 x 8. Shared memory: none; some 80 bytes of local memory a thread.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
#define SHARED static __device__
#define SHADER extern "C" __device__ __noinline__
#include "../benchmarks/shade_scene.h"

typedef void (*shader)(struct path *p, const struct surface *s, const float *texture);
__constant__ shader shade_table[SHADERS] = {SHADER_KINDS(SHADERS_OF)};

// Returns the nearest triangle of a ray from the walk unit.
static __device__ struct hit nearest(const struct walk *ray) {
    struct hit hit;
    asm volatile("heddle.walk.global.v2.b32 {%0, %1}, [%2];"
                 : "=f"(hit.far), "=r"(hit.triangle)
                 : "l"(__cvta_generic_to_global(ray)));
    return hit;
}

extern "C" __global__ void shadeunit(const struct walk *walks, const struct triangle *triangles, const float *texture,
                                     float *picture, struct view view, int rays) {
    int column = sampled(&view, blockIdx.x, threadIdx.x), row = sampled(&view, blockIdx.y, threadIdx.y);
    int line = gridDim.x * blockDim.x,
        at = (blockIdx.y * blockDim.y + threadIdx.y) * line + blockIdx.x * blockDim.x + threadIdx.x;
    struct path p;
    aim(&p, column, row, view.width, view.height);
#pragma unroll 1
    for (int i = 0; i < rays && p.alive; i++) {
        struct hit hit = nearest(&walks[i * line * gridDim.y * blockDim.y + at]);
        if (hit.triangle < 0) {
            p.light = fmaf(p.weight, fmaf(0.5f, p.by.y, 0.5f), p.light);
            break;
        }
        struct surface s;
        arrive(&s, &p, &triangles[hit.triangle], hit.far);
        shade_table[triangles[hit.triangle].material](&p, &s, texture);
    }
    picture[at] = p.light;
}
