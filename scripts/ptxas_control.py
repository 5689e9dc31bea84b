#!/usr/bin/env python3
"""Compares the control bits of our passes with those of ptxas for sm_86.

Usage: scripts/ptxas_control.py HEDDLE FILE.ptx ...

Prints a row for each file: instructions, registers, the sum of the stall counts, and instructions that raise or wait for
dependence counters, of all kernels of the file, as ours/ptxas. A program of ptxas ends at its last EXIT, without the
padding. The fields of the 128-bit encodings are public: stall count in bits 105 to 108, yield 109 (0: it yields),
counter of the result 110 to 112, of the operands 113 to 115 (7: none), counters awaited 116 to 121, reuse 122 to 125.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

EXIT, NOP, BRANCH = 0x14D, 0x118, 0x147


def sections(cubin):
    start, = struct.unpack_from("<Q", cubin, 0x28)
    count, names = struct.unpack_from("<HH", cubin, 0x3C)
    table = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + 64 * i) for i in range(count)]
    base = table[names][4]
    for s in table:
        at = base + s[0]
        yield cubin[at:cubin.index(0, at)].decode(), s[7], cubin[s[4]:s[4] + s[5]] if s[1] != 8 else b""


def of_ptxas(path):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "k.cubin")
        tool = os.environ.get("PTXAS", "ptxas")
        if subprocess.run([tool, "-arch=sm_86", path, "-o", out], capture_output=True).returncode:
            return None
        with open(out, "rb") as f:
            cubin = f.read()
    total = dict.fromkeys(("n", "regs", "stalls", "result", "operands", "waits", "counters", "yields"), 0)
    used = set()
    for name, info, data in sections(cubin):
        if not name.startswith(".text."):
            continue
        code = [lo | hi << 64 for lo, hi in struct.iter_unpack("<QQ", data)]
        while code and (code[-1] & 0x1FF) in (NOP, BRANCH):
            code.pop()
        total["regs"] = max(total["regs"], info >> 24)
        for w in code:
            field = lambda at, bits: w >> at & (1 << bits) - 1
            total["n"] += 1
            total["stalls"] += field(105, 4)
            total["yields"] += not field(109, 1) and field(105, 4) < 2
            total["result"] += field(110, 3) != 7
            total["operands"] += field(113, 3) != 7
            total["waits"] += field(116, 6) != 0
            used |= {field(110, 3), field(113, 3)} - {7}
    total["counters"] = len(used)
    return total


def of_heddle(heddle, path):
    run = subprocess.run([heddle, "inspect", path, "--pass", "control", "-m", "functional", "-c", "turing", "-s",
                          "core.kind=modern", "-s", "sm.subcores=on"], capture_output=True, text=True)
    total = dict.fromkeys(("n", "regs", "stalls", "result", "operands", "waits", "counters", "yields"), 0)
    used = set()
    for line in run.stdout.splitlines():
        regs = re.match(r"  registers +(\d+)", line)
        if regs:
            total["regs"] = max(total["regs"], int(regs.group(1)))
        bits = re.match(r" *\d+  S(\d\d) (.) R(.) W(.) (\S{6})  ", line)
        if bits:
            stall, yields, operands, result, waits = bits.groups()
            total["n"] += 1
            total["stalls"] += int(stall)
            total["yields"] += yields == "Y" and int(stall) < 2
            total["result"] += result != "-"
            total["operands"] += operands != "-"
            total["waits"] += waits != "------"
            used |= {operands, result} - {"-"}
    total["counters"] = len(used)
    return total if total["n"] else None


def main():
    print("| kernels | instructions | registers | stalls | raised by results | by operands | waits | counters |"
          " yields |")
    print("|---|---|---|---|---|---|---|---|---|")
    for path in sys.argv[2:]:
        ours, theirs = of_heddle(sys.argv[1], path), of_ptxas(path)
        if not ours or not theirs:
            sys.exit(f"{path}: {'ptxas (or $PTXAS)' if ours else sys.argv[1]} does not translate it")
        name = os.path.basename(path)[:-4]
        keys = ("n", "regs", "stalls", "result", "operands", "waits", "counters", "yields")
        print(f"| {name} | " + " | ".join(f"{ours[k]}/{theirs[k]}" for k in keys) + " |")


if len(sys.argv) < 3:
    sys.exit(__doc__)
main()
