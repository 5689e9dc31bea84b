/* Loads modules at run time, from PTX text or from a container with PTX. Also implements the linker, whose result is
 * PTX text. */
#include "core_module.h"
#include "host/load/elf_load.h"
#include <stdlib.h>
#include <string.h>

/* ---- options: messages go into the caller's buffers ---- */

enum { JIT_MAX_REGISTERS = 0, JIT_INFO_LOG = 3, JIT_INFO_LOG_BYTES, JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES };

static void **jit_option(const struct cuda_jit *o, int name) {
    for (unsigned i = 0; o->names && o->values && i < o->n; i++)
        if (o->names[i] == name)
            return &o->values[i];
    return NULL;
}

/* Writes `text` to the log buffer of option `which`. Option which + 1 gives the size of the buffer; its value becomes
 * the length of the text. */
static void jit_log(const struct cuda_jit *o, int which, const char *text) {
    void **buffer = jit_option(o, which), **bytes = jit_option(o, which + 1);
    if (!buffer || !*buffer || !bytes)
        return;
    size_t room = (unsigned)(uintptr_t)*bytes;
    *bytes = NULL;
    if (room) {
        int n = snprintf(*buffer, room, "%s", text);
        *bytes = (void *)(uintptr_t)((size_t)n < room ? (size_t)n : room - 1);
    }
}

static enum cuda_error jit_failed(const struct cuda_jit *o, const char *text, enum cuda_error e) {
    if (jit_option(o, JIT_ERROR_LOG))
        jit_log(o, JIT_ERROR_LOG, text);
    else
        fprintf(stderr, "heddle: %s", text);
    return e;
}

/* ---- modules ---- */

/* Returns the text with `.maxnreg` added to the head of each kernel, or NULL if the host is out of memory. */
static char *limit_registers(const char *text, unsigned most, size_t *len) {
    char *out = NULL;
    FILE *f = open_memstream(&out, len);
    const char *entry;
    for (; f && (entry = strstr(text, ".entry")); text = entry) {
        entry += strcspn(entry, "({"); /* skips the name, and then the parameters */
        if (*entry == '(')
            entry += strcspn(entry, ")");
        entry += *entry == ')';
        fwrite(text, 1, (size_t)(entry - text), f);
        fprintf(f, "\n.maxnreg %u\n", most);
    }
    if (f)
        fputs(text, f);
    return f && fclose(f) == 0 ? out : NULL;
}

/* Returns the register limit in the options; 0 if there is none. */
static unsigned jit_registers(const struct cuda_jit *o) {
    void **most = jit_option(o, JIT_MAX_REGISTERS);
    return most ? (unsigned)(uintptr_t)*most : 0;
}

static bool is_elf(const void *image) { return memcmp(image, "\177ELF", 4) == 0; }
/* Returns true if the data is PTX text, which begins with a directive or a comment. */
static bool is_text(const char *image) {
    image += strspn(image, " \t\r\n");
    return *image == '.' || *image == '/';
}

static const void *unwrap(const void *image) {
    const struct cuda_wrapper *w = image;
    return w->magic == WRAPPER_MAGIC ? w->container : image;
}

static struct cuda_module *add_module(struct heddle_module *loaded) {
    struct cuda_module *m = loaded ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return NULL;
    *m = (struct cuda_module){.next = cuda_core.modules, .module = loaded, .by_driver = true};
    cuda_core.modules = m;
    return m;
}

static struct heddle_module *load_text(const char *text, unsigned registers) {
    size_t bytes = 0;
    char *limited = registers ? limit_registers(text, registers, &bytes) : NULL;
    text = limited ? limited : text;
    struct heddle_module *m = heddle_module_text(cuda_core.h, "module", text, strlen(text));
    free(limited);
    return m;
}

