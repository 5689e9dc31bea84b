/* Cards, and what micro-benchmarks measured on them. */
#include "cards.h"
#include <stddef.h>
#include <string.h>

const struct card cards[] = {
    {"gv100", "Quadro GV100, and Tesla V100 with the same chip"},
    {"turing-rtx2060", "GeForce RTX 2060, and Tesla T4 of the same architecture"},
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
                 "address in a regular register"},
    {"mt4g",
     "S. Vanecek et al., MT4G, sample results (github.com/caps-tum/mt4g), medians: V100 PCIe, RTX 2080 Ti, H100 "
     "SXM"},
    {"gpu-benches", "D. Ernst, gpu-benches (github.com/RRZE-HPC/gpu-benches), results in the repository: V100 at 1380 "
                    "MHz, A40 at 1740, A100 80 GB at 1410, GH200 at 1980 (latencies), H100 PCIe (bandwidths)"},
    {"nvidia", "NVIDIA, CUDA C++ programming guide, throughput of native arithmetic instructions, and white papers "
               "(documented, not measured)"},
    {0},
};

/* The results of an SM in a cycle by NVIDIA's documents. */
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
