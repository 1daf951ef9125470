export type { Skill } from "@holdfast/workspace";
export { builtInPlugins } from "./assemble-harness.js";
export * from "./harness-agent.js";
export * from "./harness-agent-builder.js";
export type {
  HarnessAgentOptions,
  HarnessSettings,
  HarnessWorkspaceOptions,
} from "./harness-options.js";
