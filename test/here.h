#ifndef TEST_HERE_H
#define TEST_HERE_H
/* Checks for programs and libraries that some tests need and that this build or machine may lack. */
#include <stdbool.h>

/* Returns whether libcudart.so is in the folder of the program at this path. Builds with sanitizers have no
 * libcudart.so. */
bool runtime_beside(const char *binary);
/* Returns whether gnuplot, which draws plots, is installed. */
bool has_gnuplot(void);
#endif
