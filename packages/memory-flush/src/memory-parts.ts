import type {
  AgentStateStore,
  ConversationLog,
  EventBody,
  KeyValueStore,
  Model,
  PluginHost,
  SessionGate,
  Slot,
  TokenCounter,
} from "@holdfast/core";
import type { MemoryFiles } from "./files/memory-files.js";
import type { MemoryFlushSettings } from "./memory-flush-options.js";

/** Parts of flushes and consolidations. */
export interface MemoryParts {
  readonly settings: MemoryFlushSettings;
  readonly agentId: string;
  readonly files: MemoryFiles;
  readonly log: ConversationLog;
  readonly stateStore: Pick<AgentStateStore, "load">;
  readonly keyValue: KeyValueStore;
  readonly gate: SessionGate;
  readonly model: Model;
  /** Asks a model inside the hooks of the agent. */
  readonly ask: PluginHost["askModel"];
  counter(): TokenCounter;
  now(): Date;
  emit(slot: Slot, callId: string, event: EventBody): void;
}
