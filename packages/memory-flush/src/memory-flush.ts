import {
  type AgentEvent,
  characterEstimate,
  definePlugin,
  type Plugin,
  type PluginHost,
  type Slot,
} from "@holdfast/core";
import { BoundedMap, type FileNamespace } from "@holdfast/core/plugin-kit";
import { slotKey } from "@holdfast/core/store-kit";
import { consolidate } from "./consolidation/consolidate.js";
import { UserEntries } from "./consolidation/user-entries.js";
import { MemoryFiles, memorySlot } from "./files/memory-files.js";
import { abandonedSessions } from "./flush/abandoned-sessions.js";
import { type FlushOutcome, flushSlot } from "./flush/flush-slot.js";
import { SlotEntries } from "./flush/slot-entries.js";
import {
  type MemoryFlushOptions,
  type MemoryFlushSettings,
  readOptions,
} from "./memory-flush-options.js";
import type { MemoryParts } from "./memory-parts.js";
import { plausibleTime } from "./schedule/due-time.js";
import { type RunOptions, Schedule } from "./schedule/schedule.js";
import { memoryGetTool } from "./tools/memory-get.js";
import { memorySaveTool } from "./tools/memory-save.js";
import { memorySearchTool } from "./tools/memory-search.js";

const advice = "add a workspace, which brings one, or pass one";
/** Most flushes, and most consolidations, that an agent runs at a time. */
const MAX_RUNNING = 4;
/** Least time between two checks for a user's abandoned sessions when there is no throttle. */
const CHECK_MS = 600_000;

/**
 * Adds long-term memory: extracts durable facts from conversations, notes them in `memory/YYYY-MM-DD.md` and consolidates them
 * in `MEMORY.md`.
 *
 * - All work is done in the background: no call waits for it or fails because of it; `agent.close()` waits.
 * - Needs a `Filesystem`; a workspace brings one and shows `MEMORY.md` to the model.
 *
 * @throws ConfigurationError naming every option that is wrong
 * @example
 * HarnessAgent.builder().name("assistant").model(model).use(memoryFlush()).build();
 */
export function memoryFlush(options: MemoryFlushOptions = {}): Plugin {
  const settings = readOptions(options);
  return definePlugin({
    name: "memory-flush",
    contract: 1,
    setup: (host) => setUp(host, settings),
  });
}

function setUp(host: PluginHost, settings: MemoryFlushSettings): void {
  const parts = partsOf(host, settings);
  const memory = new Memory(parts);
  host.observe((event) => memory.observe(event));
  host.use({
    name: "memory-flush",
    async onContextDrop(step, next) {
      // The dropped messages are in the log by now, so the compaction need not wait.
      memory.flush(step.slot, true);
      await next();
    },
  });
  if (settings.tools) {
    const { files, now, counter, agentId } = parts;
    const { maxTokens } = settings.consolidation;
    const saved = (namespace: FileNamespace): void => memory.consolidate(namespace);
    const toolParts = { files, now, counter, maxTokens, agentId, saved };
    host.tool(memorySearchTool(toolParts));
    host.tool(memoryGetTool(toolParts));
    host.tool(memorySaveTool(toolParts));
  }
  host.onDelete((slot) => memory.forgetSession(slot));
  host.onDeleteUser((userId) => memory.forgetUser(userId));
  host.onClose(() => memory.close());
}

function partsOf(host: PluginHost, settings: MemoryFlushSettings): MemoryParts {
  const counter = host.optional("tokenCounter");
  const estimate = characterEstimate();
  return {
    settings,
    agentId: host.agent.agentId,
    files: new MemoryFiles(host.require("filesystem", advice)),
    log: host.require("log"),
    stateStore: host.require("stateStore"),
    keyValue: host.require("keyValue"),
    gate: host.require("gate"),
    model: settings.model ?? host.require("model"),
    ask: (question) => host.askModel(question),
    counter: () => counter() ?? estimate,
    now: () => host.now(),
    emit: (slot, callId, event) => host.emit(slot, callId, event),
  };
}

/** Decides when sessions are flushed and memories consolidated, in one process. */
class Memory {
  readonly #parts: MemoryParts;
  readonly #flushes: Schedule<Slot>;
  readonly #consolidations: Schedule<FileNamespace>;
  /** Time of the last check for abandoned sessions, by user. */
  readonly #checkedAt = new BoundedMap<string, number>({ maxEntries: 10_000 });

  constructor(parts: MemoryParts) {
    this.#parts = parts;
    const shared = { now: () => parts.now().getTime(), maxRunning: MAX_RUNNING };
    this.#flushes = new Schedule({ ...shared, run: (slot, options) => this.#flush(slot, options) });
    this.#consolidations = new Schedule({
      ...shared,
      run: (namespace, options) => consolidate(parts, namespace, options),
    });
  }

  observe(event: AgentEvent): void {
    if (event.type !== "call_end" || event.background) return;
    if (this.#parts.settings.throttleMs !== null) this.flush(event.slot, false);
  }

  /** Memory is made of what users say: sessions of agents that work for this one are not among them. */
  flush(slot: Slot, force: boolean): void {
    if (slot.agentId !== this.#parts.agentId) return;
    this.#flushes.ask(slotKey(slot), slot, force);
  }

  consolidate(namespace: FileNamespace): void {
    this.#consolidations.ask(slotKey(memorySlot(namespace)), namespace);
  }

  async forgetSession(slot: Slot): Promise<void> {
    const key = slotKey(slot);
    await this.#flushes.cancel((other) => slotKey(other) === key);
    this.#flushes.reset(key);
    await new SlotEntries(this.#parts.keyValue).forget(slot);
    if (slot.userId === null) await this.#forgetMemory(slot);
  }

  async forgetUser(userId: string): Promise<void> {
    await this.#flushes.cancel((slot) => slot.userId === userId);
    this.#checkedAt.delete(userId);
    await this.#forgetMemory({ agentId: this.#parts.agentId, userId, sessionId: "-" });
  }

  async close(): Promise<void> {
    const { timeoutMs, finishOnClose } = this.#parts.settings;
    const end = performance.now() + timeoutMs;
    await this.#flushes.close(timeoutMs, finishOnClose);
    await this.#consolidations.close(Math.max(0, end - performance.now()), finishOnClose);
  }

  async #flush(slot: Slot, options: RunOptions): Promise<FlushOutcome> {
    const outcome = await flushSlot(this.#parts, slot, options);
    if (outcome.flushed && !options.signal.aborted) {
      this.consolidate(slot);
      await this.#flushAbandoned(slot).catch(() => undefined);
    }
    return outcome;
  }

  /** Flushes sessions of a process that died. */
  async #flushAbandoned(slot: Slot): Promise<void> {
    const { throttleMs } = this.#parts.settings;
    if (throttleMs === null || slot.userId === null || this.#flushes.isClosed) return;
    const now = this.#parts.now().getTime();
    const last = plausibleTime(this.#checkedAt.get(slot.userId) ?? 0, now);
    if (now < last + (throttleMs || CHECK_MS)) return;
    this.#checkedAt.set(slot.userId, now);
    for (const other of await abandonedSessions(this.#parts, slot)) this.flush(other, false);
  }

  /** Deletes the files, too: running work may have written some after the filesystem was cleared. */
  async #forgetMemory(namespace: FileNamespace): Promise<void> {
    const key = slotKey(memorySlot(namespace));
    await this.#consolidations.cancel((other) => slotKey(memorySlot(other)) === key);
    this.#consolidations.reset(key);
    await new UserEntries(this.#parts.keyValue).forget(namespace);
    await this.#parts.files.forget(namespace);
  }
}
