import {
  type CallOutcome,
  type ConversationLog,
  type DataBlock,
  type JsonObject,
  ReActAgent,
  type Slot,
  type TextBlock,
  type ToolResultBlock,
  toolResultsOf,
  userMessage,
} from "@holdfast/core";
import { createMessage } from "@holdfast/core/plugin-kit";
import type { LogDraft } from "@holdfast/core/store-kit";
import { sessionTools } from "@holdfast/session-tools";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";

/** What a tool answered. */
export interface Answer {
  readonly output: readonly (TextBlock | DataBlock)[];
  readonly text: string;
  readonly isError: boolean;
}

/** Writes to a log as calls of agents would, and reads it with the tools of one. */
export class ToolReader {
  readonly #log: ConversationLog;
  #records = 0;

  constructor(log: ConversationLog) {
    this.#log = log;
  }

  /** Logs a call that said these things, one after the other. */
  async call(slot: Slot, outcome: CallOutcome, ...said: readonly (string | ToolResultBlock)[]) {
    const callId = `call-${this.#records}`;
    const draft = (body: Pick<LogDraft, "kind" | "message" | "mark">): LogDraft => {
      const n = this.#records++;
      const at = new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
      return { v: 1, id: `r${n}`, callId, at, ...body };
    };
    await this.#log.append(slot, [
      ...said.map((each) =>
        draft({
          kind: "message",
          message: typeof each === "string" ? userMessage(each) : createMessage("tool", [each]),
        }),
      ),
      draft({ kind: "mark", mark: { name: "call_end", outcome } }),
    ]);
  }

  /** What a tool answers an agent that talks to this user in a session of its own. */
  async use(
    name: "list" | "history" | "search",
    input: JsonObject,
    { agentId, userId, sessionId = "reader" }: Omit<Slot, "sessionId"> & { sessionId?: string },
  ): Promise<Answer> {
    const wishes: ScriptedReply[] = [{ toolCalls: [{ name: `session_${name}`, input }] }, "done"];
    const model = scriptedModel(wishes);
    const agent = new ReActAgent({
      name: "reader",
      agentId,
      model,
      log: this.#log,
      plugins: [sessionTools()],
    });
    await agent.call("read", { ...(userId !== null && { userId }), sessionId });
    const [result] = toolResultsOf(model.requests[1]?.messages.at(-1) ?? userMessage(""));
    if (result === undefined) throw new Error("the tool was not called");
    const { output, state } = result;
    const texts = output.map((part) => (part.type === "text" ? part.text : ""));
    return { output, text: texts.join("\n"), isError: state !== "success" };
  }
}
