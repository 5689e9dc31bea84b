#!/usr/bin/env python3
"""Runs the cells of a notebook, without Jupyter, and compares what they show with the outputs that the file has.

usage: notebook.py [--update] NOTEBOOK    --update writes the new outputs, pictures included, into the file

Cells run in the notebook's folder. Pictures are not compared, because they differ between versions of matplotlib. A
cell with the tag "raises-exception" must fail; its error is its output.
"""
import ast
import base64
import contextlib
import io
import json
import os
import sys
from pathlib import Path


def shown(value):
    """Returns an output of the notebook format with what Jupyter shows for a value."""
    data = {"text/plain": repr(value)}
    for kind, method in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_"), ("image/png", "_repr_png_")):
        content = getattr(value, method)() if hasattr(value, method) else None
        if content is not None:
            data[kind] = base64.b64encode(content).decode() if isinstance(content, bytes) else content
    return {"output_type": "execute_result", "metadata": {}, "data": data}


def run_cell(source, names, may_fail):
    """Runs a cell with the names that earlier cells defined, and returns its outputs."""
    tree, printed, outputs = ast.parse(source), io.StringIO(), []
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(tree, "<cell>", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None
            if value is not None:
                outputs.append(shown(value))
        except Exception as e:
            if not may_fail:
                raise
            name = type(e).__name__
            outputs.append({"output_type": "error", "ename": name, "evalue": str(e), "traceback": [f"{name}: {e}"]})
    if may_fail and not (outputs and outputs[-1]["output_type"] == "error"):
        raise AssertionError("the cell did not fail")
    if printed.getvalue():
        outputs.insert(0, {"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    return outputs


def text_of(outputs):
    """Returns the text of outputs: what is printed, values and errors."""
    kinds = {"stream": lambda o: o["text"], "error": lambda o: f"{o['ename']}: {o['evalue']}"}
    parts = [kinds.get(o["output_type"], lambda o: o["data"]["text/plain"])(o) for o in outputs]
    return "\n".join("".join(p) for p in parts)


def run(path):
    """Runs a notebook. Returns it with the new outputs, and a description of each cell whose text has changed."""
    notebook, names, changes = json.loads(Path(path).read_text(encoding="utf-8")), {"__name__": "__main__"}, []
    was = os.getcwd()
    os.chdir(Path(path).resolve().parent)
    try:
        for n, cell in enumerate((c for c in notebook["cells"] if c["cell_type"] == "code"), 1):
            source = "".join(cell["source"])
            try:
                outputs = run_cell(source, names, "raises-exception" in cell["metadata"].get("tags", []))
            except Exception as e:
                raise RuntimeError(f"{path}: code cell {n} fails: {type(e).__name__}: {e}\n{source}") from e
            if text_of(outputs) != text_of(cell["outputs"]):
                told = f"code cell {n} shows\n{text_of(outputs)}\nand not, as in the file,\n{text_of(cell['outputs'])}"
                changes.append(f"{path}: {told}")
            for o in outputs:
                if o["output_type"] == "execute_result":
                    o["execution_count"] = n
            cell["execution_count"], cell["outputs"] = n, outputs
    finally:
        os.chdir(was)
    return notebook, changes


def main():
    """Runs the notebook that the command line names."""
    update = sys.argv[1:2] == ["--update"]
    if len(sys.argv) != 2 + update:
        sys.exit(__doc__)
    notebook, changes = run(sys.argv[-1])
    if update:
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        Path(sys.argv[-1]).write_text(text, encoding="utf-8")
    elif changes:
        sys.exit("\n".join(changes) + f"\nIf this is right: scripts/notebook.py --update {sys.argv[-1]}")


if __name__ == "__main__":
    main()
