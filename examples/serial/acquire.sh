#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: what comes from the line, then so many bytes to ourselves beside another RT task.
set -e
for device in /sys/bus/pnp/devices/*; do
	! grep -q 0x2f8- "$device/resources" || echo "${device##*/}" > /sys/bus/pnp/drivers/serial/unbind
done
modprobe rt_serial
: > line.bin
cat /dev/rtf/serial > line.bin &
before=-1
until [ "$(wc -c < line.bin)" -gt 0 ] && [ "$(wc -c < line.bin)" = "$before" ]; do
	before=$(wc -c < line.bin)
	sleep 0.2
done
rmmod rt_serial
wait
modprobe rt_serial
modprobe rt_latency period_us=50
echo "$1" > /sys/module/rt_serial/parameters/send
head -c $(($1 * 14)) /dev/rtf/serial > loop.bin
rmmod rt_latency rt_serial
