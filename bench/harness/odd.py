"""The workloads of `bench odd`: operators of odd sizes, drawn from a seed.

    convolutions   3x3 or 5x5, 17 to 211 channels in and out
    products       m, n and k are primes
    groups         3x3 or 5x5, 4 to 12 channels of input and of output in each group
    rows           softmax of 7 to 211 columns, with as many rows as make half a million elements
"""

import random

from harness.suite import Workload

COUNT, SEED = 20, 1
CHANNELS = (17, 211)
GROUP = (4, 12)  # channels in a group
EXTENTS = (7, 56)  # of images
PRIMES = (17, 1031)
COLUMNS, ELEMENTS = (7, 211), 1 << 19  # of rows
FLOP = (2e6, 1e9)  # so that a call is neither overhead nor seconds long
MIN_RATIO = 0.95


def is_prime(number):
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def convolution(name, height, width, ci, co, kernel, groups=1):
    params = {
        "n": 1,
        "in_spatial": [height, width],
        "out_spatial": [height, width],
        "ci": ci,
        "co": co,
        "kernel": kernel,
        "stride": 1,
        "pad": kernel // 2,
        "dilation": 1,
        "groups": groups,
    }
    flop = 2 * height * width * co * (ci // groups) * kernel**2
    return Workload(name, "conv2d", params, flop, ("weight",))


def draw_convolution(rng, number):
    height, width = rng.randint(*EXTENTS), rng.randint(*EXTENTS)
    ci, co, kernel = rng.randint(*CHANNELS), rng.randint(*CHANNELS), rng.choice((3, 5))
    name = f"odd{number}.conv.{height}x{width}.{ci}to{co}.k{kernel}"
    return convolution(name, height, width, ci, co, kernel)


def draw_product(rng, number):
    m, n, k = (rng.choice([p for p in range(*PRIMES) if is_prime(p)]) for _ in range(3))
    flop = 2 * m * n * k
    return Workload(f"odd{number}.product.{m}x{n}x{k}", "matmul", {"m": m, "n": n, "k": k}, flop, ())


def draw_groups(rng, number):
    height, width = rng.randint(*EXTENTS), rng.randint(*EXTENTS)
    inputs, outputs, kernel = rng.randint(*GROUP), rng.randint(*GROUP), rng.choice((3, 5))
    least, most = -(-CHANNELS[0] // min(inputs, outputs)), CHANNELS[1] // max(inputs, outputs)
    groups = rng.randint(least, most)
    ci, co = groups * inputs, groups * outputs
    name = f"odd{number}.groups.{height}x{width}.{ci}to{co}.k{kernel}.g{groups}"
    return convolution(name, height, width, ci, co, kernel, groups)


def draw_rows(rng, number):
    fewest, most = COLUMNS
    columns = round(fewest * (most / fewest) ** rng.random())  # few columns are as likely as many
    rows = ELEMENTS // columns
    name = f"odd{number}.softmax.{rows}x{columns}"
    return Workload(name, "softmax", {"m": rows, "n": columns}, 5 * rows * columns, ())


KINDS = (draw_convolution, draw_product, draw_groups, draw_rows)


def draws(seed=SEED, count=COUNT):
    """The workloads of a seed; a larger count begins with the same ones. The kinds alternate."""
    rng = random.Random(f"odd/{seed}")
    found = []
    while len(found) < count:
        workload = KINDS[len(found) % len(KINDS)](rng, len(found))
        if FLOP[0] <= workload.flop <= FLOP[1]:
            found.append(workload)
    return found
