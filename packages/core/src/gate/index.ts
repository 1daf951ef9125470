export * from "./in-process-gate.js";
