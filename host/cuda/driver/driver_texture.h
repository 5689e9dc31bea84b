#ifndef CUDA_DRIVER_TEXTURE_H
#define CUDA_DRIVER_TEXTURE_H
/* Declarations shared by the driver's arrays, objects and references. */
#include "driver.h"

enum { FLAG_INTEGER = 1, FLAG_NORMALIZED = 2, FLAG_SRGB = 0x10, FLAG_UNTRILINEAR = 0x20, FLAG_SEAMLESS = 0x40 };

struct driver_description {
    size_t width, height;
    int format;
    unsigned channels;
};

struct driver_description_3d {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};

/* Translate the driver's format numbers to formats, and back. CUDA_ErrorInvalidValue for formats that are not
 * simulated. */
enum cuda_error driver_format(struct channel_format *out, int format, unsigned channels);
void driver_format_of(const struct channel_format *f, int *format, unsigned *channels);
/* Returns the format of the memory; NULL if the array does not exist. */
const struct channel_format *driver_resource_format(const struct cuda_resource *r);
/* Returns whether a texture reads integers as fractions. This is the driver's default for integers below 32 bits. */
int driver_normalized_read(const struct channel_format *f, bool as_integer);
#endif
