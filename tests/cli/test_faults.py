#!/usr/bin/env python3
"""System calls that fail, signals and limits: the verdict stays, or detdiff says what went wrong.

Faults are injected with strace. Each one must be seen in the trace: a fault that hits nothing proves
nothing. Where tracing is refused, only the checks that need none are made.
"""
import collections
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import f1_trace as f1  # noqa: E402
from cli_support import SANITIZED, SLOWNESS, Suite  # noqa: E402

OLD = b"an older report\n"
INPUT = "b/rank_000000.jsonl"
# What a failure of these calls on an input may not be overlooked.
READING = ("openat", "read", "pread64", "fstat", "newfstatat", "statx", "stat", "lstat", "getdents64",
           "fadvise64", "lseek", "close", "fcntl")
# Calls whose failure changes nothing: advice, and a descriptor that is closed after reading.
ADVICE = ("fadvise64", "close")
TEXT = {"EIO": "Input/output error", "ENOSPC": "No space left on device", "EACCES": "Permission denied",
        "EMFILE": "Too many open files", "EROFS": "Read-only file system"}


class Faults:
    def __init__(self, suite):
        self.suite = suite
        self.folder = suite.folder
        self.trace = suite.folder / "trace"
        base = [f1.tensor_record(f"layer.{number}", 1, iteration)
                for iteration in range(1, 19) for number in range(40)]  # some blocks of 128 KiB
        other = [dict(record, tensor=dict(record["tensor"], sha256=f1.digest("other")))
                 if (record["iteration"], record["name"]) == (16, "layer.7") else record for record in base]
        for name, records in (("a", base), ("b", base), ("c", other)):
            f1.trace_of(records).write(suite.folder / name)
        self.equal = ("a", "b")
        self.pairs = {"same": (("a", "b"), 0), "divergent": (("c", "b"), 1)}
        self.complete = {}

    def arguments(self, pair, *more):
        return ["compare", *self.pairs[pair][0], "--jobs", "1", *more]

    def strace(self, options, arguments, **more):
        self.trace.unlink(missing_ok=True)
        command = ["strace", "-f", "-qq", "-o", str(self.trace), *options, self.suite.detdiff, *arguments]
        env = dict(self.suite.environment)
        if SANITIZED:
            env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        run = subprocess.run(command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             timeout=60 * SLOWNESS, **more)
        # strace names the path, too.
        run.stderr = b"".join(line for line in run.stderr.splitlines(True) if not line.startswith(b"strace:"))
        return run

    def traced(self):
        return self.trace.read_text(errors="replace") if self.trace.exists() else ""

    def refused(self):
        """Why strace cannot be used, or nothing."""
        if shutil.which("strace") is None:
            return "the program strace is not installed"
        try:
            self.strace(["-e", "trace=write", "-e", "inject=write:error=EIO:when=1"], ["--version"])
        except subprocess.TimeoutExpired:
            return "strace does not come to an end"
        return None if "INJECTED" in self.traced() else "strace may not trace or injects no faults here"

    def calls(self, arguments, path=None, names=None):
        """How often each system call is made (on `path`)."""
        options = ["-e", "trace=" + ",".join("?" + name for name in names)] if names else []
        if path:
            options += ["-P", path]
        self.strace(options, arguments)
        count = collections.Counter()
        for line in self.traced().splitlines():
            found = re.match(r"\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)", line)
            if found and "resumed" not in line:
                count[found.group(1)] += 1
        return count

    def inject(self, call, what, when, arguments, path=None):
        """One run with one fault; the outcome, or None if the fault hit nothing."""
        options = ["-e", f"trace={call}", "-e", f"inject={call}:{what}:when={when}"]
        if path:
            options += ["-P", path]
        run = self.strace(options, arguments)
        killed = run.returncode in (137, -signal.SIGKILL)
        if "INJECTED" not in self.traced() and not killed and "signal" not in what:
            return None
        if "signal" in what and not killed and "SIGINT" not in self.traced():
            return None
        return run

    def check_exit(self, label, run, allowed):
        code = 128 - run.returncode if run.returncode < 0 else run.returncode
        return self.suite.expect(code in allowed, f"{label}: exit {code}, not in {allowed}: "
                                 f"{run.stderr.decode(errors='replace').strip()[:300]}")

    def check_message(self, label, run, name, text):
        message = run.stderr.decode(errors="replace")
        self.suite.expect(name in message, f"{label}: {name} is not named: {message.strip()[:300]}")
        self.suite.expect(text in message, f"{label}: no {text!r}: {message.strip()[:300]}")

    def check_output(self, label, name, before, verdict=None):
        """The file is what it was, or a whole report."""
        path = self.folder / name
        data = path.read_bytes() if path.exists() else None
        if data != before:
            try:
                report = json.loads(data)
                self.suite.expect(verdict in (None, report["verdict"]), f"{label}: {report['verdict']}")
            except (TypeError, ValueError) as error:
                self.suite.fail(f"{label}: the file is neither old nor whole: {error}")

    def left_over(self):
        return [path.name for path in self.folder.iterdir() if path.name.endswith(".tmp")]


