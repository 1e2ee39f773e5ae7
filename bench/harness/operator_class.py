"""The class of a kernel, by its title in `bench --json`: the operator of its heaviest node."""

import re

# In this order: a title names the nodes of a fused kernel.
CLASSES = (
    ("transposed convolution", r"conv_transpose"),
    ("depthwise convolution", r"depthwise"),
    ("dilated convolution", r"conv\dd .* d\d"),
    ("grouped convolution", r"conv\dd .* g\d"),
    ("1x1 convolution", r"conv\dd 1(x1)* "),
    ("convolution", r"conv"),
    ("attention", r"attention"),
    ("batched product", r"batch_matmul"),
    ("product", r"matmul|contract"),
    ("softmax", r"softmax"),
    ("norm", r"_norm"),
    ("reduction", r"reduce|pool"),
    ("resize", r"resize"),
)


def class_of(title):
    for name, pattern in CLASSES:
        if re.search(pattern, title):
            return name
    return "elementwise and moves"


def class_shares(pairs):
    """Of (untuned, tuned) pairs of `bench --json`: class -> time of the tuned kernels over that of the
    untuned ones, and the share of the untuned ones in all time."""
    sums = {}
    for index, libraries in enumerate(zip(*pairs)):
        for library in libraries:
            for task in library["tasks"]:
                sums.setdefault(class_of(task["title"]), [0.0, 0.0])[index] += task["ns"]
    whole = sum(untuned for untuned, _ in sums.values())
    return {
        name: (tuned / untuned, untuned / whole) for name, (untuned, tuned) in sums.items() if untuned and tuned
    }
