import {
  type AgentEvent,
  type AgentReply,
  type AgentState,
  type CallInput,
  InMemoryAgentStateStore,
  InMemoryFilesystem,
  type JsonValue,
  ReActAgent,
  type ReActAgentOptions,
  type ToolResultBlock,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import {
  type RecordedRequest,
  type ReplyFunction,
  type ScriptedReply,
  scriptedModel,
} from "@holdfast/testing";
import { z } from "zod";
import { type PlanningOptions, planning } from "../src/index.js";

/** Session in which a {@link Planner} speaks. */
export const session = { userId: "ann", sessionId: "s" } as const;

/** Options of {@link Planner}. */
export interface PlannerOptions {
  readonly planning?: PlanningOptions | undefined;
  readonly agent?: Partial<ReActAgentOptions> | undefined;
}

/** An agent with planning, a tool that reads and a tool that writes, whose model plays a script. */
export class Planner {
  readonly agent: ReActAgent;
  readonly requests: readonly RecordedRequest[];
  readonly events: AgentEvent[] = [];
  readonly filesystem = new InMemoryFilesystem();
  readonly stateStore = new InMemoryAgentStateStore();
  /** Texts that the writing tool was called with. */
  readonly written: string[] = [];

  constructor(script: readonly ScriptedReply[] | ReplyFunction, options: PlannerOptions = {}) {
    const model = scriptedModel(script);
    this.requests = model.requests;
    this.agent = new ReActAgent({
      ...{ name: "planner", model, filesystem: this.filesystem, stateStore: this.stateStore },
      plugins: [planning(options.planning)],
      tools: [writeNote(this.written), look],
      onEvent: (event) => void this.events.push(event),
      ...options.agent,
    });
  }

  say(input: CallInput = "go"): Promise<AgentReply> {
    return this.agent.call(input, session);
  }

  /** Answers everything that asks. */
  async answer(approve: boolean, reason?: string): Promise<AgentReply> {
    const pending = await this.agent.pending(session);
    return this.say({
      confirm: pending.map(({ toolCallId }) => ({
        toolCallId,
        approve,
        ...(reason !== undefined && { reason }),
      })),
    });
  }

  async state(): Promise<AgentState> {
    const state = await this.agent.getAgentState(session);
    if (!state) throw new Error("there is no state");
    return state;
  }

  /** Results in the session, each with its tool, its state and its text. */
  async results(): Promise<string[]> {
    return (await this.state()).context.flatMap(toolResultsOf).map(shown);
  }

  /** Events of planning, without what all events have. */
  planningEvents(): object[] {
    const shared = ["slot", "callId", "runId", "at", "seq"];
    return this.events
      .filter(({ type }) => /^(plan|todos)_/.test(type))
      .map((event) =>
        Object.fromEntries(Object.entries(event).filter(([name]) => !shared.includes(name))),
      );
  }

  /** Hints of planning in a request, the last one by default. */
  hints(index = -1): string[] {
    return hintsOf(this.requests.at(index));
  }
}

/** Returns the files of the session's user, and the text of the session's plan. */
export async function planIn(filesystem: InMemoryFilesystem) {
  const slot = { agentId: "planner", ...session };
  const bytes = await filesystem.read(slot, "plans/s.md");
  return {
    paths: (await filesystem.list(slot))
      .filter(({ kind }) => kind === "file")
      .map(({ path }) => path),
    text: bytes && new TextDecoder().decode(bytes),
  };
}

/** Returns the texts of planning's hints in a request. */
export function hintsOf(request: RecordedRequest | undefined): string[] {
  return (request?.messages ?? []).flatMap(({ content }) =>
    content.flatMap((block) =>
      block.type === "hint" && ["plan_mode", "todos"].includes(block.source) ? [block.text] : [],
    ),
  );
}

/** A reply that calls tools: each a name, with its input. */
export function calls(...wanted: readonly (string | readonly [string, JsonValue])[]) {
  return {
    toolCalls: wanted.map((one) =>
      typeof one === "string" ? { name: one, input: {} } : { name: one[0], input: one[1] },
    ),
  } satisfies ScriptedReply;
}

/** Makes a tool that writes, and keeps what it has written. */
export function writeNote(written: string[], needsApproval = false) {
  return tool({
    name: "write_note",
    description: "Writes a note.",
    input: z.object({ text: z.string().default("note") }),
    needsApproval,
    execute({ text }) {
      written.push(text);
      return "written";
    },
  });
}

/** A tool that reads. */
export const look = tool({
  name: "look",
  description: "Looks.",
  input: z.object({}),
  readOnly: true,
  execute: () => "seen",
});

function shown({ name, state, output }: ToolResultBlock): string {
  return `${name} ${state}: ${output.map((block) => (block.type === "text" ? block.text : "")).join("")}`;
}
