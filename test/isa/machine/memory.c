/* Tests device memory: addresses of allocations, mapped host memory and reserved ranges (memory.c), and descriptions of
 * addresses (memory_places.c). */
#include "isa/machine/memory.h"
#include "test/test.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct memory m;

START_TEST(alignment_and_gap) {
    mem_init(&m, 0);
    uint64_t a = mem_alloc(&m, 100, 0, NULL, false), b = mem_alloc(&m, 1, 4096, NULL, false);
    ck_assert_uint_eq(a, DEVICE_BASE);
    ck_assert_uint_eq(b % 4096, 0);
    ck_assert_uint_ge(b - (a + 100), 512); /* the 512 bytes after an allocation belong to no allocation */
    ck_assert_ptr_null(mem_find(&m, a + 100, 1, NULL));
    mem_free_all(&m);
}
END_TEST

/* Packed buffers: the first is at 0xc0000000, and each further buffer is at the next multiple of 256 after the previous
 * buffer. Addresses that are already in use are skipped. Variables are not packed: gaps lie between them, as between
 * all allocations if host memory is mapped. */
START_TEST(packed_buffers_have_no_gaps) {
    mem_init(&m, 0);
    mem_pack(&m);
    ck_assert_uint_eq(mem_alloc(&m, 100, 0, NULL, false), 0xc0000000);
    ck_assert_uint_eq(mem_alloc(&m, 256, 0, NULL, false), 0xc0000100);
    ck_assert_uint_eq(mem_alloc(&m, 1, 0, NULL, false), 0xc0000200);
    /* the bytes from the buffer's end to the next multiple of 256 belong to no buffer */
    ck_assert_ptr_null(mem_find(&m, 0xc0000000 + 100, 1, NULL));
    ck_assert_ptr_nonnull(mem_find(&m, 0xc0000100 + 255, 1, NULL));
    /* one access must not span two buffers, even if they are adjacent */
    ck_assert_ptr_null(mem_find(&m, 0xc0000100 + 255, 2, NULL));
    ck_assert(mem_free(&m, 0xc0000000)); /* the addresses of a freed buffer are not used again */
    ck_assert_uint_eq(mem_alloc(&m, 1, 4096, NULL, false), 0xc0001000);
    ck_assert_uint_eq(mem_alloc(&m, 8, 0, "variable", false), DEVICE_BASE);
    ck_assert_uint_eq(mem_reserve(&m, 4096, 256, 0xc0002000), 0xc0002000);
    ck_assert_uint_eq(mem_alloc(&m, 0xe00, 0, NULL, false), 0xc0001100);
    /* 512 bytes at 0xc0001f00 would overlap a range that is in use */
    ck_assert_uint_eq(mem_alloc(&m, 512, 0, NULL, false), 0xc0003000);
    mem_free_all(&m);
    mem_init(&m, 0);
    mem_pack(&m);
    mem_map_host(&m);
    ck_assert_uint_eq(mem_alloc(&m, 100, 0, NULL, false), 3ull << 44);
    mem_free_all(&m);
}
END_TEST

START_TEST(new_memory_is_zero) {
    mem_init(&m, 0);
    uint64_t a = mem_alloc(&m, 64, 0, NULL, false), v = 1;
    ck_assert(mem_read(&m, a + 56, &v, 8));
    ck_assert_uint_eq(v, 0);
    mem_free_all(&m);
}
END_TEST

/* Buffers of 4 to 256 MiB begin at a multiple of the host's huge pages (2 MiB), and are zero. The sizes are the least,
 * one with a partial last page, and the greatest. Smaller and larger buffers begin 64 bytes after a page. */
START_TEST(large_buffers_have_huge_pages) {
    enum { MIB = 1 << 20 };
    static const uint64_t sizes[] = {4 * MIB, 5 * MIB + 3, 256 * MIB, 4 * MIB - 1, 256 * MIB + 1};
    for (unsigned i = 0; i < 5; i++) {
        mem_init(&m, 0);
        uint64_t a = mem_alloc(&m, sizes[i], 0, NULL, false);
        uint8_t v[2] = {1, 1};
        ck_assert_uint_eq((uintptr_t)m.list[0].host % (2 * MIB) == 0, i < 3);
        ck_assert(mem_read(&m, a, &v[0], 1) && mem_read(&m, a + sizes[i] - 1, &v[1], 1));
        ck_assert_uint_eq(v[0] | v[1], 0);
        mem_free_all(&m);
    }
}
END_TEST

