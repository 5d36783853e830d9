"""The filter decides as written, on both architectures (the real kernel has its say in the other tests)."""

from __future__ import annotations

import errno
import struct

import pytest

from nanobench.sandbox.seccomp import filter_program

ALLOW = 0x7FFF0000
X86, ARM = ("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)


def decide(program: bytes, arch: int, number: int, first: int = 0) -> int:
    """Classic BPF as the kernel runs it: the errno, 0 for allowed."""
    data = struct.pack("=iIQQ", number, arch, 0, first)
    steps = list(struct.iter_unpack("=HBBI", program))
    at = accumulator = 0
    while True:
        code, yes, no, operand = steps[at]
        at += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, operand)
            case 0x15:
                at += yes if accumulator == operand else no
            case 0x35:
                at += yes if accumulator >= operand else no
            case 0x06:
                return 0 if operand == ALLOW else operand & 0xFFFF


@pytest.mark.parametrize(
    ("machine", "number", "first", "answer"),
    [
        (X86, 0, 0, 0),  # read
        (X86, 59, 0, 0),  # execve
        (X86, 101, 0, 0),  # ptrace: debuggers are tools
        (X86, 155, 0, errno.EPERM),  # pivot_root, the smallest refused number
        (X86, 442, 0, errno.EPERM),  # mount_setattr, the largest
        (X86, 425, 0, errno.EPERM),  # io_uring_setup
        (X86, 443, 0, 0),
        (X86, 41, 1, 0),
        (X86, 41, 2, 0),
        (X86, 41, 10, 0),
        (X86, 41, 16, 0),
        (X86, 41, 40, errno.EAFNOSUPPORT),  # AF_VSOCK
        (X86, 41, 38, errno.EAFNOSUPPORT),  # AF_ALG
        (X86, 41, 17, errno.EAFNOSUPPORT),  # AF_PACKET
        (X86, 0x40000000, 0, errno.ENOSYS),  # x32
        (ARM, 63, 0, 0),  # read
        (ARM, 40, 0, errno.EPERM),  # mount
        (ARM, 198, 40, errno.EAFNOSUPPORT),
        (ARM, 198, 1, 0),
    ],
)
def test_a_call_is_decided(machine: tuple[str, int], number: int, first: int, answer: int) -> None:
    name, arch = machine
    assert decide(filter_program(name), arch, number, first) == answer


def test_calls_of_another_architecture_do_not_exist() -> None:
    assert decide(filter_program("x86_64"), 0x40000003, 11) == errno.ENOSYS


def test_an_unknown_machine_has_no_filter() -> None:
    assert filter_program("riscv64") == b""
