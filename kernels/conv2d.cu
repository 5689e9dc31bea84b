// conv2d: 3 x 3 convolution of a height x width image with fixed coefficients; the border is unchanged.
// From: PolyBench-GPU, 2DCONV.
// Divergence: one if without else of four conditions, at the image's border and beyond its end. Nesting: 1.
// Instructions after reconvergence: none.
// Barriers: none. Block: 32 x 8. Shared memory: none.
extern "C" __global__ void conv2d(const float *in, float *out, int width, int height) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < height - 1 && j < width - 1 && i > 0 && j > 0) {
        float sum = 0.2f * in[(i - 1) * width + j - 1];
        sum = fmaf(0.5f, in[(i - 1) * width + j], sum);
        sum = fmaf(-0.8f, in[(i - 1) * width + j + 1], sum);
        sum = fmaf(-0.3f, in[i * width + j - 1], sum);
        sum = fmaf(0.6f, in[i * width + j], sum);
        sum = fmaf(-0.9f, in[i * width + j + 1], sum);
        sum = fmaf(0.4f, in[(i + 1) * width + j - 1], sum);
        sum = fmaf(0.7f, in[(i + 1) * width + j], sum);
        sum = fmaf(0.1f, in[(i + 1) * width + j + 1], sum);
        out[i * width + j] = sum;
    }
}
