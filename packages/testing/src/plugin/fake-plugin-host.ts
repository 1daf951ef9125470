import type {
  AgentEvent,
  LogMark,
  Message,
  Middleware,
  Plugin,
  PluginHost,
  Slot,
  Step,
  Tool,
  ToolCallStep,
  ToolGroup,
  ToolResultBlock,
} from "@holdfast/core";
import type { IncomingStep, PluginQuestion, PortName, Ports } from "@holdfast/core/plugin-kit";
import { RecordingHost } from "./recording-host.js";

/** Options of {@link fakePluginHost}. */
export interface FakePluginHostOptions {
  /** @default { name: "agent", agentId: "agent" } */
  readonly agent?: PluginHost["agent"] | undefined;
  /**
   * Ports instead of the in-memory ones; null for one that the agent does not have. @default a store in memory with all its
   * parts, a filesystem, an offloader, an estimate of tokens, and a model that answers "Noted."
   */
  readonly ports?: { readonly [P in PortName]?: Ports[P] | null } | undefined;
  /** @default the system's clock */
  readonly now?: (() => Date) | undefined;
}

/** Hooks that run around a step, by name. */
export type AroundHook = {
  [H in keyof Middleware]-?: NonNullable<Middleware[H]> extends (...args: infer A) => unknown
    ? A extends [unknown, () => unknown]
      ? H
      : never
    : never;
}[keyof Middleware];

/** Function of a hook. */
export type HookOf<H extends AroundHook> = NonNullable<Middleware[H]>;

/** Host without an agent: records what a plugin registers, and runs it. */
export interface FakePluginHost extends PluginHost {
  readonly middleware: readonly Middleware[];
  /** Tools added with `host.tool`, then those that the sources return now. */
  readonly tools: readonly Tool[];
  readonly toolGroups: readonly Omit<ToolGroup, "tools">[];
  readonly promptSections: readonly NonNullable<Middleware["onSystemPrompt"]>[];
  /** Ports that the plugin provides. */
  readonly provided: Partial<Ports>;
  readonly required: readonly PortName[];
  /** Events emitted with `host.emit` and with `emit` of steps, oldest first. */
  readonly events: readonly AgentEvent[];
  readonly marks: readonly LogMark[];
  /** Questions asked with `host.askModel`, oldest first. */
  readonly questions: readonly PluginQuestion[];
  /** Sets a plugin up; ports cannot be used before it returns. */
  install(plugin: Plugin): FakePluginHost;
  /** Returns what the plugin's `onBuild` finds wrong with an agent that has these tools beside the plugin's own. */
  problems(tools?: readonly Tool[]): readonly string[];
  /** Runs the plugin's `onStart`. */
  start(): Promise<void>;
  /** Runs the plugin's `onClose`, in reverse order. */
  close(): Promise<void>;
  /** Runs the plugin's `onHealth`; rejects as the first check that fails. */
  health(): Promise<void>;
  deleteSession(slot: Slot): Promise<void>;
  deleteUser(userId: string): Promise<void>;
  /** Hands an event to the plugin's observers. */
  send(event: AgentEvent): void;
  /** Returns a step of a new session; `fields` override. */
  step(fields?: Partial<Step>): Step;
  /** Runs the hooks of this name around `core`, the first middleware outermost. */
  run<H extends AroundHook>(
    hook: H,
    step: Parameters<HookOf<H>>[0],
    core: Parameters<HookOf<H>>[1],
  ): ReturnType<HookOf<H>>;
  /**
   * Returns what the `onIncoming` hooks make of a message from outside, checked as an agent checks it.
   *
   * @param message - a text is a user's
   * @param fields - override those of the step: a new session, the origin `tool_result` for a tool message, else `input`
   */
  incoming(message: Message | string, fields?: Partial<IncomingStep>): Promise<Message>;
  /**
   * Returns what the `onToolResult` hooks make of a tool result, checked as an agent checks it.
   *
   * @param result - a text is a successful result of a tool named "tool"
   * @param fields - override those of the step: a new session, a call without arguments, the plugin's tool of that name
   */
  toolResult(
    result: ToolResultBlock | string,
    fields?: Partial<ToolCallStep>,
  ): Promise<ToolResultBlock>;
  /** Returns the system prompt that sections and hooks make of `prompt`. */
  systemPrompt(prompt: string, step?: Step): Promise<string>;
}

/**
 * Makes a host for unit tests of a plugin, without an agent.
 *
 * @example
 * const host = fakePluginHost().install(greeter());
 * assert.match(await host.systemPrompt("You help."), /Be kind/);
 */
export function fakePluginHost(options: FakePluginHostOptions = {}): FakePluginHost {
  return new RecordingHost(options);
}
