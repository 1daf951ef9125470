import {
  type AgentState,
  type CallInput,
  definePlugin,
  type LogMark,
  type Message,
  type Middleware,
  type PluginState,
  type ReActAgentOptions,
  type RuntimeContext,
  type Step,
  type ToolGuard,
  type ToolResultBlock,
  tool,
} from "@holdfast/core";
import { z } from "zod";

type Counter = { count: number };

/** Sections of a state that code can write, set whole or edited in place. */
const sections = [
  "permissionContext",
  "planModeContext",
  "tasksContext",
  "toolContext",
  "extensions",
  "openCalls",
  "shutdownInterrupted",
  "summary",
  "interruptControl",
  "context",
] as const;

const fields: Readonly<Record<string, readonly string[]>> = {
  permissionContext: ["mode", "allow", "deny", "ask", "workingDirectories", "more"],
  planModeContext: ["active", "planFile", "more"],
  tasksContext: ["tasks", "more"],
  toolContext: ["activatedGroups", "more"],
  extensions: ["counter", "another", "__proto__"],
  openCalls: ["call"],
};

type Edit = (state: AgentState, value: unknown) => void;

function loose(state: AgentState): Record<string, Record<string, unknown>> {
  return state as unknown as Record<string, Record<string, unknown>>;
}

/** Ways in which code that holds a state can put a value into it. */
export const edits: readonly (readonly [name: string, edit: Edit])[] = [
  ...sections.map((section): readonly [string, Edit] => [
    `state.${section} =`,
    (state, value) => void Object.assign(state, { [section]: value }),
  ]),
  ...Object.entries(fields).flatMap(([section, names]) =>
    names.map((field): readonly [string, Edit] => [
      `state.${section}.${field} =`,
      (state, value) => {
        Object.defineProperty(loose(state)[section], field, {
          value,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      },
    ]),
  ),
  [
    "a rule pushed onto state.permissionContext.allow",
    (state, value) => void (state.permissionContext.allow as unknown[]).push(value),
  ],
  [
    "a task pushed onto state.tasksContext.tasks",
    (state, value) => void (state.tasksContext.tasks as unknown[]).push(value),
  ],
  ["context[0] =", (state, value) => void Reflect.set(state.context, 0, value)],
  ["context[0] =, strictly", (state, value) => void Object.assign(state.context, { 0: value })],
  ["context.push", (state, value) => void (state.context as unknown[]).push(value)],
  ["context.length =", (state) => void Object.assign(state.context, { length: 0 })],
  ["editor.push", (state, value) => state.contextMutable().push(value as Message)],
  ["editor.replace", (state, value) => state.contextMutable().replace(0, value as Message)],
  ["editor.splice", (state, value) => void state.contextMutable().splice(0, 0, value as Message)],
  ["editor.replaceAll", (state, value) => state.contextMutable().replaceAll(value as Message[])],
  [
    "editor.replaceAll of a list",
    (state, value) => state.contextMutable().replaceAll([...state.context, value as Message]),
  ],
];

/** What misbehaving code does with the state while a call runs. */
export interface Misbehaviour {
  /** Where the code runs. */
  readonly where: "tool" | "onCall" | "onReasoning" | "onToolCall" | "guard" | "plugin" | "mark";
  readonly edit: Edit;
  readonly value: () => unknown;
}

/** Options of an agent whose tool, hooks, guard and plugin do what `misbehave` says at the moment. */
export function misbehaving(misbehave: () => Misbehaviour | null): Partial<ReActAgentOptions> {
  let counter: PluginState<Counter> | undefined;
  const act = (where: Misbehaviour["where"], state: AgentState | undefined): void => {
    const now = misbehave();
    if (now?.where === where && state) now.edit(state, now.value());
  };
  const guard: ToolGuard = {
    check: ({ ctx }) => {
      act("guard", ctx.agentState);
      return { decision: "allow" };
    },
  };
  const middleware: Middleware = {
    name: "odd",
    async onCall(step, next) {
      act("onCall", step.state);
      const now = misbehave();
      if (now?.where === "plugin") counter?.set(step.state, now.value() as Counter);
      if (now?.where === "mark") markOddly(step, now.value());
      return next();
    },
    async onReasoning(step, next) {
      act("onReasoning", step.state);
      return next();
    },
    async onToolCall(step, next) {
      const result = await next();
      act("onToolCall", step.state);
      return result;
    },
  };
  const plugin = definePlugin({
    name: "counter",
    contract: 1,
    setup(host) {
      counter = host.state<Counter>({
        schema: z.object({ count: z.number() }),
        initial: () => ({ count: 0 }),
      });
      host.provide("toolGuard", guard);
      host.use({
        name: "counter",
        async onCall(step, next) {
          const { count } = (counter as PluginState<Counter>).get(step.state);
          counter?.set(step.state, { count: count + 1 });
          return next();
        },
      });
    },
  });
  const odd = tool({
    name: "odd",
    description: "Does something odd.",
    input: z.object({}),
    execute: (_, ctx: RuntimeContext) => {
      act("tool", ctx.agentState);
      return "done";
    },
  });
  return { middleware: [middleware], plugins: [plugin], tools: [odd] };
}

function markOddly(step: Step, value: unknown): void {
  step.mark(value as LogMark);
  step.mark({ name: "odd", details: value as ToolResultBlock["metadata"] & {} });
}

/** Inputs of a call made of any value. */
export const inputs: readonly ((value: unknown) => CallInput)[] = [
  (value) => value as CallInput,
  (value) => [value] as unknown as CallInput,
  (value) => ({ confirm: value }) as CallInput,
  (value) => ({ results: value }) as CallInput,
  (value) => ({ confirm: [value] }) as CallInput,
  (value) => ({ confirm: [{ toolCallId: "t", approve: value }] }) as CallInput,
  (value) => ({ confirm: [{ toolCallId: "t", approve: true, input: value }] }) as CallInput,
  (value) => ({ confirm: [{ toolCallId: "t", approve: true, remember: value }] }) as CallInput,
  (value) => ({ confirm: [{ toolCallId: "t", approve: false, reason: value }] }) as CallInput,
  (value) => ({ results: [{ toolCallId: "t", output: value }] }) as CallInput,
  (value) => ({ results: [{ toolCallId: "t", output: "x", state: value }] }) as CallInput,
  (value) => ({ id: "m", role: "user", createdAt: "now", content: value }) as CallInput,
  (value) =>
    ({ id: "m", role: "user", createdAt: "now", content: [], metadata: value }) as CallInput,
];
