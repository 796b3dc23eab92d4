# SPDX-License-Identifier: GPL-2.0-only
"""The classic measurements on three systems beside each other: what `make bench` runs.

model.py says what a figure is, tables.py which ones there are, runner.py makes them in the bench,
report.py shows them, reference.py compares them with those that are committed.
"""
