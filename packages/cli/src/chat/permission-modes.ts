import type { PermissionMode } from "@holdfast/core";

/** Modes of permissions, each with its effect on tool calls that no rule decides. */
export const permissionModes: Readonly<Record<PermissionMode, string>> = {
  default: "tools that change something ask",
  accept_edits: "files in the workspace are changed without asking",
  explore: "tools that change something are denied",
  bypass: "everything runs, except what rules ask about or deny",
  dont_ask: "what would ask is denied",
};

/** Returns the mode of that name; undefined when there is none. */
export function permissionModeOf(name: string): PermissionMode | undefined {
  return Object.hasOwn(permissionModes, name) ? (name as PermissionMode) : undefined;
}
