/** The Dash component of a single view, on the page's own React. Python side: gviz.app.components.canvases. */
import { openView } from "../page/views.js";

/** @param {string} viewName */
function component(viewName) {
  /** @param {any} props */
  function View(props) {
    const box = React.useRef(null);
    const frame = React.useRef(null);
    React.useEffect(() => {
      frame.current = openView(box.current, viewName, props);
      // Dark and light are the document's.
      const observer = new MutationObserver(() => frame.current.update(frame.current.props));
      observer.observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
      return () => {
        observer.disconnect();
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

export const Timeline = component("Timeline");
