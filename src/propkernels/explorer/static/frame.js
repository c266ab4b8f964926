// The frame of the large picture: zoom and pan.

const FARTHEST = 12;

class Frame {
  constructor(view, svg) {
    this.view = view;
    this.svg = svg;
    this.drag = null;
    this.reset();
    byId("ex-graph-in").addEventListener("click", () => this.zoom(1.4));
    byId("ex-graph-out").addEventListener("click", () => this.zoom(1 / 1.4));
    byId("ex-graph-fit").addEventListener("click", () => { this.reset(); this.apply(); });
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the panel
      event.preventDefault();
      this.zoom(Math.exp(-0.004 * event.deltaY), this._point(event));
    }, { passive: false });
    svg.addEventListener("pointerdown", (event) => this._down(event));
    document.addEventListener("pointermove", (event) => this._move(event)); // also outside the picture
    for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, () => { this.drag = null; });
    svg.addEventListener("click", (event) => { if (this.moved) event.stopPropagation(); }, true); // the end of a drag is no click
  }

  /** Show the whole graph. */
  reset() {
    this.scale = 1;
    this.center = null; // of what is shown; null: the middle of the picture
    this.moved = false;
  }

  /** Set what the picture shows. */
  apply() {
    const { picture } = this.view;
    if (!picture) return;
    const { x, y, w, h } = boxOf(picture.positions, picture.pixels ? 0.5 : 0.75);
    const [cx, cy] = this.center || [x + w / 2, y + h / 2], [width, height] = [w / this.scale, h / this.scale];
    this.svg.setAttribute("viewBox", `${cx - width / 2} ${cy - height / 2} ${width} ${height}`);
  }

  /** Zoom by a factor; a point stays where it is. */
  zoom(factor, at = null) {
    const next = Math.min(Math.max(this.scale * factor, 1), FARTHEST);
    const { x, y, width: w, height: h } = this.svg.viewBox.baseVal;
    const middle = [x + w / 2, y + h / 2], fixed = at || middle, ratio = this.scale / next;
    this.center = next === 1 ? null : [fixed[0] + (middle[0] - fixed[0]) * ratio, fixed[1] + (middle[1] - fixed[1]) * ratio];
    this.scale = next;
    this.apply();
  }

  /** Where an event is, in the units of the picture. */
  _point(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [point.x, point.y];
  }

  _down(event) {
    this.moved = false;
    if (!this.view.picture || event.button !== 0 || (event.pointerType === "touch" && this.scale === 1)) return; // a finger scrolls the page
    this.drag = { from: [event.clientX, event.clientY], last: this._point(event) };
  }

  _move(event) {
    const { drag } = this;
    if (!drag || this.scale === 1) return;
    if (!this.moved && Math.hypot(event.clientX - drag.from[0], event.clientY - drag.from[1]) < 5) return;
    this.moved = true;
    const [x, y] = this._point(event);
    const { x: left, y: top, width, height } = this.svg.viewBox.baseVal;
    this.center = [left + width / 2 - (x - drag.last[0]), top + height / 2 - (y - drag.last[1])];
    this.apply();
    drag.last = this._point(event);
  }
}
