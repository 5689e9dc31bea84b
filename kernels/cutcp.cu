// cutcp: electrostatic potential on a 3-D lattice of the point charges within a cutoff. A block computes a region of 8
// x 8 x 8 lattice points, four along y a thread, from the bins of atoms around it (cubes of 4 Angstrom with up to 8
// atoms; a charge of 0 ends a bin). It loads 32 bins at a time into shared memory. One launch for each layer of
// regions.
// From: Parboil, cutcp (cuda_cutoff_potential_lattice6overlap).
// Divergence: four ifs without else on the distance, in a loop over a bin's atoms that ends early (uniform), in a loop
//   over bins, in a loop over batches of bins; half-warps load up to four bins each (the loop's end differs between
//   the halves). Nesting: 4.
// Instructions after reconvergence: after each of the first three ifs 4 (next distance), after the last 3 (loop's
//   step), after the loads of bins 1 (barrier).
// Barriers: 2 a batch. Block: 8 x 2 x 8. Shared memory: 4 KiB; constant memory for the list of bins around.
enum { BIN_DEPTH = 8, BIN_FLOATS = BIN_DEPTH * 4, BATCH = 32, MAX_AROUND = 11 * 11 * 11, REGION = 512 };
#define BIN_PER_LENGTH 0.25f
__constant__ int cutcp_count;
__constant__ int3 cutcp_around[MAX_AROUND];

#define ADD(energy)                                                                                                    \
    if (r2 < cutoff2) {                                                                                                \
        float s = fmaf(-r2, inv_cutoff2, 1);                                                                           \
        energy = fmaf(aq * rsqrtf(r2) * s, s, energy);                                                                 \
    }

extern "C" __global__ void cutcp(int bins_x, int bins_y, const float *zero_bin, float h, float cutoff2,
                                 float inv_cutoff2, float *regions, int layer) {
    __shared__ float atoms[BATCH * BIN_FLOATS];
    int tid = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    float *out = regions + ((layer * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * REGION;
    float x = (8 * blockIdx.x + threadIdx.x) * h, y = (8 * blockIdx.y + threadIdx.y) * h;
    float z = (8 * layer + threadIdx.z) * h;
    int bin_x = (int)floorf((8 * blockIdx.x + 4) * h * BIN_PER_LENGTH);
    int bin_y = (int)floorf((8 * blockIdx.y + 4) * h * BIN_PER_LENGTH);
    int bin_z = (int)floorf((8 * layer + 4) * h * BIN_PER_LENGTH);
    int next = tid >> 4, batch = BATCH;
    float energy0 = 0, energy1 = 0, energy2 = 0, energy3 = 0;
#pragma unroll 1
    for (int done = 0; done < cutcp_count; done += batch) {
        // each half-warp loads up to four bins of 32 floats
#pragma unroll 1
        for (int i = 0; i < 4 && next < cutcp_count; i++, next += 8) {
            int bin = ((bin_z + cutcp_around[next].z) * bins_y + bin_y + cutcp_around[next].y) * bins_x + bin_x +
                      cutcp_around[next].x;
            const float *from = zero_bin + bin * BIN_FLOATS;
            float *to = atoms + BIN_FLOATS * (tid >> 4) + i * 8 * BIN_FLOATS;
            to[tid & 15] = from[tid & 15];
            to[(tid & 15) + 16] = from[(tid & 15) + 16];
        }
        __syncthreads();
        if (done + BATCH > cutcp_count)
            batch = cutcp_count - done;
#pragma unroll 1
        for (int bin = 0; bin < batch * BIN_FLOATS; bin += BIN_FLOATS)
#pragma unroll 1
            for (int i = 0; i < BIN_DEPTH; i++) {
                const float *atom = atoms + bin + i * 4;
                float aq = atom[3];
                if (aq == 0)
                    break;
                float dx = atom[0] - x, dz = atom[2] - z, dxz2 = fmaf(dz, dz, dx * dx);
                float dy = atom[1] - y, r2 = fmaf(dy, dy, dxz2);
                ADD(energy0)
                dy -= 2 * h;
                r2 = fmaf(dy, dy, dxz2);
                ADD(energy1)
                dy -= 2 * h;
                r2 = fmaf(dy, dy, dxz2);
                ADD(energy2)
                dy -= 2 * h;
                r2 = fmaf(dy, dy, dxz2);
                ADD(energy3)
            }
        __syncthreads();
    }
    out[(tid >> 4) * 64 + (tid & 15)] = energy0;
    out[(tid >> 4) * 64 + (tid & 15) + 16] = energy1;
    out[(tid >> 4) * 64 + (tid & 15) + 32] = energy2;
    out[(tid >> 4) * 64 + (tid & 15) + 48] = energy3;
}
