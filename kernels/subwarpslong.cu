// subwarpslong: subwarps.cu with twice as many loads in each case, so that the code of 32 cases, 100 KB at 16 bytes an
// instruction, does not fit into a 64 KB instruction cache; the code of 16 cases does.
// From: the micro-benchmark of the subwarp-interleaving paper (section V-A, Figure 11).
// Divergence: a switch of 2 to 32 cases in a loop. Nesting: 2. Instructions after reconvergence: 3 (loop).
// Barriers: none. Block: 32 x 1. Shared memory: none.
#define ACCESSES 32
#include "subwarps.cu"
