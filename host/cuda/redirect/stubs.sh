#!/bin/sh
# The assembly of libheddle-redirect.so: a stub heddle_to_NAME for each function of the runtime that the core has. A stub
# jumps through a slot. At first the slot leads to code that calls heddle_redirect_resolve() for the function, and that
# saves all registers that may hold arguments.
# usage: stubs.sh CORE
set -eu
names=$(nm -D --defined-only "$1" | awk '{sub(/@.*/, "", $3); print $3}' | grep -E '^(__)?cuda[A-Z]' | sort -u)
case $(uname -m) in
x86_64)
    enter() { echo "jmp *$1(%rip)"; }
    lazy() { printf 'pushq $%s\njmp resolve\n' "$1"; }
    unknown='movq %r11, %rdi
jmp heddle_redirect_unknown@PLT'
    general='%rax %rdi %rsi %rdx %rcx %r8 %r9 %r10'
    # On entry the number of the slot and the return address are on the stack, which is a multiple of 16.
    resolve=$(
        at=0
        echo 'subq $192, %rsp'
        for r in $general; do echo "movq $r, $at(%rsp)"; at=$((at + 8)); done
        for i in 0 1 2 3 4 5 6 7; do echo "movups %xmm$i, $((64 + 16 * i))(%rsp)"; done
        echo 'movq 192(%rsp), %rdi'
        echo 'call heddle_redirect_resolve@PLT'
        echo 'movq %rax, %r11'
        at=0
        for r in $general; do echo "movq $at(%rsp), $r"; at=$((at + 8)); done
        for i in 0 1 2 3 4 5 6 7; do echo "movups $((64 + 16 * i))(%rsp), %xmm$i"; done
        echo 'addq $200, %rsp'
        echo 'jmp *%r11'
    )
    ;;
aarch64)
    enter() { printf 'adrp x16, %s\nldr x16, [x16, :lo12:%s]\nbr x16\n' "$1" "$1"; }
    lazy() { printf 'mov x17, #%s\nb resolve\n' "$1"; }
    unknown='mov x0, x17
b heddle_redirect_unknown'
    resolve=$(
        echo 'stp x29, x30, [sp, #-224]!'
        for i in 0 2 4 6; do echo "stp x$i, x$((i + 1)), [sp, #$((16 + 8 * i))]"; done
        echo 'str x8, [sp, #80]'
        for i in 0 2 4 6; do echo "stp q$i, q$((i + 1)), [sp, #$((96 + 16 * i))]"; done
        echo 'mov x0, x17'
        echo 'bl heddle_redirect_resolve'
        echo 'mov x16, x0'
        for i in 0 2 4 6; do echo "ldp x$i, x$((i + 1)), [sp, #$((16 + 8 * i))]"; done
        echo 'ldr x8, [sp, #80]'
        for i in 0 2 4 6; do echo "ldp q$i, q$((i + 1)), [sp, #$((96 + 16 * i))]"; done
        echo 'ldp x29, x30, [sp], #224'
        echo 'br x16'
    )
    ;;
*) echo "the jump of $(uname -m) is not known" >&2; exit 1 ;;
esac
function() { printf '.globl %s\n.type %s, %%function\n.balign 16\n%s:\n' "$1" "$1" "$1"; }
echo '.section .note.GNU-stack,"",%progbits'
echo .text
printf 'resolve:\n%s\n' "$resolve"
function heddle_to_unknown
printf '%s\n.size heddle_to_unknown, . - heddle_to_unknown\n' "$unknown"
i=0
for name in $names; do
    function "heddle_to_$name"
    enter "slot_$name"
    printf '.size heddle_to_%s, . - heddle_to_%s\n' "$name" "$name"
    printf 'lazy_%s:\n' "$name"
    lazy "$i"
    i=$((i + 1))
done
printf '.section .data.rel,"aw"\n.balign 8\n.globl heddle_redirect_slots\n.hidden heddle_redirect_slots\n'
echo 'heddle_redirect_slots:'
for name in $names; do printf 'slot_%s: .quad lazy_%s\n' "$name" "$name"; done
printf '.globl heddle_redirect_names\n.hidden heddle_redirect_names\nheddle_redirect_names:\n'
for name in $names; do printf '.quad name_%s\n' "$name"; done
echo '.section .rodata'
for name in $names; do printf 'name_%s: .asciz "%s"\n' "$name" "$name"; done
