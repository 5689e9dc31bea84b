// Heat on a chip, as in Rodinia's hotspot: pitched memory, copies of rows, two grids used alternately, events, and a
// variant that computes several time steps of a tile with its halo in shared memory.
#include "mistakes.h"
#include <algorithm>
#include <vector>

enum { W = 75, H = 53, STEPS = 6, TILE = 16, DEEP = 2 };
struct coefficients {
    float x, y, z;
};

__global__ void step(const float *power, size_t power_pitch, const float *from, float *to, size_t pitch,
                     coefficients k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    auto at = [&](int i, int j) {
        return *((const float *)((const char *)from + min(max(j, 0), H - 1) * pitch) + min(max(i, 0), W - 1));
    };
    float c = at(x, y), p = *((const float *)((const char *)power + y * power_pitch) + x);
    *((float *)((char *)to + y * pitch) + x) = c + p * 0.1f + k.x * (at(x - 1, y) + at(x + 1, y) - 2 * c) +
                                               k.y * (at(x, y - 1) + at(x, y + 1) - 2 * c) - k.z * c;
}

// Computes DEEP steps. The threads of a block are a tile with a border; each step makes the valid part smaller by one.
__global__ void __launch_bounds__(TILE *TILE)
    steps(const float *power, size_t power_pitch, const float *from, float *to, size_t pitch, coefficients k) {
    __shared__ float now[TILE][TILE], next[TILE][TILE];
    const int inner = TILE - 2 * DEEP, tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * inner + tx - DEEP, y = (int)blockIdx.y * inner + ty - DEEP;
    bool inside = x >= 0 && x < W && y >= 0 && y < H;
    int cx = min(max(x, 0), W - 1), cy = min(max(y, 0), H - 1);
    now[ty][tx] = *((const float *)((const char *)from + cy * pitch) + cx);
    float p = *((const float *)((const char *)power + cy * power_pitch) + cx);
    __syncthreads();
    bool mine = false;
    for (int i = 1; i <= DEEP; i++) {
        mine = tx >= i && tx < TILE - i && ty >= i && ty < TILE - i && inside;
        if (mine) {
            int w = x == 0 ? tx : tx - 1, e = x == W - 1 ? tx : tx + 1, n = y == 0 ? ty : ty - 1,
                s = y == H - 1 ? ty : ty + 1;
            float c = now[ty][tx];
            next[ty][tx] = c + p * 0.1f + k.x * (now[ty][w] + now[ty][e] - 2 * c) +
                           k.y * (now[n][tx] + now[s][tx] - 2 * c) - k.z * c;
        }
        __syncthreads();
        if (mine)
            now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (mine)
        *((float *)((char *)to + y * pitch) + x) = now[ty][tx];
}

static void reference(const std::vector<float> &power, std::vector<float> &t, coefficients k) {
    for (int i = 0; i < STEPS; i++) {
        std::vector<float> old = t;
        auto at = [&](int x, int y) {
            return old[std::min(std::max(y, 0), H - 1) * W + std::min(std::max(x, 0), W - 1)];
        };
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                float c = at(x, y);
                t[y * W + x] = c + power[y * W + x] * 0.1f + k.x * (at(x - 1, y) + at(x + 1, y) - 2 * c) +
                               k.y * (at(x, y - 1) + at(x, y + 1) - 2 * c) - k.z * c;
            }
    }
}

int main() {
    unsigned seed = 1;
    std::vector<float> power(W * H), start(W * H), right, seen(W * H);
    for (int i = 0; i < W * H; i++) {
        power[i] = next_float(&seed);
        start[i] = 50 + 10 * next_float(&seed);
    }
    coefficients k = {0.2f, 0.15f, 0.01f};
    right = start;
    reference(power, right, k);
    float *p, *grid[2], ms = 0;
    size_t pitch, pitch2, power_pitch;
    OK(cudaMallocPitch(&p, &power_pitch, W * 4, H));
    OK(cudaMallocPitch(&grid[0], &pitch, W * 4, H));
    OK(cudaMallocPitch(&grid[1], &pitch2, W * 4, H));
    WANT(pitch == pitch2 && pitch >= W * 4);
    OK(cudaMemcpy2D(p, power_pitch, power.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
    cudaEvent_t begin, end;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    for (int variant = 0; variant < 2; variant++) {
        OK(cudaMemcpy2D(grid[0], pitch, start.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
        OK(cudaEventRecord(begin));
        int now = 0;
        if (variant == 0)
            for (int i = 0; i < STEPS; i++, now ^= 1)
                step<<<dim3((W + 31) / 32, (H + 7) / 8), dim3(32, 8)>>>(p, power_pitch, grid[now], grid[now ^ 1], pitch,
                                                                        k);
        else
            for (int i = 0; i < STEPS; i += DEEP, now ^= 1) {
                int inner = TILE - 2 * DEEP;
                steps<<<dim3((W + inner - 1) / inner, (H + inner - 1) / inner), dim3(TILE, TILE)>>>(
                    p, power_pitch, grid[now], grid[now ^ 1], pitch, k);
            }
        OK(cudaGetLastError());
        OK(cudaEventRecord(end));
        OK(cudaEventSynchronize(end));
        OK(cudaEventElapsedTime(&ms, begin, end));
        WANT(ms > 0);
        std::fill(seen.begin(), seen.end(), 0.0f);
        OK(cudaMemcpy2D(seen.data(), W * 4, grid[now], pitch, W * 4, H, cudaMemcpyDeviceToHost));
        for (int i = 0; i < W * H; i++)
            WANT(near(seen[i], right[i], 1e-5));
    }
    OK(cudaEventDestroy(begin));
    OK(cudaEventDestroy(end));
    OK(cudaFree(p));
    OK(cudaFree(grid[0]));
    OK(cudaFree(grid[1]));
    return done();
}
