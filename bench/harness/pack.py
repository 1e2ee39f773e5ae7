"""Programs for a machine that cannot build them: a pack is a tar.xz, in parts of a limited size.

    programs/    tilewright, its workers, bench/bench_worker, onednn_worker; stripped
    libraries/   the shared libraries that they need, except those of the C library
    models/      models without weights, and materialize.py
"""

import contextlib
import hashlib
import lzma
import os
import re
import shutil
import subprocess
import tarfile

from harness import peers
from harness.arms import DATA_ONLY
from harness.model_files import STRIPPED, model_names, models_folder
from harness.tuned import PROGRAMS
from harness.worker import WorkerError

# Libraries that belong to the kernel and the C library of the other machine.
OF_SYSTEM = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libpthread|libdl|librt|libresolv)\.so")
PART = re.compile(r"^part\.(\d+)of(\d+)\.([0-9a-f]{16})$")  # number, count, digest of the whole pack
FILTERS = [
    {"id": lzma.FILTER_X86},
    {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 26},
]


class PackError(Exception):
    """A program or a part is missing; the message is one line."""


def libraries_of(programs):
    """Name -> path of the shared libraries that these programs need, without those of the C library."""
    found = {}
    for program in programs:
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for name, path in re.findall(r"^\s*(\S+) => (.*?)(?: \(0x[0-9a-f]+\))?$", said, re.MULTILINE):
            if not os.path.exists(path):
                raise PackError(f"{os.path.basename(program)}: {name} is not found")
            if not OF_SYSTEM.match(name):
                found[name] = path
    return found


def copy_stripped(source, target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    done = subprocess.run(["strip", "-o", target, source], capture_output=True, text=True)
    if done.returncode != 0:
        raise PackError((done.stderr.strip().splitlines() or ["strip failed"])[-1])


def collect(build_dir, folder, say=print):
    """Fills a folder with the content of a pack. An absent oneDNN worker is named and left out."""
    programs = {name: os.path.join(build_dir, name) for name in PROGRAMS}
    programs["bench/bench_worker"] = os.path.join(build_dir, "bench", "bench_worker")
    for name, path in programs.items():
        if not os.path.exists(path):
            raise PackError(f"no {path}: build the target tilewright_programs")
    try:
        programs["onednn_worker"] = peers.onednn()[0][0]
    except WorkerError as error:
        say(f"left out: {error}")
    for name, path in programs.items():
        copy_stripped(path, os.path.join(folder, "programs", name))
    for name, path in libraries_of(programs.values()).items():
        copy_stripped(path, os.path.join(folder, "libraries", name))
    models = models_folder()
    os.makedirs(os.path.join(folder, "models"))
    names = [name + STRIPPED for name in model_names(models)]
    if not names:
        say(f"left out: models, as {models} has none")
    for file in [*names, "materialize.py"] if names else []:
        shutil.copy(os.path.join(models, file), os.path.join(folder, "models"))


def write_parts(folder, out, part_bytes):
    """Compresses the folder into OUT/1/part.1ofN.DIGEST, OUT/2/part.2ofN.DIGEST, ... Returns their paths."""
    os.makedirs(out, exist_ok=True)
    whole = os.path.join(out, "pack.tar.xz")
    with lzma.open(whole, "wb", filters=FILTERS) as stream, tarfile.open(fileobj=stream, mode="w|") as tar:
        tar.add(folder, ".")
    count = -(-os.path.getsize(whole) // part_bytes)
    paths = []
    with open(whole, "rb") as source:
        digest = hashlib.file_digest(source, "sha256").hexdigest()[:16]
        source.seek(0)
        for number in range(1, count + 1):
            paths.append(os.path.join(out, str(number), f"part.{number}of{count}.{digest}"))
            shutil.rmtree(os.path.dirname(paths[-1]), ignore_errors=True)
            os.makedirs(os.path.dirname(paths[-1]))
            with open(paths[-1], "wb") as target:
                target.write(source.read(part_bytes))
    os.remove(whole)
    return paths


class _Joined:
    """The parts as one file that is read once."""

    def __init__(self, paths):
        self._paths, self._file = list(paths), None

    def read(self, size=-1):
        while self._file or self._paths:
            if self._file is None:
                self._file = open(self._paths.pop(0), "rb")
            if data := self._file.read(size):
                return data
            self.close()
        return b""

    def close(self):
        if self._file:
            self._file.close()
        self._file = None


def unpack(folders, into):
    """Adds the parts in these folders to those in INTO/parts. With all of them there, extracts the pack into
    INTO. Returns the numbers of the missing parts."""
    parts = os.path.join(into, "parts")
    os.makedirs(parts, exist_ok=True)
    for folder in folders:
        for file in sorted(os.listdir(folder)):
            if PART.match(file):
                shutil.copy(os.path.join(folder, file), os.path.join(parts, file + ".new"))
                os.replace(os.path.join(parts, file + ".new"), os.path.join(parts, file))
    found = {}
    for file in os.listdir(parts):
        if match := PART.match(file):
            found.setdefault((int(match[2]), match[3]), {})[int(match[1])] = os.path.join(parts, file)
    if len(found) > 1:
        raise PackError(f"{parts} has parts of {len(found)} packs: delete {into}, and unpack one of them")
    if not found:
        raise PackError(f"{into} has no parts of a pack")
    ((count, _), numbered), *_ = found.items()
    missing = sorted(set(range(1, count + 1)) - set(numbered))
    if not missing:
        joined = _Joined(numbered[number] for number in sorted(numbered))
        try:
            with (
                contextlib.closing(joined),
                lzma.open(joined) as stream,
                tarfile.open(fileobj=stream, mode="r|") as tar,
            ):
                tar.extractall(into, **DATA_ONLY)
        except (lzma.LZMAError, tarfile.TarError, EOFError) as error:
            raise PackError(f"{parts}: a part is damaged: {error}") from error
    return missing
