#ifndef TEST_HERE_H
#define TEST_HERE_H
/* What a test may ask for, and this build or machine may not have. */
#include <stdbool.h>

/* The CUDA runtime beside a program at this path, which a build with sanitizers has not. */
bool runtime_beside(const char *binary);
/* The program that draws plots. */
bool has_gnuplot(void);
#endif