/* Returns true if the host may use huge pages at `address`: its mapping has the flag "hg" (proc_pid_smaps(5)). */
static bool may_be_huge(uint64_t address) {
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[1024];
    bool inside = false, huge = false;
    while (f && fgets(line, sizeof line, f)) {
        unsigned long long begin, end;
        if (sscanf(line, "%llx-%llx ", &begin, &end) == 2)
            inside = address >= begin && address < end;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0)
            huge |= strstr(line, " hg") != NULL;
    }
    if (f)
        fclose(f);
    return huge;
}

/* The sizes are the least and the greatest of buffers with huge pages, and their neighbours. The checker forbids huge
 * pages. */
START_TEST(large_shared_buffers_have_huge_pages) {
    enum { MIB = 1 << 20 };
    static const uint64_t sizes[] = {4 * MIB, 256 * MIB, 4 * MIB - 4096, 256 * MIB + 4096};
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) {
        test_skip("the host has no huge pages");
        return;
    }
    for (unsigned i = 0; i < 8; i++) {
        mem_init(&m, 0);
        m.small_pages = i >= 4;
        const uint64_t a = mem_alloc_shared(&m, sizes[i % 4], NULL);
        ck_assert_uint_ne(a, 0);
        ck_assert_uint_eq(may_be_huge(a), i < 2);
        mem_free_all(&m);
    }
}
END_TEST

START_TEST(read_back) {
    mem_init(&m, 0);
    uint64_t a = mem_alloc(&m, 16, 0, NULL, false);
    uint32_t v = 0x12345678, w = 0;
    ck_assert(mem_write(&m, a + 12, &v, 4));
    ck_assert(mem_read(&m, a + 12, &w, 4));
    ck_assert_uint_eq(w, v);
    ck_assert(!mem_write(&m, a + 13, &v, 4)); /* the access ends one byte beyond the buffer */
    ck_assert(!mem_read(&m, a - 1, &w, 1));
    mem_free_all(&m);
}
END_TEST

START_TEST(limit_counts_live_bytes) {
    mem_init(&m, 1000);
    uint64_t a = mem_alloc(&m, 600, 0, NULL, false);
    ck_assert_uint_ne(a, 0);
    ck_assert_uint_eq(mem_alloc(&m, 401, 0, NULL, false), 0);
    ck_assert(mem_free(&m, a));
    ck_assert_uint_ne(mem_alloc(&m, 1000, 0, NULL, false), 0);
    mem_free_all(&m);
}
END_TEST

START_TEST(huge_sizes_are_refused) {
    mem_init(&m, UINT64_MAX);
    ck_assert_uint_eq(mem_alloc(&m, UINT64_MAX - 10, 0, NULL, false), 0);
    ck_assert_uint_eq(mem_alloc(&m, 1ull << 62, 0, NULL, false), 0);
    mem_free_all(&m);
}
END_TEST

START_TEST(free_accepts_starts_of_live_allocations) {
    mem_init(&m, 0);
    uint64_t a = mem_alloc(&m, 64, 0, NULL, false);
    ck_assert(!mem_free(&m, a + 4));
    ck_assert(!mem_free(&m, 0));
    ck_assert(mem_free(&m, a));
    ck_assert(!mem_free(&m, a));
    ck_assert_ptr_null(mem_find(&m, a, 4, NULL));
    ck_assert(!mem_owner(&m, a)->live);
    mem_free_all(&m);
}
END_TEST

START_TEST(hint_follows) {
    mem_init(&m, 0);
    uint64_t first = 0, last = 0;
    for (int i = 0; i < 100; i++) {
        last = mem_alloc(&m, 64, 0, NULL, false);
        first = i ? first : last;
    }
    uint32_t hint = 0;
    ck_assert_uint_eq(mem_find(&m, last, 4, &hint)->begin, last);
    ck_assert_uint_eq(hint, 99);
    ck_assert_uint_eq(mem_find(&m, first, 4, &hint)->begin, first);
    ck_assert_uint_eq(hint, 0);
    mem_free_all(&m);
}
END_TEST

