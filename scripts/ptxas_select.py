#!/usr/bin/env python3
"""Counts the machine instructions that ptxas makes of kernels, by class, and compares them with ours.

Usage: scripts/ptxas_select.py HEDDLE ARCH[,ARCH...] FILE.ptx ...

Prints a line for each kernel and architecture (sm_70, sm_75, sm_80, sm_86, sm_90, sm_120): ptxas' counts, its
registers, and ours with the preset of a card of this architecture. $PTXAS names the tool; for sm_70, CUDA 11.8 or 12,
which reads the text as PTX 7.8. Loops are not unrolled: each label gets a pragma. Our counts are for ordinary operands.
So subroutines for other operands, such as those of a division, are left out of files without functions. A function for
64-bit integer division counts once for each call.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

PRESETS = {"sm_70": "gv100", "sm_75": "rtx2080ti", "sm_80": "a100", "sm_86": "ampere", "sm_90": "h100",
           "sm_120": "rtx5070ti"}
CLASSES = ("ALU", "FMA", "XU", "f64", "memory", "flow", "uniform")
NOP, BRANCH, CALL, RETURN = 0x118, 0x147, 0x144, 0x150
# Opcodes (bits 0 to 8) by class; the others are ALU.
FMA = {0x20, 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x30, 0x31, 0x32, 0x3C, 0x3D, 0x37, 0x3F}
F64 = {0x28, 0x29, 0x2A, 0x2B}
XU = {0x100, 0x101, 0x102, 0x104, 0x105, 0x106, 0x107, 0x108, 0x109, 0x110, 0x111, 0x112, 0x113}
FLOW = {0x118, 0x11A, 0x11D, 0x140, 0x141, 0x142, 0x143, 0x144, 0x145, 0x146, 0x147, 0x148, 0x149, 0x14A, 0x14B, 0x14C,
        0x14D, 0x14E, 0x14F, 0x150, 0x151, 0x152, 0x155, 0x156, 0x15A, 0x15B, 0x15C, 0x15D}
UNIFORM = {0x1AC, 0x1B9, 0x1C2, 0x1C3} | set(range(0x80, 0xC0))


def class_of(opcode):
    if opcode in FMA:
        return "FMA"
    if opcode in F64:
        return "f64"
    if opcode in XU:
        return "XU"
    if opcode in FLOW:
        return "flow"
    if opcode in UNIFORM:
        return "uniform"
    textures = 0x160 <= opcode < 0x171
    return "memory" if textures or (0x180 <= opcode < 0x1B8 and opcode != 0x1A0) else "ALU"


def sections(cubin):
    start, = struct.unpack_from("<Q", cubin, 0x28)
    count, names = struct.unpack_from("<HH", cubin, 0x3C)
    table = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + 64 * i) for i in range(count)]
    for s in table:
        at = table[names][4] + s[0]
        yield cubin[at:cubin.index(0, at)].decode(), s[7], cubin[s[4]:s[4] + s[5]] if s[1] != 8 else b""


def subroutines(cubin, pattern):
    """Returns, by section, the ranges of subroutines that ptxas adds, if their symbols match the pattern."""
    start, = struct.unpack_from("<Q", cubin, 0x28)
    count, names = struct.unpack_from("<HH", cubin, 0x3C)
    table = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + 64 * i) for i in range(count)]
    text = lambda section, at: cubin[table[section][4] + at:].split(b"\0", 1)[0].decode()
    found = {}
    for s in (s for s in table if s[1] == 2):
        for at in range(s[4], s[4] + s[5], 24):
            name, _, _, of, value, size = struct.unpack_from("<IBBHQQ", cubin, at)
            if re.search(pattern, text(s[6], name)):
                found.setdefault(text(names, table[of][0]), []).append(range(value // 16, (value + size) // 16))
    return found


def call_bytes(word, arch):
    """Returns the distance of a call's or branch's target from the next instruction."""
    if int(arch[3:]) < 90:
        bits = word >> 32 & 0xFFFFFFFF
    else:
        bits = (((word >> 34 & 0x3FFFFFFF) << 8 | word >> 16 & 0xFF) * 4) & 0xFFFFFFFF
    return bits - (bits >> 31 << 32)


def calls(code, arch, least=64):
    """Returns the calls by PC, with their targets. A short call only gathers the lanes of a warp."""
    return {pc: pc + 1 + call_bytes(w, arch) // 16 for pc, w in enumerate(code)
            if w & 0x1FF == CALL and not 0 <= call_bytes(w, arch) <= least}


def slow_path(code, pc, arch):
    """Returns the instructions around a call that a branch passes over, with the call, for ordinary operands."""
    for at in range(pc - 1, max(pc - 9, -1), -1):
        if code[at] & 0x1FF == BRANCH:
            end = at + 1 + call_bytes(code[at], arch) // 16
            return range(at + 1, end) if pc < end <= pc + 8 else range(pc - 1, pc + 1)
    return range(pc - 1, pc + 1)


def without_ranges(code, slow, divisions, arch):
    """Drops the instructions in `slow`, and each call of one of them with its slow path. The ranges `divisions` take
    the place of their calls instead."""
    drop = set(slow).union(*divisions)
    called = []
    for target in calls(code, arch, 0).values():
        for d in (d for d in divisions if target == d.start):
            called += [w for w in code[d.start:d.stop] if w & 0x1FF not in (NOP, BRANCH)]
    for pc, target in calls(code, arch).items():
        if target in slow and not any(target in d for d in divisions):
            drop.update(slow_path(code, pc, arch))
    return [w for pc, w in enumerate(code) if pc not in drop] + called


def without_slow_paths(code, divisions, arch):
    """Drops subroutines that return, and each call of one with its slow path."""
    if not any(w & 0x1FF == RETURN for w in code):
        return code
    first = min((t for pc, t in calls(code, arch).items() if t > pc), default=len(code))
    return without_ranges(code, range(first, len(code)), divisions, arch)


def of_ptxas(text, arch):
    if arch == "sm_70":
        text = re.sub(r"^\.version .*", ".version 7.8", re.sub(r"^\.target .*", ".target sm_70", text, flags=re.M),
                      flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
        with open(source, "w") as f:
            f.write(re.sub(r"^(\s*[\w$]+:)(?!:)", '\\1\n.pragma "nounroll";', text, flags=re.M))
        run = subprocess.run([os.environ.get("PTXAS", "ptxas"), "-v", f"-arch={arch}", source, "-o", out],
                             capture_output=True, text=True)
        if run.returncode:
            return None
        with open(out, "rb") as f:
            cubin = f.read()
    registers = dict(re.findall(r"entry function '(\S+)'(?:.*\n)*?.*Used (\d+) registers", run.stderr))
    kernels = {}
    for name, _, data in sections(cubin):
        if name.startswith(".text."):
            code = [lo | hi << 64 for lo, hi in struct.iter_unpack("<QQ", data)]
            while code and code[-1] & 0x1FF in (NOP, BRANCH):
                code.pop()
            count = dict.fromkeys(CLASSES, 0)
            divisions = subroutines(cubin, "_(div|rem)_[us]64$").get(name, [])
            slow = set().union(*subroutines(cubin, "slowpath$").get(name, []))
            for w in (without_ranges(code, slow, divisions, arch) if ".func" in text
                      else without_slow_paths(code, divisions, arch)):
                count[class_of(w & 0x1FF)] += 1
            kernels[name[6:]] = [count[c] for c in CLASSES] + [int(registers.get(name[6:], 0))]
    return kernels


def of_heddle(heddle, path, arch):
    kernels, name, regs = {}, None, 0
    run = subprocess.run([heddle, "inspect", path, "--pass", "control", "-m", "its", "-c", PRESETS[arch]],
                         capture_output=True, text=True)
    for line in run.stdout.splitlines():
        found = re.match(r"  registers +(\d+)", line)
        regs = int(found.group(1)) if found else regs
        found = re.match(r"kernel (\S+): stall", line)
        name = found.group(1) if found else name
        if line.startswith("machine instructions:"):
            count = {c: int(n) for n, c in re.findall(r"(\d+) (\w+)", line)}
            kernels[name] = [count.get(c, 0) for c in CLASSES] + [regs]
    return kernels


def main():
    print("arch\tfile\tkernel\t" + "\t".join(f"ptxas {c}" for c in CLASSES) + "\tptxas registers\t" +
          "\t".join(CLASSES) + "\tregisters")
    for path in sys.argv[3:]:
        with open(path) as f:
            text = f.read()
        for arch in sys.argv[2].split(","):
            ours = of_heddle(sys.argv[1], path, arch)
            for kernel, counts in sorted((of_ptxas(text, arch) or {}).items()):
                if kernel in ours:
                    print("\t".join([arch, os.path.basename(path), kernel] + [str(n) for n in counts + ours[kernel]]))


if len(sys.argv) < 4:
    sys.exit(__doc__)
main()
