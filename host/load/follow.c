/* Chooses presets by compute capability. Preset fermi models a GPU of capability 2.0, and turing models capability
 * 7.5. */
#include "follow.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Largest shared memory per block that a program can request, by compute capability (CUDA C Programming Guide,
 * technical specifications). A capability that is not listed has the value of the one before. */
static const struct row {
    uint32_t arch, shared_bytes;
} rows[] = {
    {70, 96 << 10}, {75, 64 << 10},  {80, 163 << 10},  {86, 99 << 10},  {87, 163 << 10},
    {89, 99 << 10}, {90, 227 << 10}, {100, 227 << 10}, {120, 99 << 10},
};

static uint32_t shared_bytes(uint32_t arch) {
    uint32_t bytes = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && rows[i].arch <= arch; i++)
        bytes = rows[i].shared_bytes;
    return bytes;
}

__attribute__((format(printf, 2, 3))) static void add(struct follow *f, const char *fmt, ...) {
    int n = 0;
    while (f->set[n])
        n++;
    va_list args;
    va_start(args, fmt);
    vsnprintf(f->text[n], sizeof f->text[n], fmt, args);
    va_end(args);
    f->set[n] = f->text[n];
}

void follow_ptx(struct follow *f, uint32_t arch) {
    enum { FERMI = 20, VOLTA = 70, TURING = 75, HOPPER = 90, FERMI_SHARED = 48 << 10, TURING_SHARED = 64 << 10 };
    bool old = arch && arch < VOLTA;
    /* PTX that is not known yet may be for any capability, so the largest shared memory of all capabilities is used */
    uint32_t has = old ? FERMI : TURING, shared = old ? FERMI_SHARED : shared_bytes(arch ? arch : HOPPER);
    memset(f, 0, sizeof *f);
    f->preset = old ? "fermi" : "turing";
    /* the number of SMs of an RTX 2060; the 2 SMs of the preset are too few for most grids whose CTAs wait for each
     * other */
    if (!old)
        add(f, "gpu.sms=30");
    if (arch > has)
        add(f, "gpu.capability=%u.%u", arch / 10, arch % 10);
    if (shared > (old ? FERMI_SHARED : TURING_SHARED))
        add(f, "sm.shared_bytes=%u", shared);
}
