#ifndef CUDA_CORE_H
#define CUDA_CORE_H
/* The operations of CUDA ("verbs"), shared by the runtime interface and the driver interface. Each verb takes the
 * lock, works on the types of core, and returns an enum cuda_error. The functions of the runtime (runtime/) and of
 * the driver (driver/) translate their arguments and the error, and call a verb. */
#include "core_batch.h"
#include "core_context.h"
#include "core_device.h"
#include "core_graph.h"
#include "core_ipc.h"
#include "core_launch.h"
#include "core_memory.h"
#include "core_module.h"
#include "core_pool.h"
#include "core_reference.h"
#include "core_stream.h"
#include "core_texture.h"
#include "core_virtual.h"
#endif
