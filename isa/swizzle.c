/* Swizzles: the number of a unit within its span is XORed with the low bits of the number of its 128-byte row. */
#include "swizzle.h"

static const struct {
    /* number of bytes that move together; number of 128-byte rows after which the pattern repeats */
    uint8_t unit, rows;
    /* the address is shifted right by this many bits, which moves the row number to the bits of the unit number */
    uint8_t shift;
    uint8_t mask; /* mask of the address bits that change */
    uint8_t span;
} forms[N_SWIZZLES] = {
    [SWIZZLE_NONE] = {128, 1, 0, 0, 0},         [SWIZZLE_32B] = {16, 2, 3, 0x10, 32},
    [SWIZZLE_64B] = {16, 4, 3, 0x30, 64},       [SWIZZLE_128B] = {16, 8, 3, 0x70, 128},
    [SWIZZLE_128B_32B] = {32, 4, 2, 0x60, 128}, [SWIZZLE_128B_32B_FLIP_8B] = {8, 4, 2, 0x60, 128},
    [SWIZZLE_128B_64B] = {64, 2, 1, 0x40, 128},
};

uint64_t swizzle_address(enum swizzle s, uint64_t address) {
    const uint64_t flip = s == SWIZZLE_128B_32B_FLIP_8B ? address >> 4 & 8 : 0;
    return address ^ (address >> forms[s].shift & forms[s].mask) ^ flip;
}

uint32_t swizzle_unit(enum swizzle s) { return forms[s].unit; }
uint32_t swizzle_period(enum swizzle s) { return forms[s].rows * 128u; }
uint32_t swizzle_span(enum swizzle s) { return forms[s].span; }
