// The tensor memory accelerator: tiles of a matrix by tensor maps that the program gets with cudaGetDriverEntryPoint(),
// a transpose with the 128-byte swizzle, sums into global memory, and the argument rules of the encoding functions.
#include "mistakes.h"
#include <cuda.h>
#include <cuda/ptx>
#include <vector>

namespace ptx = cuda::ptx;
enum { W = 100, H = 70, PITCH = 128, TILE = 32 };

static decltype(&cuTensorMapEncodeTiled) encode;

static CUresult map_of(CUtensorMap *m, int *at, CUtensorMapSwizzle swizzle, cuuint64_t stride = PITCH * 4,
                       cuuint32_t box = TILE, CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
    const cuuint64_t dim[] = {W, H}, strides[] = {stride};
    const cuuint32_t boxes[] = {box, box}, ones[] = {1, 1};
    return encode(m, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, at, dim, strides, boxes, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill);
}

__device__ static void wait(uint64_t *barrier, uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(barrier, parity))
        ;
}

// Each CTA loads a tile, adds 1 to each element (transposed if `turn`), and adds the tile to `to`. The tile is swizzled,
// so that both a row and a column of it lie in different banks.
__global__ void tiles(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(1024) int tile[TILE][TILE];
    __shared__ alignas(8) uint64_t barrier;
    const int x = blockIdx.x * TILE, y = blockIdx.y * TILE, t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&barrier, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        const int32_t at[] = {x, y};
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier, sizeof tile);
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &tile, &from, at, &barrier);
    }
    __syncthreads();
    wait(&barrier, 0);
    for (int row = 0; row < TILE; row++) {
        int *p = &tile[row][((t / 4 ^ row % 8) * 4) + t % 4]; // element (row, t)
        *p = x + t < W && y + row < H ? *p + 1 : 1000000;    // elements outside are not stored
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
        const int32_t at[] = {x, y};
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &to, at, &tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

// Copies n bytes in stages of two buffers without a tensor map.
__global__ void stream(const int *from, int *to, int stages) {
    enum { N = 256 };
    __shared__ alignas(128) int buffer[2][N];
    __shared__ alignas(8) uint64_t barrier[2];
    const int t = threadIdx.x;
    auto load = [&](int s) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier[s % 2], N * 4);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buffer[s % 2], from + s * N, N * 4, &barrier[s % 2]);
    };
    if (t == 0) {
        ptx::mbarrier_init(&barrier[0], 1);
        ptx::mbarrier_init(&barrier[1], 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        load(0);
    }
    __syncthreads();
    for (int s = 0; s < stages; s++) {
        if (t == 0 && s + 1 < stages) {
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>()); // the store of the other buffer has read it
            load(s + 1);
        }
        wait(&barrier[s % 2], s / 2 % 2);
        for (int i = t; i < N; i += blockDim.x)
            buffer[s % 2][i] *= 3;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (t == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, to + s * N, buffer[s % 2], N * 4);
            ptx::cp_async_bulk_commit_group();
        }
        __syncthreads();
    }
    if (t == 0)
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

static void rules(int *at) {
    CUtensorMap m;
    WANT(map_of(&m, at, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_SUCCESS);
    WANT(map_of(&m, at + 1, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_ERROR_INVALID_VALUE);          // address: 16 bytes
    WANT(map_of(&m, at, CU_TENSOR_MAP_SWIZZLE_64B) == CUDA_ERROR_INVALID_VALUE);               // a row has 128 bytes
    WANT(map_of(&m, at, CU_TENSOR_MAP_SWIZZLE_NONE, 404) == CUDA_ERROR_INVALID_VALUE);         // stride: 16 bytes
    WANT(map_of(&m, at, CU_TENSOR_MAP_SWIZZLE_NONE, 512, 257) == CUDA_ERROR_INVALID_VALUE);    // box: 256
    WANT(map_of(&m, at, CU_TENSOR_MAP_SWIZZLE_NONE, 512, 3) == CUDA_ERROR_INVALID_VALUE);      // row: 16 bytes
    WANT(map_of(&m, at, CU_TENSOR_MAP_SWIZZLE_NONE, 512, 32, // NaN needs floating-point numbers
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) == CUDA_ERROR_INVALID_VALUE);
    WANT(cuTensorMapReplaceAddress(&m, at + 4) == CUDA_SUCCESS);
    WANT(cuTensorMapReplaceAddress(&m, at + 1) == CUDA_ERROR_INVALID_VALUE);
    memset(&m, 5, sizeof m);
    WANT(cuTensorMapReplaceAddress(&m, at) == CUDA_ERROR_INVALID_VALUE); // no tensor map
}

int main() {
    std::vector<int> in(PITCH * H), out(PITCH * H, 7);
    unsigned seed = 1;
    int *from, *to;
    cudaDriverEntryPointQueryResult found;
    void *f = nullptr;
    OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
    WANT(f != nullptr && found == cudaDriverEntryPointSuccess);
    encode = (decltype(encode))f;
    for (int &x : in)
        x = next_random(&seed) % 1000;
    OK(cudaMalloc(&from, in.size() * 4));
    OK(cudaMalloc(&to, in.size() * 4));
    OK(cudaMemcpy(from, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(to, out.data(), in.size() * 4, cudaMemcpyHostToDevice));
    rules(from);
    CUtensorMap a, b;
    WANT(map_of(&a, from, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_SUCCESS);
    WANT(map_of(&b, to, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_SUCCESS);
    tiles<<<dim3((W + TILE - 1) / TILE, (H + TILE - 1) / TILE), TILE>>>(a, b);
    OK(cudaMemcpy(out.data(), to, out.size() * 4, cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < PITCH; x++)
            WANT(out[y * PITCH + x] == (x < W ? 7 + in[y * PITCH + x] + 1 : 7));
    stream<<<1, 64>>>(from, to, PITCH * H / 256);
    OK(cudaMemcpy(out.data(), to, out.size() * 4, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < out.size(); i++)
        WANT(out[i] == in[i] * 3);
    return done();
}
