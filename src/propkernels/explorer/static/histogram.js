// A histogram of a column of numbers, with two sliders that hide what lies outside.

const N_BARS = 28;

/** The histogram of a column: bars, and the limits between which graphs are shown. */
function histogram(column, values) {
  const known = Array.from(values).filter(Number.isFinite);
  const low = Math.min(...known), high = Math.max(...known);
  const width = (high - low) / N_BARS || 1;
  const counts = new Array(N_BARS).fill(0);
  for (const value of known) counts[Math.min(Math.floor((value - low) / width), N_BARS - 1)]++;
  const most = Math.max(...counts, 1);
  const limits = app.limits.get(column.key) || [0, N_BARS];
  const svg = svgElement("svg", { viewBox: `0 0 ${N_BARS * 6} 34`, class: "ex-histogram", preserveAspectRatio: "none", "aria-hidden": "true" });
  const bars = counts.map((count, k) => {
    const height = count ? Math.max(32 * (count / most), 1.5) : 0;
    const share = (low + (k + 0.5) * width - column.low) / (column.high - column.low || 1);
    return svgElement("rect", { x: 6 * k + 0.5, y: 34 - height, width: 5, height, fill: cssColor(between(VIRIDIS, share)) });
  });
  svg.append(...bars);
  const text = make("output", { className: "ex-limits" });
  const sliders = limits.map((limit, end) => make("input", {
    type: "range", min: "0", max: String(N_BARS), step: "1", value: String(limit),
    "aria-label": `${end ? "largest" : "smallest"} ${column.name} shown`,
  }));
  const update = () => {
    const [from, to] = sliders.map((slider) => Number(slider.value)).sort((a, b) => a - b);
    bars.forEach((bar, k) => bar.setAttribute("opacity", k >= from && k < to ? "1" : "0.2"));
    const all = from === 0 && to === N_BARS;
    text.textContent = all ? `${plain(low)} to ${plain(high)}` : `${plain(low + from * width)} to ${plain(low + to * width)}`;
    if (all) app.limits.delete(column.key);
    else app.limits.set(column.key, [from, to, low + from * width, to === N_BARS ? Infinity : low + to * width]);
  };
  update();
  for (const slider of sliders) slider.addEventListener("input", () => { update(); refilter(); });
  return make("div", { className: "ex-distribution" }, make("span", {}, column.name), make("div", { className: "ex-bars" }, svg, ...sliders), text);
}
