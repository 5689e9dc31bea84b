// pathfinder: the cheapest way through a grid from its first row to its last, one row at a time, straight or to a
// side. A launch does up to `steps` rows: a block of 256 threads loses one column on each side in each row (a
// pyramid), so it starts with as many columns of its neighbours.
// From: Rodinia, pathfinder (dynproc_kernel).
// Divergence: ifs without else in a uniform loop with an early exit: a thread computes while its column is inside the
//   pyramid and the grid; two minima (compiled to min); threads that computed copy the result. Nesting: 2.
// Instructions after reconvergence: 1 (barrier), 1 (barrier), after the loop 2.
// Barriers: 2 a row and 1. Block: 256 x 1. Shared memory: 2 KiB.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { THREADS = 256 };
#define IN_RANGE(x, low, high) ((x) >= (low) && (x) <= (high))

// `wall`: the rows after the first; `row`: the number of finished ones; `border`: columns shared with each neighbour
extern "C" __global__ void pathfinder(int steps, const int *wall, const int *from, int *to, int columns, int rows,
                                      int row, int border) {
    __shared__ int before[THREADS], result[THREADS];
    int bx = blockIdx.x, tx = threadIdx.x;
    int own = THREADS - steps * 2; // columns that this launch finishes
    int first = own * bx - border, last = first + THREADS - 1, x = first + tx;
    int valid_first = first < 0 ? -first : 0;
    int valid_last = last > columns - 1 ? THREADS - 1 - (last - columns + 1) : THREADS - 1;
    int west = tx - 1, east = tx + 1;
    west = west < valid_first ? valid_first : west;
    east = east > valid_last ? valid_last : east;
    bool valid = IN_RANGE(tx, valid_first, valid_last), computed = false;
    if (IN_RANGE(x, 0, columns - 1))
        before[tx] = from[x];
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, THREADS - i - 2) && valid) {
            computed = true;
            int left = before[west], up = before[tx], right = before[east], shortest = min(min(left, up), right);
            result[tx] = shortest + wall[columns * (row + i) + x];
        }
        __syncthreads();
        if (i == steps - 1)
            break;
        if (computed)
            before[tx] = result[tx];
        __syncthreads();
    }
    if (computed)
        to[x] = result[tx];
}
