export type { Skill } from "@holdfast/workspace";
export * from "./harness-agent.js";
export * from "./harness-agent-builder.js";
export type {
  HarnessAgentOptions,
  HarnessSettings,
  HarnessWorkspaceOptions,
} from "./harness-options.js";
export { builtInPlugins } from "./plugin-order.js";
