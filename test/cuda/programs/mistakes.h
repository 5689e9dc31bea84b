// Checks for the programs in this folder: a check that fails prints its line, and done() prints the number of failures.
#ifndef MISTAKES_H
#define MISTAKES_H
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

static int mistakes;
static inline void want(bool right, const char *what, int line) {
    if (right || ++mistakes > 20)
        return;
    printf("line %d: %s: %s\n", line, what, cudaGetErrorString(cudaPeekAtLastError()));
}
#define WANT(...)       want(__VA_ARGS__, #__VA_ARGS__, __LINE__)
#define OK(...)         WANT((__VA_ARGS__) == cudaSuccess)
#define FAILS(error, x) WANT((x) == (error) && cudaGetLastError() == (error))

static inline bool near(double a, double b, double tolerance) {
    return std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}
// Return the next random number: any 32 bits, or a float in [0, 1). The sequence is the same in every run.
static inline unsigned next_random(unsigned *state) { return *state = *state * 1664525u + 1013904223u; }
static inline float next_float(unsigned *state) { return (next_random(state) >> 8) / 16777216.0f; }
static inline int done(void) {
    printf("%d mistakes\n", mistakes);
    return mistakes != 0;
}
#endif