static const char *described(uint64_t address) {
    static char text[400];
    mem_describe(&m, address, text, sizeof text);
    return text;
}

START_TEST(describes) {
    mem_init(&m, 0);
    ck_assert_str_eq(described(DEVICE_BASE), "there are no allocations");
    uint64_t a = mem_alloc(&m, 4096, 0, NULL, false), b = mem_alloc(&m, 8, 0, "table", true);
    ck_assert_uint_eq(b, a + 0x1200); /* 4096 bytes and a gap of 512 bytes end at 0x1200, which is a multiple of 256 */
    ck_assert_str_eq(described(a + 4096 + 12), "12 bytes past the end of buffer 1 (4096 bytes at 0x10000000)");
    ck_assert_str_eq(described(b - 4), "4 bytes before the start of variable 'table' (8 bytes at 0x10001200)");
    ck_assert_str_eq(described(b + 3), "3 bytes into variable 'table' (8 bytes at 0x10001200)");
    mem_free(&m, a);
    ck_assert_str_eq(described(a + 5), "5 bytes into buffer 1 (4096 bytes at 0x10000000), which has been freed");
    ck_assert_uint_eq(mem_distance(&m, a + 4096 + 12), 13); /* behind the last byte, a + 4095 */
    ck_assert_uint_eq(mem_distance(&m, b - 4), 4);
    ck_assert_uint_eq(mem_distance(&m, b + 3), 0);
    ck_assert_uint_eq(mem_distance(&m, 16), UINT64_MAX);
    ck_assert_str_eq(described(16), "in the page of the null pointer");
    ck_assert_str_eq(described(SHARED_WINDOW + 1), "in the window of shared memory");
    ck_assert_str_eq(described(LOCAL_WINDOW), "in the window of local memory");
    mem_free_all(&m);
}
END_TEST

/* Mapped host memory has the same addresses in kernels as on the host. Freeing it unmaps it. */
START_TEST(host_memory_keeps_its_address) {
    static _Alignas(64) unsigned char own[256];
    uint64_t at = (uint64_t)(uintptr_t)own;
    uint32_t v = 7, hint = 0;
    mem_init(&m, 1 << 20);
    uint64_t a = mem_alloc(&m, 64, 0, NULL, false);
    ck_assert(mem_map(&m, own, sizeof own));
    ck_assert(!mem_map(&m, own + 255, 1) && !mem_map(&m, own, 1)); /* already mapped */
    ck_assert(!mem_map(&m, own - 1, 2) && !mem_map(&m, own - 64, 1024));
    ck_assert(!mem_map(&m, (void *)(uintptr_t)SHARED_WINDOW, 16)); /* these addresses are reserved for device memory */
    /* `b` is below the host memory that was mapped before, so the list of allocations must be sorted again */
    uint64_t b = mem_alloc(&m, 64, 0, NULL, false);
    ck_assert(mem_write(&m, at + 252, &v, 4) && own[252] == 7);
    own[8] = 9;
    ck_assert(mem_read(&m, at + 8, &v, 4) && v == 9);
    ck_assert(!mem_write(&m, at + 254, &v, 4));
    ck_assert_ptr_eq(mem_find(&m, a + 60, 4, &hint)->host + 60, mem_find(&m, a + 60, 4, NULL)->host + 60);
    ck_assert(mem_find(&m, b, 64, &hint) != NULL && mem_find(&m, at, 256, &hint) != NULL);
    ck_assert_uint_eq(m.live_bytes, 128); /* mapped host memory does not count as device memory */
    ck_assert(mem_free(&m, at) && !mem_free(&m, at));
    ck_assert(!mem_find(&m, at, 1, &hint) && mem_find(&m, b, 64, &hint) && mem_find(&m, a, 64, &hint));
    ck_assert(mem_map(&m, own + 64, 64)); /* the memory can be mapped again */
    mem_free_all(&m);
    own[70] = 1; /* unmapping does not free the host's memory */
}
END_TEST

