/** The application: what Dash finds by name, and what listens on its pages. */
import * as bus from "../core/bus.js";
import * as canvas from "../core/canvas.js";
import * as payload from "../core/payload.js";
import * as keys from "../page/keys.js";
import * as split from "../page/split.js";
import * as chart from "./chart.js";
import * as component from "./component.js";
import * as contents from "./contents.js";
import * as graphPage from "./graph_page.js";
import * as grid from "./grid.js";
import * as pageHistory from "./history.js";
import * as links from "./links.js";
import { Miniature } from "./miniature.js";
import * as picks from "./picks.js";
import * as places from "./places.js";
import * as progress from "./progress.js";
import * as ranks from "./ranks.js";
import * as runs from "./runs.js";
import { startDash, whenShown } from "./start.js";
import * as pageState from "./state.js";
import * as upload from "./upload.js";

// For tests and benchmarks.
window.gviz = { bus, canvas, payload };
// Names in gviz.app.components.canvases, in its clientside callbacks, and in columns of its tables.
window.gviz_canvas = { ...component, Chart: chart.Chart, GraphPage: graphPage.GraphPage, Miniature };
window.dash_clientside = {
  ...window.dash_clientside,
  gvizHistory: pageHistory,
  gvizPage: links,
  gvizRanks: ranks,
  gvizRuns: runs,
  gvizState: pageState,
};
const { gvizBar, gvizCount, gvizDuration, GvizLink, GvizName, GvizPick } = runs;
window.dashAgGridFunctions = { gvizBar, gvizCount, gvizDuration };
window.dashAgGridComponentFunctions = { GvizLink, GvizName, GvizPick };

for (const part of [progress, keys, split, graphPage, links, places, contents, picks, ranks, pageState, upload]) part.listen();
grid.standIn();
chart.begin();
pageHistory.leaveTo(graphPage.go, graphPage.state);
startDash(graphPage.begin());
whenShown(graphPage.leave);
