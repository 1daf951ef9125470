export type { DemoColors, DemoTerminal } from "./demo-terminal.js";
export type { Outcome, TokenFigures, TurnTokens } from "./outcome/outcome.js";
export { type DemoOptions, runDemo } from "./run-demo.js";
