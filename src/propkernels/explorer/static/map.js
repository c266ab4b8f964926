// The map: a point per graph, names of groups, and rings around what is chosen.

class GraphMap {
  /** `overlay`: the canvas for what moves, rings and names; `xy`: coordinates by turns. */
  constructor(canvas, overlay, xy) {
    this.canvas = canvas;
    this.overlay = overlay;
    this.n = xy.length / 2;
    this.x = Float32Array.from({ length: this.n }, (_, i) => xy[2 * i] / 65535 - 0.5);
    this.y = Float32Array.from({ length: this.n }, (_, i) => 0.5 - xy[2 * i + 1] / 65535);
    this.spread = [this.x, this.y].map((z) => Math.max(2 * z.reduce((most, value) => Math.max(most, Math.abs(value)), 0), 0.05));
    this.colors = new Array(this.n); // in CSS
    this.order = Uint32Array.from({ length: this.n }, (_, i) => i);
    this.shown = new Uint8Array(this.n).fill(1); // 1: in color, 0: faint
    this.zoom = 1;
    this.center = [0, 0];
    // groups: {x, y, name, n}, names written on the map; guest: {x, y}, a pasted graph; links: points that lines lead to from the selected one
    Object.assign(this, { selected: -1, hovered: -1, groups: [], guest: null, links: [], frame: 0 });
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    this.width = Math.max(Math.round(box.width), 50);
    this.height = Math.max(Math.round(box.height), 50);
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = this.width * this.ratio;
      canvas.height = this.height * this.ratio;
    }
    this.draw();
  }

  get scale() {
    return 0.93 * Math.min(this.width / this.spread[0], this.height / this.spread[1]) * this.zoom;
  }

  screen(i) {
    return this.screenOf(this.x[i], this.y[i]);
  }

  /** Ask for a repaint in the next frame. */
  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  get radius() {
    const crowd = this.n > 20000 ? 1.5 : this.n > 3000 ? 2.2 : this.n > 600 ? 3.2 : 4.5;
    return Math.min(crowd * Math.sqrt(Math.min(this.zoom, 12)) ** 0.7, 8);
  }

  /** Paint all points; faint ones first, so that they never hide others. */
  paint() {
    const context = this.canvas.getContext("2d"), { radius, scale } = this, reach = radius + 1;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = cssColor(styleColor("--ground"));
    context.fillRect(0, 0, this.width, this.height);
    const left = this.width / 2 - this.center[0] * scale, top = this.height / 2 - this.center[1] * scale;
    for (const pass of [0, 1]) {
      context.globalAlpha = pass ? 0.85 : 0.13;
      for (const i of this.order) {
        const x = left + this.x[i] * scale, y = top + this.y[i] * scale;
        if (this.shown[i] !== pass || x < -reach || y < -reach || x > this.width + reach || y > this.height + reach) continue;
        context.fillStyle = this.colors[i];
        context.beginPath();
        context.arc(x, y, radius, 0, 7);
        context.fill();
      }
    }
    context.globalAlpha = 1;
    this.paintOverlay();
  }

  /** Rings around the chosen points, names of groups, and a pasted graph. */
  paintOverlay() {
    const context = this.overlay.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const ink = cssColor(styleColor("--ink")), ground = cssColor(styleColor("--ground"));
    this._drawLinks(context, ink);
    this._writeGroups(context, ink, ground);
    for (const [i, extra] of [[this.hovered, 2], [this.selected, 4]]) {
      if (i < 0) continue;
      const [x, y] = this.screen(i);
      for (const [color, line] of [[ground, 4], [ink, 2]]) {
        context.beginPath();
        context.arc(x, y, this.radius + extra, 0, 7);
        context.strokeStyle = color;
        context.lineWidth = line;
        context.stroke();
      }
    }
    if (this.guest) {
      const [x, y] = this.screenOf(this.guest.x, this.guest.y);
      context.beginPath();
      for (const [dx, dy] of [[0, -10], [9, 0], [0, 10], [-9, 0]]) context.lineTo(x + dx, y + dy);
      context.closePath();
      context.fillStyle = cssColor(styleColor("--accent"));
      context.strokeStyle = ground;
      context.lineWidth = 2;
      context.fill();
      context.stroke();
    }
  }

  _drawLinks(context, ink) {
    if (this.selected < 0 || !this.links.length) return;
    const [x, y] = this.screen(this.selected);
    context.beginPath();
    for (const j of this.links) {
      context.moveTo(x, y);
      context.lineTo(...this.screen(j));
    }
    context.strokeStyle = ink;
    context.globalAlpha = 0.55;
    context.lineWidth = 1.2;
    context.stroke();
    context.globalAlpha = 1;
  }

  /** Names of groups, larger ones first; a name that would cover another one is left out. */
  _writeGroups(context, ink, ground) {
    context.font = "600 12px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    const taken = [];
    for (const { x: gx, y: gy, name } of this.groups) {
      const [x, y] = this.screenOf(gx, gy);
      const half = context.measureText(name).width / 2 + 4;
      const box = [Math.min(Math.max(x, half + 2), this.width - half - 2), y];
      if (x < 0 || y < 8 || x > this.width || y > this.height - 8) continue;
      if (taken.some(([ox, oy, ohalf]) => Math.abs(ox - box[0]) < ohalf + half && Math.abs(oy - y) < 17)) continue;
      taken.push([box[0], y, half]);
      context.lineWidth = 4;
      context.strokeStyle = ground;
      context.fillStyle = ink;
      context.strokeText(name, box[0], y);
      context.fillText(name, box[0], y);
    }
  }

  screenOf(x, y) {
    return [this.width / 2 + (x - this.center[0]) * this.scale, this.height / 2 + (y - this.center[1]) * this.scale];
  }

  /** The point nearest to a place on the screen, within some pixels; -1 if there is none. */
  at(x, y, within = 9) {
    let best = -1, least = Math.max(within, this.radius + 3) ** 2;
    for (let k = this.n - 1; k >= 0; k--) {
      const i = this.order[k];
      if (!this.shown[i]) continue;
      const dx = this.width / 2 + (this.x[i] - this.center[0]) * this.scale - x;
      const dy = this.height / 2 + (this.y[i] - this.center[1]) * this.scale - y;
      const distance = dx * dx + dy * dy;
      if (distance < least) {
        least = distance;
        best = i;
      }
    }
    return best;
  }

  zoomAt(factor, x = this.width / 2, y = this.height / 2) {
    const before = [(x - this.width / 2) / this.scale, (y - this.height / 2) / this.scale];
    this.zoom = Math.min(Math.max(this.zoom * factor, 0.5), 300);
    this.center[0] += before[0] - (x - this.width / 2) / this.scale;
    this.center[1] += before[1] - (y - this.height / 2) / this.scale;
    this.draw();
  }

  pan(dx, dy) {
    this.center[0] -= dx / this.scale;
    this.center[1] -= dy / this.scale;
    this.draw();
  }

  /** The map with its rings and names as a PNG. */
  toPNG(done) {
    const whole = document.createElement("canvas");
    [whole.width, whole.height] = [this.canvas.width, this.canvas.height];
    const context = whole.getContext("2d");
    for (const layer of [this.canvas, this.overlay]) context.drawImage(layer, 0, 0);
    whole.toBlob(done, "image/png");
  }

  reset() {
    this.zoom = 1;
    this.center = [0, 0];
    this.draw();
  }

  /** Bring a point into view. */
  show(i) {
    const [x, y] = this.screen(i);
    if (x < 20 || y < 20 || x > this.width - 20 || y > this.height - 20) this.center = [this.x[i], this.y[i]];
    this.draw();
  }

  /** The nearest point in a direction, for the arrow keys. */
  towards(i, dx, dy) {
    const [x, y] = i < 0 ? [this.width / 2, this.height / 2] : this.screen(i);
    let best = -1, least = Infinity;
    for (let j = 0; j < this.n; j++) {
      if (j === i || !this.shown[j]) continue;
      const [ox, oy] = this.screen(j);
      const along = (ox - x) * dx + (oy - y) * dy;
      const across = Math.abs((ox - x) * dy - (oy - y) * dx);
      if (along <= 0 || across > along) continue;
      const cost = along + 2 * across;
      if (cost < least) {
        least = cost;
        best = j;
      }
    }
    return best;
  }
}
