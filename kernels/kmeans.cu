// kmeans: each point is assigned to the nearest of up to 5 centres; the host moves the centres and repeats.
// kmeans_swap turns the features from point-major into feature-major order first.
// From: Rodinia, kmeans (invert_mapping, kmeansPoint). The centres are in constant memory as there; the features are
//   plain loads here, and a texture there.
// Divergence: an if without else at the grid's ragged end around two nested loops (uniform), and inside the outer one
//   an if without else where a centre is nearer than all before (compiled to selections). Nesting: 3.
// Instructions after reconvergence: after the inner loop 6 (selections, step), after the outer one 4 (address, store).
// Barriers: none. Block: 256 x 1. Shared memory: none; 680 bytes of constant memory.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { CENTRES = 5, FEATURES = 34 };
__constant__ float kmeans_centres[CENTRES * FEATURES];

extern "C" __global__ void kmeans_swap(const float *in, float *out, int points, int features) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < points)
#pragma unroll 1
        for (int i = 0; i < features; i++)
            out[point + points * i] = in[point * features + i];
}

extern "C" __global__ void kmeans_nearest(const float *data, int *member, int points, int features, int centres) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < points) {
        int nearest = -1;
        float least = 3.40282347e+38f;
        for (int c = 0; c < centres; c++) {
            float distance = 0;
#pragma unroll 1
            for (int f = 0; f < features; f++) {
                float d = data[point + f * points] - kmeans_centres[c * features + f];
                distance = fmaf(d, d, distance);
            }
            if (distance < least) {
                least = distance;
                nearest = c;
            }
        }
        member[point] = nearest;
    }
}
