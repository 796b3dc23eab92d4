# SPDX-License-Identifier: GPL-2.0-only
"""make demo-cnc: the path is right on Tactus, late and wrong on Linux's own timers."""
from __future__ import annotations

import json
import re
import struct
import subprocess
from pathlib import Path

import pytest

import gcode
import pins
from harness import TOP

DEMO = TOP / "examples/linuxcnc/demo"
Results = dict[str, dict[str, float]]


def test_gcode_goes_where_it_says() -> None:
    """Each line ends at its place, never faster than its feed."""
    way = gcode.positions("G0 X3 Y4 (there)\nM3\nG1 X3 Y14 F1200\nG2 X3 Y4 I0 J-5\nM5\nG0 X0 Y0\n")
    places = {(round(p.x, 6), round(p.y, 6)) for p in way}
    assert {(0, 0), (3, 4), (3, 14)} <= places
    # Half a circle clockwise from the top: through the right-most point, nearly.
    assert max(p.x for p in way) == pytest.approx(8, abs=0.01)
    fastest = max(abs(complex(b.x - a.x, b.y - a.y)) / gcode.PERIOD_S
                  for a, b in zip(way, way[1:]) if a.down and b.down)
    assert fastest == pytest.approx(20, rel=0.01)
    with pytest.raises(gcode.GcodeError, match="line 2"):
        gcode.positions("G0 X1\nG5 X2\n")


def record(path: Path, pause_ns: int) -> pins.Pins:
    """40 mm there and back as a port would show them, with a pause at full speed."""
    way = gcode.positions("G1 X40 F3600\nG1 X0\n")
    time, rows, steps, high = 1_000_000_000, [], 0, False
    for n in range(40 * (len(way) - 1)):
        a, b = way[n // 40], way[n // 40 + 1]
        off = (a.x + (b.x - a.x) * (n % 40) / 40) * pins.MICROSTEPS_MM - steps
        high = not high and abs(off) >= 0.5
        steps += (1 if off > 0 else -1) if high else 0
        rows.append(struct.pack("<QII", time, 0, high | (pins.BACK if off < 0 else 0)))
        time += pins.PERIOD_NS + (pause_ns if n == 40 * 300 else 0)
    path.write_bytes(b"".join(rows))
    return pins.read(path)


def test_a_clock_that_is_off_is_no_lateness() -> None:
    """A millionth is what Linux does not know of the clock's rate; ten are lateness."""
    for ppm, latest in ((-1, 0), (1, 0), (-10, 50_000), (10, 50_000)):
        times = [n * (pins.PERIOD_NS * 1_000_000 + pins.PERIOD_NS * ppm) // 1_000_000
                 for n in range(200_000)]
        late = pins.Pins(times, [0] * len(times)).lateness()
        assert max(late) == pytest.approx(latest, abs=50)


def test_a_pause_costs_steps(tmp_path: Path) -> None:
    """A motor at 60 mm/s does not follow a stop and a start at full speed; else it comes back."""
    good, late = (record(tmp_path / "pins", pause) for pause in (0, 20_000_000))
    assert good.counts() == late.counts() == (0, 0)
    assert len(good.edges()) == 8000
    assert max(edge.late for edge in good.edges()) == 0
    assert max(edge.late for edge in late.edges()) == 20_000_000
    assert good.way()[-1].x == pytest.approx(0, abs=0.005)
    assert abs(late.way()[-1].x) > 0.03


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cnc")
    done = subprocess.run([TOP / "tests/vm/python", DEMO, "--out", folder], text=True,
                          capture_output=True, check=False)
    if done.returncode == 77:
        pytest.skip(done.stdout.splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def results(out: Path) -> Results:
    result: Results = json.loads((out / "results.json").read_text())
    return result


@pytest.mark.long
def test_on_tactus_the_path_is_right(results: Results) -> None:
    assert results["tactus"]["steps"] > 30_000
    assert results["tactus"]["latest_ns"] <= 400
    assert results["tactus"]["off_x"] == results["tactus"]["off_y"] == 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["hosted", "preempt_rt"])
def test_on_linux_it_is_not(results: Results, name: str) -> None:
    """Or the load was none."""
    assert results[name]["latest_ns"] >= 15_000_000
    assert max(abs(results[name]["off_x"]), abs(results[name]["off_y"])) > 0.5


@pytest.mark.long
def test_the_picture(results: Results, out: Path) -> None:
    text = (out / "path.svg").read_text()
    wanted, drawn = (len(re.findall(f'<polyline [^>]*stroke="{colour}"', text))
                     for colour in ("#e0b68a", "#2b5ea8"))
    assert wanted == drawn == 3 * 9
    assert (out / "path.png").stat().st_size > 10_000
