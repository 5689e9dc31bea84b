// sad: sums of absolute differences between each 4 x 4 block of a frame and a reference frame, at 33 x 33 positions;
// then, from those, of all larger blocks of H.264 (4 x 8 to 16 x 16) in a macroblock of 16 x 16. Two 16-bit sums a
// word.
// From: Parboil, sad (mb_sad_calc, larger_sad_calc_8, larger_sad_calc_16). The reference frame is a texture, as
//   there.
// Divergence: sad_blocks: two ifs without else for the threads that copy the block (16 of 61) and, at the end, the
//   sums (32 of 61); the last thread has fewer positions (loop's end), and the end of a row of positions differs by
//   thread (if without else in the loop, compiled to selections). The others: the loop's ragged end.
//   Nesting: 2.
// Instructions after reconvergence: 1 (barrier) and 0; in the other kernels 0.
// Barriers: 2, 0, 0. Blocks: 61 x 1, 32 x 4 and 32 x 1. Shared memory: 2.2 KiB, 0, 0.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { RANGE = 16, SIDE = 2 * RANGE + 1, POSITIONS = SIDE * SIDE, PADDED = 1096, PER_THREAD = 18 };

extern "C" __global__ void sad_blocks(unsigned short *sums, const unsigned short *frame, cudaTextureObject_t reference,
                                      int mb_width, int mb_height) {
    __shared__ unsigned short block[16];
    __shared__ __align__(8) unsigned short found[POSITIONS + 16];
    int width = mb_width * 16, x = blockIdx.x * 4, y = blockIdx.y * 4, t = threadIdx.x;
    if (t >> 4 < 1) {
        block[t] = frame[(y + (t >> 2)) * width + x + (t & 3)];
        found[POSITIONS + t] = 0; // the copy at the end includes words after the last sum
    }
    __syncthreads();
    int position = t * PER_THREAD, end = min(position + PER_THREAD, POSITIONS);
    int row = position / SIDE, right = position - row * SIDE, down = y - RANGE + row;
#pragma unroll 1
    for (; position < end; position += 3) {
        unsigned short s1 = 0, s2 = 0, s3 = 0;
        int at = x - RANGE + right;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int texel[6];
            for (int j = 0; j < 6; j++)
                texel[j] = tex2D<unsigned short>(reference, at + j, down + i);
            for (int j = 0; j < 4; j++) {
                s1 += abs(texel[j] - block[i * 4 + j]);
                s2 += abs(texel[j + 1] - block[i * 4 + j]);
                s3 += abs(texel[j + 2] - block[i * 4 + j]);
            }
        }
        found[position] = s1;
        found[position + 1] = s2;
        found[position + 2] = s3;
        right += 3;
        if (right >= SIDE) {
            right -= SIDE;
            down++;
        }
    }
    __syncthreads();
    if (t >> 5 < 1) {
        int mb = (y >> 4) * mb_width + (x >> 4), part = (y >> 2 & 3) * 4 + (x >> 2 & 3);
        unsigned short *to = sums + (mb_width * mb_height * 25 + mb * 16 + part) * PADDED;
#pragma unroll 1
        for (int i = t; i < PADDED / 4; i += 32)
            ((uint2 *)to)[i] = ((const uint2 *)found)[i];
    }
}

extern "C" __global__ void sad_larger_8(unsigned short *sums, int mb_width, int mb_height) {
    int tx = threadIdx.y & 1, ty = threadIdx.y >> 1, all = mb_width * mb_height;
    int mb = (blockIdx.y * mb_width + blockIdx.x) * PADDED;
    const unsigned *in = (const unsigned *)(sums + (all * 25 + ty * 8 + tx * 2) * PADDED + mb * 16);
    unsigned *tall = (unsigned *)(sums + (all * 17 + ty * 4 + tx * 2) * PADDED + mb * 8);
    unsigned *wide = (unsigned *)(sums + (all * 9 + ty * 4 + tx) * PADDED + mb * 8);
    unsigned *square = (unsigned *)(sums + (all * 5 + ty * 2 + tx) * PADDED + mb * 4);
#pragma unroll 1
    for (int i = threadIdx.x; i < (POSITIONS + 1) / 2; i += 32) {
        unsigned a = in[i], b = in[i + PADDED / 2], c = in[i + 4 * PADDED / 2], d = in[i + 5 * PADDED / 2];
        tall[i] = a + c;
        tall[i + PADDED / 2] = b + d;
        wide[i] = a + b;
        wide[i + 2 * PADDED / 2] = c + d;
        square[i] = a + b + (c + d);
    }
}

extern "C" __global__ void sad_larger_16(unsigned short *sums, int mb_width, int mb_height) {
    int all = mb_width * mb_height * PADDED, mb = (blockIdx.y * mb_width + blockIdx.x) * PADDED;
    const unsigned *in = (const unsigned *)(sums + all * 5 + mb * 4);
    unsigned *tall = (unsigned *)(sums + all * 3 + mb * 2);
    unsigned *wide = (unsigned *)(sums + all + mb * 2);
    unsigned *square = (unsigned *)(sums + mb);
#pragma unroll 1
    for (int i = threadIdx.x; i < (POSITIONS + 1) / 2; i += 32) {
        unsigned a = in[i], b = in[i + PADDED / 2], c = in[i + 2 * PADDED / 2], d = in[i + 3 * PADDED / 2];
        tall[i] = a + c;
        tall[i + PADDED / 2] = b + d;
        wide[i] = a + b;
        wide[i + PADDED / 2] = c + d;
        square[i] = a + b + (c + d);
    }
}
