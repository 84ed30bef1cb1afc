/** Functions that columns of tables name. */
import * as format from "../core/format.js";

/** By the names that the server gives them. */
export const FUNCTIONS = {
  gvizMicroseconds: format.microseconds,
  gvizPercent: format.percent,
  gvizSignedMicroseconds: format.signedMicroseconds,
  gvizSignedPercent: format.signedPercent,
};
