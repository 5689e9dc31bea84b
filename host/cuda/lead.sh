#!/bin/sh
# The assembly of a library that forwards to the core: for each of its symbols, a jump to the symbol of the core.
# usage: lead.sh CORE NAME, NAME libcuda.so.1 or libcudart.so.12
set -eu
case $2 in
libcuda.*) wanted='^cu[A-Z]' ;;
*) wanted='^(__)?cuda[A-Z]' ;;
esac
case $(uname -m) in
x86_64) jump='jmp %s@PLT' ;;
aarch64) jump='b %s' ;;
*) echo "the jump of $(uname -m) is not known" >&2; exit 1 ;;
esac
echo '.section .note.GNU-stack,"",%progbits'
echo .text
nm -D --defined-only "$1" | awk '{sub(/@.*/, "", $3); print $3}' | grep -E "$wanted" | sort -u | while read -r name; do
    printf '.globl %s\n.type %s, %%function\n%s:\n' "$name" "$name" "$name"
    printf "$jump\n" "core_$name"
    printf '.size %s, . - %s\n.symver core_%s, %s@HEDDLE_CUDA\n' "$name" "$name" "$name" "$name"
done
