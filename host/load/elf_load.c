/* Reads device code from ELF files. nvcc puts a container for each compilation into the section .nv_fatbin, or into
 * __nv_relfatbin for device linking (-rdc=true). The containers follow one another, so the wrappers that point to them,
 * and their relocations, need not be read. */
#include "elf_load.h"
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

static const char archive_magic[] = "!<arch>\n"; /* ar(5) */

static bool is_elf(const void *data, size_t len) { return len >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0; }
static bool is_archive(const void *data, size_t len) {
    return len >= strlen(archive_magic) && memcmp(data, archive_magic, strlen(archive_magic)) == 0;
}

bool elf_is_device_file(const void *data, size_t len) {
    return fatbin_is(data, len) || is_elf(data, len) || is_archive(data, len);
}

/* Opens an ELF file in memory. libelf may modify its memory, so it gets a copy. */
static Elf *open_elf(const void *data, size_t len, char **copy) {
    *copy = NULL;
    if (elf_version(EV_CURRENT) == EV_NONE || len < EI_NIDENT || !(*copy = malloc(len)))
        return NULL;
    memcpy(*copy, data, len);
    Elf *elf = elf_memory(*copy, len);
    if (elf && elf_kind(elf) == ELF_K_ELF)
        return elf;
    elf_end(elf);
    return NULL;
}

/* Returns the bytes of a section; NULL if they lie outside the file. */
static const unsigned char *section_bytes(const GElf_Shdr *s, const char *file, size_t len) {
    if (s->sh_type == SHT_NOBITS || s->sh_offset > len || s->sh_size > len - s->sh_offset)
        return NULL;
    return (const unsigned char *)file + s->sh_offset;
}

/* Reads the containers of a section. Each container is aligned to 8 bytes, with zero bytes in between. */
static bool read_section(struct device_code *out, const GElf_Shdr *s, const char *file, size_t len, uint32_t target) {
    const unsigned char *p = section_bytes(s, file, len);
    if (!p)
        return device_code_fail(out, "the section of device code at byte %llu is cut short",
                                (unsigned long long)s->sh_offset);
    for (uint64_t i = 0; i + FATBIN_HEADER <= s->sh_size;) {
        if (!fatbin_is(p + i, s->sh_size - i)) {
            if (p[i])
                return device_code_fail(out, "what is at byte %llu, among the device code, is no container",
                                        (unsigned long long)(s->sh_offset + i));
            i++;
            continue;
        }
        if (!fatbin_read(out, p + i, s->sh_size - i, target, s->sh_offset + i))
            return false;
        i += (fatbin_bytes(p + i) + 7) & ~7ull;
    }
    return true;
}

static bool read_sections(struct device_code *out, Elf *elf, const char *name, const char *file, size_t len,
                          uint32_t target) {
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return device_code_fail(out, "its table of sections is broken: %s", elf_errmsg(-1));
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
        GElf_Shdr s;
        if (!gelf_getshdr(scn, &s))
            return device_code_fail(out, "its table of sections is broken: %s", elf_errmsg(-1));
        const char *found = elf_strptr(elf, names, s.sh_name);
        if (!found || strcmp(found, name) != 0)
            continue;
        out->has_sections = true;
        if (!read_section(out, &s, file, len, target))
            return false;
    }
    return true;
}

static bool read_elf(struct device_code *out, const void *data, size_t len, uint32_t target) {
    char *copy;
    Elf *elf = open_elf(data, len, &copy);
    GElf_Ehdr head;
    bool ok = elf && gelf_getehdr(elf, &head);
    if (!ok) {
        device_code_fail(out, "it begins like an ELF file, and is none: its header is broken or cut short");
    } else if (head.e_machine == EM_CUDA) {
        out->has_cubin = true;
    } else {
        ok = read_sections(out, elf, ".nv_fatbin", copy, len, target);
        int first = out->n;
        ok = ok && read_sections(out, elf, "__nv_relfatbin", copy, len, target) &&
             (out->n - first < 2 || ptx_link(out, first));
    }
    elf_end(elf);
    free(copy);
    return ok;
}

/* Reads a .fatbin file, which consists of one or more containers. */
static bool read_containers(struct device_code *out, const unsigned char *data, size_t len, uint32_t target) {
    out->has_sections = true;
    for (uint64_t i = 0; i < len; i += fatbin_bytes(data + i))
        if (!fatbin_read(out, data + i, len - i, target, i))
            return false;
    return true;
}

/* Returns the size of the archive member whose header is at `at`; 0 if the header is invalid. */
static uint64_t member_bytes(const char *data, size_t len, size_t at) {
    struct { /* the fields are text: numbers are decimal and padded with blanks */
        char name[16], date[12], user[6], group[6], mode[8], size[10], end[2];
    } head;
    char text[sizeof head.size + 1] = "", *rest;
    if (len - at < sizeof head)
        return 0;
    memcpy(&head, data + at, sizeof head);
    memcpy(text, head.size, sizeof head.size);
    uint64_t bytes = strtoull(text, &rest, 10);
    bool right = memcmp(head.end, "`\n", 2) == 0 && rest != text && (*rest == ' ' || !*rest);
    return right && bytes <= len - at - sizeof head ? bytes + sizeof head : 0;
}