enum cuda_error cuda_module_load_image(struct cuda_module **out, const void *image, const struct cuda_jit *o) {
    CUDA_LOCK;
    static const char cubin[] = "a module of machine code cannot be simulated: load PTX, or a fatbin with PTX\n";
    static const char unknown[] = "a module is neither PTX nor a fatbin\n";
    if (!out || !image)
        return CUDA_ErrorInvalidValue;
    jit_log(o, JIT_INFO_LOG, "");
    if (is_elf(image))
        return jit_failed(o, cubin, CUDA_ErrorNoKernelImageForDevice);
    const void *container = unwrap(image);
    bool fatbin = fatbin_is(container, FATBIN_HEADER);
    if (!fatbin && !is_text(image))
        return jit_failed(o, unknown, CUDA_ErrorInvalidKernelImage);
    struct heddle_module *loaded =
        fatbin ? heddle_module_fatbin(cuda_core.h, "module", &container, 1) : load_text(image, jit_registers(o));
    if (!loaded)
        return jit_failed(o, heddle_error(cuda_core.h),
                          fatbin ? CUDA_ErrorNoKernelImageForDevice : CUDA_ErrorInvalidPtx);
    jit_log(o, JIT_ERROR_LOG, "");
    *out = add_module(loaded);
    return *out ? CUDA_Success : CUDA_ErrorMemoryAllocation;
}

/* Reads a file and appends zero bytes. Returns NULL if the file cannot be read. */
static char *slurp(const char *path, size_t *len) {
    FILE *f = path ? fopen(path, "rb") : NULL;
    char *text = NULL;
    *len = 0;
    if (f && fseek(f, 0, SEEK_END) == 0) {
        long size = ftell(f);
        rewind(f);
        if (size >= 0 && (text = calloc(1, (size_t)size + FATBIN_HEADER + 1)))
            *len = fread(text, 1, (size_t)size, f);
    }
    if (f)
        fclose(f);
    return text;
}

enum cuda_error cuda_module_load_file(struct cuda_module **out, const char *path, const struct cuda_jit *o) {
    CUDA_LOCK;
    if (!out || !path)
        return CUDA_ErrorInvalidValue;
    size_t len;
    char *image = slurp(path, &len);
    if (!image)
        return CUDA_ErrorFileNotFound;
    enum cuda_error e = CUDA_ErrorInvalidKernelImage;
    if (!fatbin_is(image, len) || fatbin_bytes(image) <= len)
        e = cuda_module_load_image(out, image, o);
    free(image);
    return e;
}

struct cuda_module *cuda_module_of(const struct cuda_module *m) {
    CUDA_LOCK;
    for (struct cuda_module *i = cuda_core.modules; i; i = i->next)
        if (i == m && i->module && !i->unloaded)
            return i;
    return NULL;
}

/* Unloads a module that the program loaded. The memory is not freed, because the report at the end of the program needs
 * the kernels' names. */
enum cuda_error cuda_module_unload(struct cuda_module *m) {
    CUDA_LOCK;
    if (!cuda_module_of(m))
        return CUDA_ErrorInvalidResourceHandle;
    if (!m->by_driver || m->is_library)
        return CUDA_ErrorNotPermitted;
    m->unloaded = true;
    return CUDA_Success;
}

enum cuda_error cuda_module_kernel(struct cuda_kernel **out, struct cuda_module *m, const char *name) {
    CUDA_LOCK;
    if (!out || !name)
        return CUDA_ErrorInvalidValue;
    if (!cuda_module_of(m))
        return CUDA_ErrorInvalidResourceHandle;
    for (int i = 0; i < CUDA_CHAINS; i++)
        for (struct cuda_kernel *k = cuda_core.kernels[i]; k; k = k->next)
            if (k->in == m && strcmp(k->name, name) == 0) {
                *out = k;
                return CUDA_Success;
            }
    int n = 0;
    for (const char *is; (is = heddle_kernel(m->module, n)) && strcmp(is, name) != 0;)
        n++;
    if (!heddle_kernel(m->module, n))
        return CUDA_ErrorSymbolNotFound;
    struct cuda_kernel *k = cuda_add_kernel(m, name);
    if (!k)
        return CUDA_ErrorMemoryAllocation;
    *out = k;
    /* cuda_find_kernel() compiles the kernel, so errors in its code are reported here */
    return cuda_find_kernel(k, &k);
}

