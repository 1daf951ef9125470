import type { RuntimeContext } from "../../context/runtime-context.js";
import type { AgentEvent, EventBody } from "../../events/agent-event.js";
import type { Compactor } from "../../ports/compactor.js";
import type { DistributedStore } from "../../ports/distributed-store.js";
import type { Model } from "../../ports/model.js";
import type { ToolGuard } from "../../ports/tool-guard.js";
import type { Slot } from "../../slot/slot.js";
import type { ToolGroup } from "../../tool/tool-group.js";
import type { AgentSettings } from "./agent-options.js";
import type { Hooks } from "./compose.js";
import type { ToolBox } from "./tool-box.js";

/** Everything an agent is made of once it is built. Holds configuration only, nothing about any session. */
export interface AgentParts extends DistributedStore {
  readonly settings: AgentSettings;
  readonly model: Model;
  readonly fallbackModel: Model | undefined;
  readonly compactor: Compactor | undefined;
  /** All guards in one. */
  readonly guard: ToolGuard;
  readonly tools: ToolBox;
  readonly toolGroups: ReadonlyMap<string, ToolGroup>;
  /** The user's first, then the plugins' in their order: the first is outermost. */
  readonly hooks: Hooks;
  /** What plugins put right behind the base of the system prompt. */
  readonly promptSections: Hooks["onSystemPrompt"];
  readonly onStart: readonly (() => Promise<void>)[];
  readonly onClose: readonly (() => void | Promise<void>)[];
  readonly onDelete: readonly ((slot: Slot) => Promise<void>)[];
  readonly onDeleteUser: readonly ((userId: string) => Promise<void>)[];
  slotOf(ctx: RuntimeContext): Slot;
  now(): Date;
  /** Hands an event to the program; what it throws is ignored. */
  observe(event: AgentEvent): void;
  /** Whether a save can carry the log records and give the lease back. */
  readonly fused: { readonly gate: boolean; readonly log: boolean };
}

/** An event of background work, which has no place in a call's sequence. */
export function backgroundEvent(slot: Slot, callId: string, body: EventBody): AgentEvent {
  return { ...body, slot, callId, seq: 0, background: true };
}
