/* Fuzz target: reads arbitrary bytes as a file of launches, and again as contents of chunks, without checksums. The
 * result must be a restored context or an error message. No launch runs. */
#include "host/replay.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads a file of launches that has a valid header, followed by the bytes. */
static void as_file(const uint8_t *data, size_t size) {
    char path[64], err[512];
    struct launch_file f;
    int fd = memfd_create("launches", 0);
    FILE *to = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (!to)
        return;
    launch_file_begin(to);
    fwrite(data, 1, size, to);
    fflush(to);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (launch_file_open(&f, path, err, sizeof err))
        launch_file_close(&f);
    fclose(to);
}

/* Applies pieces of the bytes as chunks: a byte for the type, two for the length, then the contents. */
static void as_contents(const uint8_t *data, size_t size) {
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional", .memory_limit = 1 << 24}, NULL, 0);
    struct replay r = {.h = h};
    struct replayed_launch l;
    while (h && size > 3) {
        size_t n = data[1] | (size_t)data[2] << 8;
        n = n < size - 3 ? n : size - 3;
        r.chunk.n = r.chunk.at = 0;
        r.chunk.bad = false;
        chunk_put(&r.chunk, data + 3, n);
        if (!replay_apply(&r, (enum launch_chunk)(CHUNK_INFO + data[0] % CHUNK_END), &l))
            break;
        data += 3 + n;
        size -= 3 + n;
    }
    replay_close(&r);
    heddle_close(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size && data[0] & 1)
        as_file(data + 1, size - 1);
    else if (size)
        as_contents(data + 1, size - 1);
    return 0;
}
