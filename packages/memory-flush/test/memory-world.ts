import {
  type AgentEvent,
  type DistributedStore,
  InMemoryAgentStateStore,
  InMemoryFilesystem,
  type LogRecord,
  type Plugin,
  ReActAgent,
  type ReActAgentOptions,
  type Slot,
  textOf,
} from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import {
  eventually,
  type RecordedRequest,
  type ReplyFunction,
  type ScriptedModel,
  type ScriptedReply,
  scriptedModel,
} from "@holdfast/testing";
import { onTestFinished } from "vitest";
import { MemoryFiles, type MemoryFlushOptions, memoryFlush } from "../src/index.js";

/** Of a message, an event or a request: what tests look at. */
export const alice: FileNamespace = { agentId: "agent", userId: "alice", sessionId: "s1" };
export const MINUTE = 60_000;
export const DAY = 86_400_000;

/** How a memory model answers the two kinds of request. */
export interface MemoryReplies {
  readonly flush?: ScriptedReply | ReplyFunction | undefined;
  readonly consolidation?: ScriptedReply | ReplyFunction | undefined;
}

/** What several processes would share: stores, files and the time. */
export class MemoryWorld {
  readonly store: DistributedStore = new InMemoryAgentStateStore().companions();
  readonly filesystem: InMemoryFilesystem = new InMemoryFilesystem();
  readonly files: MemoryFiles = new MemoryFiles(this.filesystem);
  time: number = Date.parse("2025-03-10T12:00:00.000Z");

  /** The notes of a day, or of today. */
  async notes(namespace: FileNamespace = alice, day = this.today): Promise<string> {
    return (await this.files.read(namespace, `memory/${day}.md`)) ?? "";
  }

  /** The facts in today's notes. */
  async facts(namespace: FileNamespace = alice, day = this.today): Promise<string[]> {
    return (await this.notes(namespace, day)).split("\n").filter((line) => line.startsWith("- "));
  }

  memory(namespace: FileNamespace = alice): Promise<string> {
    return this.files.readMemory(namespace);
  }

  log(slot: Slot = alice): Promise<readonly LogRecord[]> {
    return this.store.log.read(slot, { limit: 10_000 });
  }

  get today(): string {
    return new Date(this.time).toISOString().slice(0, 10);
  }
}

/** An agent with the plugin, as one process would have it. */
export interface MemoryAgent {
  readonly agent: ReActAgent;
  readonly events: AgentEvent[];
  readonly model: ScriptedModel;
  /** What the plugin asked the model for. */
  readonly flushes: () => readonly RecordedRequest[];
  readonly consolidations: () => readonly RecordedRequest[];
  say(text: string, sessionId?: string, userId?: string | null): Promise<void>;
  /** Waits until there were so many events of a type. */
  seen(type: string, count?: number): Promise<void>;
}

/** How an agent differs from the plain one. */
export interface MemoryAgentOptions extends MemoryReplies {
  readonly memory?: MemoryFlushOptions | undefined;
  readonly agent?: Partial<ReActAgentOptions> | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  /** Without answers of its own the agent repeats what it hears. */
  readonly reply?: ReplyFunction | undefined;
}

/** Consolidations that never come: for tests of flushes alone. */
export const noConsolidation = { minGapMs: Number.MAX_SAFE_INTEGER } as const;

export function memoryAgent(world: MemoryWorld, options: MemoryAgentOptions = {}): MemoryAgent {
  const events: AgentEvent[] = [];
  const asked = { flush: [] as RecordedRequest[], consolidation: [] as RecordedRequest[] };
  const model = scriptedModel(
    options.reply ?? (({ messages }) => `re: ${textOf(messages.at(-1) ?? messages[0] ?? never())}`),
  );
  const memoryModel = scriptedModel((request, index) => {
    const kind = kindOf(request);
    asked[kind].push(request);
    const reply = options[kind] ?? (kind === "flush" ? "NOTHING" : "# Memory\n- something");
    return typeof reply === "function" ? reply(request, index) : reply;
  });
  const agent = new ReActAgent({
    name: "agent",
    model,
    distributedStore: world.store,
    filesystem: world.filesystem,
    clock: () => new Date(world.time),
    plugins: [memoryFlush({ model: memoryModel, ...options.memory }), ...(options.plugins ?? [])],
    onEvent: (event) => events.push(event),
    ...options.agent,
  });
  onTestFinished(() => agent.close());
  return {
    agent,
    events,
    model,
    flushes: () => asked.flush,
    consolidations: () => asked.consolidation,
    async say(text, sessionId = "s1", userId = "alice") {
      await agent.call(text, { userId, sessionId });
    },
    async seen(type, count = 1) {
      const what = `${count} × ${type}, got ${events.map((event) => event.type).join(" ")}`;
      await eventually(() => events.filter((event) => nameOf(event) === type).length >= count, {
        what,
      });
    },
  };
}

/** `consolidation` events by their state. */
export function nameOf(event: AgentEvent): string {
  return event.type === "consolidation" ? `consolidation_${event.state}` : event.type;
}

/** What was asked, as text. */
export function questionOf(request: RecordedRequest | undefined): string {
  return request?.messages[0] ? textOf(request.messages[0]) : "";
}

function kindOf(request: Pick<RecordedRequest, "messages">): "flush" | "consolidation" {
  return questionOf(request as RecordedRequest).startsWith("Today is") ? "flush" : "consolidation";
}

function never(): never {
  throw new Error("a request has messages");
}
