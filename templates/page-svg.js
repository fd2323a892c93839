// What a canvas is drawn with, recorded as SVG: the part of CanvasRenderingContext2D
// that page-draw.js uses. Saved pictures are drawn by the same code as the page.

class SvgContext {
  constructor(width, height) {
    Object.assign(this, {
      width, height, out: [], fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, globalAlpha: 1,
      font: "11px sans-serif", textAlign: "left", textBaseline: "middle",
      dx: 0, dy: 0, path: "", box: null, saved: [], open: 0, clips: 0, dash: [],
    });
  }

  static number(value) {
    return String(Math.round(value * 10) / 10);
  }

  add(name, attributes, text = null) {
    const alpha = this.globalAlpha === 1 ? "" : ` opacity="${this.globalAlpha}"`;
    this.out.push(`<${name} ${attributes}${alpha}${text === null ? "/" : ""}>${text === null ? "" : `${text}</${name}>`}`);
  }

  at(x, y) {
    return `${SvgContext.number(x + this.dx)} ${SvgContext.number(y + this.dy)}`;
  }

  area(x, y, width, height) {
    const n = SvgContext.number;
    return `x="${n(x + this.dx)}" y="${n(y + this.dy)}" width="${n(Math.max(width, 0))}" height="${n(Math.max(height, 0))}"`;
  }

  line() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    return `fill="none" stroke="${escapeHtml(this.strokeStyle)}" stroke-width="${this.lineWidth}"${dash}`;
  }

  fillRect(x, y, width, height) {
    this.add("rect", `${this.area(x, y, width, height)} fill="${escapeHtml(this.fillStyle)}"`);
  }

  strokeRect(x, y, width, height) {
    this.add("rect", `${this.area(x, y, width, height)} ${this.line()}`);
  }

  beginPath() {
    this.path = "";
    this.box = null;
  }

  moveTo(x, y) {
    this.path += "M" + this.at(x, y);
  }

  lineTo(x, y) {
    this.path += (this.path ? "L" : "M") + this.at(x, y);
  }

  closePath() {
    this.path += "Z";
  }

  rect(x, y, width, height) {
    this.box = this.area(x, y, width, height);
  }

  clip() {
    const name = `pipec-clip-${++this.clips}`;
    this.out.push(`<clipPath id="${name}"><rect ${this.box}/></clipPath><g clip-path="url(#${name})">`);
    ++this.open;
  }

  fill() {
    if (this.path) this.add("path", `d="${this.path}" fill="${escapeHtml(this.fillStyle)}"`);
  }

  stroke() {
    if (this.path) this.add("path", `d="${this.path}" ${this.line()}`);
  }

  fillText(text, x, y) {
    // The middle of a line of text is above its baseline by a third of its size.
    const size = parseFloat(/([0-9.]+)px/.exec(this.font)[1]);
    const base = this.textBaseline === "middle" ? y + size * 0.35 : y;
    const anchor = { center: "middle", right: "end", left: "start" }[this.textAlign];
    const n = SvgContext.number;
    this.add("text", `x="${n(x + this.dx)}" y="${n(base + this.dy)}" text-anchor="${anchor}" font-size="${size}" `
      + `${/^(bold|600)/.test(this.font) ? 'font-weight="600" ' : ""}fill="${escapeHtml(this.fillStyle)}"`, escapeHtml(text));
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  translate(dx, dy) {
    this.dx += dx;
    this.dy += dy;
  }

  save() {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, dx, dy, open, dash } = this;
    this.saved.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, dx, dy, open, dash });
  }

  restore() {
    const before = this.saved.pop();
    for (; this.open > before.open; --this.open) this.out.push("</g>");
    Object.assign(this, before);
  }

  text(title, family) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" `
      + `viewBox="0 0 ${this.width} ${this.height}" role="img" font-family="${escapeHtml(family)}">\n`
      + `<title>${escapeHtml(title)}</title>\n${this.out.join("\n")}\n</svg>\n`;
  }
}
