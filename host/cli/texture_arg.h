#ifndef HOST_TEXTURE_ARG_H
#define HOST_TEXTURE_ARG_H
/* Textures, surfaces and samplers as written on the command line: BUFFER,PROPERTY=VALUE,... where BUFFER is as in -a.
 * A sampler has properties only. */
#include "args.h"

/* Parses one SPEC: the buffer becomes the argument, whose `texture` says how to look at it. False with the reason in
 * `err`. Free with arg_free(), also after a failure. */
bool texture_arg_parse(const char *spec, enum arg_object object, struct arg *out, char *err, size_t err_size);
#endif
