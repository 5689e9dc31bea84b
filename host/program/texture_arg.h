#ifndef HOST_PROGRAM_TEXTURE_ARG_H
#define HOST_PROGRAM_TEXTURE_ARG_H
/* Textures, surfaces and samplers as written on the command line: BUFFER,PROPERTY=VALUE,... where BUFFER is as in -a.
 * A sampler has properties only. */
#include "args.h"

/* Parses one SPEC: the buffer becomes the argument, whose `texture` says how to look at it. False with the reason in
 * `err`. Free with arg_free(), also after a failure. */
bool texture_arg_parse(const char *spec, enum arg_object object, struct arg *out, char *err, size_t err_size);
/* One property of it ("format", "u8x4"); a value of NULL is missing. False with the reason in `err`. */
bool texture_property(const char *name, const char *value, bool is_sampler, struct heddle_texture *t, char *err,
                      size_t size);
/* Sets the properties of a texture without settings: f32, clamped, nearest. */
void texture_defaults(struct heddle_texture *t);
#endif