START_TEST(shared_memory_is_the_hosts_too) {
    mem_init(&m, 1 << 20);
    ck_assert_uint_eq(mem_alloc_shared(&m, 0, NULL), 0);
    ck_assert_uint_eq(mem_alloc_shared(&m, (1 << 20) + 1, NULL), 0); /* beyond the limit */
    uint64_t a = mem_alloc_shared(&m, 5000, NULL), b = mem_alloc_shared(&m, 1, NULL), v = 1;
    ck_assert(a && b >= a + 8192 + 4096); /* an allocation has whole pages, with one page between two allocations */
    ck_assert(mem_read(&m, a + 4992, &v, 8) && v == 0);
    ((unsigned char *)(uintptr_t)a)[4999] = 3;
    ck_assert(mem_read(&m, a + 4992, &v, 8) && v == 3ull << 56);
    ck_assert(!mem_read(&m, a + 4993, &v, 8));
    ck_assert_uint_eq(m.live_bytes, 5001);
    ck_assert(mem_free(&m, a) && m.live_bytes == 1 && !mem_free(&m, a));
    mem_free_all(&m);
    mem_init(&m, 1 << 20);
    ck_assert_uint_eq(mem_alloc_shared(&m, 5000, NULL), a); /* addresses are equal in every run */
    mem_free_all(&m);
}
END_TEST

/* Host memory is mapped at a device address whose lowest byte equals that of the host address, until it is unmapped. */
START_TEST(host_memory_elsewhere) {
    static _Alignas(256) unsigned char own[256];
    uint32_t v = 7;
    mem_init(&m, 300);
    uint64_t a = mem_map_elsewhere(&m, own + 4, 100), b = mem_map_elsewhere(&m, own + 4, 100);
    ck_assert_uint_eq(a, DEVICE_BASE + 4);
    /* 4 + 100 bytes and a gap of 512 bytes are 616; the next multiple of 256 is 768 */
    ck_assert_uint_eq(b, DEVICE_BASE + 768 + 4);
    ck_assert(mem_write(&m, a + 96, &v, 4) && own[100] == 7);
    ck_assert(mem_read(&m, b + 96, &v, 4) && v == 7); /* host address and device address access the same bytes */
    ck_assert(!mem_write(&m, a + 97, &v, 4) && !mem_read(&m, a - 1, &v, 1));
    ck_assert_uint_eq(m.live_bytes, 200);
    ck_assert_uint_eq(mem_map_elsewhere(&m, own, 0), 0);
    ck_assert_uint_eq(mem_map_elsewhere(&m, own, 101), 0); /* 301 bytes exceed the limit of 300 */
    ck_assert(mem_free(&m, a) && !mem_free(&m, a) && !mem_find(&m, a, 1, NULL));
    ck_assert_uint_eq(m.live_bytes, 100);
    ck_assert_uint_ne(mem_map_elsewhere(&m, own, 200), 0);
    mem_free_all(&m);
    own[100] = 1; /* unmapping does not free the host's memory */
}
END_TEST

/* Device addresses that the host process uses are skipped. The range of device addresses can become full. */
START_TEST(host_memory_elsewhere_finds_room) {
    static unsigned char own[64];
    mem_init(&m, UINT64_MAX);
    ck_assert(mem_map(&m, (void *)(uintptr_t)(DEVICE_BASE + 512), 4096)); /* never accessed */
    ck_assert_uint_gt(mem_map_elsewhere(&m, own, sizeof own), DEVICE_BASE + 512 + 4096);
    static const uint64_t huge[] = {1ull << 47, UINT64_MAX - DEVICE_BASE, UINT64_MAX - 600, UINT64_MAX - 10};
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(mem_map_elsewhere(&m, own, huge[i]), 0);
    mem_free_all(&m);
}
END_TEST

enum { PART = 1 << 21 };

/* A reserved range has four parts. The second and the third part get memory, and the third is read-only. The first part
 * stays unmapped, and no access to the fourth is allowed. Look-ups and copies may cross from the second part to the
 * third. They end at the last accessible byte, as at the end of any allocation. */
