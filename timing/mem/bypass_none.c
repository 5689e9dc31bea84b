#include "bypass.h"

const struct bypass_ops bypass_none = {.name = "none", .help = "each miss of a load allocates a line"};