enum cuda_error cuda_module_count(unsigned *out, const struct cuda_module *m) {
    CUDA_LOCK;
    if (!out || !cuda_module_of(m))
        return out ? CUDA_ErrorInvalidResourceHandle : CUDA_ErrorInvalidValue;
    for (*out = 0; heddle_kernel(m->module, (int)*out);)
        ++*out;
    return CUDA_Success;
}

enum cuda_error cuda_module_kernels(struct cuda_kernel **out, unsigned n, struct cuda_module *m) {
    CUDA_LOCK;
    enum cuda_error e = !out                 ? CUDA_ErrorInvalidValue
                        : !cuda_module_of(m) ? CUDA_ErrorInvalidResourceHandle
                                             : CUDA_Success;
    for (unsigned i = 0; !e && i < n && heddle_kernel(m->module, (int)i); i++)
        e = cuda_module_kernel(&out[i], m, heddle_kernel(m->module, (int)i));
    return e;
}

enum cuda_error cuda_module_variable(uint64_t *address, size_t *bytes, struct cuda_module *m, const char *name) {
    CUDA_LOCK;
    uint64_t size = 0;
    if (!name || (!address && !bytes))
        return CUDA_ErrorInvalidValue;
    if (!cuda_module_of(m))
        return CUDA_ErrorInvalidResourceHandle;
    uint64_t at = heddle_symbol(cuda_core.h, m->module, name, &size);
    if (address)
        *address = at;
    if (bytes)
        *bytes = size;
    return at ? CUDA_Success : CUDA_ErrorSymbolNotFound;
}

/* ---- the linker ---- */

struct cuda_link {
    struct cuda_link *next;
    struct device_code code;
    struct cuda_jit options; /* options of the caller; the caller keeps the arrays until it destroys the linker */
};
static struct cuda_link *links; /* under the lock */

enum cuda_error cuda_link_new(unsigned n, const int *names, void **values, struct cuda_link **out) {
    CUDA_LOCK;
    struct cuda_link *l = out ? calloc(1, sizeof *l) : NULL;
    if (!l)
        return out ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    l->options = (struct cuda_jit){n, names, values};
    l->next = links;
    *out = links = l;
    return CUDA_Success;
}

/* Returns the configured compute capability, for example 75 for 7.5. */
static uint32_t target(void) { return (uint32_t)(10 * heddle_option(cuda_core.h, "gpu.capability") + 0.5); }

static struct cuda_link *link_of(const struct cuda_link *l) {
    struct cuda_link *i = links;
    while (i && i != l)
        i = i->next;
    return i;
}

static bool add_text(struct device_code *c, const char *text, size_t len) {
    if (c->n == c->cap) {
        int cap = 2 * c->cap + 4;
        struct ptx_part *more = realloc(c->parts, (size_t)cap * sizeof *more);
        if (!more)
            return false;
        c->parts = more;
        c->cap = cap;
    }
    char *copy = calloc(1, len + 1);
    if (!copy)
        return false;
    memcpy(copy, text, len);
    c->parts[c->n++] = (struct ptx_part){copy, strlen(copy), 0};
    /* cppcheck-suppress memleak */
    return true;
}

enum { INPUT_CUBIN, INPUT_PTX, INPUT_FATBINARY, INPUT_OBJECT, INPUT_LIBRARY, INPUT_NVVM, INPUT_TYPES };

/* Adds the PTX of an input to the parts that are linked. */
static bool take_parts(struct device_code *c, struct device_code *from) {
    bool ok = true;
    for (int i = 0; ok && i < from->n; i++)
        ok = add_text(c, from->parts[i].text, from->parts[i].len);
    return ok;
}