START_TEST(a_range_is_reserved_and_mapped_in_pieces) {
    static unsigned char memory[2 * PART];
    char text[256], byte = 5;
    mem_init(&m, 0);
    uint64_t at = mem_reserve(&m, 4 * PART, PART, 0);
    ck_assert(at && at % PART == 0);
    ck_assert_ptr_null(mem_find(&m, at, 1, NULL));
    mem_describe(&m, at + 7, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "7 bytes into buffer 1"));
    ck_assert_ptr_nonnull(strstr(text, "without mapped memory"));
    /* the second reservation requests the address right after the first */
    ck_assert_uint_eq(mem_reserve(&m, PART, PART, at + 4 * PART), at + 4 * PART);
    ck_assert_uint_ne(mem_reserve(&m, PART, PART, at + PART), at + PART); /* the requested address is taken */
    struct mem_piece pieces[] = {{at, at + PART, NULL, RANGE_UNMAPPED},
                                 {at + PART, at + 2 * PART, memory, RANGE_WRITE},
                                 {at + 2 * PART, at + 3 * PART, memory + PART, RANGE_READ},
                                 {at + 3 * PART, at + 4 * PART, NULL, RANGE_CLOSED}};
    ck_assert(mem_place(&m, at, at + 4 * PART, pieces, 4));
    ck_assert(mem_write(&m, at + 2 * PART - 1, &byte, 1) && memory[PART - 1] == 5);
    ck_assert(!mem_write(&m, at + 2 * PART, &byte, 1) && mem_read(&m, at + 3 * PART - 1, &byte, 1));
    ck_assert(!mem_read(&m, at + PART - 1, &byte, 1) && !mem_read(&m, at + 3 * PART, &byte, 1));
    mem_describe(&m, at + 3 * PART, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "no access was given"));
    mem_describe(&m, at + 2 * PART, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "which is read-only"));
    ck_assert(!mem_free(&m, at + PART));
    /* maps the last three parts as one piece */
    struct mem_piece whole[] = {{at, at + PART, NULL, RANGE_UNMAPPED}, {at + PART, at + 4 * PART, memory, RANGE_WRITE}};
    ck_assert(mem_place(&m, at, at + 4 * PART, whole, 2));
    ck_assert_ptr_nonnull(mem_find(&m, at + 2 * PART - 1, 2, NULL)); /* across the former edge */
    ck_assert(mem_place(&m, at, at + 4 * PART, NULL, 0));
    mem_describe(&m, at + PART, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "has been freed"));
    ck_assert_uint_ge(mem_alloc(&m, 1, 0, NULL, false), at + 5 * PART);
    mem_free_all(&m);
}
END_TEST

START_TEST(ranges_that_cannot_be_reserved) {
    mem_init(&m, 1000);
    ck_assert_uint_eq(mem_reserve(&m, 0, PART, 0), 0);
    ck_assert_uint_eq(mem_reserve(&m, PART, 3 * 4096, 0), 0); /* the alignment is not a power of two */
    ck_assert_uint_eq(mem_reserve(&m, UINT64_MAX, PART, 0), 0);
    ck_assert_uint_eq(mem_reserve(&m, 1ull << 47, PART, 1ull << 30), 0);
    ck_assert_uint_ne(mem_reserve(&m, 1ull << 40, PART, 0), 0); /* reserving addresses needs no memory */
    ck_assert(mem_take(&m, 600) && !mem_take(&m, 401) && mem_take(&m, 400));
    mem_give(&m, 1000);
    ck_assert_uint_ne(mem_alloc(&m, 1000, 0, NULL, false), 0);
    mem_free_all(&m);
}
END_TEST

SUITE(isa_memory) {
    TEST(alignment_and_gap);
    TEST(packed_buffers_have_no_gaps);
    TEST(new_memory_is_zero);
    TEST(large_buffers_have_huge_pages);
    TEST(large_shared_buffers_have_huge_pages);
    TEST(read_back);
    TEST(limit_counts_live_bytes);
    TEST(huge_sizes_are_refused);
    TEST(free_accepts_starts_of_live_allocations);
    TEST(hint_follows);
    TEST(describes);
    TEST(host_memory_keeps_its_address);
    TEST(shared_memory_is_the_hosts_too);
    TEST(host_memory_elsewhere);
    TEST(host_memory_elsewhere_finds_room);
    TEST(a_range_is_reserved_and_mapped_in_pieces);
    TEST(ranges_that_cannot_be_reserved);
}
