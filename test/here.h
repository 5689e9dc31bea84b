#ifndef TEST_HERE_H
#define TEST_HERE_H
/* Requirements of tests that this build or machine may lack. */
#include <stdbool.h>

/* Returns whether the CUDA runtime is beside a program at this path. Builds with sanitizers have none. */
bool runtime_beside(const char *binary);
/* Returns whether gnuplot, which draws plots, is installed. */
bool has_gnuplot(void);
#endif
