"""The CTest entry of ONNX's node tests and of small models: generates them if they are missing or from
another version of the package, then runs onnx_conformance on them. Exit code 77 (skipped) without the
package.

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


def is_current(cases, version, scripts):
    if not cases.exists() or any(cases.stat().st_mtime < script.stat().st_mtime for script in scripts):
        return False
    with cases.open("rb") as file:
        return json.loads(file.readline()).get("onnx") == version


def main():
    program, source, build = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    python = source / ".venv" / "bin" / "python"
    version = version_in(python) if python.exists() else None
    if version is None:
        print("skipped: the package onnx is not in .venv; ./dev test installs it")
        return 77
    scripts = source / "tests" / "onnx"
    folder = build / "onnx_node_tests"
    made = (("make_node_tests.py", "cases.bin", []), ("make_model_tests.py", "models.bin", ["--strict"]))
    status = 0
    for script, name, arguments in made:
        if not is_current(folder / name, version, [scripts / script, scripts / "make_node_tests.py"]):
            subprocess.run([python, "-B", scripts / script, folder / name], check=True)
        command = [program, folder / name, source, *arguments, *sys.argv[4:]]
        status = status or subprocess.run(command).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
