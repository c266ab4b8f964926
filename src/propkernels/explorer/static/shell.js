// Small helpers for the page itself.

function byId(id) {
  return document.getElementById(id);
}

/** An element with properties and children; text is always text. */
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && key !== "list") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A number with its sign and three decimals; very small and very large ones with an exponent. */
function signed(value) {
  return Number.isFinite(value) ? (value < -1e-12 ? "−" : "+") + decimals(Math.abs(value)) : "–";
}

/** A number with three decimals; integers without any. */
function plain(value) {
  if (!Number.isFinite(value)) return "–";
  return Number.isInteger(value) ? value.toLocaleString("en-US") : (value < 0 ? "−" : "") + decimals(Math.abs(value));
}

function decimals(value) {
  const isUsual = value < 1e-12 || (value >= 0.0005 && value < 1e5);
  return isUsual ? value.toFixed(3) : value.toExponential(1).replace("e-", "e−").replace("e+", "e");
}

/** A probability, which is never 0 or 1. */
function percent(share) {
  return share > 0.995 ? "over 99 %" : share < 0.005 ? "under 1 %" : `${(100 * share).toFixed(0)} %`;
}

/** A word that the glossary explains: pressing it shows the sentence, until something else is pressed. */
function term(word, text = word) {
  const meaning = meta.glossary[word], open = byId("ex-meaning");
  const button = make("button", { type: "button", className: "ex-term", title: meaning }, text);
  button.addEventListener("click", () => {
    open.replaceChildren(make("b", {}, word), ` ${meaning}`);
    open.showPopover();
    const box = button.getBoundingClientRect();
    open.style.left = `${Math.max(Math.min(box.left, innerWidth - open.offsetWidth - 12), 8)}px`;
    open.style.top = `${box.bottom + open.offsetHeight + 12 > innerHeight ? box.top - open.offsetHeight - 6 : box.bottom + 6}px`;
  });
  return button;
}

/** Offer a file for download. */
function download(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** A cell of a CSV file; texts that spreadsheets would run as formulas get an apostrophe. */
function csvCell(value) {
  const text = String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A file name from a title. */
function fileName(title, ending) {
  return `${title.replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 60) || "graphs"}.${ending}`;
}

/** An SVG element as the text of a file, with the colors that it has on the page. */
function standaloneSVG(svg) {
  const copy = svg.cloneNode(true);
  const own = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, k) => {
    const style = getComputedStyle(own[k]);
    for (const name of ["fill", "stroke"]) if ((element.getAttribute(name) || "").startsWith("var(")) element.setAttribute(name, style[name]);
    for (const name of ["tabindex", "role", "aria-label", "class"]) element.removeAttribute(name);
  });
  const [, , width, height] = (svg.getAttribute("viewBox") || "0 0 4 3").split(" ").map(Number);
  const scale = 60;
  for (const [name, value] of [["xmlns", SVG], ["width", width * scale], ["height", height * scale], ["font-family", "sans-serif"]]) copy.setAttribute(name, value);
  return new XMLSerializer().serializeToString(copy);
}

function dot(color) {
  const element = make("span", { className: "ex-dot" });
  element.style.background = cssColor(color);
  return element;
}

function ramp(stops) {
  const element = make("span", { className: "ex-ramp" });
  element.style.background = `linear-gradient(90deg, ${stops.map(cssColor).join(", ")})`;
  return element;
}

/** A bar to the right for positive values, to the left for negative ones. */
function bar(value, most) {
  const inner = make("i"), width = 50 * Math.min(Math.abs(value) / most, 1);
  inner.style.left = `${value < 0 ? 50 - width : 50}%`;
  inner.style.width = `${width}%`;
  inner.style.background = cssColor(diverging(0.8 * Math.sign(value), 1));
  return make("div", { className: "ex-strip" }, inner);
}

/** Run a job in slices, so that the page stays alive; `job.work(deadline)` says whether it is done. */
function inSlices(job, onSlice, stopped = () => false) {
  return new Promise((resolve) => {
    const slice = () => {
      if (stopped()) return resolve(false);
      const done = job.work(performance.now() + 12);
      onSlice(job, done);
      if (done) resolve(true);
      else setTimeout(slice, 0);
    };
    slice();
  });
}