def input_errors(faults):
    """Every call on an input fails once, and from there on."""
    for pair, (_, verdict) in faults.pairs.items():
        counted = faults.calls(faults.arguments(pair), INPUT)
        faults.suite.expect(any(counted[name] for name in ("read", "pread64")), f"no reads seen: {counted}")
        for call, count in sorted(counted.items()):
            if call not in READING:
                continue
            for when in range(1, count + 1):
                for error in ("EIO", "EACCES" if call == "openat" else "EIO"):
                    for persistent in ("", "+"):
                        label = f"{pair}: {call} {when}{persistent} {error}"
                        run = faults.inject(call, f"error={error}", f"{when}{persistent}",
                                            faults.arguments(pair), INPUT)
                        if not faults.suite.expect(run is not None, f"{label}: hit nothing"):
                            continue
                        if faults.check_exit(label, run, (verdict, 2)) and run.returncode == 2:
                            faults.check_message(label, run, INPUT, TEXT[error])
                            faults.suite.expect(not run.stdout, f"{label}: a report and an error")
                        if call in ("read", "pread64", "openat") and persistent:
                            faults.check_exit(label, run, (2,))


def early_end(faults):
    """A read that returns nothing in the middle of a file is no end of file."""
    for pair, (_, verdict) in faults.pairs.items():
        counted = faults.calls(faults.arguments(pair), INPUT)
        for call in ("read", "pread64"):
            for when in range(1, counted[call] + 1):
                for persistent in ("", "+"):
                    label = f"{pair}: {call} {when}{persistent} returns 0"
                    run = faults.inject(call, "retval=0", f"{when}{persistent}", faults.arguments(pair), INPUT)
                    if not faults.suite.expect(run is not None, f"{label}: hit nothing"):
                        continue
                    if faults.check_exit(label, run, (verdict, 2)) and run.returncode == 2:
                        faults.check_message(label, run, INPUT, "")


def interrupted_calls(faults):
    """EINTR without a signal of ours is no reason to stop."""
    for pair, (_, verdict) in faults.pairs.items():
        counted = faults.calls(faults.arguments(pair), INPUT)
        for call in ("openat", "read", "pread64"):
            for when in ["1", "1+2"] + [str(n) for n in range(2, counted[call] + 1)]:
                if not counted[call]:
                    continue
                label = f"{pair}: {call} {when} EINTR"
                run = faults.inject(call, "error=EINTR", when, faults.arguments(pair), INPUT)
                if faults.suite.expect(run is not None, f"{label}: hit nothing"):
                    faults.check_exit(label, run, (verdict,))
        run = faults.inject("write", "error=EINTR", "1", faults.arguments(pair))
        if faults.suite.expect(run is not None, f"{pair}: write EINTR: hit nothing"):
            faults.check_exit(f"{pair}: write EINTR", run, (verdict,))
            faults.suite.expect(run.stdout, f"{pair}: write EINTR: no report")


def folder_errors(faults):
    """The folder itself cannot be listed."""
    counted = faults.calls(faults.arguments("same"), "b")
    for call, count in sorted(counted.items()):
        if call not in ("openat", "getdents64", "newfstatat", "fstat", "statx"):
            continue
        for when in range(1, count + 1):
            label = f"{call} {when} on the folder"
            run = faults.inject(call, "error=EIO", str(when), faults.arguments("same"), "b")
            if not faults.suite.expect(run is not None, f"{label}: hit nothing"):
                continue
            if faults.check_exit(label, run, (0, 2)) and run.returncode == 2:
                faults.check_message(label, run, "b", TEXT["EIO"])


OUTPUT_CALLS = ("write", "fsync", "rename", "renameat", "renameat2", "fchmod", "flock", "unlink")


