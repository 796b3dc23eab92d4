#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest, a second each: Linux's thread alone; then it and the RT task beside other programs
# and a driver that holds interrupts off for 20 ms at a time.
set -e
./servo_linux 1000 > linux-idle.bin
(while :; do cat /proc/*/stat; done > /dev/null 2>&1) &
(while :; do echo process > /proc/hog; sleep 0.01; done) &
./servo_linux 1000 > linux-load.bin
modprobe rt_servo
head -c 24000 /dev/rtf/servo > rt-load.bin
rmmod rt_servo
