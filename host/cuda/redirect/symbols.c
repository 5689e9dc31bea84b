/* Reads the symbol table of a file that the dynamic linker has loaded. */
#include "symbols.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#else
enum { MACHINE = EM_AARCH64 };
#endif

static bool is_inside(const struct symbols *s, uint64_t offset, uint64_t bytes) {
    return offset <= s->len && bytes <= s->len - offset;
}

static const Elf64_Shdr *sections(const struct symbols *s, size_t *n) {
    const Elf64_Ehdr *head = (const void *)s->file;
    *n = 0;
    if (s->len < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_machine != MACHINE || head->e_shoff % 8 || head->e_shentsize != sizeof(Elf64_Shdr) ||
        !is_inside(s, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr)))
        return NULL;
    *n = head->e_shnum;
    return (const void *)(s->file + head->e_shoff);
}

/* Finds the first valid symbol section of type `type` and the section with its names. Returns false if there is
 * none. */
static bool take_table(struct symbols *s, const Elf64_Shdr *all, size_t n, uint32_t type) {
    for (size_t i = 0; i < n; i++) {
        const Elf64_Shdr *t = &all[i];
        if (t->sh_type != type || t->sh_link >= n || t->sh_offset % 8 || !is_inside(s, t->sh_offset, t->sh_size))
            continue;
        const Elf64_Shdr *names = &all[t->sh_link];
        if (!names->sh_size || !is_inside(s, names->sh_offset, names->sh_size) ||
            s->file[names->sh_offset + names->sh_size - 1])
            continue;
        s->table = s->file + t->sh_offset;
        s->n = t->sh_size / sizeof(Elf64_Sym);
        s->names = (const char *)s->file + names->sh_offset;
        s->names_len = names->sh_size;
        return true;
    }
    return false;
}

static bool has_device_code(const struct symbols *s, const Elf64_Shdr *all, size_t n) {
    const Elf64_Ehdr *head = (const void *)s->file;
    if (head->e_shstrndx >= n || !is_inside(s, all[head->e_shstrndx].sh_offset, all[head->e_shstrndx].sh_size))
        return false;
    return memmem(s->file + all[head->e_shstrndx].sh_offset, all[head->e_shstrndx].sh_size, ".nv_fatbin", 11) != NULL;
}

static int by_address(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts the addresses of the functions, and finds the range of the static runtime between its own symbols. */
static bool sort_functions(struct symbols *s) {
    const Elf64_Sym *table = s->table;
    if (!(s->starts = malloc((s->n + 1) * sizeof *s->starts)))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        const Elf64_Sym *y = &table[i];
        if (ELF64_ST_TYPE(y->st_info) != STT_FUNC || y->st_shndx == SHN_UNDEF || y->st_name >= s->names_len)
            continue;
        s->starts[s->n_starts++] = y->st_value;
        const char *name = s->names + y->st_name;
        if (strncmp(name, "libcudart_static_", 17) != 0 && strncmp(name, "__cudart", 8) != 0)
            continue;
        if (!s->runtime_first || y->st_value < s->runtime_first)
            s->runtime_first = y->st_value;
        if (y->st_value + y->st_size > s->runtime_end)
            s->runtime_end = y->st_value + y->st_size;
    }
    qsort(s->starts, s->n_starts, sizeof *s->starts, by_address);
    return true;
}

bool symbols_open(struct symbols *s, const char *path) {
    struct stat st;
    size_t n;
    memset(s, 0, sizeof *s);
    snprintf(s->path, sizeof s->path, "%s", path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    void *file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0
                     ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                     : MAP_FAILED;
    close(fd);
    if (file == MAP_FAILED)
        return false;
    s->file = file;
    s->len = (size_t)st.st_size;
    const Elf64_Shdr *all = sections(s, &n);
    if (all && (take_table(s, all, n, SHT_SYMTAB) || take_table(s, all, n, SHT_DYNSYM))) {
        s->device_code = has_device_code(s, all, n);
        return true;
    }
    symbols_close(s);
    return false;
}

void symbols_close(struct symbols *s) {
    if (s->file)
        munmap((void *)(uintptr_t)s->file, s->len);
    free(s->starts);
    memset(s, 0, sizeof *s);
}

bool symbols_next(const struct symbols *s, size_t *i, struct symbol *out) {
    const Elf64_Sym *table = s->table;
    if (!s->starts && !sort_functions((struct symbols *)(uintptr_t)s))
        return false;
    while (*i < s->n) {
        const Elf64_Sym *y = &table[(*i)++];
        if (ELF64_ST_TYPE(y->st_info) != STT_FUNC || y->st_shndx == SHN_UNDEF || y->st_name >= s->names_len)
            continue;
        /* the search finds the first function after this one; the distance is the room for a jump */
        size_t lo = 0, hi = s->n_starts;
        while (lo < hi) {
            size_t mid = (lo + hi) / 2;
            if (s->starts[mid] <= y->st_value)
                lo = mid + 1;
            else
                hi = mid;
        }
        uint64_t next = lo < s->n_starts ? s->starts[lo] : y->st_value + y->st_size;
        *out =
            (struct symbol){s->names + y->st_name, y->st_value, next - y->st_value,
                            ELF64_ST_VISIBILITY(y->st_other) == STV_HIDDEN || ELF64_ST_BIND(y->st_info) == STB_LOCAL};
        return true;
    }
    return false;
}

uint64_t symbols_find(const struct symbols *s, const char *name) {
    const Elf64_Sym *table = s->table;
    for (size_t i = 0; i < s->n; i++)
        if (table[i].st_shndx != SHN_UNDEF && table[i].st_name < s->names_len &&
            strcmp(s->names + table[i].st_name, name) == 0)
            return table[i].st_value;
    return 0;
}

bool symbols_mention(const struct symbols *s, const char *bytes) {
    return memmem(s->names, s->names_len, bytes, strlen(bytes)) != NULL;
}

bool symbols_is_runtime(const struct symbols *s, const struct symbol *f) {
    return f->hidden && f->address > s->runtime_first && f->address < s->runtime_end &&
           strcmp(f->name, "__cudaUnregisterBinaryUtil") != 0;
}
