"""The model files of the benchmarks. A folder has them without weights (NAME.stripped.onnx), and
materialize.py, which adds weights from a seed. Uses the standard library only."""

import os
import subprocess
import sys

from harness import peers

STRIPPED = ".stripped.onnx"

# For models with symbolic dimensions.
INPUT_SHAPES = {
    "bert_base_dynamic": "ids:[1,200];mask:[1,200]",
    "resnet50_dynamic_batch": "x:[4,3,224,224]",
}


# The models of a run that names none; with another number of threads, the first eight.
THREADS = 2
DEFAULT = (
    "resnet50",
    "mobilenet_v2",
    "bert_base_128",
    "vit_b_32",
    "maxvit_t",
    "efficientnet_v2_s",
    "t5_small_encoder_128",
    "unet_128",
    "regnet_x_800mf",
    "dcgan",
)


def default_models(threads):
    return DEFAULT if threads == THREADS else DEFAULT[:8]


class ModelError(Exception):
    """A model is not available; the message is one line."""


def models_folder():
    """The folder that TILEWRIGHT_MODELS names, or shared/models next to the checkout."""
    shared = os.path.join(peers.ROOT, "..", "shared", "models")
    return os.environ.get("TILEWRIGHT_MODELS") or os.path.normpath(shared)


def model_names(folder):
    """The names of the models in the folder, ascending; none if there is no such folder."""
    try:
        files = sorted(os.listdir(folder))
    except OSError:
        return []
    return [file.removesuffix(STRIPPED) for file in files if file.endswith(STRIPPED)]


def materialized(name):
    """The path of the complete model, which is made from its stripped form if it is missing or older."""
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
