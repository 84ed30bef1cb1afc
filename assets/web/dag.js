/** The DAG view: transform, gestures, keys. Drawing is in dag_draw.js, data in dag_scene.js. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  gviz.views = gviz.views || {};
  const MOST_ZOOM = 2.5;
  const FIT_MARGIN = 28;
  /** A fit never enlarges beyond this: three nodes as wide as the screen help nobody. */
  const FIT_ZOOM = 1.15;
  /** Showing a node zooms in to at least this, so that its name can be read. */
  const READ_ZOOM = 0.7;
  /** A node of this height on screen (CSS pixels) is seen without zooming in. */
  const SEEN = 5;

  const EDGES_UNKNOWN = "Dependencies unknown: nodes stand in the order of their ids.";
  /** Height of that remark under the nodes. */
  const REMARK = 22;

  class Dag {
    /** @param {gviz.Frame} frame */
    constructor(frame) {
      this.frame = frame;
      this.transform = { k: 1, x: 0, y: 0 };
      this.stop = () => {};
      this.drawn = { level: "", visible: 0 };
    }

    label(payload) {
      const { graph_name: name } = payload.header;
      const nodes = gviz.format.counted(payload.x.length, "node");
      const edges = gviz.format.counted(payload.edge_from.length, "edge");
      return `DAG of ${name}: ${nodes}, ${edges}. Arrow keys follow dependencies, f fits.`;
    }

    load(payload) {
      this.scene = new gviz.DagScene(payload);
      this.minimap = new gviz.Minimap(this.scene);
      const kinds = new Set();
      let untimed = false;
      for (let i = 0; i < this.scene.count; i++) {
        kinds.add(this.scene.kindOf(i));
        untimed = untimed || !this.scene.timed(i);
      }
      this.facts = { scale: payload.header.scale, kinds: Array.from(kinds).sort(), untimed };
      this.fit(false);
      if (!payload.header.edges_known) this.frame.remark(EDGES_UNKNOWN);
      if (!this.scene.count) this.frame.say("This graph has no nodes.");
    }

    style() {
      const { frame } = this;
      const key = `${frame.theme.name} ${frame.size.ratio}`;
      if (key !== this.patternKey) {
        this.patternKey = key;
        this.pattern = gviz.canvas.hatch(frame.ctx, frame.theme, frame.size.ratio);
      }
      const colour = frame.props.colour === "kind" ? "kind" : "duration";
      return { transform: this.transform, theme: frame.theme, colour, pattern: this.pattern };
    }

    draw(ctx, size) {
      if (this.fitted) this.place(this.fitTransform());
      const { group } = this.frame;
      const style = this.style();
      const at = (id) => this.scene.index.get(id) ?? -1;
      const marks = {
        selected: group.selected.map(at).filter((i) => i >= 0),
        hovered: group.hovered === null ? -1 : at(group.hovered),
      };
      this.drawn = gviz.dagDraw.draw(ctx, this.scene, style, marks, size);
      gviz.dagFilter.veil(ctx, this.scene, group.filtered, this.transform, size);
      gviz.legend.draw(ctx, style, this.facts, size);
      this.minimap.draw(ctx, style, gviz.dagDraw.viewOf(this.transform, size), size);
    }

    // -- transform --------------------------------------------------------------------

    place(transform) {
      this.transform = transform;
    }

    /** @param {{k: number, x: number, y: number}} to */
    glide(to) {
      this.stop();
      this.fitted = false;
      const from = this.transform;
      this.stop = gviz.canvas.animate(220, (t) => {
        const k = from.k * (to.k / from.k) ** t;
        // Scale and shift are eased together so that the motion follows one line.
        const f = to.k === from.k ? t : (k - from.k) / (to.k - from.k);
        this.place({ k, x: from.x + f * (to.x - from.x), y: from.y + f * (to.y - from.y) });
        this.frame.redraw();
      });
    }

    fitTransform() {
      const { width, height } = this.frame.size;
      const { scene } = this;
      const margin = Math.min(FIT_MARGIN, width / 20, height / 20);
      // The legend and the buttons stand above what is shown.
      const top = height > 240 ? gviz.legend.SPACE + margin / 2 : margin;
      const under = scene.header.edges_known ? 0 : REMARK;
      const room = { w: width - 2 * margin, h: height - top - margin - under };
      const k = Math.min(FIT_ZOOM, room.w / Math.max(1, scene.width), room.h / Math.max(1, scene.height));
      const safe = Math.max(1e-4, k);
      return {
        k: safe,
        x: (width - scene.width * safe) / 2,
        y: top + (room.h - scene.height * safe) / 2,
      };
    }

    fit(smooth) {
      if (smooth) this.glide(this.fitTransform());
      else {
        this.place(this.fitTransform());
        // Follows the box until the first gesture: it may still be growing.
        this.fitted = true;
      }
      this.frame.redraw();
    }

    least() {
      return Math.min(this.fitTransform().k * 0.5, 1);
    }

    zoom(x, y, factor) {
      if (!this.scene) return;
      this.stop();
      this.fitted = false;
      const t = this.transform;
      const k = Math.max(this.least(), Math.min(MOST_ZOOM, t.k * factor));
      const f = k / t.k;
      this.place({ k, x: x - (x - t.x) * f, y: y - (y - t.y) * f });
      this.frame.redraw();
    }

    zoomBy(factor) {
      this.zoom(this.frame.size.width / 2, this.frame.size.height / 2, factor);
    }

    pan(dx, dy) {
      if (!this.scene) return;
      this.stop();
      this.fitted = false;
      const { k, x, y } = this.transform;
      this.place({ k, x: x + dx, y: y + dy });
      this.frame.redraw();
    }

    centre(x, y, k) {
      const { width, height } = this.frame.size;
      return { k, x: width / 2 - x * k, y: height / 2 - y * k };
    }

    /** Bring a node into view, near enough to read it. */
    show(id) {
      const i = this.scene.index.get(id);
      if (i === undefined) return;
      const { k } = this.transform;
      // What can be seen already stays where it is: a view that jumps loses its reader.
      if (this.onScreen(i) && 2 * this.scene.halfH * k >= SEEN) return this.frame.redraw();
      this.glide(this.centre(this.scene.x[i], this.scene.y[i], Math.max(READ_ZOOM, k)));
    }

    onScreen(i) {
      const { k, x, y } = this.transform;
      const { width, height } = this.frame.size;
      const sx = this.scene.x[i] * k + x;
      const sy = this.scene.y[i] * k + y;
      return sx > 8 && sy > 8 && sx < width - 8 && sy < height - 8;
    }

    // -- gestures ---------------------------------------------------------------------

    nodeAt(x, y) {
      const { k, x: tx, y: ty } = this.transform;
      return this.scene.pick((x - tx) / k, (y - ty) / k, 4 / k);
    }

    grab(x, y) {
      const spot = this.scene && this.minimap.toPlane(x, y);
      if (spot) this.drag(x, y);
      return !!spot;
    }

    drag(x, y) {
      const spot = this.minimap.toPlane(x, y);
      if (!spot) return;
      this.stop();
      this.fitted = false;
      this.place(this.centre(spot.x, spot.y, this.transform.k));
      this.frame.redraw();
    }

    click(x, y, event) {
      if (!this.scene) return;
      const i = this.nodeAt(x, y);
      this.frame.pick(i < 0 ? null : this.scene.nodeId[i], event);
    }

    double(x, y) {
      if (!this.scene || this.minimap.toPlane(x, y)) return;
      const i = this.nodeAt(x, y);
      const { k } = this.transform;
      if (i < 0 || k >= READ_ZOOM) this.fit(true);
      else this.glide(this.centre(this.scene.x[i], this.scene.y[i], 1));
    }

    hover(x, y) {
      if (!this.scene) return;
      const outside = x === null || this.minimap.toPlane(x, y);
      const i = outside ? -1 : this.nodeAt(x, y);
      this.frame.group.hover(i < 0 ? null : this.scene.nodeId[i]);
      this.frame.tip(i < 0 ? null : this.describe(i), x, y);
    }

    describe(i) {
      const { scene } = this;
      const rows = [[scene.nameOf(i)], ["kind", scene.kindOf(i)]];
      if (scene.timed(i)) {
        rows.push(["median", gviz.format.time(scene.median[i])]);
        rows.push(["95th percentile", gviz.format.time(scene.p95[i])]);
      } else if (Number.isFinite(scene.body[i])) {
        rows.push(["body, mean of a launch", gviz.format.time(scene.body[i])]);
      } else {
        const reason = scene.reason[i];
        rows.push(["not timed", reason < 0 ? "no launch recorded" : scene.header.strings[reason]]);
      }
      if (Number.isFinite(scene.share[i])) {
        rows.push(["share of launch", gviz.format.percent(scene.share[i])]);
      }
      if (scene.header.edges_known) {
        rows.push(["waits for", gviz.format.counted(scene.edgesTo(i).length, "node")]);
        rows.push(["awaited by", gviz.format.counted(scene.edgesFrom(i).length, "node")]);
      }
      return rows;
    }

    // -- keys -------------------------------------------------------------------------

    key(event) {
      const { selected } = this.frame.group;
      const current = this.scene.index.get(selected[selected.length - 1]);
      const step = { ArrowDown: "down", ArrowUp: "up", ArrowLeft: "left", ArrowRight: "right" };
      const way = step[event.key];
      if (!way || !this.scene.count) return false;
      const next = current === undefined ? 0 : this.neighbour(current, way);
      if (next >= 0) {
        this.frame.group.select([this.scene.nodeId[next]]);
        this.reveal(next);
      }
      return true;
    }

    /** The dependent below, the dependency above, or the nearest node to a side in the row. */
    neighbour(i, way) {
      const { scene } = this;
      const nearest = (ends) => {
        const far = (n) => Math.abs(scene.x[n] - scene.x[i]) + Math.abs(scene.y[n] - scene.y[i]);
        return ends.length ? ends.reduce((a, b) => (far(b) < far(a) ? b : a)) : -1;
      };
      if (way === "down") return nearest(Array.from(scene.edgesFrom(i), (e) => scene.to[e]));
      if (way === "up") return nearest(Array.from(scene.edgesTo(i), (e) => scene.from[e]));
      const sign = way === "left" ? -1 : 1;
      const row = [];
      const y = scene.y[i];
      scene.grid.visit(0, y - 1, scene.width, y + 1, (n) => {
        if (Math.abs(scene.y[n] - y) < 1 && sign * (scene.x[n] - scene.x[i]) > 1) row.push(n);
      });
      return nearest(row);
    }

    /** Pan just enough that a node is on screen. */
    reveal(i) {
      const { k, x, y } = this.transform;
      const { width, height } = this.frame.size;
      const margin = 60;
      const sx = this.scene.x[i] * k + x;
      const sy = this.scene.y[i] * k + y;
      const dx = Math.max(0, margin - sx) + Math.min(0, width - margin - sx);
      const dy = Math.max(0, margin - sy) + Math.min(0, height - margin - sy);
      if (dx || dy) this.glide({ k, x: x + dx, y: y + dy });
    }

    // -- what tests ask ---------------------------------------------------------------

    locate(id) {
      const i = this.scene.index.get(id);
      if (i === undefined) return null;
      const { k, x, y } = this.transform;
      return { x: this.scene.x[i] * k + x, y: this.scene.y[i] * k + y };
    }

    state() {
      return {
        nodeCount: this.scene.count,
        edgeCount: this.scene.edgeCount,
        transform: { ...this.transform },
        ...this.drawn,
        minimap: this.minimap.at,
      };
    }
  }

  gviz.views.Dag = (frame) => new Dag(frame);
})();
