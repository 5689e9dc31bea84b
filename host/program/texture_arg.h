#ifndef HOST_PROGRAM_TEXTURE_ARG_H
#define HOST_PROGRAM_TEXTURE_ARG_H
/* Textures, surfaces and samplers as written on the command line: BUFFER,PROPERTY=VALUE,... where BUFFER is as in -a.
 * A sampler has properties only. */
#include "args.h"

/* Parses one SPEC. The argument gets the buffer, and its member `texture` describes the texture over this buffer. On
 * failure returns false, with the reason in `err`. Free with arg_free(), also after a failure. */
bool texture_arg_parse(const char *spec, enum arg_object object, struct arg *out, char *err, size_t err_size);
/* Parses one property of a texture ("format", "u8x4"); value NULL: the property has no value, which is an error. False
 * with the reason in `err`. */
bool texture_property(const char *name, const char *value, bool is_sampler, struct heddle_texture *t, char *err,
                      size_t size);
/* Sets the default properties of a texture: format f32, clamped coordinates, nearest filter. */
void texture_defaults(struct heddle_texture *t);
#endif
