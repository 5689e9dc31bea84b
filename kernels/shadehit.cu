// shadehit: as shade, but what each ray meets is loaded, not searched for: the shaders, their call and the loop over
// rays are what is left.
// From: the ray-tracing kernels of the subwarp-interleaving paper (sections II and V-B), where a unit of its own walks
//   through the tree and the kernel waits for its answer. The scenes are those of shade.
// Divergence: a loop over a path's rays, of a thread's own length; in it a break for the sky, and an indirect call with
//   up to eight targets, which have loops, ifs and elses of their own and wait for loads of a texture. Nesting: 2.
// After the joins: 2 (loop) behind the call.
// Barriers: none. Block: 8 x 8. Shared memory: none; some 80 bytes of local memory a thread.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
#define SHARED static __device__
#define SHADER extern "C" __device__ __noinline__
#include "../benchmarks/shade_scene.h"

typedef void (*shader)(struct path *p, const struct surface *s, const float *texture);
__constant__ shader shade_table[SHADERS] = {shade_matte,  shade_mirror, shade_gloss, shade_checks,
                                            shade_marble, shade_wood,   shade_lamp,  shade_glass};

extern "C" __global__ void shadehit(const struct hit *hits, const struct triangle *triangles,
                                    const float *texture, float *picture, int width, int height, int rays) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    struct path p;
    aim(&p, column, row, width, height);
#pragma unroll 1
    for (int i = 0; i < rays && p.alive; i++) {
        struct hit hit = hits[(i * height + row) * width + column];
        if (hit.triangle < 0) {
            p.light = fmaf(p.weight, fmaf(0.5f, p.by.y, 0.5f), p.light);
            break;
        }
        struct surface s;
        arrive(&s, &p, &triangles[hit.triangle], hit.far);
        shade_table[triangles[hit.triangle].material](&p, &s, texture);
    }
    picture[row * width + column] = p.light;
}
