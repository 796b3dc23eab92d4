#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Lab 4, in the guest: the lander without and with priority inheritance, half a second each, and its charts.
set -e
for inherit in 0 1; do
	modprobe rt_pathfinder inherit=$inherit
	sleep 0.5
	cd /sys/module/rt_pathfinder/parameters
	echo "inherit=$inherit: bus took $(cat worst_us) us at most; resets: $(cat resets)"
	cd /root
	tactus trace record trace.json --seconds 0.2 --json > /dev/null
	rmmod rt_pathfinder
	tactus trace export trace.json --svg inherit$inherit.svg --title "inherit=$inherit"
done
