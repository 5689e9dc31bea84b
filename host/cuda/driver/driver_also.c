/* Exports driver functions under additional names. */
#include "host/cuda/core/also.h"

#include "driver_also.def"
