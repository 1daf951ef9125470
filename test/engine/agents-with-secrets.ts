import {
  definePlugin,
  InMemoryAgentStateStore,
  listGuard,
  type Message,
  type Middleware,
  ReActAgent,
  type ReActAgentOptions,
  suspend,
  tool,
} from "@holdfast/core";
import type { IncomingStep } from "@holdfast/core/plugin-kit";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { z } from "zod";

export const slot = { agentId: "a", userId: null, sessionId: "default" };

/** What an `onIncoming` hook saw. */
export interface Seen {
  readonly message: Message;
  readonly step: IncomingStep;
}

/** Replaces the word "secret" wherever a message has it, and notes what it saw. */
export function redaction(seen: Seen[] = []): Middleware {
  return {
    name: "redaction",
    onIncoming(message, step) {
      seen.push({ message, step });
      return JSON.parse(JSON.stringify(message).replaceAll("secret", "[hidden]"));
    },
  };
}

const tells = tool({
  name: "tells",
  description: "Tells a secret.",
  input: z.object({ say: z.string().optional() }),
  execute: ({ say }) => `the secret is ${say ?? 42}`,
});
const fails = tool({
  name: "fails",
  description: "Fails.",
  input: z.object({}),
  execute: () => {
    throw new Error("no secret here");
  },
});
const waits = tool({
  name: "waits",
  description: "Its answer comes later.",
  input: z.object({}),
  execute: () => suspend(),
});

/** A reply that calls one tool. */
export function calling(name: string, input = {}): ScriptedReply {
  return { toolCalls: [{ name, input }] };
}

/** Asks before the tool that tells a secret runs. */
export const guard = definePlugin({
  name: "guard",
  contract: 1,
  setup: (host) => host.provide("toolGuard", listGuard({ ask: ["tells"] })),
});

/** Returns a function that makes agents with tools that have secrets, and shows what is stored of their session. */
export function agentsWithSecrets(fused: boolean) {
  return (
    script: readonly ScriptedReply[],
    middleware: readonly Middleware[],
    more: Partial<ReActAgentOptions> = {},
  ) => {
    const store = new InMemoryAgentStateStore({ fused });
    const model = scriptedModel(script);
    const parts = { model, tools: [tells, fails, waits], stateStore: store, middleware };
    const agent = new ReActAgent({ name: "a", ...parts, ...more });
    /** Everything that is stored of the session, as one text. */
    const stored = async () => {
      const { log } = store.companions();
      const state = await store.load(slot);
      const inbox = await store.inbox?.read(slot);
      return JSON.stringify([state, inbox, await log.read(slot, { limit: 1_000 })]);
    };
    return { agent, store, model, stored };
  };
}
