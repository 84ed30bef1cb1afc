/** The Dash components of the views, on the page's own React. Python side: gviz.app.components.canvases. */
(function () {
  "use strict";

  function component(viewName) {
    function View(props) {
      const box = React.useRef(null);
      const frame = React.useRef(null);
      React.useEffect(() => {
        const early = window.gviz.firstPage?.takeOver(props.id, box.current, props);
        frame.current = early || new window.gviz.Frame(box.current, viewName, props);
        return () => {
          frame.current.destroy();
          frame.current = null;
        };
        // Another group is another view; every other property is passed on below.
      }, [props.group]);
      React.useEffect(() => {
        if (frame.current) frame.current.update(props);
      });
      return React.createElement("div", {
        id: props.id,
        className: "gviz-canvas-box",
        style: props.style,
        ref: box,
      });
    }
    View.displayName = viewName;
    return View;
  }

  window.gviz_canvas = Object.assign(window.gviz_canvas || {}, {
    Dag: component("Dag"),
    Timeline: component("Timeline"),
    Memory: component("Memory"),
  });
})();