def output_errors(faults):
    """Writing the report fails: nothing torn, nothing left over, and the reason is said."""
    arguments = faults.arguments("divergent", "--format", "json", "-o", "out.json")
    for before in (None, OLD):
        prepare_output(faults, before)
        counted = faults.calls(arguments, names=OUTPUT_CALLS)
        faults.suite.expect(counted["write"], f"no write seen: {counted}")
        for call in OUTPUT_CALLS:
            for when in range(1, counted[call] + 1):
                for error in ("ENOSPC", "EIO"):
                    for persistent in ("", "+"):
                        prepare_output(faults, before)
                        label = f"{'new' if before is None else 'old'}: {call} {when}{persistent} {error}"
                        run = faults.inject(call, f"error={error}", f"{when}{persistent}", arguments)
                        if not faults.suite.expect(run is not None, f"{label}: hit nothing"):
                            continue
                        faults.check_exit(label, run, (1, 2))
                        faults.check_output(label, "out.json", before, "divergent")
                        if run.returncode == 1:
                            faults.suite.expect((faults.folder / "out.json").read_bytes() != before,
                                                f"{label}: exit 1 without a report")
                        if run.returncode == 2 and not (persistent and call == "write"):
                            faults.check_message(label, run, "out.json", TEXT[error])
                        if call != "unlink":
                            faults.suite.equal(f"{label}: left over", [], faults.left_over())
    for when in ("1", "1+"):
        run = faults.inject("write", "error=ENOSPC", when, faults.arguments("same"))
        if faults.suite.expect(run is not None, "stdout: hit nothing"):
            faults.check_exit(f"stdout: write {when} ENOSPC", run, (2,))


def prepare_output(faults, before):
    path = faults.folder / "out.json"
    if before is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(before)
    for name in faults.left_over():
        (faults.folder / name).unlink()


def killed_while_writing(faults):
    """SIGKILL at every call that writes the report: the old file or the new one, never half of it."""
    arguments = faults.arguments("same", "--format", "json", "-o", "out.json")
    for before in (None, OLD):
        prepare_output(faults, before)
        counted = faults.calls(arguments, names=OUTPUT_CALLS + ("close",))
        hit = 0
        for call in OUTPUT_CALLS + ("close",):
            for when in range(1, counted[call] + 1):
                prepare_output(faults, before)
                label = f"{'new' if before is None else 'old'}: SIGKILL at {call} {when}"
                run = faults.inject(call, "signal=SIGKILL", str(when), arguments)
                if not faults.suite.expect(run is not None, f"{label}: hit nothing"):
                    continue
                hit += 1
                faults.check_exit(label, run, (137,))
                faults.check_output(label, "out.json", before, "same")
                again = faults.suite.run(*arguments)
                faults.suite.equal(f"{label}: the run after it", 0, again.code)
                faults.check_output(f"{label}: the run after it", "out.json", None, "same")
                faults.suite.equal(f"{label}: left over after the next run", [], faults.left_over())
        faults.suite.expect(hit > 2, f"only {hit} kills hit")


def interrupted_by_user(faults):
    """SIGINT at every read and write: 130 and no file, or the verdict and a whole one."""
    arguments = faults.arguments("divergent", "--format", "json", "-o", "out.json")
    counted = faults.calls(arguments, INPUT)
    jobs = [(call, when, INPUT) for call in ("openat", "read", "pread64")
            for when in range(1, counted[call] + 1)] + [("write", 1, None), ("fsync", 1, None)]
    stopped = 0
    for call, when, path in jobs:
        for before in (None, OLD):
            prepare_output(faults, before)
            label = f"SIGINT at {call} {when}"
            run = faults.inject(call, "signal=SIGINT", str(when), arguments, path)
            if not faults.suite.expect(run is not None, f"{label}: hit nothing"):
                continue
            faults.check_exit(label, run, (1, 130))
            stopped += run.returncode == 130
            faults.check_output(label, "out.json", before, "divergent")
            faults.suite.equal(f"{label}: left over", [], faults.left_over())
    faults.suite.expect(stopped, "no run was stopped")


# Without strace -----------------------------------------------------------------------------------

