"""Probes: no way out, no privilege, no trace of the host."""

from __future__ import annotations

import json

from containers.probes_base import LIMITS, Bench, Probe, ended, inside, python, run, unless
from containers.sandbox import Mount


def _capabilities(bench: Bench) -> str | None:
    result = run(bench, "grep", "-E", "^(Cap|NoNewPrivs|Seccomp:)", "/proc/self/status")
    values = {line.split(":")[0]: line.split()[1] for line in result.stdout.decode().splitlines()}
    kinds = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    bad = {kind: values.get(kind, "?") for kind in kinds if int(values.get(kind, "1"), 16) != 0}
    if values.get("NoNewPrivs") != "1":
        bad["NoNewPrivs"] = values.get("NoNewPrivs", "?")
    if values.get("Seccomp") != "2":
        bad["Seccomp"] = values.get("Seccomp", "?")
    return unless(not bad, str(bad))


def _setuid(bench: Bench) -> str | None:
    code = """
import os
for top in ('/usr', '/tools', '/opt', '/home', '/work', '/var', '/etc'):
    if not os.path.isdir(top) or os.statvfs(top).f_flag & os.ST_NOSUID: continue
    for where, _, names in os.walk(top):
        for name in names:
            path = os.path.join(where, name)
            info = os.lstat(path)
            if info.st_mode & 0o6000 and info.st_mode & 0o170000 == 0o100000: print('setuid', path)
for place in ('/work', '/tmp', '/home/dev'):
    if not os.statvfs(place).f_flag & os.ST_NOSUID: print(place, 'allows setuid')
    if not os.statvfs(place).f_flag & os.ST_NODEV: print(place, 'allows devices')
for change in (os.setuid, os.setgid):
    try: change(0); print('became root')
    except OSError: pass
"""
    return inside(bench, code)


def _calls(bench: Bench) -> str | None:
    code = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def try_(name, call):
    ctypes.set_errno(0)
    if call() >= 0: print(name, 'worked')
try_('mount', lambda: libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))
try_('bind', lambda: libc.mount(b'/tmp', b'/work', None, 4096, None))
try_('remount', lambda: libc.mount(None, b'/', None, 32 | 4096, None))
try_('umount', lambda: libc.umount2(b'/tmp', 2))
for name, flag in (('user', 1 << 28), ('mount', 1 << 17), ('pid', 1 << 29), ('net', 1 << 30)):
    if os.fork() == 0:
        os._exit(0 if libc.unshare(flag) != 0 else 1)
    if os.wait()[1]: print('unshare', name, 'worked')
parent = os.getpid()
try_('ptrace attach', lambda: libc.ptrace(16, 1, 0, 0))
try_('ptrace traceme', lambda: libc.ptrace(0, 0, 0, 0))
numbers = {'x86_64': (250, 248, 321, 298, 323, 425, 304), 'aarch64': (219, 217, 280, 241, 282, 425, 265)}
for name, number in zip(('keyctl', 'add_key', 'bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup',
                         'open_by_handle_at'), numbers[os.uname().machine]):
    try_(name, lambda: libc.syscall(number, 0, 0, 0, 0, 0))
try_('chroot', lambda: libc.chroot(b'/tmp'))
try_('sethostname', lambda: libc.sethostname(b'x', 1))
try_('swapon', lambda: libc.swapon(b'/tmp/x', 0))
"""
    return inside(bench, code)


def _devices(bench: Bench) -> str | None:
    code = """
import os, stat
for place in ('/work', '/tmp', '/home/dev'):
    for kind, number in ((stat.S_IFBLK, os.makedev(254, 0)), (stat.S_IFCHR, os.makedev(1, 1))):
        try: os.mknod(place + '/node', kind | 0o666, number); print('made a device in', place)
        except OSError: pass
good = {'null', 'zero', 'full', 'random', 'urandom', 'tty', 'console', 'ptmx'}
for where, _, names in os.walk('/dev'):
    for name in names:
        info = os.lstat(os.path.join(where, name))
        if stat.S_ISBLK(info.st_mode) or (stat.S_ISCHR(info.st_mode) and name not in good and 'pts' not in where):
            print('device', where, name)
"""
    return inside(bench, code)


def _read_only_root(bench: Bench) -> str | None:
    code = """
import os
for place in ('/', '/usr', '/usr/bin', '/etc', '/tools', '/tools/bin', '/var', '/opt', '/proc/sys/kernel', '/run'):
    try: open(place + '/x', 'w').close(); print('wrote', place)
    except OSError: pass
