"""Tests of whole exported models: each is imported, compiled untuned, run on several sets of inputs
(harness/input_sets), and compared with ONNX Runtime. The models are those of `./dev bench models`: in the
folder TILEWRIGHT_MODELS, or in shared/models next to the checkout. With TILEWRIGHT_ALL_MODELS=1, models that
read no floats also run with denormals in their embeddings, and models with a mask with one that makes denormals
inside. Exit code 77 (skipped) without the folder or the
packages.

    real_models_test.py PROGRAM [NAME...]
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

MAX_ERROR = 1e-5  # of the largest magnitude of an output
THREADS = 2


def skip(why):
    print(f"real_models_test: Skipped\n{why}")  # ./dev test lists the reason
    sys.exit(77)


class Reference:
    """ONNX Runtime. The test reports its failures."""

    def __init__(self, model):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        try:
            self.session = onnxruntime.InferenceSession(
                str(model), options, providers=["CPUExecutionProvider"]
            )
        except Exception as problem:  # ONNX Runtime has no exception class
            raise ValueError(f"ONNX Runtime failed: {problem}") from problem

    def outputs(self, feeds):
        names = [value.name for value in self.session.get_outputs()]
        try:
            outputs = dict(zip(names, self.session.run(None, feeds)))
        except Exception as problem:
            raise ValueError(f"ONNX Runtime failed: {problem}") from problem
        for name, array in outputs.items():
            if not np.isfinite(array).all():
                raise ValueError(f"{name}: ONNX Runtime's output is not finite")
        return outputs


def run(program, *words):
    subprocess.run([program, *words], check=True, capture_output=True, text=True)


def error_of(program, library, feeds, outputs, folder):
    """Largest difference from ONNX Runtime over the largest magnitude, of all outputs; infinite if an element
    is NaN."""
    words = []
    for number, (name, array) in enumerate(feeds.items()):
        np.save(folder / f"in{number}.npy", array)
        words += ["--input", f"{name}={folder / f'in{number}.npy'}"]
    run(program, "run", library, "--output", folder, *words)
    worst = 0.0
    for name, expected in outputs.items():
        actual = np.load(folder / (re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".npy"))
        if actual.shape != expected.shape:
            raise ValueError(f"{name}: {actual.shape} instead of {expected.shape}")
        worst = max(worst, array_error(actual, expected))
    return worst


def errors_of(program, name, model, folder, only=None):
    """The error of each set of inputs, or of one."""
    shapes = model_files.INPUT_SHAPES.get(name, "")
    library = folder / "model.so"
    more = ["--input-shapes", shapes] if shapes else []
    run(program, "compile", model, "-o", library, "--records", "none", "--threads", str(THREADS), *more)
    reference = Reference(model)
    return {
        kind: error_of(program, library, feeds, reference.outputs(feeds), folder)
        for kind, feeds in input_sets.input_sets(model, parse_shapes(shapes)).items()
        if only in (None, kind)
    }


def all_errors(program, name, folder, full):
    model = model_files.materialized(name)
    errors = errors_of(program, name, model, folder)
    changes = {
        "denormals": (input_sets.with_denormal_embeddings, "plain"),
        "weak_mask": (input_sets.with_weak_mask, "half" if "half" in errors else "plain"),
    }
    for kind, (change, only) in changes.items():
        other = folder / "changed.onnx"
        if full and kind not in errors and change(model, other):
            errors[kind] = errors_of(program, name, other, folder, only)[only]
    return errors


def main():
    program, folder = sys.argv[1], model_files.models_folder()
    names = sys.argv[2:] or model_files.model_names(folder)
    if not names:
        skip(f"no {model_files.STRIPPED} in {folder}: set TILEWRIGHT_MODELS")
    full = os.environ.get("TILEWRIGHT_ALL_MODELS") == "1"
    failed = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="tilewright-models-") as scratch:
            try:
                errors = all_errors(program, name, pathlib.Path(scratch), full)
            except (subprocess.CalledProcessError, ValueError, model_files.ModelError) as problem:
                print(f"{name}: {getattr(problem, 'stderr', None) or problem}")
                failed.append(name)
                continue
        print(f"{name}: " + ", ".join(f"{kind} {error:.1e}" for kind, error in errors.items()), flush=True)
        if not all(error <= MAX_ERROR for error in errors.values()):
            failed.append(name)
    if failed:
        print("wrong or not compiled: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        import numpy as np
        import onnxruntime

        from harness import input_sets, model_files
        from harness.model_match import array_error, parse_shapes
    except ImportError as missing:
        skip(f"no {missing.name} in .venv")
    sys.exit(main())
