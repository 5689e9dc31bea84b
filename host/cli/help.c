#include "help.h"
#include "help.inc"
