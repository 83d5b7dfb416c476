#!/usr/bin/env bash
# Runs the tests of the AVX-512 kernels on a processor that has no AVX-512: in Bochs, an emulator of a whole PC whose model of a
# Skylake-X has F, BW, DQ and VL. (QEMU's own emulation and valgrind stop at AVX2.)
#
# It builds a system of one kernel and one process: init.go beside this file, linked statically, which runs the test programs and turns
# the machine off. Everything it makes lies in a temporary folder. It installs nothing and needs no root, but these must be there
# (names of Debian packages):
#
#	bochs bochs-term bochsbios vgabios    the emulator
#	isolinux syslinux-common xorriso      to start from a CD image
#	cpio                                  to pack the first process
#	a Linux kernel for x86-64             KERNEL=FILE; else the newest /boot/vmlinuz-*. It suffices to unpack the package:
#	                                      apt-get download linux-image-...-cloud-amd64; dpkg-deb -x linux-image-*.deb DIR
#
# Settings, by environment: KERNEL; MODEL, Bochs' name for the processor (corei7_skylake_x); LIMIT, the most seconds to wait (1800);
# PLAN, the test programs: lines "PACKAGE FLAGS", by default those below.
#
# While it runs, it opens no port: Bochs draws its screen in text mode, on a pseudo terminal that script(1) makes and reads, since Bochs
# would stop for good where nobody does. (Its VNC display listens on all interfaces, and can't be told not to.) The test fails if the
# emulator listens anywhere.
#
# The exit status is 0 only if the emulated machine offered AVX-512, every test program passed there, and tests of that instruction
# set were among them.
set -euo pipefail
cd "$(dirname "$0")/../.."

model=${MODEL:-corei7_skylake_x}
limit=${LIMIT:-1800}
plan=${PLAN:-'./asm -test.short -test.v -test.run=/isa=avx512
./asm -test.short -test.v -test.run=^TestMapsAccuracy$
./engine -test.short -test.v -test.run=^TestSameBits/isa=avx512'}

missing() {
	echo "avx512-test: no $1; on Debian: apt-get install $2" >&2
	exit 1
}
first() { for f in "$@"; do [ -e "$f" ] && echo "$f" && return; done; return 0; }

for tool in bochs:bochs script:bsdutils xorriso:xorriso cpio:cpio; do
	command -v "${tool%:*}" >/dev/null || missing "${tool%:*}" "${tool#*:}"
done
isolinux=$(first /usr/lib/ISOLINUX/isolinux.bin /usr/share/syslinux/isolinux.bin)
ldlinux=$(first /usr/lib/syslinux/modules/bios/ldlinux.c32 /usr/share/syslinux/ldlinux.c32)
bios=$(first /usr/share/bochs/BIOS-bochs-latest)
vgabios=$(first /usr/share/bochs/VGABIOS-lgpl-latest /usr/share/vgabios/vgabios.bin)
[ -n "$isolinux" ] || missing isolinux.bin isolinux
[ -n "$ldlinux" ] || missing ldlinux.c32 syslinux-common
[ -n "$bios" ] || missing BIOS-bochs-latest bochsbios
[ -n "$vgabios" ] || missing VGABIOS-lgpl-latest vgabios
kernel=${KERNEL:-$(first $(ls -rv /boot/vmlinuz-* 2>/dev/null))}
[ -r "$kernel" ] || missing "Linux kernel to start (KERNEL=FILE)" linux-image-cloud-amd64

work=$(mktemp -d)
trap 'kill "$(cat "$work/pid" 2>/dev/null)" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$work/root" "$work/iso"

export CGO_ENABLED=0 GOARCH=amd64 GOOS=linux
go build -o "$work/root/init" ./asm/_emulate/init.go
while read -r package flags; do
	program=$(basename "$package").test
	[ -e "$work/root/$program" ] || go test -c -o "$work/root/$program" "$package"
	echo "/$program $flags" >>"$work/root/commands"
done <<<"$plan"

(cd "$work/root" && find . -mindepth 1 | cpio --quiet -o -H newc -R 0:0) >"$work/iso/initrd"
cp "$kernel" "$work/iso/linux"
cp "$isolinux" "$ldlinux" "$work/iso"
# Bochs 2.7 states a wrong size for the compacted format of saved registers, and Linux then turns AVX off: it must use the plain format.
cat >"$work/iso/isolinux.cfg" <<-END
	default linux
	label linux
	kernel linux
	append initrd=initrd console=ttyS0,115200 loglevel=3 panic=-1 nosmp noxsaves clearcpuid=xsavec,xsaves mitigations=off
END
xorriso -as mkisofs -quiet -o "$work/boot.iso" -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table \
	"$work/iso" 2>/dev/null
cat >"$work/bochsrc" <<-END
	display_library: term
	cpu: model=$model, ips=100000000, reset_on_triple_fault=0
	megs: 512
	romimage: file=$bios
	vgaromimage: file=$vgabios
	ata0-master: type=cdrom, path=$work/boot.iso, status=inserted
	boot: cdrom
	com1: enabled=1, mode=file, dev=$work/serial
	log: $work/log
	panic: action=fatal
END
# Debian's Bochs is built with its debugger, which waits for a command.
options=(-q -f "$work/bochsrc")
if [[ $(bochs --help 2>&1 || true) == *-rc* ]]; then
	printf 'c\nq\n' >"$work/rc"
	options+=(-rc "$work/rc")
fi
echo "avx512-test: starting $(basename "$kernel") on an emulated $model; this takes minutes"
touch "$work/serial"
printf -v command ' %q' timeout --foreground -k 5 "$limit" bochs "${options[@]}"
TERM=linux SHELL=/bin/sh script -qefc "echo \$\$ >'$work/pid'; exec$command" /dev/null </dev/null >"$work/messages" 2>&1 &
bochs=$!
listens() { # whether the process that $work/pid names, or a child of it, waits for connections
	local pid inode
	for pid in $(cat "$work/pid") $(cat "/proc/$(cat "$work/pid")/task"/*/children); do
		for inode in $(awk '$4 == "0A" { print $10 }' "/proc/$pid/net/tcp" "/proc/$pid/net/tcp6"); do
			! find "/proc/$pid/fd" -lname "socket:\[$inode\]" | grep -q . || return 0
		done
	done 2>/dev/null
	return 1
}
(
	for _ in 1 2 3 4 5; do
		sleep 1
		! listens || { touch "$work/listens" && kill "$(cat "$work/pid")"; }
	done
) >/dev/null 2>&1 &
tail -n +1 -f --pid=$bochs "$work/serial" | sed -u -e 's/\r$//' -e '/^=== /d'
wait $bochs || true # Bochs calls it an error that its machine was turned off

# What was written on the serial line decides.
fail() {
	echo "avx512-test: $1" >&2
	tail -n 5 "$work/log" >&2 || true
	exit 1
}
[ ! -e "$work/listens" ] || fail "the emulator listens on a port"
! grep -aq "display library 'term' not available" "$work/messages" || missing "text display of Bochs" bochs-term
result=$(tr -d '\r' <"$work/serial" | grep -a '^emulate: \(passed\|failed\)' | tail -n 1 || true)
[ -n "$result" ] || fail "the emulated machine did not come to its end (within $limit s)"
[ "$result" = "emulate: passed" ] || fail "${result#emulate: }"
count=$(grep -a -c -e '--- PASS: .*isa=avx512' "$work/serial" || true)
[ "$count" -gt 0 ] || fail "no test of AVX-512 was run"
echo "avx512-test: passed, $count tests of AVX-512 among them"