for path in ('/etc/passwd', '/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/tools/bin/python3'):
    try: open(path, 'a').close(); print('opened', path)
    except OSError: pass
"""
    return inside(bench, code)


def _first_process(bench: Bench) -> str | None:
    # Names are read, never contents: a pipe of process 1 would wait for ever.
    code = """
import os
for name in ('root', 'cwd'):
    try: seen = sorted(os.listdir('/proc/1/' + name))
    except OSError: continue
    if seen != sorted(os.listdir('/')) and seen: print('/proc/1/' + name, 'leads to', seen[:5])
try: numbers = os.listdir('/proc/1/fd')
except OSError: numbers = []
for number in numbers:
    try: target = os.readlink('/proc/1/fd/' + number)
    except OSError: continue
    if target.startswith('/') and not target.startswith(('/dev/', '/proc')): print('descriptor', number, target)
if b'box' not in open('/proc/1/cmdline', 'rb').read() and len(open('/proc/1/cmdline', 'rb').read()) > 200:
    print('long arguments', open('/proc/1/cmdline').read(200))
"""
    return inside(bench, code)


_TRACES = """
import json, os, sys
seen = {}
def note(name, text): seen[name] = text
for name in ('self/mountinfo', 'self/mounts', 'self/cgroup', 'self/environ', '1/environ', '1/cmdline', '1/mountinfo',
             '1/cgroup', 'self/maps', 'self/limits', 'net/unix', 'sys/kernel/hostname', 'sys/kernel/domainname',
             'keys', 'swaps'):
    try: note('/proc/' + name, open('/proc/' + name, 'rb').read().decode('utf-8', 'backslashreplace'))
    except OSError: pass
for path in ('/etc/hostname', '/etc/hosts', '/etc/resolv.conf', '/etc/passwd', '/etc/fstab', '/etc/mtab'):
    try: note(path, open(path).read())
    except OSError: pass
for pid in filter(str.isdigit, os.listdir('/proc')):
    if pid == str(os.getpid()): continue
    try: note(f'cmdline of {pid}', open(f'/proc/{pid}/cmdline').read())
    except OSError: pass
note('argv', ' '.join(sys.orig_argv[:2]))
note('paths', ' '.join([sys.prefix, sys.executable, *sys.path, os.getcwd(), *os.listdir('/')]))
note('uname', ' '.join(os.uname()))
for top in ('/work', '/task', '/tools'):
    note(top, ' '.join(os.path.join(where, name) for where, dirs, names in os.walk(top) for name in [*dirs, *names]))
print(json.dumps(seen))
"""


def _traces(bench: Bench) -> str | None:
    mounts = {"/work": Mount(writable=True), "/task": Mount()}
    result = python(bench, _TRACES, mounts=mounts, limits=LIMITS.but(output=8 << 20))
    if result.exit != 0:
        return ended(result)
    seen: dict[str, str] = json.loads(result.stdout)
    words = (*bench.forbidden, "dreambench")
    found = [f"{word!r} in {place}" for place, text in seen.items() for word in words if word.lower() in text.lower()]
    return unless(not found, "; ".join(found[:5]))


def _files_of_host(bench: Bench) -> str | None:
    paths = [word for word in bench.forbidden if word.startswith("/")]
    code = "import os,sys\nfor path in sys.argv[1:]:\n    if os.path.lexists(path): print('there is', path)"
    return inside(bench, code, *paths, "/var/run/docker.sock", "/run/docker.sock", "/root/.ssh", "/etc/shadow-")


def _no_terminal(bench: Bench) -> str | None:
    code = """
import os, sys
try: os.open('/dev/tty', os.O_RDWR); print('a terminal')
except OSError: pass
if any(os.isatty(fd) for fd in range(3)): print('standard streams are a terminal')
"""
    return inside(bench, code)


PROBES = (
    Probe("capabilities", "no capability at all, no new privileges, a filter on system calls", _capabilities),
    Probe("setuid", "no file raises privileges", _setuid, harmful=True),
    Probe("system-calls", "mount, unshare, ptrace, keyctl and the like are refused", _calls, harmful=True),
    Probe("devices", "no device can be made, and only harmless ones are there", _devices, harmful=True),
    Probe("read-only-root", "the root file system cannot be written", _read_only_root, harmful=True),
    Probe("first-process", "process 1 cannot be opened or followed", _first_process),
    Probe("host-traces", "no text of the host shows in mounts, arguments, environment or names", _traces),
    Probe("host-files", "no path of the host is there", _files_of_host),
    Probe("no-terminal", "there is no terminal", _no_terminal),
)
