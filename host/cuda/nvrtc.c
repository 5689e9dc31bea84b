/* libnvrtc.so: a stub. Only NVIDIA's toolkit can compile CUDA C++ at run time. Every call of the stub fails, and the
 * first call in a process prints why. */
#include <stdbool.h>
#include <stdio.h>

#define NVRTC_API __attribute__((visibility("default")))
enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_INTERNAL_ERROR = 11 };

static int refuse(void) {
    static bool said;
    if (!said)
        fputs("heddle: nvrtc: compiling CUDA C++ needs NVIDIA's toolkit: install it and put the folder of its "
              "libnvrtc.so before Heddle's in LD_LIBRARY_PATH, or compile to PTX beforehand ('nvcc -ptx')\n",
              stderr);
    said = true;
    return NVRTC_ERROR_INTERNAL_ERROR;
}

NVRTC_API const char *nvrtcGetErrorString(int result) {
    return result == NVRTC_SUCCESS ? "NVRTC_SUCCESS" : "NVRTC_ERROR_INTERNAL_ERROR: Heddle has no compiler of CUDA C++";
}

#define REFUSE(name)                                                                                                   \
    NVRTC_API int name(void) { return refuse(); }
REFUSE(nvrtcVersion)
REFUSE(nvrtcGetNumSupportedArchs)
REFUSE(nvrtcGetSupportedArchs)
REFUSE(nvrtcCreateProgram)
REFUSE(nvrtcDestroyProgram)
REFUSE(nvrtcCompileProgram)
REFUSE(nvrtcGetPTXSize)
REFUSE(nvrtcGetPTX)
REFUSE(nvrtcGetCUBINSize)
REFUSE(nvrtcGetCUBIN)
REFUSE(nvrtcGetNVVMSize)
REFUSE(nvrtcGetNVVM)
REFUSE(nvrtcGetLTOIRSize)
REFUSE(nvrtcGetLTOIR)
REFUSE(nvrtcGetOptiXIRSize)
REFUSE(nvrtcGetOptiXIR)
REFUSE(nvrtcGetProgramLogSize)
REFUSE(nvrtcGetProgramLog)
REFUSE(nvrtcAddNameExpression)
REFUSE(nvrtcGetLoweredName)
REFUSE(nvrtcGetPCHHeapSize)
REFUSE(nvrtcSetPCHHeapSize)
REFUSE(nvrtcGetPCHCreateStatus)
REFUSE(nvrtcGetPCHHeapSizeRequired)
REFUSE(nvrtcSetFlowCallback)
