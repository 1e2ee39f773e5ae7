"""A tuning curve as an SVG: the time of a model over the seconds of its tuning, with lines for comparison.
Standard library only."""

import math
from html import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 360, 60, 30, 160, 45
APART = 14  # labels, from baseline to baseline


def _ticks(largest):
    """About five round numbers up to `largest`."""
    step = 10 ** math.floor(math.log10(largest / 4)) if largest > 0 else 1
    step = next((step * k for k in (1, 2, 5, 10) if largest / (step * k) <= 5), step)
    return [k * step for k in range(int(largest / step) + 1)]


def svg(points, lines, title):
    """`points`: (seconds, milliseconds), ascending; `lines`: label -> milliseconds."""
    max_s = max((at for at, _ in points), default=1.0)
    max_ms = 1.05 * max([ms for _, ms in points] + list(lines.values()) + [1e-9])

    def x(seconds):
        return LEFT + (WIDTH - LEFT - RIGHT) * seconds / max_s

    def y(ms):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ms / max_ms

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{LEFT}" y="18" font-weight="bold">{escape(title)}</text>',
    ]
    for tick in _ticks(max_s):
        out.append(f'<text x="{x(tick):.1f}" y="{HEIGHT - 25}" text-anchor="middle">{tick:g}</text>')
        out.append(_line(x(tick), y(0), x(tick), y(max_ms), "#eee"))
    for tick in _ticks(max_ms):
        out.append(f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
        out.append(_line(LEFT, y(tick), WIDTH - RIGHT, y(tick), "#eee"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">seconds of tuning</text>')
    out.append(f'<text x="{LEFT - 45}" y="{TOP + 2}">ms</text>')
    labels = [(y(ms), f"{label} {ms:.3g} ms", "#c33") for label, ms in lines.items()]
    for height, _, color in labels:
        out.append(_line(LEFT, height, WIDTH - RIGHT, height, color, 'stroke-dasharray="5 4"'))
    if points:
        labels.append((y(points[-1][1]), f"tuned {points[-1][1]:.3g} ms", "#26c"))
    labels.sort()
    for baseline, (_, text, color) in zip(_baselines([label[0] for label in labels]), labels):
        out.append(
            f'<text x="{WIDTH - RIGHT + 6}" y="{baseline:.1f}" fill="{color}">{escape(text)}</text>'
        )
    steps = [f"{x(points[0][0]):.1f},{y(points[0][1]):.1f}"] if points else []
    for (_, before), (at, ms) in zip(points, points[1:]):
        steps += [f"{x(at):.1f},{y(before):.1f}", f"{x(at):.1f},{y(ms):.1f}"]
    out.append(
        f'<polyline points="{" ".join(steps)}" fill="none" stroke="#26c" stroke-width="2"/>'
    )
    return "\n".join([*out, "</svg>", ""])


def _baselines(heights):
    """The baselines of labels next to their lines, ascending: at the height of the line, or below the
    previous label. The lowest stay within the picture and push the others up."""
    places = []
    for height in heights:
        places.append(max(height + 4, places[-1] + APART if places else 0))
    lowest = HEIGHT - BOTTOM + 4
    for index in reversed(range(len(places))):
        places[index] = min(places[index], lowest)
        lowest = places[index] - APART
    return places


def _line(x0, y0, x1, y1, color, more=""):
    return (
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{color}" {more}/>'
    )
