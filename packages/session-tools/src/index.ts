export { sessionTools } from "./session-tools.js";
export type { SessionToolsOptions } from "./session-tools-options.js";
