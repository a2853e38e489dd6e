"use strict";
/* Text from the data enters the page by textContent alone, never as HTML. */
(async () => {
  const byId = (id) => document.getElementById(id);
  const readJson = (id) => JSON.parse(byId(id).textContent);
  const meta = readJson("meta");
  const SVG = "http://www.w3.org/2000/svg";
  const GREY = "var(--grey)";
  const NO_MATCH = 255;
  const MOST_LETTERS = 4;  // of a label in a node; all of it is its tooltip

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }
  function shape(parent, tag, attributes, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  async function unpack() {
    const bytes = Uint8Array.from(atob(byId("arrays").textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const buffer = await new Response(stream).arrayBuffer();
    const types = { Uint8Array, Uint16Array, Uint32Array, Int32Array, Float32Array };
    const arrays = {};
    for (const [name, [type, first, length]] of Object.entries(meta.arrays)) {
      arrays[name] = new types[type](buffer, first, length);
    }
    return arrays;
  }

  /* Drawings */

  function graphAt(index) {
    const a = data.node_offsets[index], b = data.node_offsets[index + 1];
    const e = data.edge_offsets[index], f = data.edge_offsets[index + 1];
    return {
      n: b - a,
      xy: data.positions.subarray(2 * a, 2 * b),
      labels: data.labels.subarray(a, b),
      edges: data.edges.subarray(2 * e, 2 * f),
      orders: data.orders.subarray(e, f),
    };
  }

  const hues = new Map();
  function labelColour(code) {
    if (!hues.has(code)) hues.set(code, `hsl(${(code * 137.5 + 200) % 360} 45% 62%)`);
    return code ? hues.get(code) : "var(--node)";
  }

  /* One colour per node, by the angle around the middle, so that neighbours are alike. */
  function coloursAround(graph) {
    const { n, xy } = graph;
    let x = 0, y = 0;
    for (let i = 0; i < n; i++) { x += xy[2 * i] / n; y += xy[2 * i + 1] / n; }
    const angle = (i) => Math.atan2(xy[2 * i + 1] - y, xy[2 * i] - x);
    const order = [...Array(n).keys()].sort((i, j) => angle(i) - angle(j));
    const colours = new Array(n);
    order.forEach((node, rank) => {
      colours[node] = `hsl(${(360 * rank) / n} 75% ${rank % 2 ? 62 : 76}%)`;
    });
    return colours;
  }

  /* Few nodes are large ones, and neighbours stand apart from each other. */
  function radiusOf({ n, xy, edges, orders }) {
    const lengths = Array.from(orders, (_, e) => {
      const u = edges[2 * e], v = edges[2 * e + 1];
      return Math.hypot(xy[2 * u] - xy[2 * v], xy[2 * u + 1] - xy[2 * v + 1]);
    }).sort((a, b) => a - b);
    const room = lengths.length ? 0.42 * lengths[Math.floor(lengths.length / 5)] : Infinity;
    return Math.max(2.5, Math.min(13, 70 / Math.sqrt(n) ** 1.15, room));
  }

  function draw(index, colours, title) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", "drawing");
    svg.setAttribute("role", "img");
    shape(svg, "title", {}, title);
    const graph = graphAt(index);
    if (!graph.n) {
      svg.setAttribute("viewBox", "0 67 255 120");
      shape(svg, "text", { class: "words", x: 127, y: 127, "font-size": 17 },
        data.sizes[2 * index] ? `${data.sizes[2 * index]} nodes, not drawn` : "no nodes");
      return svg;
    }
    const { xy } = graph;
    let low = 255, high = 0;
    for (let i = 0; i < graph.n; i++) {
      low = Math.min(low, 255 - xy[2 * i + 1]);
      high = Math.max(high, 255 - xy[2 * i + 1]);
    }
    const margin = 22 + Math.max(0, (80 - (high - low)) / 2);
    svg.setAttribute("viewBox", `-22 ${low - margin} 299 ${high - low + 2 * margin}`);
    const radius = radiusOf(graph);
    for (let e = 0; e < graph.orders.length; e++) {
      const u = graph.edges[2 * e], v = graph.edges[2 * e + 1];
      const [x1, y1, x2, y2] = [xy[2 * u], 255 - xy[2 * u + 1], xy[2 * v], 255 - xy[2 * v + 1]];
      const length = Math.hypot(x2 - x1, y2 - y1) || 1;
      const order = graph.orders[e], lines = order === 4 ? 2 : order;
      for (let line = 0; line < lines; line++) {
        const shift = (line - (lines - 1) / 2) * 5;
        const dx = (shift * (y1 - y2)) / length, dy = (shift * (x2 - x1)) / length;
        const dash = order === 4 && line ? { "stroke-dasharray": "5 4" } : {};
        shape(svg, "line", { class: "bond", x1: x1 + dx, y1: y1 + dy, x2: x2 + dx, y2: y2 + dy,
          "stroke-width": Math.max(0.8, radius / 6), ...dash });
      }
    }
    for (let i = 0; i < graph.n; i++) {
      const fill = colours ? colours[i] : labelColour(graph.labels[i]);
      const at = { cx: xy[2 * i], cy: 255 - xy[2 * i + 1], r: radius };
      const circle = shape(svg, "circle", { class: "node", ...at, "stroke-width": radius / 9 });
      circle.style.fill = fill;
      const text = meta.label_names[graph.labels[i]];
      if (text) shape(circle, "title", {}, text);
      if (text && radius > 5) {
        const letters = [...text];
        const short = letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join("")}…` : text;
        const size = Math.min(radius * 1.15, (radius * 2.6) / [...short].length);
        shape(svg, "text", { x: at.cx, y: at.cy, "font-size": size }, short);
      }
    }
    return svg;
  }

  /* Words */

  const nameOf = (index) => (meta.ids && meta.ids[index] !== null ? String(meta.ids[index]) : `graph ${index}`);
  const number = (value, digits = 4) => Number(value.toPrecision(digits)).toString();
  const ofTarget = (value) => number(value, 6);  // as many as single precision holds
  function targetText(index) {
    if (!meta.target) return "";
    if (meta.target.classes) {
      const own = meta.target.classes[data.target[index]];
      const predicted = data.predicted ? meta.target.classes[data.predicted[index]] : null;
      return `${own}` + (predicted === null ? "" : `, predicted ${predicted}`);
    }
    return ofTarget(data.target[index]) + (data.predicted ? `, predicted ${number(data.predicted[index])}` : "");
  }
  function facts(index) {
    const sizes = `${data.sizes[2 * index]} nodes, ${data.sizes[2 * index + 1]} edges`;
    const target = targetText(index);
    return target ? [`target ${target}`, sizes] : [sizes];
  }

  /* The panel beside the map */

  let selected = -1;
  function show(index, { fromMap = false } = {}) {
    if (!(index >= 0 && index < meta.n_graphs)) return;
    selected = index;
    byId("map-status").textContent = "";
    byId("which").value = meta.ids && meta.ids[index] !== null ? String(meta.ids[index]) : String(index);
    const box = byId("graph");
    box.replaceChildren(make("p", { class: "name" }, nameOf(index)));
    for (const fact of facts(index)) box.append(make("p", { class: "muted" }, fact));
    const pair = make("div", { class: "pair" }, draw(index, null, nameOf(index)));
    box.append(pair);
    const k = meta.n_neighbors, list = make("div", { class: "list" });
    const words = make("p", { class: "muted" });
    const buttons = [];
    for (let place = 0; place < k; place++) {
      const other = data.neighbours[index * k + place];
      if (other < 0) continue;
      const distance = data.distances[index * k + place];
      const button = make("button",
        { type: "button", "aria-pressed": "false", "aria-label": `${nameOf(other)}, distance ${number(distance)}` },
        draw(other, null, nameOf(other)), make("span", {}, nameOf(other)), make("span", {}, number(distance)));
      button.addEventListener("click", () => {
        buttons.forEach((b) => b.setAttribute("aria-pressed", String(b === button)));
        align(index, place, other, pair, words);
      });
      button.addEventListener("dblclick", () => show(other));
      buttons.push(button);
      list.append(button);
    }
    if (buttons.length) box.append(make("h3", {}, "Nearest graphs and their distances"), list, words);
    if (buttons.length) buttons[0].click();
    if (!fromMap && mapSource) {
      mapSource.selected.indices = [index];
    }
  }

  function align(index, place, other, pair, words) {
    const at = index * meta.n_neighbors + place;
    const matches = data.matches.subarray(data.match_offsets[at], data.match_offsets[at + 1]);
    const open = make("button", { type: "button", class: "go" }, `Go to ${nameOf(other)}`);
    open.addEventListener("click", () => { show(other); byId("which").focus(); });
    words.replaceChildren();
    if (!matches.length) {
      pair.replaceChildren(draw(index, null, nameOf(index)), draw(other, null, nameOf(other)));
      words.append(`Distance ${number(data.distances[at])}. `, open);
      return;
    }
    const colours = coloursAround(graphAt(index));
    const theirs = Array.from(matches, (node) => (node === NO_MATCH ? GREY : colours[node]));
    pair.replaceChildren(draw(index, colours, nameOf(index)), draw(other, theirs, nameOf(other)));
    const parts = meta.kinds.map((kind, i) => [kind, data.parts[at * meta.kinds.length + i]])
      .filter(([, value]) => value > 1e-6).map(([kind, value]) => `${kind} ${number(value)}`);
    const split = parts.length > 1 ? ` = ${parts.join(" + ")}` : parts.length ? `, of ${parts[0].split(" ")[0]} alone` : "";
    words.append(`Distance ${number(data.distances[at])}${split}. Nodes of the same colour are matched; `,
      "one that is matched with several has the colour of the largest share. ", open);
  }

  /* Charts */

  const MAP_HEIGHT = 520;
  let mapSource = null;
  async function charts() {
    for (const script of document.querySelectorAll("script[data-chart]")) {
      const item = JSON.parse(script.textContent);
      await Bokeh.embed.embed_item(item, script.dataset.chart);
    }
    colour();
    let map = null;
    for (const doc of Bokeh.documents) {
      map = doc.get_model_by_name("map") || map;
      mapSource = doc.get_model_by_name("map-source") || mapSource;
    }
    fit(map);
    addEventListener("resize", () => fit(map));
    if (!mapSource) return;
    mapSource.selected.properties.indices.change.connect(() => {
      const [index] = mapSource.selected.indices;
      if (index !== undefined && index !== selected) show(index, { fromMap: true });
    });
    const box = byId("hover");
    let pointer = [0, 0];
    const put = () => {
      const [x, y] = pointer, width = box.offsetWidth;
      box.style.left = `${Math.max(4, x + 16 + width > innerWidth ? x - 16 - width : x + 16)}px`;
      box.style.top = `${Math.max(4, Math.min(y + 12, innerHeight - box.offsetHeight - 4))}px`;
    };
    mapSource.inspect.connect(() => {
      const [index] = mapSource.inspected.indices;
      box.hidden = index === undefined;
      if (box.hidden || Number(box.dataset.index) === index) return;
      box.dataset.index = index;
      box.replaceChildren(draw(index, null, nameOf(index)), make("div", { class: "name" }, nameOf(index)),
        ...facts(index).map((fact) => make("div", { class: "muted" }, fact)));
      put();
    });
    const place = byId("chart-map");
    place.addEventListener("pointermove", (event) => {
      pointer = [event.clientX, event.clientY];
      put();
    });
    place.addEventListener("pointerleave", () => { box.hidden = true; delete box.dataset.index; });
  }

  /* About a square on a phone, so that the panel below is in view. */
  function fit(map) {
    if (!map) return;
    const height = Math.min(MAP_HEIGHT, Math.max(300, byId("chart-map").clientWidth));
    if (map.height !== height) map.height = height;
  }

  /* Charts are drawn on canvases, which know no style sheets. */
  const dark = matchMedia("(prefers-color-scheme: dark)");
  function colour() {
    const style = getComputedStyle(document.documentElement);
    const [text, muted, line] = ["--text", "--muted", "--line"].map((name) => style.getPropertyValue(name).trim());
    const wanted = {
      major_label_text_color: muted, axis_label_text_color: muted, axis_line_color: line,
      major_tick_line_color: line, minor_tick_line_color: null, grid_line_color: line,
      border_fill_color: null, background_fill_color: null, outline_line_color: line,
    };
    for (const doc of Bokeh.documents) {
      for (const model of doc._all_models.values()) {
        const own = {};
        for (const [name, value] of Object.entries(wanted)) if (name in model.properties) own[name] = value;
        if (Object.keys(own).length) model.setv(own);
        if (model.type === "Title" || model.name === "in-colour-of-text") model.setv({ text_color: text });
      }
    }
  }
  dark.addEventListener("change", colour);

  /* Anchors */

  function anchors() {
    const box = byId("anchors");
    if (!box) return;
    for (const group of meta.anchors) {
      const list = make("div", { class: "anchors" });
      for (const anchor of group.anchors) {
        const graph = graphAt(anchor.graph), marked = new Set(anchor.nodes);
        const colours = Array.from({ length: graph.n }, (_, i) => (marked.has(i) ? "#f2a93b" : "var(--node)"));
        const open = make("button", { type: "button" }, nameOf(anchor.graph));
        open.addEventListener("click", () => { show(anchor.graph); byId("map").scrollIntoView(); });
        list.append(make("figure", {}, draw(anchor.graph, colours, nameOf(anchor.graph)),
          make("figcaption", {}, open, make("br"), `${anchor.importance > 0 ? "+" : ""}${number(anchor.importance, 3)}, ${anchor.column}`)));
      }
      box.append(make("h3", {}, group.title), list);
    }
  }

  /* Keys and the form */

  function find(text) {
    const wanted = text.trim();
    if (meta.ids) {
      const at = meta.ids.findIndex((id) => id !== null && String(id) === wanted);
      if (at >= 0) return at;
    }
    return /^\d+$/.test(wanted) && Number(wanted) < meta.n_graphs ? Number(wanted) : -1;
  }
  function step(by) { show((Math.max(selected, 0) + by + meta.n_graphs) % meta.n_graphs); }

  let data;
  try {
    data = await unpack();
  } catch (error) {
    byId("graph").textContent = `This browser cannot unpack the drawings (${error}): use one of 2023 or later.`;
    await charts();
    return;
  }
  byId("choose").addEventListener("submit", (event) => {
    event.preventDefault();
    const index = find(byId("which").value);
    if (index < 0) byId("map-status").textContent = "there is no graph of this id or number";
    else show(index);
  });
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  const list = byId("legend");
  if (list && meta.target && meta.target.classes) {
    meta.target.classes.forEach((name, i) => {
      if (i >= meta.target.colours.length) return;
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = meta.target.colours[i];
      list.append(make("li", {}, swatch, String(name)));
    });
  } else if (list && meta.target) {
    const ramp = make("span", { class: "ramp" });
    ramp.style.background = `linear-gradient(90deg, ${meta.target.colours.join(", ")})`;
    list.append(make("li", {}, ofTarget(meta.target.least), ramp, ofTarget(meta.target.most)));
  }
  anchors();
  await charts();
  show(meta.first);
  document.documentElement.dataset.ready = "true";
})();
