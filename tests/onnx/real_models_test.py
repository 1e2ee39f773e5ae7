"""Real exports, whole: each is imported, compiled untuned, run, and held against ONNX Runtime. The models
are found as `./dev bench models` finds them: in the folder TILEWRIGHT_MODELS, or in shared/models beside
the checkout. Small ones by default, all with TILEWRIGHT_ALL_MODELS=1. Exit code 77 (skipped) without the
folder or the packages.

    real_models_test.py PROGRAM
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

SMALL = ("resnet18", "mobilenet_v2", "mnasnet1_0", "squeezenet1_1", "dcgan", "bert_tiny_128")


def skip(why):
    print(f"real_models_test: Skipped\n{why}")  # ./dev test lists the reason
    sys.exit(77)


def array_for(value, rng):
    """Floats are normal; integers are truth values of a mask, or numbers of words."""
    if "float" in value.type:
        return rng.standard_normal(value.shape).astype(np.float32)
    most = 2 if "mask" in value.name else 1000
    return rng.integers(0, most, value.shape).astype(np.int64)


def expected_of(model):
    """(inputs by name, outputs by name) of ONNX Runtime, whose failures are ours to tell."""
    try:
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        rng = np.random.default_rng(5)
        feeds = {value.name: array_for(value, rng) for value in session.get_inputs()}
        names = [value.name for value in session.get_outputs()]
        outputs = dict(zip(names, session.run(None, feeds)))
    except Exception as problem:  # it has no class of its own for them
        raise ValueError(f"ONNX Runtime failed: {problem}") from problem
    for name, array in outputs.items():
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: ONNX Runtime's output is not finite")
    return feeds, outputs


def error_of(program, model, folder):
    """Largest difference from ONNX Runtime over the largest magnitude, of all outputs; infinite where
    one is not a number."""
    feeds, outputs = expected_of(model)
    words = []
    for number, (name, array) in enumerate(feeds.items()):
        np.save(folder / f"in{number}.npy", array)
        words += ["--input", f"{name}={folder / f'in{number}.npy'}"]
    library = folder / "model.so"
    for command in (
        ["compile", model, "-o", library, "--records", "none"],
        ["run", library, "--output", folder, *words],
    ):
        subprocess.run([program, *command], check=True, capture_output=True, text=True)
    worst = 0.0
    for name, expected in outputs.items():
        actual = np.load(folder / (re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".npy"))
        if actual.shape != expected.shape:
            raise ValueError(f"{name}: {actual.shape} instead of {expected.shape}")
        worst = max(worst, array_error(actual, expected))
    return worst


def main():
    program, folder = sys.argv[1], model_files.models_folder()
    names = model_files.model_names(folder)
    if not names:
        skip(f"no {model_files.STRIPPED} in {folder}: set TILEWRIGHT_MODELS")
    if os.environ.get("TILEWRIGHT_ALL_MODELS") != "1":
        names = [name for name in names if name in SMALL]
    failed = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="tilewright-models-") as scratch:
            try:
                model = model_files.materialized(name)
                error = error_of(program, model, pathlib.Path(scratch))
            except (subprocess.CalledProcessError, ValueError, model_files.ModelError) as problem:
                print(f"{name}: {getattr(problem, 'stderr', None) or problem}")
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

        from harness import model_files
        from harness.model_match import MAX_RELATIVE_ERROR, array_error
    except ImportError as missing:
        skip(f"no {missing.name} in .venv")
    sys.exit(main())
