/* Tests heddle_options.memory_folder: buffers in files of a folder, and folders that cannot hold them. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry add(.param .u64 p, .param .u64 last) {\n"
    ".reg .b32 %a; .reg .b64 %d,%o;\nld.param.u64 %d,[p]; ld.param.u64 %o,[last]; add.u64 %o,%o,%d;\n"
    "ld.global.u32 %a,[%d]; st.global.u32 [%o],%a; ret; }\n";

static struct heddle *open_in(const char *folder, const char *model, uint64_t limit) {
    char err[512];
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .memory_folder = folder, .memory_limit = limit}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

/* A large buffer starts with zeros, takes the disk space of its size, and frees it again. */
START_TEST(buffers_in_files) {
    static const char *const models[] = {"functional", "spe"};
    enum { BYTES = 64 << 20 };
    char folder[64];
    snprintf(folder, sizeof folder, "/tmp/heddle-folder-%d", (int)getpid());
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    struct heddle *h = open_in(folder, models[_i], 0);
    struct heddle_module *m = heddle_module_text(h, "add.ptx", text, sizeof text - 1);
    struct statvfs before, with;
    ck_assert_int_eq(statvfs(folder, &before), 0);
    uint64_t a = heddle_alloc(h, BYTES), shared = heddle_alloc_shared(h, BYTES), last = BYTES - 4;
    ck_assert_msg(a && shared, "%s", heddle_error(h));
    ck_assert_int_eq(statvfs(folder, &with), 0);
    ck_assert_uint_ge((before.f_bfree - with.f_bfree) * before.f_frsize, BYTES);
    uint32_t value = 77, got = 1;
    ck_assert_int_eq(heddle_read(h, a + last, &got, 4), HEDDLE_OK);
    ck_assert_uint_eq(got, 0);
    ck_assert_int_eq(heddle_write(h, a, &value, 4), HEDDLE_OK);
    *(uint32_t *)(uintptr_t)shared = 99;
    for (int i = 0; i < 2; i++) {
        uint64_t at = i ? shared : a;
        ck_assert_msg(heddle_launch(h, m, "add", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){1, 1, 1}, 0,
                                    (struct heddle_arg[]){{&at, 8}, {&last, 8}}, 2) == HEDDLE_OK,
                      "%s", heddle_error(h));
        ck_assert_int_eq(heddle_read(h, at + last, &got, 4), HEDDLE_OK);
        ck_assert_uint_eq(got, i ? 99 : 77);
    }
    ck_assert_int_eq(heddle_free(h, a), HEDDLE_OK);
    heddle_close(h);
    ck_assert_int_eq(rmdir(folder), 0); /* the folder is empty, because the files have no names */
}
END_TEST

/* A file system without room makes the allocation fail, with a message and without a signal. */
START_TEST(a_full_disk) {
    struct statvfs s;
    if (statvfs("/dev/shm", &s) != 0 || access("/dev/shm", W_OK) != 0 || !s.f_blocks) {
        test_skip("/dev/shm is no file system of limited size");
        return;
    }
    const uint64_t bytes = (uint64_t)s.f_blocks * s.f_frsize + (1 << 20); /* more than the file system has in all */
    struct heddle *h = open_in("/dev/shm", "functional", 2 * bytes);
    ck_assert_uint_eq(heddle_alloc(h, bytes), 0);
    ck_assert_msg(strstr(heddle_error(h), "the folder /dev/shm cannot hold a buffer of") &&
                      strstr(heddle_error(h), "No space left"),
                  "%s", heddle_error(h));
    ck_assert_uint_eq(heddle_alloc_shared(h, bytes), 0);
    ck_assert_uint_ne(heddle_alloc(h, 4096), 0); /* small buffers are in memory */
    heddle_close(h);
}
END_TEST

START_TEST(wrong_folders) {
    static const char *const rows[][2] = {{"/no/such/folder", "No such file"}, {"/etc/passwd", "it is no folder"}};
    for (int i = 0; i < 2; i++) {
        char err[512];
        struct heddle *h = heddle_open(&(struct heddle_options){.memory_folder = rows[i][0]}, err, sizeof err);
        ck_assert_ptr_null(h);
        ck_assert_msg(strstr(err, rows[i][1]) != NULL, "%s", err);
    }
}
END_TEST

SUITE(host_folder) {
    TEST_LOOP(buffers_in_files, 0, 2);
    TEST(a_full_disk);
    TEST(wrong_folders);
}