/* Adds a host object file, a library of object files, or an executable. */
static enum cuda_error link_add_file_of(struct cuda_link *l, const void *data, size_t len, const char *name) {
    struct device_code code;
    char text[512];
    enum cuda_error e = CUDA_Success;
    if (!elf_device_code(data, len, target(), &code)) {
        snprintf(text, sizeof text, "%s of the linker: %s\n", name,
                 code.error ? code.error : "the host is out of memory");
        e = jit_failed(&l->options, text, CUDA_ErrorInvalidKernelImage);
    } else if (!take_parts(&l->code, &code)) {
        e = CUDA_ErrorMemoryAllocation;
    }
    device_code_free(&code);
    return e;
}

/* Adds an input. `name` is for messages. The type of the input follows from its bytes; `type` is only checked. */
enum cuda_error cuda_link_add(struct cuda_link *l, int type, const void *data, size_t len, const char *name) {
    CUDA_LOCK;
    char text[512];
    if (!link_of(l) || !data || type < 0 || type >= INPUT_TYPES)
        return CUDA_ErrorInvalidValue;
    const void *container = len >= FATBIN_HEADER ? unwrap(data) : data;
    name = name ? name : "an input";
    if (len >= 1 && is_text(data))
        return add_text(&l->code, data, len) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
    if (len >= FATBIN_HEADER && container == data && elf_is_device_file(data, len))
        return link_add_file_of(l, data, len, name);
    if (len >= FATBIN_HEADER && container != data && fatbin_is(container, FATBIN_HEADER) &&
        fatbin_read(&l->code, container, fatbin_bytes(container), target(), 0))
        return CUDA_Success;
    snprintf(text, sizeof text, "%s of the linker is neither PTX nor a fatbin, an object or a library with PTX%s%s\n",
             name, l->code.error ? ": " : "", l->code.error ? l->code.error : "");
    return jit_failed(&l->options, text, CUDA_ErrorInvalidKernelImage);
}

enum cuda_error cuda_link_add_file(struct cuda_link *l, int type, const char *path) {
    CUDA_LOCK;
    size_t len;
    char *data = slurp(path, &len);
    enum cuda_error e = data ? cuda_link_add(l, type, data, len, path) : CUDA_ErrorFileNotFound;
    free(data);
    return e;
}

/* Returns the result. CUDA calls it a cubin; here it is PTX text with a zero byte at its end. */
enum cuda_error cuda_link_complete(struct cuda_link *l, void **image, size_t *len) {
    CUDA_LOCK;
    if (!link_of(l) || !image)
        return CUDA_ErrorInvalidValue;
    if (!l->code.n)
        return jit_failed(&l->options, "nothing was given to the linker\n", CUDA_ErrorInvalidValue);
    if (l->code.n > 1 && !ptx_link(&l->code, 0))
        return CUDA_ErrorMemoryAllocation;
    struct ptx_part *part = &l->code.parts[0];
    unsigned most = jit_registers(&l->options);
    if (most) {
        size_t bytes;
        char *limited = limit_registers(part->text, most, &bytes);
        if (!limited)
            return CUDA_ErrorMemoryAllocation;
        free(part->text);
        *part = (struct ptx_part){limited, bytes, part->arch};
    }
    jit_log(&l->options, JIT_INFO_LOG, "");
    jit_log(&l->options, JIT_ERROR_LOG, "");
    *image = part->text;
    if (len)
        *len = part->len + 1;
    return CUDA_Success;
}

enum cuda_error cuda_link_destroy(struct cuda_link *l) {
    CUDA_LOCK;
    for (struct cuda_link **i = &links; *i; i = &(*i)->next)
        if (*i == l) {
            *i = l->next;
            device_code_free(&l->code);
            free(l);
            return CUDA_Success;
        }
    return CUDA_ErrorInvalidValue;
}
