#ifndef HOST_AXES_H
#define HOST_AXES_H
/* Options with several values: -s KEY=VALUE,VALUE or -s KEY=FROM:TO:STEP. */
#include <stdbool.h>
#include <stddef.h>

struct axes {
    struct axis {
        char **values; /* assignments, "l1.size=8K" */
        int n;
    } * axis;
    int n;
};

enum { AXIS_VALUES = 1000 };
void axes_free(struct axes *a);
/* One of them from an assignment as written; false with the reason in `err`. Free in any case. */
bool axis_read(struct axis *a, const char *text, char *err, size_t err_size);
#endif
