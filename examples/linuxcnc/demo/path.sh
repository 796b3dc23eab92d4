# SPDX-License-Identifier: GPL-2.0-only
# In the guest: `sh path.sh hal` or `sh path.sh linux` draws the path while a driver holds interrupts
# off for 20 ms three times a second and other programs run.
set -e
load() {
	(while :; do cat /proc/*/stat; done > /dev/null 2>&1) &
	(while :; do echo process > /proc/hog; sleep 0.3; done) &
}
if [ "$1" = linux ]; then
	load
	./cnc_linux < positions
	exit
fi
mkdir -p /sbin
for tool in insmod rmmod; do
	[ -e /sbin/$tool ] || ln -s "$(which $tool)" /sbin/$tool
done
modules=/usr/lib/linuxcnc/modules
for name in rt_libm rtapi hal_lib; do
	insmod $modules/$name.ko
done
halcmd -f path.hal
halstreamer positions
load
halcmd start
while [ "$(halcmd getp streamer.0.curr-depth)" != 0 ]; do
	sleep 0.2
done
sleep 0.1
halcmd stop
