# SPDX-License-Identifier: GPL-2.0-only
"""Just enough of SVG to draw the demo's figures, and their conversion to PNG."""

from __future__ import annotations

import html
import subprocess
from collections.abc import Sequence
from pathlib import Path

INK = "#1b1f24"
FAINT = "#c8ced6"


class Drawing:
    """An SVG picture that grows by calls; coordinates in pixels, y downwards."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width = width
        self.height = height
        self._parts = [f"<title>{html.escape(title)}</title>"]
        self.box(0, 0, width, height, "#ffffff")

    def box(self, x: float, y: float, width: float, height: float, fill: str,
            opacity: float = 1.0) -> None:
        """A filled rectangle."""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{fill}" fill-opacity="{opacity:g}"/>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str = INK,
             width: float = 1.0, dashed: bool = False) -> None:
        """A straight line."""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{stroke}" stroke-width="{width:g}"{dash}/>'
        )

    def path(self, points: Sequence[tuple[float, float]], stroke: str, width: float = 1.2) -> None:
        """A line through the points."""
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(
            f'<polyline points="{text}" fill="none" stroke="{stroke}" stroke-width="{width:g}"/>'
        )

    def text(self, x: float, y: float, text: str, *, size: int = 12, anchor: str = "start",
             fill: str = INK, bold: bool = False) -> None:
        """A line of text; `anchor` is start, middle or end."""
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{fill}"{weight}>{html.escape(text)}</text>'
        )

    def svg(self) -> str:
        """The picture's SVG element."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" font-family="DejaVu Sans, sans-serif" '
            f'role="img">{"".join(self._parts)}</svg>'
        )


def write_png(drawing: Drawing, path: Path) -> None:
    """Save the picture as PNG; needs rsvg-convert (Debian package librsvg2-bin)."""
    subprocess.run(
        ["rsvg-convert", "--zoom=2", "--format=png", f"--output={path}"],
        input=drawing.svg(), text=True, check=True,
    )
