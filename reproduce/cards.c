/* Cards, and what micro-benchmarks measured on them. */
#include "cards.h"
#include <stddef.h>
#include <string.h>

const struct card cards[] = {
    {"gv100", "Quadro GV100, and Tesla V100 with the same chip"},
    {"turing-rtx2060", "GeForce RTX 2060, and Tesla T4 of the same architecture"},
    {"rtx2070s", "GeForce RTX 2070 Super"},
    {"rtx2080ti", "GeForce RTX 2080 Ti"},
    {"rtx3080", "GeForce RTX 3080"},
    {"rtx3090", "GeForce RTX 3090"},
    {"a6000", "RTX A6000, and A40 with the same chip"},
    {"a100", "A100"},
    {"h100", "H100"},
    {0},
};

const struct card_source card_sources[] = {
    {"jia18", "Z. Jia et al., Dissecting the NVIDIA Volta GPU architecture via microbenchmarking, 2018: V100"},
    {"jia19", "Z. Jia et al., Dissecting the NVidia Turing T4 GPU via microbenchmarking, 2019: T4"},
    {"abdelkhalik22",
     "H. Abdelkhalik et al., Demystifying the Nvidia Ampere architecture through microbenchmarking and "
     "instruction-level analysis, HPEC 2022: A100"},
    {"luo24", "W. Luo et al., Benchmarking and dissecting the Nvidia Hopper GPU architecture, IPDPS 2024: A100 PCIe"},
    {"huerta25", "R. Huerta et al., Dissecting and modeling the architecture of modern GPU cores, MICRO 2025: Ampere, "
                 "address in a regular register; L1: loads of 64 bits"},
    {"mt4g",
     "S. Vanecek et al., MT4G, sample results (github.com/caps-tum/mt4g), medians: V100 PCIe, RTX 2080 Ti, H100 "
     "SXM"},
    {"gpu-benches", "D. Ernst, gpu-benches (github.com/RRZE-HPC/gpu-benches), results in the repository: V100 at 1380 "
                    "MHz, A40 at 1740, A100 80 GB at 1410, GH200 at 1980 (latencies), H100 PCIe (bandwidths)"},
    {"nvidia", "NVIDIA, CUDA C++ programming guide, throughput of native arithmetic instructions, and white papers "
               "(documented, not measured)"},
    {0},
};

/* Results per SM and cycle, according to NVIDIA's documents. */
#define RATES(card, f32, int_, f16, f64, sfu)                                                                          \
    {card, "f32-add-rate", f32, "nvidia"}, {card, "f32-fma-rate", f32, "nvidia"},                                      \
        {card, "int-add-rate", int_, "nvidia"}, {card, "int-mad-rate", 64, "nvidia"},                                  \
        {card, "logic-rate", 64, "nvidia"}, {card, "f16-fma-rate", f16, "nvidia"},                                     \
        {card, "f64-add-rate", f64, "nvidia"}, {card, "f64-fma-rate", f64, "nvidia"}, {                                \
        card, "sfu-rate", sfu, "nvidia"                                                                                \
    }

