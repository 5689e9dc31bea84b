#include "here.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool runtime_beside(const char *binary) {
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%.*s/cuda/libcudart.so.13", (int)(strrchr(binary, '/') - binary), binary);
    return access(path, R_OK) == 0;
}

bool has_gnuplot(void) { return system("gnuplot --version >/dev/null 2>&1") == 0; }
