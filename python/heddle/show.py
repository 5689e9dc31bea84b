"""Displays for notebooks: texts, paths of a warp, and charts. Charts are SVG and need no other package; matplotlib can
draw them, too."""
from __future__ import annotations

import html
import io
import math
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple, Union

from .errors import unknown
from .stats import number


class Text(str):
    """Text in columns, such as a listing or a profile."""

    def _repr_html_(self) -> str:
        return f"<pre style='line-height:1.2'>{html.escape(self)}</pre>"

    def _repr_pretty_(self, p: Any, cycle: bool) -> None:
        p.text(str(self))


class Svg:
    """An SVG drawing. A notebook shows it; save() writes it to a file."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Union[str, Path]) -> None:
        """Writes the drawing to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")


class Paths(Svg):
    """The paths of a warp in a launch, with their lanes over time: as text (str()) and as a drawing."""

    def __init__(self, text: str, svg: str) -> None:
        super().__init__(svg)
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<heddle.Paths, {len(self.text.splitlines())} lines; print() it>"


def table(rows: Sequence[Mapping[str, Any]], as_html: bool = False) -> str:
    """Returns rows as a table, with a column for each key of any row."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[_cell(row.get(c, "")) for c in columns] for row in rows]
    if as_html:
        lines = ["".join(f"<th>{html.escape(str(c))}</th>" for c in columns)]
        lines += ["".join(f"<td style='text-align:right'>{html.escape(x)}</td>" for x in line) for line in cells]
        return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"
    widths = [max([len(str(c))] + [len(line[i]) for line in cells]) for i, c in enumerate(columns)]
    return "\n".join("  ".join(str(x).rjust(w) for x, w in zip(line, widths)) for line in [columns, *cells])


def _cell(value: Any) -> str:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number(value) if plain else str(value)


# The colours of Okabe and Ito, which colour-blind readers can distinguish.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#f0e442", "#555555")
_W, _H, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 360, 84, 16, 40, 64


def _rows(data: Any) -> List[Dict[str, Any]]:
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        records: List[Dict[str, Any]] = data.reset_index().to_dict("records")
        return records
    if isinstance(data, Mapping):
        return [{"name": k, "value": v} for k, v in data.items()]
    return [dict(r) for r in data]


def _step(top: float) -> float:
    """Returns the step of an axis with about five steps: 1, 2 or 5 times a power of ten."""
    rough = top / 5
    power = float(10 ** math.floor(math.log10(rough)))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough)


def _label(row: Mapping[str, Any], keys: Sequence[str]) -> str:
    return " ".join(number(row[k]) if isinstance(row[k], float) else str(row[k]) for k in keys)


def _as_keys(keys: Union[str, Sequence[str]]) -> List[str]:
    return [keys] if isinstance(keys, str) else list(keys)


def _text(x: float, y: float, text: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(text)}</text>'


def _frame(title: str, top: float, y_name: str, names: Sequence[str], by: bool) -> List[str]:
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_W} {_H}" width="{_W}" font-family="sans-serif" '
        f'font-size="12"><rect width="{_W}" height="{_H}" fill="white"/>',
        _text(_LEFT, 18, title or y_name, "start", ' font-weight="bold"'),
    ]
    step = _step(top)
    for i in range(int(top / step + 1e-9) + 1):
        y = _y(i * step, top)
        out.append(f'<line x1="{_LEFT}" x2="{_W - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(_text(_LEFT - 6, y + 4, number(float(f"{i * step:.6g}")), "end"))
    x = float(_LEFT)
    for i, name in enumerate(names if by else []):
        out.append(f'<rect x="{x:.1f}" y="26" width="10" height="10" fill="{_COLOURS[i % len(_COLOURS)]}"/>')
        out.append(_text(x + 14, 35, name, "start"))
        x += 30 + 7 * len(name)
    return out


class _Data(NamedTuple):
    """What a chart shows: labels along x, names of the series, and the value for each label and name."""

    xs: List[str]
    names: List[str]
    values: Dict[Tuple[str, str], float]
    places: Dict[str, float]  # the numbers of the labels, for lines
    x_name: str
    y_name: str
    title: str


class Chart(Svg):
    """A chart of bars or lines. A notebook shows it as SVG. figure() and draw() draw it with matplotlib, which can
    change it further and writes PDF and PNG files."""

    def __init__(self, svg: str, data: _Data) -> None:
        super().__init__(svg)
        self._data = data

    def __repr__(self) -> str:
        return f"<heddle.Chart of {self._data.y_name}: save() or figure() it>"

    def draw(self, axes: Any) -> Any:
        """Draws the chart on the given axes of matplotlib, and returns them."""
        d = self._data
        for j, name in enumerate(d.names):
            colour = _COLOURS[j % len(_COLOURS)]
            own = [x for x in d.xs if (x, name) in d.values]
            if d.places:
                own.sort(key=d.places.__getitem__)
                heights = [d.values[x, name] for x in own]
                axes.plot([d.places[x] for x in own], heights, marker="o", color=colour, label=name)
            else:
                width = 0.8 / len(d.names)
                at = [d.xs.index(x) + (j - (len(d.names) - 1) / 2) * width for x in own]
                axes.bar(at, [d.values[x, name] for x in own], width, color=colour, label=name)
        if not d.places:
            axes.set_xticks(range(len(d.xs)))
            axes.set_xticklabels(d.xs)
        axes.set(xlabel=d.x_name, ylabel=d.y_name, title=d.title)
        axes.set_ylim(bottom=0)
        if d.names != [""]:
            axes.legend()
        return axes

    def figure(self, size: Tuple[float, float] = (7, 3.5)) -> Any:
        """Returns a figure of matplotlib with this chart. `size`: width and height in inches."""
        try:
            from matplotlib.figure import Figure  # type: ignore[import]
        except ImportError:
            raise ImportError(
                "matplotlib is needed for figures: install it (pip install matplotlib), or save() as .svg"
            ) from None

        class ChartFigure(Figure):  # a figure that notebooks show without %matplotlib inline
            def _repr_png_(self) -> bytes:
                out = io.BytesIO()
                self.savefig(out, format="png", dpi=72)
                return out.getvalue()

        figure = ChartFigure(figsize=size, layout="constrained")
        self.draw(figure.add_subplot())
        return figure

    def save(self, path: Union[str, Path]) -> None:
        """Writes the chart to a file: .svg, or with matplotlib .pdf, .png and its other formats."""
        if Path(path).suffix.lower() in ("", ".svg"):
            super().save(path)
        else:
            self.figure().savefig(path)


def _y(value: float, top: float) -> float:
    return _H - _BOTTOM - value / top * (_H - _BOTTOM - _TOP - 8)


def _grid(
    data: Any, x: Union[str, Sequence[str]], y: str, by: Union[str, Sequence[str], None]
) -> Tuple[List[str], List[str], Dict[Tuple[str, str], float]]:
    """Returns the labels along x, the names of the series, and the value for each label and name."""
    xs, names, values = [], [], {}
    for row in _rows(data):
        for key in _as_keys(x) + [y] + _as_keys(by or []):
            if key not in row:
                raise unknown("column", key, row, f"there are: {', '.join(map(str, row))}")
        place, name = _label(row, _as_keys(x)), _label(row, _as_keys(by)) if by else ""
        value = float(row[y])
        if not math.isfinite(value) or value < 0:
            continue
        if (place, name) in values:
            raise ValueError(f"two values of {y!r} for {place} {name}: more columns belong in x or by")
        xs.append(place)
        names.append(name)
        values[place, name] = value
    if not values:
        raise ValueError(f"there is nothing to draw: {y!r} has no value that is a number from 0 on")
    return list(dict.fromkeys(xs)), list(dict.fromkeys(names)), values


def bars(
    data: Any,
    x: Union[str, Sequence[str]] = "name",
    y: str = "value",
    by: Union[str, Sequence[str], None] = None,
    title: str = "",
) -> Chart:
    """Draws a bar for each row of a frame, a list of dicts, or a dict (name: value). `x` groups, `by` colours them."""
    xs, names, values = _grid(data, x, y, by)
    top = max(values.values()) or 1.0
    out = _frame(title, top, y, names, bool(by))
    group = (_W - _LEFT - _RIGHT) / len(xs)
    width = 0.8 * group / len(names)
    for i, place in enumerate(xs):
        for j, name in enumerate(names):
            if (place, name) in values:
                v = values[place, name]
                out.append(
                    f'<rect x="{_LEFT + i * group + 0.1 * group + j * width:.1f}" y="{_y(v, top):.1f}" '
                    f'width="{width:.1f}" height="{_y(0, top) - _y(v, top):.1f}" fill="{_COLOURS[j % len(_COLOURS)]}">'
                    f"<title>{html.escape(f'{place} {name}'.strip())}: {number(v)}</title></rect>"
                )
        out.append(_text(_LEFT + (i + 0.5) * group, _H - _BOTTOM + 18, place))
    x_name = " ".join(_as_keys(x)) if x != "name" else ""
    out.append(_text((_LEFT + _W - _RIGHT) / 2, _H - 14, x_name))
    return Chart("".join(out) + "</svg>\n", _Data(xs, names, values, {}, x_name, y, title))


def lines(
    data: Any, x: str, y: str, by: Union[str, Sequence[str], None] = None, title: str = ""
) -> Chart:
    """Draws a line for each value of `by`, over the numbers of column `x`."""
    xs, names, values = _grid(data, x, y, by)
    places = {label: float(label.replace(",", "")) for label in xs}
    low, high = min(places.values()), max(places.values())
    top = max(values.values()) or 1.0
    out = _frame(title, top, y, names, bool(by))

    def at(place: str) -> float:
        return _LEFT + 20 + (places[place] - low) / ((high - low) or 1.0) * (_W - _LEFT - _RIGHT - 40)

    for j, name in enumerate(names):
        colour = _COLOURS[j % len(_COLOURS)]
        own = [p for p in sorted(xs, key=places.__getitem__) if (p, name) in values]
        points = [(at(p), _y(values[p, name], top), p) for p in own]
        out.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
            + " ".join(f"{px:.1f},{py:.1f}" for px, py, _ in points)
            + '"/>'
        )
        for px, py, p in points:
            out.append(
                f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.5" fill="{colour}"><title>'
                f"{html.escape(f'{p} {name}'.strip())}: {number(values[p, name])}</title></circle>"
            )
    for place in xs:
        out.append(_text(at(place), _H - _BOTTOM + 18, place))
    out.append(_text((_LEFT + _W - _RIGHT) / 2, _H - 14, x))
    return Chart("".join(out) + "</svg>\n", _Data(xs, names, values, places, x, y, title))


__all__ = ["Chart", "Text", "Svg", "Paths", "bars", "lines", "table"]
