import type { AgentStateStore } from "@holdfast/core";

export function open(location: string): AgentStateStore;
