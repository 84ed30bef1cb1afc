/** The small picture of a run: an SVG of the server's (gviz.app.views.miniature_picture), fetched once in sight. */
import { element } from "../core/parts.js";
import * as payloads from "../core/payload.js";

/** @param {HTMLElement} box @param {string} source @param {AbortSignal} signal */
async function load(box, source, signal) {
  try {
    const text = await payloads.loadText(source, signal);
    const picture = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const title = picture.querySelector("title");
    const words = title?.textContent ?? "";
    const caption = element("div", { class: "gv-mini-words" }, words);
    box.setAttribute("aria-label", words);
    title?.remove();
    box.replaceChildren(picture, caption);
  } catch (error) {
    if (!signal.aborted) box.textContent = `No picture: ${/** @type {Error} */ (error).message}`;
  }
}

/** The component. @param {{source: string}} props */
export function Miniature({ source }) {
  const box = React.useRef(null);
  React.useEffect(() => {
    const loading = new AbortController();
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      load(box.current, source, loading.signal);
    }, { rootMargin: "200px" });
    seen.observe(box.current);
    return () => {
      seen.disconnect();
      loading.abort();
    };
  }, [source]);
  return React.createElement("div", { className: "gv-mini", role: "img", "aria-label": "Picture of a launch", ref: box });
}
