// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf FILE: until FILE exists, loads a program over and over, which the kernel compiles to native
 * code, hangs it on the scheduler's tracepoint for a moment and takes it off again.
 * Prints: rounds, bytes (of native code), counted (how often the program ran).
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OP(c, d, s, o, i) { .code = c, .dst_reg = d, .src_reg = s, .off = o, .imm = i }
#define HANG_US 5000

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	int result = syscall(SYS_bpf, command, attr, sizeof(*attr));

	if (result < 0) {
		perror("bpf");
		exit(1);
	}
	return result;
}

static int create_counter(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

/* counter[0]++ */
static int load(int counter)
{
	struct bpf_insn program[] = {
		OP(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
		OP(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
		OP(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		OP(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, counter),
		OP(0, 0, 0, 0, 0),
		OP(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		OP(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0),
		OP(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1),
		OP(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD),
		OP(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insn_cnt = sizeof(program) / sizeof(*program),
		.insns = (uintptr_t)program, .license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

static unsigned int native_bytes(int program)
{
	struct bpf_prog_info info = {};
	union bpf_attr attr = {
		.info = { .bpf_fd = program, .info_len = sizeof(info), .info = (uintptr_t)&info },
	};

	bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	return info.jited_prog_len;
}

int main(int argc, char **argv)
{
	unsigned int key = 0, bytes = 0, rounds = 0;
	uint64_t counted = 0;
	union bpf_attr look;
	int counter;

	if (argc != 2)
		return 2;
	counter = create_counter();
	for (; access(argv[1], F_OK); rounds++) {
		union bpf_attr hang = { .raw_tracepoint = { .name = (uintptr_t)"sched_switch" } };
		int program = load(counter), hung;

		bytes = native_bytes(program);
		hang.raw_tracepoint.prog_fd = program;
		hung = bpf(BPF_RAW_TRACEPOINT_OPEN, &hang);
		usleep(HANG_US);
		close(hung);
		close(program);
	}
	memset(&look, 0, sizeof(look));
	look.map_fd = counter;
	look.key = (uintptr_t)&key;
	look.value = (uintptr_t)&counted;
	bpf(BPF_MAP_LOOKUP_ELEM, &look);
	printf("bpf: rounds=%u bytes=%u counted=%llu\n", rounds, bytes, (unsigned long long)counted);
	return 0;
}
