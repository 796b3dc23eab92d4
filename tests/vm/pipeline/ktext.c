// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's code as it stands in memory, read through /proc/kcore: an independent witness
 * of what a module did to it.
 *
 *	ktext save FILE		the text of the kernel and of all loaded modules
 *	ktext diff FILE		compare with now; prints "ktext: regions=N bytes=N different=N gone=N"
 *				and the first differing places; modules that came later do not count,
 *				and "gone" are those that left
 *
 * Exit status: 0; 1 for diff if anything differs; 2 if it could not be done.
 */
#include <elf.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_REGIONS 512
#define MAX_SECTIONS 64
#define SHOWN 8

struct region {
	char name[256];
	uint64_t start;
	uint64_t size;
};

static struct region regions[MAX_REGIONS];
static size_t region_count;
static Elf64_Phdr segments[64];
static size_t segment_count;
static int kcore;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void open_kcore(void)
{
	Elf64_Ehdr header;

	kcore = open("/proc/kcore", O_RDONLY);
	if (kcore < 0 || pread(kcore, &header, sizeof(header), 0) != sizeof(header))
		die("/proc/kcore");
	segment_count = header.e_phnum;
	if (segment_count > sizeof(segments) / sizeof(segments[0]) ||
	    pread(kcore, segments, segment_count * sizeof(segments[0]), header.e_phoff) < 0)
		die("/proc/kcore: program headers");
}

static void read_memory(uint64_t address, void *to, uint64_t size)
{
	for (size_t i = 0; i < segment_count; i++) {
		const Elf64_Phdr *s = &segments[i];

		if (s->p_type != PT_LOAD || address < s->p_vaddr ||
		    address + size > s->p_vaddr + s->p_memsz)
			continue;
		if (pread(kcore, to, size, s->p_offset + (address - s->p_vaddr)) != (ssize_t)size)
			die("/proc/kcore: read");
		return;
	}
	fprintf(stderr, "ktext: %#llx is in no segment\n", (unsigned long long)address);
	exit(2);
}

static void add_region(const char *name, uint64_t start, uint64_t end)
{
	if (region_count == MAX_REGIONS || end <= start || end - start > 64 << 20) {
		fprintf(stderr, "ktext: region %s\n", name);
		exit(2);
	}
	snprintf(regions[region_count].name, sizeof(regions[0].name), "%s", name);
	regions[region_count].start = start;
	regions[region_count++].size = end - start;
}

static void find_kernel(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long long address, start = 0, end = 0;
	char name[256];

	if (!file)
		die("/proc/kallsyms");
	while (fscanf(file, "%llx %*c %255s%*[^\n]", &address, name) == 2) {
		if (!strcmp(name, "_stext"))
			start = address;
		if (!strcmp(name, "_etext"))
			end = address;
		if (start && end)
			break;
	}
	fclose(file);
	add_region("kernel", start, end);
}

static int by_address(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/*
 * A module's .text ends where the next of its sections begins. tactus_core's is left out: it is the
 * pipeline's own, stays until the next boot, and has its calls aimed when it is switched on.
 */
static void find_module(const char *module)
{
	struct region sections[MAX_SECTIONS];
	size_t count = 0;
	struct dirent *entry;
	char path[512];
	DIR *dir;

	if (!strcmp(module, "tactus_core"))
		return;
	snprintf(path, sizeof(path), "/sys/module/%s/sections", module);
	dir = opendir(path);
	if (!dir)
		return;	/* built in */
	while ((entry = readdir(dir)) && count < MAX_SECTIONS) {
		unsigned long long address;
		FILE *file;

		if (entry->d_name[0] == '.' && (!entry->d_name[1] || entry->d_name[1] == '.'))
			continue;
		snprintf(path, sizeof(path), "/sys/module/%s/sections/%s", module, entry->d_name);
		file = fopen(path, "r");
		if (!file || fscanf(file, "%llx", &address) != 1)
			die(path);
		fclose(file);
		snprintf(sections[count].name, sizeof(sections[0].name), "%s", entry->d_name);
		sections[count++].start = address;
	}
	closedir(dir);
	qsort(sections, count, sizeof(sections[0]), by_address);
	for (size_t i = 0; i + 1 < count; i++) {
		if (strcmp(sections[i].name, ".text"))
			continue;
		for (size_t next = i + 1; next < count; next++) {
			if (sections[next].start > sections[i].start) {
				add_region(module, sections[i].start, sections[next].start);
				break;
			}
		}
	}
}

static void find_modules(void)
{
	DIR *dir = opendir("/sys/module");
	struct dirent *entry;

	if (!dir)
		die("/sys/module");
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			find_module(entry->d_name);
	closedir(dir);
}

static uint8_t *contents(const struct region *region)
{
	uint8_t *bytes = malloc(region->size);

	if (!bytes)
		die("malloc");
	/* Page by page: kcore gives a part of a larger read at times. */
	for (uint64_t at = 0; at < region->size;) {
		uint64_t size = 4096 - (region->start + at) % 4096;

		if (size > region->size - at)
			size = region->size - at;
		read_memory(region->start + at, bytes + at, size);
		at += size;
	}
	return bytes;
}

static void save(FILE *file)
{
	for (size_t i = 0; i < region_count; i++) {
		uint8_t *bytes = contents(&regions[i]);

		if (fwrite(&regions[i], sizeof(regions[i]), 1, file) != 1 ||
		    fwrite(bytes, regions[i].size, 1, file) != 1)
			die("write");
		free(bytes);
	}
}

static const struct region *find(const struct region *old)
{
	for (size_t i = 0; i < region_count; i++)
		if (!strcmp(regions[i].name, old->name) && regions[i].start == old->start &&
		    regions[i].size == old->size)
			return &regions[i];
	return NULL;
}

static int diff(FILE *file)
{
	unsigned long long bytes = 0, different = 0, count = 0, gone = 0;
	struct region old;

	while (fread(&old, sizeof(old), 1, file) == 1) {
		const struct region *region = find(&old);
		uint8_t *then = malloc(old.size), *now;

		if (!then || fread(then, old.size, 1, file) != 1)
			die("read");
		if (!region) {
			gone++;
			free(then);
			continue;
		}
		now = contents(region);
		count++;
		bytes += old.size;
		for (uint64_t at = 0; at < old.size; at++) {
			if (then[at] == now[at])
				continue;
			if (different++ < SHOWN)
				fprintf(stderr, "ktext: %s+%#llx (%#llx): %02x -> %02x\n", old.name,
					(unsigned long long)at,
					(unsigned long long)(old.start + at), then[at], now[at]);
		}
		free(then);
		free(now);
	}
	printf("ktext: regions=%llu bytes=%llu different=%llu gone=%llu\n", count, bytes, different,
	       gone);
	return different ? 1 : 0;
}

int main(int argc, char **argv)
{
	int status = 0;
	FILE *file;

	if (argc != 3 || (strcmp(argv[1], "save") && strcmp(argv[1], "diff"))) {
		fprintf(stderr, "usage: ktext save|diff FILE\n");
		return 2;
	}
	open_kcore();
	find_kernel();
	find_modules();
	file = fopen(argv[2], argv[1][0] == 's' ? "w" : "r");
	if (!file)
		die(argv[2]);
	if (argv[1][0] == 's')
		save(file);
	else
		status = diff(file);
	if (fclose(file))
		die(argv[2]);
	return status;
}
