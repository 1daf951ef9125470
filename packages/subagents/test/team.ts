import { isDeepStrictEqual } from "node:util";
import {
  type AgentEvent,
  type AgentReply,
  type CallInput,
  InMemoryAgentStateStore,
  InMemoryFilesystem,
  type PendingCall,
  ReActAgent,
  type ReActAgentOptions,
  type Tool,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import {
  eventually,
  type RecordedRequest,
  type ReplyFunction,
  type ScriptedReply,
  scriptedModel,
} from "@holdfast/testing";
import { z } from "zod";
import { type SubagentDefinition, type SubagentsOptions, subagents } from "../src/index.js";

/** Session in which a {@link Team} speaks. */
export const session = { userId: "ann", sessionId: "s" } as const;

/** Options of {@link Team}. */
export interface TeamOptions {
  readonly subagents?: SubagentsOptions | undefined;
  readonly agent?: Partial<ReActAgentOptions> | undefined;
  readonly tools?: readonly Tool[] | undefined;
}

/** A lead with a worker, each with a script of its own; the worker's is played by its model. */
export class Team {
  readonly plugin: ReturnType<typeof subagents>;
  readonly agent: ReActAgent;
  readonly events: AgentEvent[] = [];
  readonly filesystem = new InMemoryFilesystem();
  /** Requests to the lead's model, and to the worker's. */
  readonly asked: readonly RecordedRequest[];
  readonly worked: readonly RecordedRequest[];

  constructor(
    lead: readonly ScriptedReply[] | ReplyFunction,
    worker: readonly ScriptedReply[] | ReplyFunction,
    options: TeamOptions = {},
  ) {
    const own = scriptedModel(lead, { id: "lead" });
    const others = scriptedModel(worker, { id: "worker" });
    this.asked = own.requests;
    this.worked = others.requests;
    const definition: SubagentDefinition = {
      name: "worker",
      description: "Does the work.",
      systemPrompt: "You work.",
      model: others,
    };
    this.plugin = subagents({ agents: [definition], ...options.subagents });
    this.agent = new ReActAgent({
      ...{ name: "lead", model: own, filesystem: this.filesystem },
      stateStore: new InMemoryAgentStateStore(),
      tools: options.tools,
      plugins: [this.plugin],
      onEvent: (event) => void this.events.push(event),
      ...options.agent,
    });
  }

  say(input: CallInput = "go"): Promise<AgentReply> {
    return this.agent.call(input, session);
  }

  /** Texts of the tool results in the lead's session, oldest first. */
  async results(): Promise<readonly string[]> {
    const state = await this.agent.getAgentState(session.userId, session.sessionId);
    return (state?.context ?? [])
      .flatMap(toolResultsOf)
      .map(({ output }) =>
        output.map((block) => (block.type === "text" ? block.text : "")).join(""),
      );
  }

  /** Status of each task, oldest first. */
  async statuses(): Promise<readonly string[]> {
    return (await this.plugin.tasks(session)).map(({ status }) => status);
  }

  /** Waits until the tasks have these statuses. */
  async until(...wanted: readonly string[]): Promise<void> {
    await eventually(async () => isDeepStrictEqual(await this.statuses(), wanted));
  }

  /** Requests to the lead's model in which `text` stands. */
  requestsWith(text: string): number {
    return this.asked.filter(({ messages }) => JSON.stringify(messages).includes(text)).length;
  }

  types(): readonly string[] {
    return this.events.filter(({ slot }) => slot.agentId === "lead").map(({ type }) => type);
  }
}

/** Reply that gives the worker a task. */
export function spawning(
  input: Readonly<Record<string, unknown>> = {},
  ...more: readonly { readonly name: string; readonly input: object }[]
): ScriptedReply {
  const call = { name: "agent_spawn", input: { agent: "worker", task: "Work.", ...input } };
  return { toolCalls: [call, ...more] } as ScriptedReply;
}

/** Reply that calls one tool. */
export function calling(name: string, input: object = {}): ScriptedReply {
  return { toolCalls: [{ name, input }] } as ScriptedReply;
}

/** A tool that waits until it is let go. */
export function latch(): { readonly tool: Tool; readonly arrived: Promise<void>; open(): void } {
  let open = (): void => undefined;
  let arrive = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const waiting = tool({
    name: "hold",
    description: "Waits.",
    input: z.object({}),
    async execute(_, { signal }) {
      arrive();
      await new Promise<void>((resolve, reject) => {
        opened.then(resolve);
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
      });
      return "held";
    },
  });
  return { tool: waiting, arrived, open: () => open() };
}

export function pendingOf(reply: AgentReply): readonly PendingCall[] {
  if (reply.reason !== "permission_asking") throw new Error(`not asking but ${reply.reason}`);
  return reply.pending;
}
