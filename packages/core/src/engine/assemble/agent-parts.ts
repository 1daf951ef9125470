import type { RuntimeContext } from "../../context/runtime-context.js";
import type { AgentEvent, EventBody } from "../../events/agent-event.js";
import type { JsonValue } from "../../json/json.js";
import type { PluginStateOptions } from "../../middleware/plugin.js";
import type { Compactor } from "../../ports/compactor.js";
import type { DistributedStore } from "../../ports/distributed-store.js";
import type { Model } from "../../ports/model.js";
import type { ToolGuard } from "../../ports/tool-guard.js";
import type { Slot } from "../../slot/slot.js";
import type { ToolGroup } from "../../tool/tool-group.js";
import type { CallFeeds } from "../feed/call-feeds.js";
import type { PromptPrefetch } from "../loop/reasoning.js";
import type { RunMarks } from "../recovery/run-marks.js";
import type { StateSeal } from "../save/state-seal.js";
import type { Arrivals } from "../session/enter-session.js";
import type { Lifecycle } from "../session/lifecycle.js";
import type { StateCache } from "../session/state-cache.js";
import type { ToolBox } from "../tools/tool-box.js";
import type { AgentSettings } from "./agent-options.js";
import type { Hooks } from "./compose.js";

/** Something that a plugin does when the agent closes, or to check that it is well. */
export interface OwnedHook {
  readonly plugin: string;
  run(): void | Promise<void>;
}

/** Everything an agent is made of once it is built, and what its calls share. Holds nothing that has to survive. */
export interface AgentParts extends Omit<DistributedStore, "eventFeed"> {
  readonly settings: AgentSettings;
  readonly model: Model;
  readonly fallbackModel: Model | undefined;
  readonly compactor: Compactor | undefined;
  /** Present when the agent has a key for it. */
  readonly seal: StateSeal | undefined;
  /** All guards in one. */
  readonly guard: ToolGuard;
  readonly tools: ToolBox;
  readonly toolGroups: ReadonlyMap<string, ToolGroup>;
  /** The user's first, then the plugins' in their order: the first is outermost. */
  readonly hooks: Hooks;
  /** Sections that plugins put right behind the base of the system prompt. */
  readonly promptSections: Hooks["onSystemPrompt"];
  /** Begun for each call while it waits for its session. */
  readonly prefetches: readonly PromptPrefetch[];
  /** States that plugins declared, by plugin. */
  readonly pluginStates: ReadonlyMap<string, PluginStateOptions<JsonValue>>;
  readonly onClose: readonly OwnedHook[];
  readonly onHealth: readonly OwnedHook[];
  readonly onDelete: readonly ((slot: Slot) => Promise<void>)[];
  readonly onDeleteUser: readonly ((userId: string) => Promise<void>)[];
  /** States saved last by this process. */
  readonly cache: StateCache;
  /** The plugins' start, and the calls in flight. */
  readonly lifecycle: Lifecycle;
  readonly arrivals: Arrivals;
  /** Present when other nodes are to continue the agent's runs, should this one die. */
  readonly runMarks: RunMarks | undefined;
  /** Present when the events of calls are kept for `attach`. */
  readonly feeds: CallFeeds | undefined;
  slotOf(ctx: RuntimeContext): Slot;
  now(): Date;
  /** Hands an event to the program; what it throws is ignored. */
  observe(event: AgentEvent): void;
  /** Parts a save can do along with the state: give the lease back, append the log records. */
  readonly fused: { readonly gate: boolean; readonly log: boolean };
}

/** An event of background work, which has no place in a call's sequence. */
export function backgroundEvent(slot: Slot, callId: string, body: EventBody): AgentEvent {
  return { ...body, slot, callId, seq: 0, background: true };
}

/** Returns a function that hands events to listeners in their order; what one throws is ignored. */
export function observer(
  listeners: Iterable<(event: AgentEvent) => unknown>,
): (event: AgentEvent) => void {
  return (event) => {
    for (const listen of listeners)
      try {
        const returned = listen(event);
        if (returned instanceof Promise) returned.catch(() => undefined);
      } catch {
        // A watcher's fault must not fail the call it watches.
      }
  };
}
