import { broken, type Finding, fine } from "./finding.js";
import { atLeast } from "./version.js";

/** As in the packages' `engines`. */
const OLDEST_NODE = "20.19.0";

/** Whether this Node can run Holdfast. */
export function checkNode(version: string = process.versions.node): Finding {
  if (atLeast(version, OLDEST_NODE)) return fine("node", version);
  return broken("node", `${version} is too old`, `install Node ${OLDEST_NODE} or later`);
}
