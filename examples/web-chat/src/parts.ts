import { compaction } from "@holdfast/compaction";
import type { Plugin } from "@holdfast/core";
import { permissions } from "@holdfast/permissions";
import { planning } from "@holdfast/planning";

/** Plugins of the agent. */
export const plugins: readonly Plugin[] = [
  permissions(),
  planning(),
  compaction({ triggerRatio: 0.7, keepTokens: 1_200 }),
];

/** Lets the agent list, read and search its user's earlier conversations. */
export const hasSessionTools = true;

/** Lets the agent read and write files of its user. */
export const hasFileTools = true;