const struct card_figure card_figures[] = {
    {"gv100", "f32-add-dependent", 4, "jia18"},
    {"gv100", "f32-fma-dependent", 4, "jia18"},
    {"gv100", "int-add-dependent", 4, "jia18"},
    {"gv100", "int-mad-dependent", 5, "jia18"},
    {"gv100", "f16-fma-dependent", 6, "jia18"},
    {"gv100", "f64-add-dependent", 8, "jia18"},
    {"gv100", "f64-fma-dependent", 8, "jia18"},
    {"gv100", "sfu-dependent", 18, "jia18"},
    {"gv100", "l1-latency", 28, "jia18"},
    {"gv100", "l1-latency", 28.0, "gpu-benches"},
    {"gv100", "l1-latency", 30, "mt4g"},
    {"gv100", "l2-latency", 193, "jia18"},
    {"gv100", "l2-latency", 212.1, "gpu-benches"},
    {"gv100", "l2-latency", 219, "mt4g"},
    {"gv100", "dram-latency", 431.4, "gpu-benches"},
    {"gv100", "dram-latency", 395, "mt4g"},
    {"gv100", "const-latency", 40, "mt4g"},
    {"gv100", "const-miss-latency", 114, "mt4g"},
    {"gv100", "shared-latency", 19, "jia18"},
    {"gv100", "shared-latency", 23, "mt4g"},
    {"gv100", "l2-read", 2440, "gpu-benches"},
    {"gv100", "dram-read", 867, "gpu-benches"},
    RATES("gv100", 64, 64, 128, 32, 16),

    {"turing-rtx2060", "l1-latency", 32, "jia19"},
    {"turing-rtx2060", "l2-latency", 188, "jia19"},
    RATES("turing-rtx2060", 64, 64, 128, 2, 16),

    {"rtx2070s", "l1-latency", 32, "jia19"},
    RATES("rtx2070s", 64, 64, 128, 2, 16),

    {"rtx2080ti", "l1-latency", 32, "jia19"},
    {"rtx2080ti", "dram-read", 583.8, "mt4g"},
    RATES("rtx2080ti", 64, 64, 128, 2, 16),

    {"rtx3080", "l1-latency", 34, "huerta25"},
    {"rtx3080", "shared-latency", 24, "huerta25"},
    RATES("rtx3080", 128, 64, 128, 2, 16),
    {"rtx3090", "l1-latency", 34, "huerta25"},
    {"rtx3090", "shared-latency", 24, "huerta25"},
    RATES("rtx3090", 128, 64, 128, 2, 16),

    {"a6000", "f32-add-dependent", 4, "huerta25"},
    {"a6000", "l1-latency", 34, "huerta25"},
    {"a6000", "l1-latency", 33.1, "gpu-benches"},
    {"a6000", "l2-latency", 250.4, "gpu-benches"},
    {"a6000", "dram-latency", 553.5, "gpu-benches"},
    {"a6000", "shared-latency", 24, "huerta25"},
    {"a6000", "l2-read", 2490, "gpu-benches"},
    {"a6000", "dram-read", 680, "gpu-benches"},
    RATES("a6000", 128, 64, 128, 2, 16),

    {"a100", "f32-add-dependent", 4, "abdelkhalik22"},
    {"a100", "f32-add-independent", 2, "abdelkhalik22"},
    {"a100", "int-add-independent", 2, "abdelkhalik22"},
    {"a100", "l1-latency", 33, "abdelkhalik22"},
    {"a100", "l1-latency", 33.1, "gpu-benches"},
    {"a100", "l1-latency", 37.9, "luo24"},
    {"a100", "l2-latency", 200, "abdelkhalik22"},
    {"a100", "l2-latency", 205.7, "gpu-benches"},
    {"a100", "l2-latency", 261.5, "luo24"},
    {"a100", "dram-latency", 290, "abdelkhalik22"},
    {"a100", "dram-latency", 518.2, "gpu-benches"},
    {"a100", "dram-latency", 466.3, "luo24"},
    {"a100", "shared-latency", 23, "abdelkhalik22"},
    {"a100", "l2-read", 5430, "gpu-benches"},
    {"a100", "dram-read", 1776, "gpu-benches"},
    RATES("a100", 64, 64, 256, 32, 16),

    {"h100", "l1-latency", 32.1, "gpu-benches"},
    {"h100", "l1-latency", 38, "mt4g"},
    {"h100", "l2-latency", 281, "gpu-benches"},
    {"h100", "l2-latency", 222, "mt4g"},
    {"h100", "dram-latency", 610.7, "gpu-benches"},
    {"h100", "dram-latency", 864, "mt4g"},
    {"h100", "shared-latency", 30, "mt4g"},
    {"h100", "const-miss-latency", 106, "mt4g"},
    {"h100", "l2-read", 6950, "gpu-benches"},
    {"h100", "dram-read", 2750, "mt4g"},
    RATES("h100", 128, 64, 256, 64, 16),
    {0},
};

const struct card *card_find(const char *name) {
    for (const struct card *c = cards; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

const struct card_source *card_source_find(const char *name) {
    for (const struct card_source *s = card_sources; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}
