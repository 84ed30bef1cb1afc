/**
 * Fills the inspector of the graph page. It hears of a selection where it is made and asks the
 * server itself: through Dash a click would take several times as long.
 */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  const SILENT = "gviz does not answer: it was stopped, or the connection is gone.";

  /** Of the page shown; a new page has a new box. @type {gviz.Inspector|null} */
  let inspector = null;

  function current() {
    const box = document.getElementById("inspector-body");
    if (!box) return null;
    if (inspector?.box !== box) {
      inspector = new gviz.Inspector(box, (ids) => gviz.bus.group(gviz.bus.PAGE).select(ids));
    }
    return inspector;
  }

  /** @param {string} source @param {number[]} ids */
  async function show(source, ids) {
    const shown = current();
    if (!shown || !source) return;
    const body = JSON.stringify(ids);
    try {
      await shown.show(`${source} ${body}`, async () => {
        const { parts, place } = await gviz.payload.loadJson(source, undefined, body);
        return gviz.parts.make(parts, place);
      });
    } catch (error) {
      shown.say(error instanceof gviz.payload.Refusal ? error.message : SILENT);
    }
  }

  /** A link to another page of ours needs no new document. */
  function follow(event) {
    const link = event.target.closest?.("#inspector-body a[href]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    gviz.history.go(link.getAttribute("href"));
  }

  document.addEventListener("click", follow);
  document.addEventListener("gviz-select", ({ detail }) => {
    // Other pages have selections too.
    if (!document.getElementById("inspector-body")) return;
    const source = gviz.dashProps.propsOf("inspector-source").data;
    gviz.pageInspector.filling = show(source, detail);
  });

  gviz.pageInspector = {
    show,
    say: (text) => current()?.say(text),
    /** Settled once the inspector tells of the last selection, or of why it does not. */
    filling: Promise.resolve(),
  };
})();
