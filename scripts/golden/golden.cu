/* Runs every instruction form in the given modules on a GPU, and writes the vectors that test/golden/golden.c compares
 * with.
 *
 *     golden FOLDER MODULE...     FOLDER/<mnemonic>.txt; modules are cubins or PTX made by run.sh */
#include "test/golden/golden_forms.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <map>
#include <string>
#include <vector>

static void check(CUresult r, const char *what) {
    const char *text = "?";
    if (r == CUDA_SUCCESS)
        return;
    cuGetErrorString(r, &text);
    std::fprintf(stderr, "golden: %s: %s\n", what, text);
    std::exit(1);
}

struct buffers {
    CUdeviceptr in, out;
    std::vector<golden_input> inputs;
    std::vector<golden_result> results;
};

static std::string run_form(CUfunction f, uint32_t form, buffers &b) {
    golden_inputs(form, b.inputs.data());
    check(cuMemcpyHtoD(b.in, b.inputs.data(), GOLDEN_INPUTS * sizeof(golden_input)), "copy");
    check(cuMemsetD8(b.out, 0, GOLDEN_INPUTS * sizeof(golden_result)), "clear");
    void *args[] = {&b.in, &b.out};
    check(cuLaunchKernel(f, GOLDEN_BLOCKS, 1, 1, GOLDEN_BLOCK, 1, 1, 0, nullptr, args, nullptr), "launch");
    check(cuMemcpyDtoH(b.results.data(), b.out, GOLDEN_INPUTS * sizeof(golden_result)), "result");
    golden_canonical(form, b.results.data(), GOLDEN_INPUTS);
    char text[64], key[GOLDEN_KEY];
    golden_key(form, key);
    std::string line = std::string(key) + "\t";
    for (uint32_t k = 0; k < GOLDEN_BLOCKS; k++) {
        std::snprintf(text, sizeof text, "%s%08x", k ? " " : "",
                      golden_hash(&b.results[k * GOLDEN_BLOCK], GOLDEN_BLOCK));
        line += text;
    }
    for (uint32_t k = 0; k < GOLDEN_RAW; k++) {
        const golden_result &r = b.results[golden_raw(k)];
        std::snprintf(text, sizeof text, "%s%llx", k ? " " : "\t", (unsigned long long)r.d);
        line += text;
        std::snprintf(text, sizeof text, ":%llx", (unsigned long long)r.d2);
        line += r.d2 ? text : "";
    }
    return line + "\n";
}

int main(int argc, char **argv) {
    if (argc < 3) {
        std::fputs("usage: golden FOLDER MODULE...\n", stderr);
        return 2;
    }
    CUdevice device;
    CUcontext context;
    check(cuInit(0), "no GPU");
    check(cuDeviceGet(&device, 0), "device");
    check(cuDevicePrimaryCtxRetain(&context, device), "context");
    check(cuCtxSetCurrent(context), "context");
    buffers b;
    b.inputs.resize(GOLDEN_INPUTS);
    b.results.resize(GOLDEN_INPUTS);
    check(cuMemAlloc(&b.in, GOLDEN_INPUTS * sizeof(golden_input)), "memory");
    check(cuMemAlloc(&b.out, GOLDEN_INPUTS * sizeof(golden_result)), "memory");
    std::map<uint32_t, std::string> lines; /* ordered by form, whatever the order of the modules is */
    for (int i = 2; i < argc; i++) {
        CUmodule m;
        check(cuModuleLoad(&m, argv[i]), argv[i]);
        for (uint32_t form = 0; form < golden_count(); form++) {
            CUfunction f;
            std::string name = "f" + std::to_string(form);
            if (cuModuleGetFunction(&f, m, name.c_str()) == CUDA_SUCCESS)
                lines[form] = run_form(f, form, b);
        }
        check(cuModuleUnload(m), "unload");
    }
    char name[256];
    check(cuDeviceGetName(name, sizeof name, device), "name");
    std::map<std::string, std::string> files;
    for (const auto &l : lines) {
        char key[GOLDEN_KEY];
        int n = golden_key(l.first, key);
        std::string &file = files[std::string(key, n)];
        if (file.empty())
            file = std::string("# ") + name + "; " + std::to_string(GOLDEN_INPUTS) + " inputs\n";
        file += l.second;
    }
    for (const auto &f : files) {
        FILE *out = std::fopen((std::string(argv[1]) + "/" + f.first + ".txt").c_str(), "w");
        if (!out || std::fputs(f.second.c_str(), out) < 0 || std::fclose(out) != 0) {
            std::fprintf(stderr, "golden: %s/%s.txt cannot be written\n", argv[1], f.first.c_str());
            return 1;
        }
    }
    std::printf("golden: %zu forms in %zu files, on %s\n", lines.size(), files.size(), name);
    return 0;
}
