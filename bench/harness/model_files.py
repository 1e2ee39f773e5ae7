"""The models that are tried whole: a folder has them without weights (NAME.stripped.onnx) and
materialize.py, which fills those in by a seed. Standard library only."""

import os
import subprocess
import sys

from harness import peers

STRIPPED = ".stripped.onnx"

# Of the models that leave dimensions open.
INPUT_SHAPES = {
    "bert_base_dynamic": "ids:[1,200];mask:[1,200]",
    "resnet50_dynamic_batch": "x:[4,3,224,224]",
}


class ModelError(Exception):
    """A model that cannot be had; says why in a line."""


def models_folder():
    """What TILEWRIGHT_MODELS names, or shared/models beside the checkout."""
    beside = os.path.join(peers.ROOT, "..", "shared", "models")
    return os.environ.get("TILEWRIGHT_MODELS") or os.path.normpath(beside)


def model_names(folder):
    """Of the models in the folder, ascending; none where there is no such folder."""
    try:
        files = sorted(os.listdir(folder))
    except OSError:
        return []
    return [file.removesuffix(STRIPPED) for file in files if file.endswith(STRIPPED)]


def materialized(name):
    """The path of the runnable model, made from its stripped form where it is not there or older."""
    path = os.path.join(peers.BUILD, "models", name + ".onnx")
    folder = models_folder()
    stripped = os.path.join(folder, name + STRIPPED)
    there = os.path.exists(path)
    if not os.path.exists(stripped):
        if there:
            return path
        raise ModelError(f"no {name}{STRIPPED} in {folder}: set TILEWRIGHT_MODELS")
    if there and os.path.getmtime(path) >= os.path.getmtime(stripped):
        return path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    unfinished = f"{path}.{os.getpid()}"
    command = [sys.executable, os.path.join(folder, "materialize.py"), stripped, unfinished]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise ModelError((done.stderr.strip().splitlines() or ["materialize.py failed"])[-1])
    os.replace(unfinished, path)
    return path
