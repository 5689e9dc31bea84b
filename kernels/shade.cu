// shade: paths of light traced from the camera through a scene of triangles with up to 32 materials, all in one kernel:
// each ray traverses a tree of boxes with its own stack, finds the nearest triangle, and calls its material's shader
// through a table, which redirects or ends the ray. A thread for each pixel of the
// sampled tiles of a picture.
// From: the ray-tracing kernels of the subwarp-interleaving paper (section V-B): one kernel for everything, shaders
//   called indirectly, few warps in an SM. The scenes are this project's own.
// Divergence: a loop over a path's rays, whose length differs by thread; in it the traversal of the tree: a loop whose
//   length differs by thread with an if without else (box missed), an if and else for leaf or node, a loop over a
//   leaf's triangles with early returns; a break for the sky; an indirect call with up to 32 targets, which contain
//   loops, ifs and elses and wait for loads of a texture. Nesting: 4.
// Instructions after reconvergence: 38 (the next box) after the if and else of leaf or node, 4 (loop) after the
//   triangle's test, 24 (where the ray arrived, the call) after the walk, 2 (loop) after the call.
// Barriers: none. Block: 8 x 8. Shared memory: none; some 200 bytes of local memory a thread.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
#define SHARED static __device__
#define SHADER extern "C" __device__ __noinline__
#include "../benchmarks/shade_scene.h"

enum { STACK = 32 };
typedef void (*shader)(struct path *p, const struct surface *s, const float *texture);
__constant__ shader shade_table[SHADERS] = {SHADER_KINDS(SHADERS_OF)};

// Returns the nearest triangle, the first one on a tie; -1: the sky
static __device__ int nearest(const struct node *nodes, const struct triangle *triangles, struct vector from,
                              struct vector by, float *far) {
    struct vector inverse = {1 / by.x, 1 / by.y, 1 / by.z};
    int stack[STACK], depth = 0, at = 0, hit = -1;
    *far = FAR_AWAY;
#pragma unroll 1
    for (;;) {
        const struct node *n = &nodes[at];
        float entry;
        if (enters(n, from, inverse, *far, &entry)) {
            if (n->count == 0) {
                stack[depth++] = n->first + 1;
                at = n->first;
                continue;
            }
#pragma unroll 1
            for (int i = n->first; i < n->first + n->count; i++) {
                float t = meets(&triangles[i], from, by);
                if (t < *far || (t == *far && i < hit)) {
                    *far = t;
                    hit = i;
                }
            }
        }
        if (depth == 0)
            return hit;
        at = stack[--depth];
    }
}

extern "C" __global__ void shade(const struct node *nodes, const struct triangle *triangles, const float *texture,
                                 float *picture, struct view view, int rays) {
    int column = sampled(&view, blockIdx.x, threadIdx.x), row = sampled(&view, blockIdx.y, threadIdx.y);
    int line = gridDim.x * blockDim.x,
        at = (blockIdx.y * blockDim.y + threadIdx.y) * line + blockIdx.x * blockDim.x + threadIdx.x;
    struct path p;
    aim(&p, column, row, view.width, view.height);
#pragma unroll 1
    for (int i = 0; i < rays && p.alive; i++) {
        float far;
        int hit = nearest(nodes, triangles, p.from, p.by, &far);
        if (hit < 0) {
            p.light = fmaf(p.weight, fmaf(0.5f, p.by.y, 0.5f), p.light);
            break;
        }
        struct surface s;
        arrive(&s, &p, &triangles[hit], far);
        shade_table[triangles[hit].material](&p, &s, texture);
    }
    picture[at] = p.light;
}
