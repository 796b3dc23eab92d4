#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: square waves from a trigger on, then a text as a printer gets it.
set -e
names=D0,D1,D2,D3,D4,D5,D6,D7,S0,S1,S2,ERROR,SELECT,PAPER,ACK,BUSY
scope="tactus scope bench_in --fields time_ns:u8,pins:u2 --digital pins --names $names --once"
modprobe rt_workbench sample_us=25
$scope --trigger D7:rise --samples 300 --vcd count.vcd
rmmod rt_workbench
modprobe rt_workbench sample_us=25 count=0 strobe=1
printf 'Hello, parallel port' > /dev/rtf/bench_out
$scope --seconds 0.2 --vcd text.vcd
rmmod rt_workbench
