// A kernel as text, on the program's own memory: no copies.
//
//     c++ saxpy.cpp -o saxpy $(pkg-config --cflags --libs heddle)
#include <cstdio>
#include <cstdlib>
#include <heddle.h>
#include <memory>
#include <string>
#include <vector>

static const std::string source = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a) {
    .reg .u64 %p, %q, %o;
    .reg .u32 %i;
    .reg .f32 %x, %y, %a;
    mov.u32 %i, %tid.x;
    mul.wide.u32 %o, %i, 4;
    ld.param.u64 %p, [x];
    ld.param.u64 %q, [y];
    ld.param.f32 %a, [a];
    add.u64 %p, %p, %o;
    add.u64 %q, %q, %o;
    ld.global.f32 %x, [%p];
    ld.global.f32 %y, [%q];
    fma.rn.f32 %y, %x, %a, %y;
    st.global.f32 [%q], %y;
    ret;
}
)";

int main() {
    char err[512];
    heddle_options options{};
    options.model = "functional";
    std::unique_ptr<heddle, decltype(&heddle_close)> h(heddle_open(&options, err, sizeof err), heddle_close);
    if (!h) {
        std::fprintf(stderr, "saxpy: %s\n", err);
        return HEDDLE_USAGE;
    }
    std::vector<float> x(128, 2.0f), y(128, 1.0f);
    float a = 3;
    void *px = x.data(), *py = y.data();
    heddle_module *m = heddle_module_text(h.get(), "saxpy.ptx", source.data(), source.size());
    const heddle_arg args[] = {{&px, sizeof px}, {&py, sizeof py}, {&a, sizeof a}};
    if (!m || heddle_map(h.get(), px, 4 * x.size()) || heddle_map(h.get(), py, 4 * y.size()) ||
        heddle_launch(h.get(), m, "saxpy", {1, 1, 1}, {128, 1, 1}, 0, args, 3)) {
        std::fprintf(stderr, "saxpy: %s", heddle_error(h.get()));
        return heddle_status(h.get());
    }
    std::printf("y[0] is %g, y[127] is %g\n", y[0], y[127]);
}
