// The map: points are painted into an image by hand, which takes a few milliseconds for 50,000 of them.

class GraphMap {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLCanvasElement} overlay for what moves: rings and the lasso
   * @param {Uint16Array} xy coordinates by turns
   */
  constructor(canvas, overlay, xy) {
    this.canvas = canvas;
    this.overlay = overlay;
    this.n = xy.length / 2;
    this.x = Float32Array.from({ length: this.n }, (_, i) => xy[2 * i] / 65535 - 0.5);
    this.y = Float32Array.from({ length: this.n }, (_, i) => 0.5 - xy[2 * i + 1] / 65535);
    this.spread = [this.x, this.y].map((z) => Math.max(2 * z.reduce((most, value) => Math.max(most, Math.abs(value)), 0), 0.05));
    this.colors = new Uint8Array(3 * this.n);
    this.order = Uint32Array.from({ length: this.n }, (_, i) => i);
    this.shown = new Uint8Array(this.n).fill(1); // 1: in color, 0: faint
    this.zoom = 1;
    this.center = [0, 0];
    this.selected = -1;
    this.hovered = -1;
    this.lasso = null;
    this.groups = []; // {x, y, name, n}: names written on the map
    this.guest = null; // {x, y}: a graph that the user has pasted
    this.links = []; // points that lines lead to from the selected one
    this.frame = 0;
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
    this.image = this.canvas.getContext("2d").createImageData(this.canvas.width, this.canvas.height);
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
    return Math.min(crowd * Math.sqrt(Math.min(this.zoom, 12)) ** 0.7, 8) * this.ratio;
  }

  /** Paint all points; faint ones first, so that they never hide others. */
  paint() {
    const { data, width, height } = this.image;
    const pixels = new Uint32Array(data.buffer);
    const ground = styleColor("--ground");
    pixels.fill((255 << 24) | (ground[2] << 16) | (ground[1] << 8) | ground[0]);
    this.unit = this.scale * this.ratio;
    this.left = (this.width * this.ratio) / 2 - this.center[0] * this.unit;
    this.top = (this.height * this.ratio) / 2 - this.center[1] * this.unit;
    const some = this.shown.includes(0);
    for (const pass of some ? [0, 1] : [1]) {
      const disc = discMask(this.radius, width, pass ? 0.85 : 0.13);
      for (let k = 0; k < this.n; k++) {
        const i = this.order[k];
        if (this.shown[i] === pass) this._stamp(data, width, height, i, disc);
      }
    }
    this.canvas.getContext("2d").putImageData(this.image, 0, 0);
    this.paintOverlay();
  }

  /** Paint one point: each pixel of its disc moves toward its color. */
  _stamp(data, width, height, i, disc) {
    const x = Math.round(this.left + this.x[i] * this.unit);
    const y = Math.round(this.top + this.y[i] * this.unit);
    const { reach, steps, across, alphas } = disc;
    if (x < -reach || y < -reach || x >= width + reach || y >= height + reach) return;
    const whole = x >= reach && x < width - reach && y >= reach && y < height - reach;
    const red = this.colors[3 * i], green = this.colors[3 * i + 1], blue = this.colors[3 * i + 2];
    const center = 4 * (y * width + x);
    for (let k = 0; k < steps.length; k++) {
      const at = center + steps[k];
      if (!whole && (at < 0 || at >= data.length || x + across[k] < 0 || x + across[k] >= width)) continue;
      const alpha = alphas[k];
      data[at] += ((red - data[at]) * alpha) >> 8;
      data[at + 1] += ((green - data[at + 1]) * alpha) >> 8;
      data[at + 2] += ((blue - data[at + 2]) * alpha) >> 8;
    }
  }

  /** Rings around the chosen points, and the lasso. */
  paintOverlay() {
    const context = this.overlay.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const ink = cssColor(styleColor("--ink")), ground = cssColor(styleColor("--ground"));
    this._drawLinks(context, ink);
    for (const [i, extra] of [[this.hovered, 2], [this.selected, 4]]) {
      if (i < 0) continue;
      const [x, y] = this.screen(i);
      for (const [color, line] of [[ground, 4], [ink, 2]]) {
        context.beginPath();
        context.arc(x, y, this.radius / this.ratio + extra, 0, 7);
        context.strokeStyle = color;
        context.lineWidth = line;
        context.stroke();
      }
    }
    this._writeGroups(context, ink, ground);
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
    if (this.lasso && this.lasso.length > 1) {
      context.beginPath();
      this.lasso.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.strokeStyle = cssColor(styleColor("--accent"));
      context.lineWidth = 2;
      context.setLineDash([5, 4]);
      context.stroke();
      context.setLineDash([]);
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

  /** How many points lie where a point lies. */
  stacked(i) {
    const [x, y] = this.screen(i);
    let count = 0;
    for (let j = 0; j < this.n; j++) {
      const [ox, oy] = this.screen(j);
      if (this.shown[j] && Math.abs(ox - x) < 1.5 && Math.abs(oy - y) < 1.5) count++;
    }
    return count;
  }

  /** The point nearest to a place on the screen, within some pixels; -1 if there is none. */
  at(x, y, within = 9) {
    let best = -1, least = Math.max(within, this.radius / this.ratio + 3) ** 2;
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

  /** Points inside a closed line on the screen. */
  inside(line) {
    const found = [];
    for (let i = 0; i < this.n; i++) {
      const [x, y] = this.screen(i);
      let within = false;
      for (let a = 0, b = line.length - 1; a < line.length; b = a++) {
        const [ax, ay] = line[a], [bx, by] = line[b];
        if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
      }
      if (within) found.push(i);
    }
    return found;
  }
}

/** The pixels of a disc: how far they are from its center in the image's bytes, and how much they take of its color, of 256. */
function discMask(radius, width, strength) {
  const reach = Math.ceil(radius);
  const steps = [], across = [], alphas = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const cover = Math.min(Math.max(radius + 0.5 - Math.hypot(dx, dy), 0), 1);
      if (cover === 0) continue;
      steps.push(4 * (dy * width + dx));
      across.push(dx);
      alphas.push(Math.round(256 * cover * strength));
    }
  }
  return { reach, steps: Int32Array.from(steps), across: Int32Array.from(across), alphas: Int32Array.from(alphas) };
}
