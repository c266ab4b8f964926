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

function signed(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  const text = Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? Math.abs(value).toExponential(2) : Math.abs(value).toPrecision(digits + 1).replace(/\.?0+$/, "");
  return (value < 0 ? "−" : "+") + (value === 0 ? "0" : text);
}

function plain(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  return Number.isInteger(value) ? value.toLocaleString("en-US") : Number(value.toPrecision(digits)).toString().replace("-", "−");
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
