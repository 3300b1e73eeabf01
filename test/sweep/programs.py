# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of the sweep: stressors of stress-ng, and modules of Python's test suite."""
import os
import re
import subprocess
import tempfile

# Stressors that are left out, with the reason.
LEFT_OUT = {
    "changes the machine": """apparmor bind-mount binderfs cpu-online efivar gpu idle-page ioport
        klog kvm loop memhotplug mknod netdev pci physpage quota ramfs rawdev rawpkt rawsock rawudp
        reboot rtc smi swap sysfs tmpfs tun umount uprobe watchdog""",
    "loads the machine": """bigheap chroot cyclic dev dirdeep dirmany filename forkheavy hdd
        icmp-flood oom-pipe procfs resources softlockup spawn udp-flood vforkmany zombie""",
}

# Modules that take seconds and need neither a network nor a display.
PYTHON_MODULES = """test_aifc test_argparse test_array test_ast test_asyncgen test_atexit test_audioop
    test_base64 test_bigmem test_binascii test_binop test_bisect test_bool test_buffer test_bytes
    test_bz2 test_c_locale_coercion test_calendar test_cmath test_codecs test_collections
    test_contextlib test_copy test_coroutines test_csv test_ctypes test_dataclasses test_datetime
    test_dbm_dumb test_decimal test_deque test_descr test_dict test_eintr test_enum test_epoll
    test_errno test_exceptions test_faulthandler test_fcntl test_file test_fileio test_filecmp
    test_float test_fork1 test_format test_fractions test_frame test_ftplib test_functools test_gc
    test_generators test_genericpath test_getpass test_glob test_grp test_gzip test_hashlib
    test_heapq test_hmac test_httplib test_imaplib test_inspect test_int test_io test_ioctl
    test_ipaddress test_itertools test_json test_largefile test_list test_locale test_long
    test_lzma test_mailbox test_marshal test_math test_memoryio test_memoryview test_mmap
    test_nntplib test_ntpath test_openpty test_operator test_ordered_dict test_os test_pathlib
    test_pickle test_pipes test_poll test_poplib test_posix test_posixpath test_pty test_pwd
    test_queue test_random test_re test_readline test_resource test_richcmp test_sched test_select
    test_selectors test_set test_shelve test_shutil test_signal test_smtplib test_socket
    test_socketserver test_sqlite3 test_ssl test_stat test_statistics test_str test_strftime
    test_struct test_subprocess test_syslog test_tarfile test_tempfile test_termios test_thread
    test_threadedtempfile test_threading test_threading_local test_threadsignals test_time
    test_timeit test_tokenize test_tty test_types test_unicodedata test_uuid test_wait3 test_wait4
    test_weakref test_xml_etree test_zipfile test_zlib test_asyncio"""


class Program:
    """A command with what it needs. `key` says what of its output must be equal in every run."""

    def __init__(self, suite, name, command, environment, key):
        self.suite = suite
        self.name = name
        self.command = command
        self.environment = environment
        self.key = key


def stress_ng_key(output):
    """The sorted complaints, without numbers and addresses, which differ in every run."""
    lines = re.findall(r"stress-ng: (?:fail|error): .*", output)
    return sorted({re.sub(r"0x[0-9a-f]+|\d+", "N", line) for line in lines})


def python_key(output):
    """Which tests failed, and the result."""
    failed = re.findall(r"^(?:FAIL|ERROR): (.*)", output, re.M)
    return sorted(set(failed)) + re.findall(r"^Result: .*", output, re.M)[-1:]


def fork_sites(library):
    """Where stress-ng forks the process of a stressor, and the one that may run out of memory."""
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            ["stress-ng", "--brk", "1", "--brk-ops", "1", "-t", "5", "--temp-path", place],
            env={**os.environ, "LD_PRELOAD": library},
            stderr=subprocess.PIPE,
            text=True,
        )
    sites = re.findall(r"fork at ([0-9a-f]+)", done.stderr)
    if len(sites) < 2:
        raise SystemExit("sweep: stress-ng does not fork as expected: %s" % done.stderr)
    return ",".join(sites[:2])


def stressors(library):
    names = subprocess.run(["stress-ng", "--stressors"], stdout=subprocess.PIPE, text=True)
    left_out = {name for names in LEFT_OUT.values() for name in names.split()}
    sites = fork_sites(library)
    for name in names.stdout.split():
        if name in left_out:
            continue
        command = ["stress-ng", "--" + name, "1", "--%s-ops" % name, "2", "-t", "5"]
        command += ["--temp-path", ".", "--cache-level", "1", "--minimize", "--no-rand-seed"]
        environment = {"LD_PRELOAD": library, "ONE_PROCESS": sites}
        yield Program("stress-ng", name, command, environment, stress_ng_key)


def python_modules():
    for name in PYTHON_MODULES.split():
        command = ["/usr/bin/python3", "-m", "test", "-v", name]
        yield Program("python", name, command, {"PYTHONDONTWRITEBYTECODE": "1"}, python_key)
