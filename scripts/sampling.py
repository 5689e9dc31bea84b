#!/usr/bin/env python3
"""Measures sampled simulation against whole simulation: prints a table for docs/sampling.md, and draws a plot.

usage: scripts/sampling.py HEDDLE FOLDER PLOT.svg PROGRAM...
FOLDER keeps the results of each run; a result that is there is not made again.
"""
import json
import os
import resource
import subprocess
import sys


def processor_time():
    """Returns the processor time of the ended child processes in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(heddle, folder, program, options, suffix):
    """Returns the JSON of a run and its processor time in seconds."""
    path = os.path.join(folder, program + suffix)
    if not os.path.exists(path + '.json') or not os.path.exists(path + '.time'):
        before = processor_time()
        command = [heddle, 'bench', program, '--size', 'paper', '--json', path + '.json', *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(path + '.time', 'w', encoding='utf-8') as f:
            print(processor_time() - before, file=f)
    with open(path + '.json', encoding='utf-8') as f, open(path + '.time', encoding='utf-8') as t:
        return json.load(f), float(t.read())


def measure(heddle, folder, program):
    true, long = run(heddle, folder, program, [], '.true')
    sampled, short = run(heddle, folder, program, ['--sampled'], '.sampled')
    _, least = run(heddle, folder, program, ['-m', 'functional'], '.functional')
    timed = sum(s['weight'] - s['skipped_instructions'] for s in sampled['sampled']['samples'])
    cycles, estimate = true['stats']['gpu.cycles'], sampled['stats']['gpu.cycles']
    half = sampled['sampled']['intervals']['gpu.cycles']['half_width']
    return {'program': program, 'error': estimate / cycles - 1, 'half': half / cycles, 'faster': long / short,
            'most': long / least, 'timed': timed / true['stats']['gpu.warp_instructions'],
            'inside': abs(estimate - cycles) <= half + 1e-9 * cycles}


def table(rows):
    print('| program | error, interval in % | timed | faster | bound |')
    print('|---|---|---|---|---|')
    for r in rows:
        print(f"| {r['program']} | {100 * r['error']:+.2f} ± {100 * r['half']:.2f}{'' if r['inside'] else ', missed'} | "
              f"{100 * r['timed']:.0f} % | {r['faster']:.1f} | {r['most']:.0f} |")
    errors = [abs(r['error']) for r in rows]
    print(f"mean {100 * sum(errors) / len(errors):.2f} %, worst {100 * max(errors):.2f} %, "
          f"inside {sum(r['inside'] for r in rows)} of {len(rows)}")


def plot(rows, path):
    """Draws each program's error, with its interval, in percent."""
    left, top, step, width = 110, 30, 18, 520
    most = max(max(abs(r['error']) + r['half'] for r in rows), 0.01)
    x = lambda v: left + width / 2 + v / most * width / 2
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 20}" '
             f'height="{top + step * len(rows) + 40}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="{left}" y="16">Error of the cycles, with the 95 % interval</text>',
             f'<line x1="{x(0)}" y1="{top}" x2="{x(0)}" y2="{top + step * len(rows)}" stroke="#888"/>']
    for i, r in enumerate(rows):
        y = top + step * i + step / 2
        lines += [f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{r["program"]}</text>',
                  f'<line x1="{x(r["error"] - r["half"]):.1f}" y1="{y}" x2="{x(r["error"] + r["half"]):.1f}" y2="{y}" '
                  'stroke="#2266aa" stroke-width="2"/>',
                  f'<circle cx="{x(r["error"]):.1f}" cy="{y}" r="3.5" fill="{"#2266aa" if r["inside"] else "#cc3311"}"/>']
    bottom = top + step * len(rows) + 16
    for v in (-most, -most / 2, 0, most / 2, most):
        lines.append(f'<text x="{x(v):.1f}" y="{bottom}" text-anchor="middle">{100 * v:+.1f} %</text>')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines) + '\n</svg>\n')


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    heddle, folder, svg, *programs = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    rows = [measure(heddle, folder, p) for p in programs]
    table(rows)
    plot(rows, svg)


main()