/* Reads an archive and links the device code of all its objects. Other members, such as the linker's index, are
 * skipped. */
static bool read_archive(struct device_code *out, const char *data, size_t len, uint32_t target) {
    enum { HEAD = 60 };
    bool ok = true;
    for (size_t at = strlen(archive_magic); ok && at < len;) {
        uint64_t bytes = member_bytes(data, len, at);
        if (!bytes)
            return device_code_fail(out, "the member of the library at byte %zu is broken or cut short", at);
        if (is_elf(data + at + HEAD, bytes - HEAD))
            ok = read_elf(out, data + at + HEAD, bytes - HEAD, target);
        at += bytes + bytes % 2;
    }
    return ok && (out->n < 2 || ptx_link(out, 0));
}

bool elf_device_code(const void *data, size_t len, uint32_t target, struct device_code *out) {
    memset(out, 0, sizeof *out);
    bool ok = fatbin_is(data, len)    ? read_containers(out, data, len, target)
              : is_archive(data, len) ? read_archive(out, data, len, target)
                                      : read_elf(out, data, len, target);
    return ok && (out->n || device_code_none(out));
}

static bool needs_runtime(Elf *elf, Elf_Scn *scn, const GElf_Shdr *s) {
    Elf_Data *data = elf_getdata(scn, NULL);
    GElf_Dyn d;
    for (int i = 0; data && gelf_getdyn(data, i, &d); i++) {
        const char *name = d.d_tag == DT_NEEDED ? elf_strptr(elf, s->sh_link, d.d_un.d_val) : NULL;
        if (name && strncmp(name, "libcudart.so", 12) == 0)
            return true;
    }
    return false;
}

/* Returns how the file uses the CUDA runtime, according to a symbol table: a function of the runtime is defined in the
 * file (static), undefined (dynamic), or absent (none). */
static enum elf_runtime look_at_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *s) {
    static const char *const entries[] = {"__cudaRegisterFatBinary", "cudaGetLastError", "cudaMalloc"};
    enum elf_runtime found = ELF_RUNTIME_NONE;
    Elf_Data *data = elf_getdata(scn, NULL);
    GElf_Sym y;
    for (int i = 0; data && gelf_getsym(data, i, &y); i++) {
        const char *name = elf_strptr(elf, s->sh_link, y.st_name);
        for (size_t k = 0; name && k < sizeof entries / sizeof entries[0]; k++)
            if (strcmp(name, entries[k]) != 0)
                continue;
            else if (y.st_shndx == SHN_UNDEF)
                found = ELF_RUNTIME_DYNAMIC;
            else if (GELF_ST_TYPE(y.st_info) == STT_FUNC)
                return ELF_RUNTIME_STATIC;
    }
    return found;
}

static bool has_device_code(const void *data, size_t len) {
    struct device_code code;
    elf_device_code(data, len, 0, &code);
    bool any = code.n || code.machine || code.link_time;
    device_code_free(&code);
    return any;
}

enum elf_runtime elf_runtime(const void *data, size_t len) {
    enum elf_runtime found = ELF_RUNTIME_NONE;
    char *copy;
    Elf *elf = open_elf(data, len, &copy);
    for (Elf_Scn *scn = NULL; elf && found != ELF_RUNTIME_STATIC && (scn = elf_nextscn(elf, scn));) {
        GElf_Shdr s;
        if (!gelf_getshdr(scn, &s))
            continue;
        enum elf_runtime here = s.sh_type == SHT_DYNAMIC && needs_runtime(elf, scn, &s) ? ELF_RUNTIME_DYNAMIC
                                : s.sh_type == SHT_SYMTAB || s.sh_type == SHT_DYNSYM    ? look_at_symbols(elf, scn, &s)
                                                                                        : ELF_RUNTIME_NONE;
        found = here != ELF_RUNTIME_NONE ? here : found;
    }
    const int error = elf_errno();
    /* false: libelf may have missed sections for lack of memory */
    const bool whole = elf && (!error || !strstr(elf_errmsg(error), "out of memory"));
    elf_end(elf);
    free(copy);
    return found == ELF_RUNTIME_NONE && whole && has_device_code(data, len) ? ELF_RUNTIME_STRIPPED : found;
}

bool elf_is_object(const void *data, size_t len) {
    char *copy;
    GElf_Ehdr head;
    Elf *elf = open_elf(data, len, &copy);
    bool object = elf && gelf_getehdr(elf, &head) && head.e_type == ET_REL;
    elf_end(elf);
    free(copy);
    return object;
}

bool elf_is_static(const void *data, size_t len) {
    char *copy;
    size_t n = 0;
    bool interpreter = false;
    Elf *elf = open_elf(data, len, &copy);
    GElf_Ehdr head;
    GElf_Phdr p;
    bool program = elf && gelf_getehdr(elf, &head) && (head.e_type == ET_EXEC || head.e_type == ET_DYN) &&
                   elf_getphdrnum(elf, &n) == 0;
    for (size_t i = 0; program && i < n; i++)
        interpreter |= gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_INTERP;
    elf_end(elf);
    free(copy);
    return program && !interpreter;
}
