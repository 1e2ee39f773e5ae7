#include "cli/graph_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "cli/units.h"

namespace tilewright::cli {
namespace {

constexpr double kLetter = 6.6, kLine = 15, kMargin = 8, kGapX = 24, kGapY = 30;
constexpr size_t kMaxNodes = 12;  // listed per box
constexpr size_t kMaxCodePoints = 60, kMaxHeading = 200;

struct Placed {
  std::vector<std::string> lines;  // the first is the title
  size_t layer = 0;
  double x = 0, y = 0, width = 0, height = 0;

  double middle() const { return x + width / 2; }
  double bottom() const { return y + height; }
};

// For clean text.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string shortened(const std::string& text) {
  return first_code_points(clean_utf8(text), kMaxCodePoints);
}

// For clean text. Characters other than Latin, Greek, etc. may be twice as wide.
double width_of(std::string_view text) {
  size_t wide = 0;
  for (const char c : text) wide += static_cast<unsigned char>(c) >= 0xE1 ? 1 : 0;
  return kLetter * static_cast<double>(code_point_count(text) + wide);
}

std::vector<std::string> lines_of(const app::GraphBox& box, double sum_ns) {
  std::vector<std::string> lines = {shortened(box.title)};
  if (box.ns > 0) {
    lines.push_back(fmt::format("{}, {:.1f} %", duration_text(box.ns), 100 * box.ns / sum_ns));
  }
  lines.push_back(shortened(box.detail));
  for (size_t k = 0; k < std::min(box.nodes.size(), kMaxNodes); ++k) {
    lines.push_back(shortened("  " + box.nodes[k]));
  }
  if (box.nodes.size() > kMaxNodes) {
    lines.push_back(fmt::format("  and {} more", box.nodes.size() - kMaxNodes));
  }
  return lines;
}

std::vector<Placed> place(const app::GraphView& view, double* width, double* height) {
  std::vector<Placed> placed;
  size_t layers = 0;
  const double sum_ns = view.sum_ns();
  for (const app::GraphBox& box : view.boxes) {
    Placed one;
    one.lines = lines_of(box, sum_ns);
    for (const size_t from : box.from) one.layer = std::max(one.layer, placed[from].layer + 1);
    for (const std::string& line : one.lines) one.width = std::max(one.width, width_of(line));
    one.width += 2 * kMargin;
    one.height = 2 * kMargin + kLine * static_cast<double>(one.lines.size());
    layers = std::max(layers, one.layer + 1);
    placed.push_back(std::move(one));
  }
  std::vector<double> widths(layers, -kGapX), heights(layers);
  for (const Placed& one : placed) {
    widths[one.layer] += one.width + kGapX;
    heights[one.layer] = std::max(heights[one.layer], one.height);
  }
  *width = layers == 0 ? 0 : *std::ranges::max_element(widths);
  std::vector<double> next_x(layers), y(layers + 1, kGapY);
  for (size_t k = 0; k < layers; ++k) {
    next_x[k] = kGapX + (*width - widths[k]) / 2;
    y[k + 1] = y[k] + heights[k] + kGapY;
  }
  *height = y[layers];
  for (Placed& one : placed) {
    one.x = next_x[one.layer];
    one.y = y[one.layer];
    next_x[one.layer] += one.width + kGapX;
  }
  return placed;
}

// White for 0, orange for a quarter of the time or more.
std::string color_of(const app::GraphBox& box, double sum_ns) {
  if (!box.task) return "#e8eef7";
  const double share = sum_ns > 0 ? std::min(box.ns / sum_ns / 0.25, 1.0) : 0;
  const auto mixed = [&](int full) {
    return static_cast<int>(std::lround(255 - share * (255 - full)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(0xff), mixed(0xa6), mixed(0x4d));
}

std::string edge(const Placed& from, const Placed& to) {
  const double x0 = from.middle(), y0 = from.bottom(), x1 = to.middle(), y1 = to.y;
  const bool next = to.layer == from.layer + 1;
  const double side = next ? 0 : (std::max(from.width, to.width) / 2 + kGapX) / 0.75;
  return fmt::format(
      "<path d=\"M{:.0f} {:.0f} C{:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {:.0f}\" "
      "fill=\"none\" stroke=\"#777\" marker-end=\"url(#a)\"/>\n",
      x0, y0, x0 + side, y0 + kGapY, x1 + side, y1 - kGapY, x1, y1);
}

}  // namespace

std::string graph_svg(const app::GraphView& view) {
  double width = 0, height = 0;
  const std::vector<Placed> placed = place(view, &width, &height);
  const double sum_ns = view.sum_ns();
  const std::string name = first_code_points(clean_utf8(view.name), kMaxHeading);
  const std::string heading =
      sum_ns > 0 ? name + ": tasks with a record take " + duration_text(sum_ns) : name;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"monospace\" font-size=\"11\">\n"
      "<title>{2}</title>\n"
      "<defs><marker id=\"a\" markerWidth=\"8\" markerHeight=\"6\" refX=\"8\" refY=\"3\" "
      "orient=\"auto\"><path d=\"M0 0 L8 3 L0 6 z\" fill=\"#777\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text x=\"{3:.0f}\" y=\"18\">{4}</text>\n",
      std::max(width + 4 * kGapX, width_of(heading) + 2 * kGapX), height, escaped(name), kGapX,
      escaped(heading));
  for (size_t k = 0; k < placed.size(); ++k) {
    for (const size_t from : view.boxes[k].from) svg += edge(placed[from], placed[k]);
  }
  for (size_t k = 0; k < placed.size(); ++k) {
    const Placed& one = placed[k];
    svg += fmt::format(
        "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"4\" fill=\"{}\" "
        "stroke=\"#333\"/>\n",
        one.x, one.y, one.width, one.height, color_of(view.boxes[k], sum_ns));
    for (size_t line = 0; line < one.lines.size(); ++line) {
      svg +=
          fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\"{} xml:space=\"preserve\">{}</text>\n",
                      one.x + kMargin, one.y + kMargin + kLine * (static_cast<double>(line) + 0.75),
                      line == 0 ? " font-weight=\"bold\"" : "", escaped(one.lines[line]));
    }
  }
  return svg + "</svg>\n";
}

}  // namespace tilewright::cli
