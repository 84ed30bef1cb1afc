/** The DAG as arrays: nodes, edges with bounds, adjacency, colours, picking. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});

  class DagScene {
    /** @param {import("./payload").Payload} payload */
    constructor(payload) {
      const h = payload.header;
      this.header = h;
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
      this.grid = new gviz.Grid(this.x, this.y, this.width, this.height);
      this.index = new Map();
      for (let i = 0; i < this.count; i++) this.index.set(this.nodeId[i], i);
      this.step = new Uint8Array(this.count);
      for (let i = 0; i < this.count; i++) this.step[i] = gviz.colour.step(h.scale, this.median[i]);
      this.inOrder = this.sortByColour();
      this.boundEdges();
      this.joinEdges();
    }

    /** Node indices by kind and colour: neighbours in this order share a fill. */
    sortByColour() {
      const start = new Int32Array(257);
      for (const s of this.step) start[s + 1] += 1;
      for (let s = 0; s < 256; s++) start[s + 1] += start[s];
      const order = new Int32Array(this.count);
      for (let i = 0; i < this.count; i++) order[start[this.step[i]]++] = i;
      return order;
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

    /** The node under a point of the plane, -1 for none. `slack` widens small nodes. */
    pick(x, y, slack) {
      const w = Math.max(this.halfW, slack);
      const h = Math.max(this.halfH, slack);
      let best = -1;
      let near = Infinity;
      this.grid.visit(x - w, y - h, x + w, y + h, (i) => {
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
