// lbm: one time step of a lattice-Boltzmann fluid (D3Q19: each cell holds densities in 19 directions) in a box with
// obstacles. A thread collides a cell and streams the results to the cells around it. Arrays of directions, rows
// padded, a bit field of flags as the 20th array.
// From: Parboil, lbm (performStreamCollide_kernel).
// Divergence: an if and else of unequal weight: an obstacle reflects (no arithmetic), other cells collide (about 200
//   instructions); then an if without else for accelerated cells (compiled to selections). Nesting: 2.
// Instructions after reconvergence: 105 (addresses and stores).
// Barriers: none. Block: a row of cells (120 in Parboil). Shared memory: none.
enum { C, N, S, E, W, T, B, NE, NW, SE, SW, NT, NB, ST, SB, ET, EB, WT, WB, FLAGS, OBSTACLE = 1, ACCELERATE = 2 };
#define OMEGA 1.95f
#define SWAP(a, b)                                                                                                     \
    {                                                                                                                  \
        float t = f##a;                                                                                                \
        f##a = f##b;                                                                                                   \
        f##b = t;                                                                                                      \
    }
// The density of direction `d` after the collision; `u`: speed along it
#define RELAX(d, u) f##d = fmaf(part, fmaf(u, fmaf(4.5f, u, 3.0f), -u2), (1 - OMEGA) * f##d);
#define TO(d, x, y, z) to[cell + (x) + (y) * row + (z) * layer + d * cells] = f##d;

// `row`, `layer` and `cells`: cells of a padded row, a padded layer, and an array
extern "C" __global__ void lbm(const float *from, float *to, int row, int layer, int cells) {
    int cell = threadIdx.x + blockIdx.x * row + blockIdx.y * layer;
    const float *at = from + cell;
    float fC = at[0], fN = at[N * cells], fS = at[S * cells], fE = at[E * cells], fW = at[W * cells];
    float fT = at[T * cells], fB = at[B * cells], fNE = at[NE * cells], fNW = at[NW * cells], fSE = at[SE * cells];
    float fSW = at[SW * cells], fNT = at[NT * cells], fNB = at[NB * cells], fST = at[ST * cells], fSB = at[SB * cells];
    float fET = at[ET * cells], fEB = at[EB * cells], fWT = at[WT * cells], fWB = at[WB * cells];
    unsigned flags = __float_as_uint(at[FLAGS * cells]);
    if (flags & OBSTACLE) {
        SWAP(N, S) SWAP(E, W) SWAP(T, B) SWAP(NE, SW) SWAP(NW, SE) SWAP(NT, SB) SWAP(NB, ST) SWAP(ET, WB) SWAP(EB, WT)
    } else {
        float rho = fC + fN + fS + fE + fW + fT + fB + fNE + fNW + fSE + fSW + fNT + fNB + fST + fSB + fET + fEB + fWT;
        rho += fWB;
        float ux = fE - fW + fNE - fNW + fSE - fSW + fET + fEB - fWT - fWB;
        float uy = fN - fS + fNE + fNW - fSE - fSW + fNT + fNB - fST - fSB;
        float uz = fT - fB + fNT - fNB + fST - fSB + fET - fEB + fWT - fWB;
        ux /= rho;
        uy /= rho;
        uz /= rho;
        if (flags & ACCELERATE) {
            ux = 0.005f;
            uy = 0.002f;
            uz = 0;
        }
        float u2 = fmaf(1.5f, fmaf(uz, uz, fmaf(uy, uy, ux * ux)), -1.0f);
        float part = 1 / 3.0f * (OMEGA * rho);
        fC = fmaf(part, -u2, (1 - OMEGA) * fC);
        part = 1 / 18.0f * (OMEGA * rho);
        RELAX(N, uy) RELAX(S, -uy) RELAX(T, uz) RELAX(B, -uz) RELAX(E, ux) RELAX(W, -ux)
        part = 1 / 36.0f * (OMEGA * rho);
        RELAX(NT, (uy + uz)) RELAX(NB, (uy - uz)) RELAX(ST, (uz - uy)) RELAX(SB, (-uy - uz))
        RELAX(NE, (ux + uy)) RELAX(SE, (ux - uy)) RELAX(ET, (ux + uz)) RELAX(EB, (ux - uz))
        RELAX(NW, (uy - ux)) RELAX(SW, (-ux - uy)) RELAX(WT, (uz - ux)) RELAX(WB, (-ux - uz))
    }
    TO(C, 0, 0, 0) TO(N, 0, 1, 0) TO(S, 0, -1, 0) TO(E, 1, 0, 0) TO(W, -1, 0, 0) TO(T, 0, 0, 1) TO(B, 0, 0, -1)
    TO(NE, 1, 1, 0) TO(NW, -1, 1, 0) TO(SE, 1, -1, 0) TO(SW, -1, -1, 0)
    TO(NT, 0, 1, 1) TO(NB, 0, 1, -1) TO(ST, 0, -1, 1) TO(SB, 0, -1, -1)
    TO(ET, 1, 0, 1) TO(EB, 1, 0, -1) TO(WT, -1, 0, 1) TO(WB, -1, 0, -1)
}
