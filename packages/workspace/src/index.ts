export * from "./filesystem/index.js";
export * from "./offload/workspace-offloader.js";
export type { Skill } from "./prompt/skill.js";
export * from "./workspace.js";
