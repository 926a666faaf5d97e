/** Entries over time, one bar per step, stacked by level; dragging over it chooses a time. */
import { formatDay, formatTime, stepMs } from "./time-range.js";

const LEVELS = ["debug", "info", "warn", "error"];
const HEIGHT = 120;
const FOOT = 18;
const HEAD = 12;
const SVG = "http://www.w3.org/2000/svg";
/** A shorter drag is a click. */
const DRAG_MIN = 4;

export class Histogram {
  #svg;
  #onChosen;
  #view = { fromMs: 0, toMs: 1, step: "1s", buckets: [] };
  #startX;
  #brush;

  constructor(svg, onChosen) {
    this.#svg = svg;
    this.#onChosen = onChosen;
    svg.addEventListener("pointerdown", (event) => this.#begin(event));
    svg.addEventListener("pointermove", (event) => this.#move(event));
    svg.addEventListener("pointerup", (event) => this.#end(event));
    svg.addEventListener("pointercancel", () => this.#drop());
    new ResizeObserver(() => this.#draw()).observe(svg);
  }

  show(view) {
    this.#view = view;
    this.#draw();
  }

  #draw() {
    const { fromMs, toMs, step, buckets } = this.#view;
    const width = this.#svg.clientWidth;
    this.#svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.#svg.replaceChildren();
    if (width === 0) return;
    const top = Math.max(1, ...buckets.map((bucket) => bucket.doc_count));
    const scale = (HEIGHT - FOOT - HEAD) / top;
    const barWidth = Math.max(1, (stepMs(step) / (toMs - fromMs)) * width - 1);
    for (const bucket of buckets) {
      if (bucket.doc_count > 0) this.#drawBar(bucket, barWidth, scale);
    }
    this.#add("line", { x1: 0, x2: width, y1: HEIGHT - FOOT, y2: HEIGHT - FOOT, class: "axis" });
    this.#addText(2, 10, String(top), "start");
    this.#drawTimes(width);
    if (this.#brush !== undefined) this.#svg.append(this.#brush);
  }

  #drawBar(bucket, width, scale) {
    const x = this.#xOf(bucket.key);
    const counts = new Map((bucket.levels?.buckets ?? []).map((one) => [one.key, one.doc_count]));
    const known = LEVELS.map((level) => [level, counts.get(level) ?? 0]);
    const rest = bucket.doc_count - known.reduce((sum, [, count]) => sum + count, 0);
    let y = HEIGHT - FOOT;
    for (const [level, count] of [...known, ["other", rest]]) {
      if (count <= 0) continue;
      const height = Math.max(1, count * scale);
      y -= height;
      const bar = this.#add("rect", { x, y, width, height, class: `level-${level}` });
      const title = document.createElementNS(SVG, "title");
      title.textContent = `${formatTime(bucket.key, false)}: ${bucket.doc_count}`;
      bar.append(title);
    }
  }

  #drawTimes(width) {
    const { fromMs, toMs } = this.#view;
    const isLong = toMs - fromMs > 86_400_000;
    const count = Math.max(2, Math.floor(width / 160));
    for (let index = 0; index <= count; index += 1) {
      const timeMs = fromMs + ((toMs - fromMs) * index) / count;
      const anchor = index === 0 ? "start" : index === count ? "end" : "middle";
      const text = isLong
        ? `${formatDay(timeMs).slice(5)} ${formatTime(timeMs, false).slice(0, 5)}`
        : formatTime(timeMs, false);
      this.#addText((width * index) / count, HEIGHT - 4, text, anchor);
    }
  }

  #begin(event) {
    if (event.button !== 0) return;
    this.#startX = event.offsetX;
    this.#svg.setPointerCapture(event.pointerId);
    this.#brush = this.#add("rect", { y: 0, height: HEIGHT - FOOT, class: "brush", width: 0 });
  }

  #move(event) {
    if (this.#startX === undefined) return;
    this.#brush.setAttribute("x", String(Math.min(this.#startX, event.offsetX)));
    this.#brush.setAttribute("width", String(Math.abs(event.offsetX - this.#startX)));
  }

  #end(event) {
    const startX = this.#startX;
    this.#drop();
    if (startX === undefined) return;
    const { fromMs, toMs, step } = this.#view;
    const [left, right] = [startX, event.offsetX].sort((a, b) => a - b);
    if (right - left >= DRAG_MIN) {
      this.#onChosen(Math.max(fromMs, this.#timeOf(left)), Math.min(toMs, this.#timeOf(right)));
      return;
    }
    const clickedMs = this.#timeOf(startX);
    const bucket = this.#view.buckets.findLast(({ key }) => key <= clickedMs);
    if (bucket !== undefined && bucket.doc_count > 0) {
      this.#onChosen(bucket.key, bucket.key + stepMs(step) - 1);
    }
  }

  #drop() {
    this.#startX = undefined;
    this.#brush?.remove();
    this.#brush = undefined;
  }

  #xOf(timeMs) {
    const { fromMs, toMs } = this.#view;
    return ((timeMs - fromMs) / (toMs - fromMs)) * this.#svg.clientWidth;
  }

  #timeOf(x) {
    const { fromMs, toMs } = this.#view;
    return Math.round(fromMs + (x / this.#svg.clientWidth) * (toMs - fromMs));
  }

  #add(name, attributes) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    this.#svg.append(element);
    return element;
  }

  #addText(x, y, text, anchor) {
    const element = this.#add("text", { x, y, "text-anchor": anchor });
    element.textContent = text;
  }
}
