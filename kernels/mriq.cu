// mriq: the matrix Q of a magnetic resonance image that was not sampled on a grid: each voxel adds up, over all
// samples, the sample's magnitude times the cosine and the sine of an angle. mriq_magnitude squares the magnitudes;
// mriq handles up to 1024 samples in constant memory in a launch.
// From: Parboil, mri-q (ComputePhiMag_GPU, ComputeQ_GPU), which is compiled with fast sines too.
// Divergence: mriq_magnitude: an if without else at the ragged end. mriq: none (an if without else for an odd
//   number of samples and a loop over pairs of them, both uniform).
// Instructions after reconvergence: none and 6.
// Barriers: none. Block: 256 x 1. Shared memory: none; 16 KiB of constant memory.
// Contraction: left to nvcc.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { SAMPLES = 1024 };
#define CIRCLE 6.28318531f

struct sample {
    float x, y, z, magnitude;
};
__constant__ struct sample mriq_samples[SAMPLES];

extern "C" __global__ void mriq_magnitude(const float *real, const float *imaginary, float *magnitude, int samples) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < samples) {
        float re = real[i], im = imaginary[i];
        magnitude[i] = re * re + im * im;
    }
}

static __device__ void add(const struct sample *s, float x, float y, float z, float *real, float *imaginary) {
    float angle = CIRCLE * (s->x * x + s->y * y + s->z * z);
    *real += s->magnitude * __cosf(angle);
    *imaginary += s->magnitude * __sinf(angle);
}

// The `samples` samples in constant memory
extern "C" __global__ void mriq(int samples, const float *xs, const float *ys, const float *zs, float *real,
                                float *imaginary) {
    int voxel = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    float x = xs[voxel], y = ys[voxel], z = zs[voxel], re = real[voxel], im = imaginary[voxel];
    if (samples % 2)
        add(&mriq_samples[k++], x, y, z, &re, &im);
#pragma unroll 1
    for (; k < samples; k += 2) {
        add(&mriq_samples[k], x, y, z, &re, &im);
        add(&mriq_samples[k + 1], x, y, z, &re, &im);
    }
    real[voxel] = re;
    imaginary[voxel] = im;
}
