"""The CTest entry of ONNX's node tests: makes them where they are missing or of another version of
the package, then runs onnx_conformance over them. Exit code 77 (skipped) without the package.

    run_conformance.py PROGRAM SOURCE_DIR BUILD_DIR [ARGUMENTS...]
"""

import json
import pathlib
import subprocess
import sys


def version_in(python):
    answer = subprocess.run(
        [python, "-c", "import onnx; print(onnx.__version__)"], capture_output=True, text=True
    )
    return answer.stdout.strip() if answer.returncode == 0 else None


def is_current(cases, version, script):
    if not cases.exists() or cases.stat().st_mtime < script.stat().st_mtime:
        return False
    with cases.open("rb") as file:
        return json.loads(file.readline()).get("onnx") == version


def main():
    program, source, build = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    python = source / ".venv" / "bin" / "python"
    version = version_in(python) if python.exists() else None
    if version is None:
        print("skipped: the package onnx is not in .venv; ./dev demo or ./dev bench install it")
        return 77
    script = source / "tests" / "onnx" / "make_node_tests.py"
    cases = build / "onnx_node_tests" / "cases.bin"
    if not is_current(cases, version, script):
        subprocess.run([python, script, cases], check=True)
    return subprocess.run([program, str(cases), str(source), *sys.argv[4:]]).returncode


if __name__ == "__main__":
    sys.exit(main())
