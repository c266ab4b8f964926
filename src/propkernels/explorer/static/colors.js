// Colors: classes, contributions and what is shared from the style, numbers by viridis.

const VIRIDIS = ["#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725"].map(hexColor);
const N_CLASS_COLORS = 16;

function hexColor(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

/** A color between stops; at 0 the first, at 1 the last. */
function between(stops, share) {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const first = Math.min(Math.floor(place), stops.length - 2);
  return stops[first].map((value, i) => Math.round(value + (place - first) * (stops[first + 1][i] - value)));
}

/** Colors of contributions from negative to positive, or of shares from nothing to all, through the ground of drawings. */
function divergingStops() {
  return [styleColor("--against"), styleColor("--canvas"), styleColor("--for")];
}

function sharedStops() {
  return [styleColor("--canvas"), styleColor("--shared")];
}

/** The color of a contribution between -limit and limit. */
function diverging(value, limit) {
  return between(divergingStops(), 0.5 + (0.5 * value) / (limit || 1));
}

function cssColor([red, green, blue]) {
  return `rgb(${red}, ${green}, ${blue})`;
}

/** Black or white, whichever has more contrast with a color. */
function textOn(color) {
  const [red, green, blue] = color.map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.185 ? "#111" : "#fff";
}

/** The value of a color of the style, as it is now: light or dark. */
function styleColor(name) {
  if (knownColors.has(name)) return knownColors.get(name);
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  knownColors.set(name, found.slice(0, 3));
  return found.slice(0, 3);
}

const knownColors = new Map();
document.addEventListener("pk-theme", () => knownColors.clear());

function classColors(number) {
  const known = Array.from({ length: N_CLASS_COLORS }, (_, i) => styleColor(`--class-${i}`));
  return Array.from({ length: number }, (_, i) => known[i % N_CLASS_COLORS]);
}
