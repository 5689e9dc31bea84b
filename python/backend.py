"""Builds the wheel of the package, with Heddle's library and kernels inside. pip calls this file (PEP 517 and PEP 660).

The library is HEDDLE_LIBRARY, or the clone's last build, or `make library` in the clone builds it.
"""
from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Optional

HERE = Path(__file__).resolve().parent
CLONE = HERE.parent
SONAME = "libheddle.so.0"
VERSION = re.search(r'__version__ = "(.*)"', (HERE / "heddle" / "__init__.py").read_text()).group(1)  # type: ignore
INFO = f"heddle-{VERSION}.dist-info"
METADATA = f"""Metadata-Version: 2.1
Name: heddle
Version: {VERSION}
Summary: Runs CUDA kernels (PTX) on a simulated GPU, functionally or cycle by cycle
License: MIT
Requires-Python: >=3.9
Provides-Extra: all
Requires-Dist: numpy; extra == "all"
Requires-Dist: pandas; extra == "all"
Requires-Dist: matplotlib; extra == "all"
Description-Content-Type: text/markdown

{(HERE / "README.md").read_text()}"""


def _library() -> Path:
    """Returns the library for the wheel; builds it if there is none."""
    named = os.environ.get("HEDDLE_LIBRARY")
    if named:
        if not Path(named).is_file():
            raise SystemExit(f"heddle: HEDDLE_LIBRARY is {named}, and there is no such file")
        return Path(named)
    if not (CLONE / "host" / "heddle.h").exists():
        raise SystemExit(f"heddle: {HERE} is not in a clone of Heddle: set HEDDLE_LIBRARY to the path of {SONAME}")
    built = (CLONE / "build" / "heddle").resolve().parent / SONAME
    if built.exists():
        return built
    done = subprocess.run(
        ["make", "-C", str(CLONE), f"-j{os.cpu_count() or 1}", "library"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True,
    )
    if done.returncode:
        said = "\n".join(done.stdout.splitlines()[-20:])
        raise SystemExit(f"{said}\nheddle: the library cannot be built: 'make deps' in {CLONE} installs packages")
    paths = [line for line in done.stdout.splitlines() if line.endswith(SONAME)]
    return CLONE / paths[-1]


def _stripped(library: Path) -> bytes:
    """Returns the library without debugging information, which is half of it."""
    if not shutil.which("strip"):
        return library.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / SONAME
        subprocess.run(["strip", "-g", "-o", str(out), str(library)], check=True)
        return out.read_bytes()


def _tags(tag: str) -> str:
    pure = str(tag.endswith("any")).lower()
    return f"Wheel-Version: 1.0\nGenerator: heddle\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"


def _write(folder: str, tag: str, files: Dict[str, bytes]) -> str:
    """Writes a wheel of these files, adds its description, and returns its name."""
    files = {**files, f"{INFO}/METADATA": METADATA.encode(), f"{INFO}/WHEEL": _tags(tag).encode()}
    record: List[str] = []
    name = f"heddle-{VERSION}-{tag}.whl"
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}\n")
            _add(wheel, path, content)
        _add(wheel, f"{INFO}/RECORD", ("".join(record) + f"{INFO}/RECORD,,\n").encode())
    return name


def _add(wheel: zipfile.ZipFile, path: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(path)  # with a fixed date, so that equal files make an equal wheel
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    wheel.writestr(entry, content)


def build_wheel(folder: str, config_settings: Any = None, metadata_directory: Optional[str] = None) -> str:
    """Writes the wheel to a folder, and returns its name."""
    package = HERE / "heddle"
    files = {f"heddle/{p.name}": p.read_bytes() for p in sorted([*package.glob("*.py"), package / "py.typed"])}
    files["heddle/" + SONAME] = _stripped(_library())
    for p in sorted((CLONE / "kernels").glob("*.ptx")):
        files[f"heddle/kernels/{p.name}"] = p.read_bytes()
    return _write(folder, "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform()), files)


def build_editable(folder: str, config_settings: Any = None, metadata_directory: Optional[str] = None) -> str:
    """Writes the wheel of `pip install -e`: Python then imports the package from this folder."""
    return _write(folder, "py3-none-any", {"heddle.pth": f"{HERE}\n".encode()})


def build_sdist(folder: str, config_settings: Any = None) -> str:
    """Refuses: the library's sources are not in this folder."""
    raise SystemExit("heddle: the package is built in a clone of Heddle, as a wheel: pip wheel ./python")
