# SPDX-License-Identifier: GPL-2.0-only
"""libtactus in C++: its headers compile without a warning, and its calls link."""
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
LIBRARY = TOP / "userland" / "libtactus"
INCLUDES = (f"-I{LIBRARY}", f"-I{TOP / 'kernel' / 'include'}")
PROGRAM = """
#include <iostream>
#include <memory>
#include <tactus/rt.h>
#include <tactus/shm.h>

struct Leave {
	void operator()(rt_job *job) const { rt_leave(); delete job; }
};

int main()
{
	rt_attr attr = { .period_ns = 1000000, .budget_ns = 200000, .priority = 10, .cpu = -1 };
	std::unique_ptr<rt_job, Leave> job(new rt_job {});

	if (rt_enter(&attr)) {
		std::cout << rt_why() << "\\n";
		return 3;
	}
	while (!rt_wait(job.get()) && job->number < 3)
		;
	return rt_shm_map("name", 4096, 0600) == nullptr;
}
"""


@pytest.mark.parametrize("standard", ["gnu++17", "c++20"])
def test_a_program(tmp_path: Path, standard: str) -> None:
    """Without a device it is refused, and says so."""
    (tmp_path / "program.cc").write_text(PROGRAM, encoding="utf-8")
    for part in ("rt", "shm"):
        subprocess.run(["gcc", "-std=gnu11", "-O2", *INCLUDES, "-c", LIBRARY / f"{part}.c",
                        "-o", tmp_path / f"{part}.o"], check=True)
    subprocess.run(["g++", f"-std={standard}", "-O2", "-Wall", "-Wextra", "-Werror", *INCLUDES,
                    "-Wno-missing-field-initializers", "-o", tmp_path / "program",
                    tmp_path / "program.cc", tmp_path / "rt.o", tmp_path / "shm.o"], check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and len(done.stdout) > 5