def interrupted_while_waiting(faults):
    """SIGINT while a pipe gives nothing: 130 at once, no file."""
    text = (faults.folder / INPUT).read_bytes()
    for label, given in (("no writer", None), ("a silent writer", b""), ("half a log", text[:3000])):
        fifo = faults.folder / "fifo"
        fifo.unlink(missing_ok=True)
        os.mkfifo(fifo)
        prepare_output(faults, OLD)
        process = faults.suite.start("compare", "fifo", f"{faults.equal[0]}/rank_000000.jsonl",
                                     "-o", "out.json", "--format", "json")
        writer = None
        if given is not None:
            writer = os.open(fifo, os.O_RDWR)
            os.write(writer, given)
        time.sleep(0.4 * SLOWNESS)
        faults.suite.equal(f"{label}: still waiting", None, process.poll())
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        outcome = faults.suite.wait(process, label, timeout=20)
        faults.suite.equal(f"{label}: exit", 130, outcome.code)
        faults.suite.expect(time.monotonic() - start < 10 * SLOWNESS, f"{label}: slow to stop")
        faults.check_output(label, "out.json", OLD)
        faults.suite.equal(f"{label}: the file", OLD, (faults.folder / "out.json").read_bytes())
        faults.suite.equal(f"{label}: left over", [], faults.left_over())
        if writer is not None:
            os.close(writer)


def file_size_limit(faults):
    """A limit on the size of files: the signal is not fatal, the reason is said."""
    for before in (None, OLD):
        prepare_output(faults, before)
        outcome = faults.suite.run("compare", *faults.pairs["divergent"][0], "--format", "json", "-o", "out.json",
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)))
        faults.suite.equal("exit", 2, outcome.code)
        faults.suite.expect("out.json" in outcome.error and "File too large" in outcome.error,
                            f"message: {outcome.error.strip()}")
        faults.check_output("limit", "out.json", before)
        faults.suite.equal("left over", [], faults.left_over())


def full_device(faults):
    """/dev/full stays a device and is reported as full."""
    for options in ((), ("--format", "json"), ("-v",)):
        outcome = faults.suite.run("compare", *faults.equal, *options, "-o", "/dev/full")
        faults.suite.equal("exit with -o /dev/full", 2, outcome.code)
        faults.suite.expect(TEXT["ENOSPC"] in outcome.error, f"message: {outcome.error.strip()}")
    faults.suite.expect(stat.S_ISCHR(os.stat("/dev/full").st_mode), "/dev/full is no device any more")


def little_memory(faults):
    """200 MB of address space are enough."""
    if SANITIZED:
        return faults.suite.skip("little_memory", "sanitizers need far more address space")
    for name in ("a", "b"):
        base = f1.Trace.load(faults.folder / name)
        lines = base.ranks[0]
        ranks = {rank: [line.replace(b'"rank":0', b'"rank":%d' % rank) for line in lines] for rank in range(8)}
        f1.Trace(ranks).write(faults.folder / f"{name}8")
    for jobs in ("1", "2", "8"):
        outcome = faults.suite.run("compare", "a8", "b8", "--jobs", jobs, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (200 << 20, 200 << 20)))
        faults.suite.equal(f"--jobs {jobs}", 0, outcome.code)
    for megabytes in (100, 60, 40, 30, 24, 20, 16, 14, 12):
        outcome = faults.suite.run("compare", "a8", "b8", "--jobs", "4", preexec_fn=lambda m=megabytes: (
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
            resource.setrlimit(resource.RLIMIT_AS, (m << 20, m << 20))))
        # 127: the program could not even be loaded.
        faults.suite.expect(outcome.code in (0, 2, 127), f"{megabytes} MB: exit {outcome.code}: "
                            f"{outcome.error.strip()[:200]}")


def few_descriptors(faults):
    """Many ranks need few open files."""
    for name in ("a", "b"):
        lines = f1.Trace.load(faults.folder / name).ranks[0]
        ranks = {rank: [line.replace(b'"rank":0', b'"rank":%d' % rank) for line in lines[:2]] for rank in range(64)}
        f1.Trace(ranks).write(faults.folder / f"{name}64")
    outcome = faults.suite.run("compare", "a64", "b64", "--jobs", "2", preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_NOFILE, (32, 32)))
    faults.suite.equal("64 ranks with 32 descriptors", 0, outcome.code)
    outcome = faults.suite.run("compare", "a64", "b64", "--jobs", "64", preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_NOFILE, (32, 32)))
    faults.suite.expect(outcome.code in (0, 2), f"--jobs 64: exit {outcome.code}")


TRACED = [input_errors, early_end, interrupted_calls, folder_errors, output_errors, killed_while_writing,
          interrupted_by_user]
UNTRACED = [interrupted_while_waiting, file_size_limit, full_device, little_memory, few_descriptors]


def main():
    suite = Suite(__doc__.splitlines()[0])
    faults = Faults(suite)
    reason = faults.refused()
    if reason:
        suite.skip("the faults that strace injects", reason)
    for test in UNTRACED + ([] if reason else TRACED):
        if suite.begin(test.__name__):
            test(faults)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
