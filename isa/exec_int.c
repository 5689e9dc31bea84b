/* Integer arithmetic. */
#include "rows.h"

#define ROWS_FILE "exec_int.def"
#define ROWS_NAME int
#include "rows_expand.h"
