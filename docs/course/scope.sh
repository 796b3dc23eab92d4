#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Lab 5, in the guest: a recorder that is stopped for two seconds, while a scope looks.
fields=time_ns:u8,number:u4,late_ns:u4,mv:8i2
mkdir recording
modprobe rt_daq seconds=1
tactus record daq --fields $fields --into recording 2> summary &
recorder=$!
until ls recording/* > /dev/null 2>&1; do
	kill -0 $recorder || exit 1
	sleep 0.1
done
sleep 1
kill -STOP $recorder
tactus scope daq_scope --fields $fields --show mv --seconds 1 --once
sleep 1
kill -CONT $recorder
sleep 0.5
kill -TERM $recorder
wait $recorder
tail -n 1 summary
echo "name cpu priority period_ns state releases overruns"
grep "^daq" /sys/kernel/tactus/tasks | cut -f 1-7 | tr "\t" " "
