import {
  type AgentEvent,
  type AgentReply,
  type AgentStateStore,
  InMemoryAgentStateStore,
  InMemoryFilesystem,
  InMemoryOffloader,
  ModelError,
  type ModelRequest,
  type Plugin,
  ReActAgent,
  textOf,
  tool,
} from "@holdfast/core";
import { anyInput } from "../any-input.js";
import { type ScriptedModel, scriptedModel } from "../model/scripted-model.js";
import type { ScriptedReply, ScriptedToolCall } from "../model/scripted-reply.js";
import type { PluginOptions } from "./describe-plugin.js";
import { fakePluginHost } from "./fake-plugin-host.js";

/** The part of a suite's options that its agents need. */
export type PluginWorldOptions = Pick<PluginOptions, "agent" | "toolCalls">;

/** A user's session, and a word that is in everything it says. */
export interface Speaker {
  readonly userId: string;
  readonly sessionId: string;
  readonly canary: string;
}

export const ann: Speaker = { userId: "ann", sessionId: "one", canary: "canary-ann" };
export const bob: Speaker = { userId: "bob", sessionId: "two", canary: "canary-bob" };

const USE_TOOL = "use-the-sample-tool";
const FAIL = "fail-with-an-error";
const HANG = "answer-never";

/** An agent with a plugin, in memory, whose model repeats the canary of the user who speaks. */
export class PluginWorld implements AsyncDisposable {
  readonly agent: ReActAgent;
  readonly model: ScriptedModel;
  readonly stateStore: AgentStateStore;
  readonly events: AgentEvent[] = [];

  constructor(
    original: Plugin,
    plugin: Plugin,
    options: PluginWorldOptions,
    stateStore: AgentStateStore = new InMemoryAgentStateStore(),
  ) {
    const { filesystem, offloader } = fakePluginHost().install(original).provided;
    this.stateStore = stateStore;
    this.model = scriptedModel((request) => replyTo(request, options.toolCalls ?? []));
    this.agent = new ReActAgent({
      ...{ name: "agent", model: this.model, stateStore, plugins: [plugin], tools: [sampleTool()] },
      ...(filesystem ? {} : { filesystem: new InMemoryFilesystem() }),
      ...(offloader ? {} : { offloader: new InMemoryOffloader() }),
      onEvent: (event) => void this.events.push(event),
      ...options.agent?.(),
    });
  }

  /** Speaks, uses tools with long results, and speaks again. */
  async converse(speaker: Speaker): Promise<AgentReply[]> {
    const { canary } = speaker;
    const replies: AgentReply[] = [];
    for (const text of [`Hello, I am ${canary}.`, `${USE_TOOL} on ${canary}`, `And ${canary}?`])
      replies.push(await this.say(text, speaker));
    return replies;
  }

  say(text: string, { userId, sessionId }: Speaker, signal?: AbortSignal): Promise<AgentReply> {
    return this.agent.call(text, { userId, sessionId, ...(signal && { signal }) });
  }

  /** A call that fails in the model. */
  fail(speaker: Speaker): Promise<AgentReply> {
    return this.say(`${FAIL} for ${speaker.canary}`, speaker);
  }

  /** A call that its caller aborts while the model is asked. */
  async abort(speaker: Speaker): Promise<AgentReply> {
    const caller = new AbortController();
    const asked = this.model.requests.length;
    const call = this.say(`${HANG} to ${speaker.canary}`, speaker, caller.signal);
    const timer = setInterval(() => {
      if (this.model.requests.length > asked) caller.abort();
    }, 5);
    try {
      return await call;
    } finally {
      clearInterval(timer);
    }
  }

  /** Sentences about everything in which two speakers meet: requests, states and events. */
  async mixtures(speakers: readonly Speaker[]): Promise<string[]> {
    const places: [string, unknown][] = this.model.requests.map((request) => [
      "a request to the model",
      [request.system, request.messages],
    ]);
    for (const speaker of speakers) {
      const { userId, sessionId, canary } = speaker;
      const state = await this.agent.getAgentState({ userId, sessionId });
      const events = this.events.filter(({ slot }) => slot.userId === userId);
      places.push([`the state of ${canary}`, [canary, state?.toJson()]]);
      places.push([`the events of ${canary}`, [canary, events]]);
    }
    return places.flatMap(([where, value]) => {
      const found = new Set(JSON.stringify(value).match(/canary-\w+/g));
      return found.size > 1 ? [`${where} has ${[...found].join(" and ")}`] : [];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.agent.close();
  }
}

function sampleTool() {
  return tool({
    name: "sample_look",
    description: "Looks at something and says a lot about it.",
    input: anyInput,
    readOnly: true,
    execute: (input) => `${JSON.stringify(input)} `.repeat(2_000),
  });
}

function replyTo(
  { messages, tools }: ModelRequest,
  toolCalls: readonly ScriptedToolCall[],
): ScriptedReply {
  // Hints that a plugin adds to the end of a request are not what the user said.
  const last = messages.findLast(({ content }) => content.some(({ type }) => type !== "hint"));
  const [canary = "nothing"] = JSON.stringify(last ?? "").match(/canary-\w+/) ?? [];
  const text = last?.role === "user" ? textOf(last) : "";
  const isStep = tools.some(({ name }) => name === "sample_look");
  if (isStep && text.startsWith(USE_TOOL))
    return { toolCalls: [{ name: "sample_look", input: { canary } }, ...toolCalls] };
  if (isStep && text.startsWith(FAIL)) return { error: new ModelError("the model failed") };
  if (isStep && text.startsWith(HANG)) return { text: "late", delayMs: 600_000 };
  return `- Answer about ${canary}.`;
}
