import type { ClientCapabilities, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type { AgentEvent, JsonValue } from "@holdfast/core";
import { cutText, isRecord } from "@holdfast/core/plugin-kit";
import type {} from "../observed-events.js";
import { fileContent, outputContent, planEntries } from "./content.js";
import type { ToolView } from "./tool-view.js";

/** Mark in `_meta` of updates about something that is not part of the conversation after all. */
export const DISCARDED = "holdfast.dev/discarded";

const MAX_PROGRESS_CHARS = 2_000;

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>;

/** Tool call of the turn. */
interface KnownTool {
  readonly name: string;
  /** It has an input, and so it is part of the conversation. */
  isReady: boolean;
  /** It shows something of its own, a change or a terminal, which its result does not replace. */
  isShowing: boolean;
}

/**
 * Turns the events of a turn's calls into session updates.
 *
 * Contract:
 * - The updates depend on the events alone, and each event is encoded when it comes.
 * - Folded by `messageId` and `toolCallId`, without what is marked as {@link DISCARDED}, they are the turn that the log has.
 * - Kinds of updates that the editor has not announced are left out.
 */
export class UpdateEncoder {
  readonly #view: ToolView;
  readonly #session: NonNullable<ClientCapabilities["session"]>;
  readonly #tools = new Map<string, KnownTool>();
  #updates: SessionUpdate[] = [];
  #compactions = 0;
  #compactionId: string | null = null;

  /** Handlers by type of event; all others have no updates. */
  readonly #handlers: { readonly [T in AgentEvent["type"]]?: (event: EventOf<T>) => void } = {
    text_delta: ({ text, messageId }) =>
      this.#add({
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text },
        messageId,
      }),
    thinking_delta: ({ text, messageId }) =>
      this.#add({
        sessionUpdate: "agent_thought_chunk",
        content: { type: "text", text },
        messageId,
      }),
    data: ({ messageId, ...file }) =>
      this.#add({ sessionUpdate: "agent_message_chunk", content: fileContent(file), messageId }),
    tool_call_start: ({ toolCallId, name }) => {
      this.#tools.set(toolCallId, { name, isReady: false, isShowing: false });
      const kind = this.#view.kind(name);
      this.#add({
        sessionUpdate: "tool_call",
        toolCallId,
        title: name,
        name,
        kind,
        status: "pending",
      });
    },
    tool_call_end: ({ toolCallId, name, input }) => this.#ready(toolCallId, name, input),
    tool_progress: (event) => this.#progress(event),
    tool_result: (event) => this.#result(event),
    permission_ask: ({ pending }) => {
      for (const { toolCallId } of pending)
        if (this.#tools.has(toolCallId))
          this.#add({ sessionUpdate: "tool_call_update", toolCallId, status: "pending" });
    },
    model_call_end: ({ purpose, contextTokens, contextWindow, error }) => {
      if (purpose !== "reasoning" || error !== undefined) return;
      if (contextTokens !== undefined && contextWindow !== undefined)
        this.#add({ sessionUpdate: "usage_update", used: contextTokens, size: contextWindow });
    },
    attempt_discarded: ({ messageId, toolCallIds, textChars, thinkingChars, files }) => {
      for (const toolCallId of toolCallIds) this.#discardTool(toolCallId);
      if (textChars + thinkingChars + files === 0) return;
      const text = "\n\n_(The reply broke off here and starts over.)_\n\n";
      this.#add({
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text },
        messageId,
        _meta: { [DISCARDED]: true },
      });
    },
    todos_changed: ({ todos }) => this.#add({ sessionUpdate: "plan", entries: planEntries(todos) }),
    compaction_start: ({ callId }) => {
      this.#compactionId = `${callId}.${++this.#compactions}`;
      this.#compaction(this.#compactionId, { status: "in_progress" });
    },
    compaction_end: ({ callId }) => this.#endCompaction(callId, { status: "completed" }),
    compaction_failed: ({ callId, error }) =>
      this.#endCompaction(callId, { status: "failed", error }),
    queue_wait: () => this.#notice("info", "Another client is using this session; waiting for it."),
    events_dropped: () =>
      this.#notice("warning", "Part of what happened is not shown; load the session to see it."),
    call_end: () => {
      for (const [toolCallId, { isReady }] of this.#tools)
        if (!isReady) this.#discardTool(toolCallId);
    },
  };

  /** @param session - kinds of updates that the editor has announced */
  constructor(view: ToolView, session: ClientCapabilities["session"]) {
    this.#view = view;
    this.#session = session ?? {};
  }

  /** Tells whether the editor has been told of a tool call in this turn. */
  knows(toolCallId: string): boolean {
    return this.#tools.has(toolCallId);
  }

  /** Returns the updates of the next event. */
  encode(event: AgentEvent): readonly SessionUpdate[] {
    if (event.background) return [];
    this.#updates = [];
    (this.#handlers[event.type] as ((event: AgentEvent) => void) | undefined)?.(event);
    return this.#updates;
  }

  #add(update: SessionUpdate): void {
    this.#updates.push(update);
  }

  #ready(toolCallId: string, name: string, input: JsonValue): void {
    const isNew = !this.#tools.has(toolCallId);
    const known = this.#view.describe(name, input);
    this.#tools.set(toolCallId, { name, isReady: true, isShowing: known.content.length > 0 });
    const call = { toolCallId, status: "in_progress", ...known } as const;
    if (isNew) this.#add({ sessionUpdate: "tool_call", name, ...call });
    else this.#add({ sessionUpdate: "tool_call_update", ...call });
  }

  #progress({ toolCallId, progress }: EventOf<"tool_progress">): void {
    const tool = this.#tools.get(toolCallId);
    const terminalId = isRecord(progress) ? progress["terminalId"] : undefined;
    if (typeof terminalId === "string") {
      if (tool) tool.isShowing = true;
      this.#show(toolCallId, [{ type: "terminal", terminalId }]);
    } else if (!tool?.isShowing) {
      const words = typeof progress === "string" ? progress : JSON.stringify(progress);
      const text = cutText(words, MAX_PROGRESS_CHARS);
      this.#show(toolCallId, [{ type: "content", content: { type: "text", text } }]);
    }
  }

  #show(toolCallId: string, content: ToolCallContent[]): void {
    this.#add({
      ...{ sessionUpdate: "tool_call_update", toolCallId },
      ...{ status: "in_progress", content },
    });
  }

  #result({ toolCallId, state, output }: EventOf<"tool_result">): void {
    const isSuccess = state === "success";
    const keepsContent = this.#tools.get(toolCallId)?.isShowing && isSuccess;
    this.#add({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: isSuccess ? "completed" : "failed",
      ...(!keepsContent && { content: outputContent(output) }),
    });
  }

  /** Ends a tool call that is not part of the conversation. */
  #discardTool(toolCallId: string): void {
    if (!this.#tools.delete(toolCallId)) return;
    const text = "Not run: this part of the reply does not count.";
    this.#add({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "failed",
      content: [{ type: "content", content: { type: "text", text } }],
      _meta: { [DISCARDED]: true },
    });
  }

  #endCompaction(
    callId: string,
    end: { readonly status: "completed" | "failed"; readonly error?: string },
  ): void {
    const compactionId = this.#compactionId ?? `${callId}.${++this.#compactions}`;
    this.#compactionId = null;
    this.#compaction(compactionId, end);
  }

  #compaction(
    compactionId: string,
    state: { readonly status: "in_progress" | "completed" | "failed"; readonly error?: string },
  ): void {
    if (this.#session.compaction)
      this.#add({ sessionUpdate: "compaction_update", compactionId, ...state });
  }

  #notice(severity: "info" | "warning", title: string): void {
    if (this.#session.notices) this.#add({ sessionUpdate: "notice", severity, title });
  }
}
