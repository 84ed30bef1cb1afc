/** The DAG as arrays: nodes, edges with bounds, adjacency, colours, picking. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});

  class DagScene {
    /** @param {import("./payload").Payload} payload */
    constructor(payload) {
      const h = payload.header;
      this.header = h;
      this.payload = payload;
      /** Along time: x in ns of a launch, nodes as wide as they took. */
      this.along = h.layout === "time";
      this.halfWidth = payload.half_width;
      this.x = payload.x;
      this.y = payload.y;
      this.nodeId = payload.node_id;
      this.type = payload.type;
      this.name = payload.name;
      this.median = payload.median_ns;
      this.p95 = payload.p95_ns;
      this.body = payload.body_ns;
      this.share = payload.share;
      this.reason = payload.reason;
      this.from = payload.edge_from;
      this.to = payload.edge_to;
      this.edgeType = payload.edge_type;
      this.routeOffset = payload.route_offset;
      this.routeX = payload.route_x;
      this.routeY = payload.route_y;
      this.count = this.x.length;
      this.edgeCount = this.from.length;
      this.halfW = h.node_width / 2;
      this.halfH = h.node_height / 2;
      this.width = h.width;
      this.height = h.height;
      this.grid = this.along
        ? new gviz.Rows(this.x, this.halfWidth, this.y, this.height)
        : new gviz.Grid(this.x, this.y, this.width, this.height);
      this.index = new Map();
      /** Folded: an item may be a fold, and stand for many nodes. */
      this.fold = payload.fold;
      for (let i = 0; i < this.count; i++) for (const id of this.nodesOf(i)) this.index.set(id, i);
      this.overlays = new Map();
      /** Where edges are told apart by what they carry: who is given which memory. */
      this.uses = payload.use_node ? new gviz.DataUses(payload, this) : null;
      this.boundEdges();
      this.joinEdges();
      /** The structural critical path: its nodes in order, and the edges between them. */
      this.critical = payload.critical;
      this.criticalEdges = this.edgesAlong(this.critical);
    }

    /** What nodes are coloured by; made once a name. */
    overlay(name) {
      if (!this.overlays.has(name)) this.overlays.set(name, gviz.overlay.make(this.payload, name));
      return this.overlays.get(name);
    }

    edgesAlong(nodes) {
      const found = [];
      for (let at = 0; at + 1 < nodes.length; at++) {
        for (const e of this.edgesFrom(nodes[at])) if (this.to[e] === nodes[at + 1]) found.push(e);
      }
      return found;
    }

    /** The ids of the nodes that an item stands for. */
    nodesOf(i) {
      const { item_offset: offset, item_nodes: nodes } = this.payload;
      return offset ? nodes.subarray(offset[i], offset[i + 1]) : [this.nodeId[i]];
    }

    isFold(i) {
      return !!this.fold && this.fold[i] >= 0;
    }

    /** The id of the fold that an item is, and of the open fold around it; null: none. */
    foldOf(i) {
      return this.isFold(i) ? this.header.strings[this.fold[i]] : null;
    }

    openAround(i) {
      const at = this.fold ? this.payload.inside[i] : -1;
      return at < 0 ? null : this.header.strings[at];
    }

    /** The times of the blocks of a repeat, ns; empty for anything else. */
    stripOf(i) {
      const { strip_offset: offset, strip_ns: times } = this.payload;
      return offset ? times.subarray(offset[i], offset[i + 1]) : [];
    }

    /** Half the width of a node, in the plane. */
    halfWidthOf(i) {
      return this.along ? this.halfWidth[i] : this.halfW;
    }

    boundEdges() {
      const n = this.edgeCount;
      this.edgeLeft = new Float32Array(n);
      this.edgeRight = new Float32Array(n);
      this.edgeTop = new Float32Array(n);
      this.edgeBottom = new Float32Array(n);
      for (let e = 0; e < n; e++) {
        const a = this.from[e];
        const b = this.to[e];
        let left = Math.min(this.x[a], this.x[b]);
        let right = Math.max(this.x[a], this.x[b]);
        let top = Math.min(this.y[a], this.y[b]);
        let bottom = Math.max(this.y[a], this.y[b]);
        for (let p = this.routeOffset[e]; p < this.routeOffset[e + 1]; p++) {
          left = Math.min(left, this.routeX[p]);
          right = Math.max(right, this.routeX[p]);
          top = Math.min(top, this.routeY[p]);
          bottom = Math.max(bottom, this.routeY[p]);
        }
        this.edgeLeft[e] = left;
        this.edgeRight[e] = right;
        this.edgeTop[e] = top;
        this.edgeBottom[e] = bottom;
      }
    }

    /** Edges by their ends: edgesOut[outStart[i]..outStart[i + 1]], edgesIn alike. */
    joinEdges() {
      const list = (ends) => {
        const start = new Int32Array(this.count + 1);
        for (const node of ends) start[node + 1] += 1;
        for (let i = 0; i < this.count; i++) start[i + 1] += start[i];
        const next = start.slice();
        const edges = new Int32Array(this.edgeCount);
        for (let e = 0; e < this.edgeCount; e++) edges[next[ends[e]]++] = e;
        return [start, edges];
      };
      [this.outStart, this.edgesOut] = list(this.from);
      [this.inStart, this.edgesIn] = list(this.to);
    }

    edgesFrom(i) {
      return this.edgesOut.subarray(this.outStart[i], this.outStart[i + 1]);
    }

    edgesTo(i) {
      return this.edgesIn.subarray(this.inStart[i], this.inStart[i + 1]);
    }

    nameOf(i) {
      return this.header.strings[this.name[i]];
    }

    kindOf(i) {
      return this.header.kinds[this.type[i]] || `type ${this.type[i]}`;
    }

    timed(i) {
      return this.median[i] === this.median[i];
    }

    /** The node under a point of the plane, -1 for none. The slacks widen small nodes. */
    pick(x, y, slackX, slackY) {
      const reach = this.along ? slackX : Math.max(this.halfW, slackX);
      const h = Math.max(this.halfH, slackY);
      let best = -1;
      let near = Infinity;
      this.grid.visit(x - reach, y - h, x + reach, y + h, (i) => {
        const w = Math.max(this.halfWidthOf(i), slackX);
        const dx = Math.abs(this.x[i] - x);
        const dy = Math.abs(this.y[i] - y);
        if (dx <= w && dy <= h && dx + dy < near) {
          near = dx + dy;
          best = i;
        }
      });
      return best;
    }
  }

  gviz.DagScene = DagScene;
})();
