"""Real exports, whole: each is imported, compiled untuned, run, and held against ONNX Runtime. The
folder TILEWRIGHT_MODELS has them without weights (NAME.stripped.onnx) and materialize.py, which fills
those in by a seed. Small ones by default, all with TILEWRIGHT_ALL_MODELS=1. Exit code 77 (skipped)
without the folder or the packages.

    real_models_test.py PROGRAM BUILD_DIR
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

MAX_RELATIVE_ERROR = 1e-4
SMALL = ("resnet18", "mobilenet_v2", "mnasnet1_0", "squeezenet1_1", "dcgan", "bert_tiny_128")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def materialised(folder, name, build):
    """The model with weights, made once."""
    model = build / "models" / f"{name}.onnx"
    stripped = folder / f"{name}.stripped.onnx"
    if not model.exists() or model.stat().st_mtime < stripped.stat().st_mtime:
        model.parent.mkdir(parents=True, exist_ok=True)
        part = model.with_suffix(".part")
        subprocess.run([sys.executable, folder / "materialize.py", stripped, part], check=True)
        part.rename(model)
    return model


def array_for(value, rng):
    """Floats are normal; integers are truth values of a mask, or numbers of words."""
    if "float" in value.type:
        return rng.standard_normal(value.shape).astype(np.float32)
    most = 2 if "mask" in value.name else 1000
    return rng.integers(0, most, value.shape).astype(np.int64)


def error_of(program, model, folder):
    """Largest difference from ONNX Runtime over the largest magnitude, of all outputs."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(5)
    feeds = {value.name: array_for(value, rng) for value in session.get_inputs()}
    words = []
    for number, (name, array) in enumerate(feeds.items()):
        np.save(folder / f"in{number}.npy", array)
        words += ["--input", f"{name}={folder / f'in{number}.npy'}"]
    library = folder / "model.so"
    records = ["--records", folder / "none.db"]
    subprocess.run(
        [program, "compile", model, "-o", library, *records], check=True, capture_output=True, text=True
    )
    subprocess.run(
        [program, "run", library, "--output", folder, *words], check=True, capture_output=True, text=True
    )
    worst = 0.0
    for value, expected in zip(session.get_outputs(), session.run(None, feeds)):
        actual = np.load(folder / (re.sub(r"[^A-Za-z0-9._-]", "_", value.name) + ".npy"))
        if actual.shape != expected.shape:
            raise ValueError(f"{value.name}: {actual.shape} instead of {expected.shape}")
        if not np.isfinite(expected).all():
            raise ValueError(f"{value.name}: ONNX Runtime's output is not finite")
        worst = max(worst, float(np.abs(actual - expected).max() / np.abs(expected).max()))
    return worst


def main():
    program, build = sys.argv[1], pathlib.Path(sys.argv[2])
    folder = pathlib.Path(os.environ.get("TILEWRIGHT_MODELS") or "none")
    if not folder.is_dir():
        skip("no folder of models given (TILEWRIGHT_MODELS)")
    names = sorted(path.name.removesuffix(".stripped.onnx") for path in folder.glob("*.stripped.onnx"))
    if not names:
        skip(f"no .stripped.onnx in {folder}")
    if os.environ.get("TILEWRIGHT_ALL_MODELS") != "1":
        names = [name for name in names if name in SMALL]
    failed = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="tilewright-models-") as scratch:
            try:
                error = error_of(program, materialised(folder, name, build), pathlib.Path(scratch))
            except subprocess.CalledProcessError as problem:
                print(f"{name}: {problem.stderr or problem}")
                failed.append(name)
                continue
            except ValueError as problem:
                print(f"{name}: {problem}")
                failed.append(name)
                continue
        print(f"{name}: largest error {error:.1e} of the largest output")
        if not error <= MAX_RELATIVE_ERROR:
            failed.append(name)
    if failed:
        print("wrong or not compiled: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        import numpy as np
        import onnxruntime
    except ImportError as missing:
        skip(f"no {missing.name} in .venv")
    sys.exit(main())
