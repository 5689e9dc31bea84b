#ifndef REPRODUCE_CARD_KERNELS_H
#define REPRODUCE_CARD_KERNELS_H
/* Counts of public programs on real cards, kernel by kernel, beside the kernels of Heddle's benchmarks. */

struct card_kernel {
    const char *card;               /* as in cards.h */
    const char *program, *kernel;   /* the public program, its suite and arguments; its kernel */
    const char *bench, *own_kernel; /* the benchmark and its kernel that do the same with blocks of the same shape */
    /* how Heddle's kernel differs from the public kernel (NULL: not at all); without a benchmark, why there is none */
    const char *differs;
    double cycles; /* elapsed core cycles of a launch */
    /* sectors of 32 bytes in a launch */
    double dram_reads, dram_writes, l2_hits, l2_misses;
    double dram_writes_again; /* dram_writes in a second series of measurements */
};

/* A list that ends with a NULL card. */
extern const struct card_kernel card_kernels[];
extern const char card_kernels_source[];
/* Returns the mean power in W that others measured while the card ran this kernel; 0: nobody published it. */
double card_kernel_watts(const struct card_kernel *k);
extern const char card_power_source[];
#endif
