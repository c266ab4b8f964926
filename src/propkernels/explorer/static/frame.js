// Zoom of the large picture: it grows inside its frame, which scrolls.

const FARTHEST = 8;
let zoomed = 1;

/** Zoom by a factor, or show the whole picture; what is in the middle stays there. */
function zoomPicture(factor) {
  const svg = byId("ex-graph"), frame = svg.parentElement;
  const middle = [(frame.scrollLeft + frame.clientWidth / 2) / svg.clientWidth, (frame.scrollTop + frame.clientHeight / 2) / svg.clientHeight];
  zoomed = Math.min(Math.max(zoomed * factor, 1), FARTHEST);
  svg.style.width = svg.style.height = `${100 * zoomed}%`;
  frame.scrollTo(middle[0] * svg.clientWidth - frame.clientWidth / 2, middle[1] * svg.clientHeight - frame.clientHeight / 2);
}

function listenToZoom() {
  for (const [id, factor] of [["ex-graph-in", 1.4], ["ex-graph-out", 1 / 1.4], ["ex-graph-fit", 0]]) byId(id).addEventListener("click", () => zoomPicture(factor));
}
