// backprop: one training step of a neural network with a hidden layer of 16 units. The device computes the part
// between the input and that layer: backprop_forward multiplies 16 inputs by their weights and sums the products as a
// tree; backprop_adjust changes the weights by the units' errors. The host does the output unit. Weights are rows of
// 17; the first of each row, and the first row, belong to a constant input.
// From: Rodinia, backprop (bpnn_layerforward_CUDA, bpnn_adjust_weights_cuda).
// Divergence: backprop_forward: an if without else for two lanes of a warp at both ends; in four steps of the tree,
//   one for every second, fourth, eighth, sixteenth row of 16 lanes: half of each warp, then the first half of some
//   warps. backprop_adjust: one at its end, for one warp of the grid. Nesting: 1.
// Instructions after reconvergence: 23 (the products, barriers) after the first; 4 (barrier, test) after those of the
//   tree, 6 (store) after its last; none at both ends.
// Barriers: 8 and 1. Block: 16 x 16. Shared memory: 1.1 KiB and none.
enum { UNITS = 16 };

extern "C" __global__ void backprop_forward(const float *input, float *weight, float *partial) {
    __shared__ float in[UNITS], product[UNITS][UNITS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int at = (UNITS + 1) * (UNITS * blockIdx.y + ty + 1) + tx + 1;
    if (tx == 0)
        in[ty] = input[UNITS * blockIdx.y + ty + 1];
    __syncthreads();
    product[ty][tx] = weight[at];
    __syncthreads();
    product[ty][tx] = product[ty][tx] * in[ty];
    __syncthreads();
    for (int step = 2; step <= UNITS; step *= 2) {
        if (ty % step == 0)
            product[ty][tx] += product[ty + step / 2][tx];
        __syncthreads();
    }
    weight[at] = product[ty][tx];
    __syncthreads();
    if (tx == 0)
        partial[blockIdx.y * UNITS + ty] = product[tx][ty];
}

// `before`: the previous change of each weight
extern "C" __global__ void backprop_adjust(const float *delta, const float *input, float *weight, float *before) {
    const float rate = 0.3f, momentum = 0.3f;
    int tx = threadIdx.x, ty = threadIdx.y, x = tx + 1, y = UNITS * blockIdx.y + ty + 1;
    int at = (UNITS + 1) * y + x;
    float change = fmaf(rate * delta[x], input[y], momentum * before[at]);
    weight[at] += change;
    before[at] = change;
    __syncthreads();
    if (ty == 0 && blockIdx.y == 0) {
        change = fmaf(momentum, before[x], rate * delta[x]);
        weight[x] += change;
        before[x] = change;
    }
}
