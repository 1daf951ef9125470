import type { PortName } from "../../middleware/plugin.js";
import { showValue } from "../../plugin-kit/show-value.js";

/** Ports that a plugin may provide; typed so that a new port cannot be forgotten. */
const isProvidable: { readonly [P in PortName]: boolean } = {
  stateStore: true,
  log: true,
  keyValue: true,
  gate: true,
  signals: true,
  filesystem: true,
  offloader: true,
  tokenCounter: true,
  compactor: true,
  toolGuard: true,
  // An agent is always built with a model, so that one of a plugin could never be used.
  model: false,
};

/** Returns the problem of what a plugin provides, or null; a port that is never used must not be accepted. */
export function provideProblem(port: string, implementation: unknown): string | null {
  if (port === "model")
    return "provides a model, and an agent asks the one it was built with; pass it as model, or change the requests in an onModelCall hook";
  if (!Object.hasOwn(isProvidable, port)) {
    const names = Object.entries(isProvidable).flatMap(([name, can]) => (can ? name : []));
    return `provides ${JSON.stringify(port)}, which is not a port; there are: ${names.join(", ")}`;
  }
  const isThere = typeof implementation === "object" || typeof implementation === "function";
  return isThere && implementation !== null
    ? null
    : `provides ${showValue(implementation)} as ${port}; pass an implementation`;
}
