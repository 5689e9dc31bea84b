#ifndef TEST_RESIDENT_H
#define TEST_RESIDENT_H
/* Counts the host memory of a test. */
#include "test/test.h"
#include <stdio.h>

/* Returns the pages of this process that the host keeps in memory. */
static inline unsigned long resident_pages(void) {
    unsigned long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%lu %lu", &size, &resident), 2);
    fclose(f);
    return resident;
}
#endif
