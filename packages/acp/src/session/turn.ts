import { methods, type PermissionOption, type SessionUpdate } from "@agentclientprotocol/sdk";
import {
  type AgentEvent,
  type AgentReply,
  type CallInput,
  InvalidInputError,
  type PendingCall,
} from "@holdfast/core";
import { cutText } from "@holdfast/core/plugin-kit";
import type { AcpAgent } from "../acp-agent.js";
import type { EditorClient } from "../editor/editor-client.js";
import { EditorError } from "../editor/editor-error.js";
import { elicit } from "../editor/elicitation.js";
import type { ToolDescription, ToolView } from "../updates/tool-view.js";
import { UpdateEncoder } from "../updates/update-encoder.js";
import { confirmationOf, permissionOptions } from "./permission-request.js";

/** Parts of a {@link PromptTurn}. */
export interface PromptTurnParts {
  readonly agent: AcpAgent;
  readonly client: EditorClient;
  readonly userId: string | null;
  readonly sessionId: string;
  readonly view: ToolView;
  readonly askTimeoutMs: number;
  /** Receives every event, before it is shown. */
  onEvent(event: AgentEvent): Promise<void>;
  /** Returns the text of a file that is about to be replaced; null when there is none. */
  oldText(path: string): Promise<string | null>;
}

/** Way in which a turn ended. */
export type TurnEnd =
  | "done"
  | "max_iterations"
  | "cancelled"
  /** The answer that it waits for does not come from here. */
  | "waiting";

/** Reply of a call, or what a session waits for without one. */
type Reply = AgentReply | { readonly pending: readonly PendingCall[] };

/** Most characters of a reason that are shown with a question. */
const MAX_REASON_CHARS = 20_000;

/** One turn of a session: a call, and those that answer what it asks, until there is nothing left to answer. */
export class PromptTurn {
  readonly #parts: PromptTurnParts;
  readonly #encoder: UpdateEncoder;
  /** Aborts open questions. */
  readonly #stop = new AbortController();
  /** Aborts a call that an interrupt did not reach. */
  readonly #abort = new AbortController();
  #state: "running" | "cancelled" | "withdrawn" = "running";
  #callId: string | null = null;

  constructor(parts: PromptTurnParts) {
    this.#parts = parts;
    this.#encoder = new UpdateEncoder(parts.view, parts.client.capabilities.session);
  }

  /** Says something to the agent. What waits for an answer from before is denied. */
  say(input: CallInput): Promise<TurnEnd> {
    return this.#until(() => this.#call(input));
  }

  /** Asks again what a session waits for. */
  ask(pending: readonly PendingCall[]): Promise<TurnEnd> {
    return this.#until(async () => ({ pending }));
  }

  /** Stops the turn: its call is interrupted, and what it asks is closed. */
  async cancel(): Promise<void> {
    // One that was withdrawn may still run a call.
    if (this.#state === "cancelled") return;
    this.#state = "cancelled";
    this.#stop.abort();
    const callId = this.#callId;
    if (callId === null) return;
    const { agent, userId, sessionId } = this.#parts;
    try {
      const outcome = await agent.interrupt(userId, sessionId, undefined, { callId });
      // The call has not reached the gate yet, or has left it.
      if (outcome === false) this.#abort.abort();
    } catch (error) {
      this.#abort.abort();
      throw error;
    }
  }

  /** Takes open questions back, and leaves them in the session. */
  withdraw(): void {
    if (this.#state !== "running") return;
    this.#state = "withdrawn";
    this.#stop.abort();
  }

  async #until(begin: () => Promise<Reply>): Promise<TurnEnd> {
    let reply = await this.#unlessCancelled(begin);
    while (reply && "pending" in reply) {
      const { pending } = reply;
      const answer = await this.#answer(pending);
      if (answer === null) return this.#leave(pending);
      reply = await this.#unlessCancelled(() => this.#goOn(answer, pending));
      if (reply === null) return this.#leave(pending);
    }
    if (this.#state === "cancelled" || reply === null) return "cancelled";
    if (!("reason" in reply)) return "done";
    if (reply.reason === "max_iterations") return "max_iterations";
    return reply.reason === "interrupted" || reply.reason === "shutdown" ? "cancelled" : "done";
  }

  /** Runs a call; null when the turn was cancelled before or meanwhile. */
  async #unlessCancelled<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.#state === "cancelled") return null;
    try {
      return await work();
    } catch (error) {
      // The editor is owed the answer "cancelled", whatever the interruption broke.
      if ((this.#state as string) === "cancelled") return null;
      throw error;
    }
  }

  /** Goes on with an answer, or with what is left to answer when another client was faster. */
  async #goOn(answer: CallInput, pending: readonly PendingCall[]): Promise<Reply> {
    try {
      return await this.#call(answer);
    } catch (error) {
      if (!InvalidInputError.is(error)) throw error;
      const left = await this.#stillWaiting();
      // Otherwise it is the answer that is wrong.
      if (pending.every(({ toolCallId }) => left.has(toolCallId))) throw error;
      return { pending: [...left.values()] };
    }
  }

  async #stillWaiting(): Promise<ReadonlyMap<string, PendingCall>> {
    const { agent, userId, sessionId } = this.#parts;
    const pending = await agent.pending(userId, sessionId);
    return new Map(pending.map((call) => [call.toolCallId, call]));
  }

  async #call(input: CallInput): Promise<AgentReply> {
    const { agent, userId, sessionId, onEvent } = this.#parts;
    const isNew = typeof input === "string" || Array.isArray(input) || "role" in input;
    const run = agent.stream(input, {
      ...{ userId, sessionId, signal: this.#abort.signal },
      ...(isNew && { onPending: "deny" as const }),
    });
    this.#callId = run.callId;
    try {
      for await (const event of run) {
        await onEvent(event);
        for (const update of this.#encoder.encode(event)) await this.#show(update);
      }
      return await run.result;
    } finally {
      this.#callId = null;
    }
  }

  async #show(update: SessionUpdate): Promise<void> {
    const { client, sessionId } = this.#parts;
    // The call goes on without its reader; the log has what is not shown.
    if (!client.isGone) await client.update(sessionId, update).catch(() => undefined);
  }

  /** Asks about the first call that a person can answer; null when there is none, or no answer. */
  async #answer(pending: readonly PendingCall[]): Promise<CallInput | null> {
    if (this.#state !== "running") return null;
    const asking = pending.find(({ state }) => state === "asking");
    try {
      if (asking) return await this.#confirm(asking);
      return await this.#answerQuestion(pending);
    } catch (error) {
      if ((this.#state as string) !== "running") return null;
      if (EditorError.is(error) && error.reason === "gone") return null;
      throw error;
    }
  }

  async #confirm(call: PendingCall): Promise<CallInput | null> {
    const { client, userId, sessionId, askTimeoutMs } = this.#parts;
    const { toolCallId } = call;
    const toolCall = await this.#described(call);
    if (call.agent !== undefined && !this.#encoder.knows(toolCallId))
      await this.#show({ sessionUpdate: "tool_call", ...toolCall });
    const options: PermissionOption[] = permissionOptions(call, userId !== null);
    const answer = await client.request(
      methods.client.session.requestPermission,
      { sessionId, toolCall, options },
      { timeoutMs: askTimeoutMs, signal: this.#stop.signal },
    );
    const confirmation = confirmationOf(call, answer);
    if (confirmation === null) {
      await this.cancel();
      return null;
    }
    if (confirmation.approve)
      await this.#show({ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" });
    return { confirm: [confirmation] };
  }

  /** Describes a call as the question about it shows it: with the change it makes, and the guard's own words. */
  async #described(
    call: PendingCall,
  ): Promise<
    ToolDescription & Pick<PendingCall, "toolCallId" | "name"> & { readonly status: "pending" }
  > {
    const { toolCallId, name, input, reason, agent, label } = call;
    const { view, oldText } = this.#parts;
    const path = (input as { readonly path?: unknown } | null)?.path;
    const replaces = name === "write_file" && typeof path === "string";
    const known = view.describe(name, input, replaces ? await oldText(path) : undefined);
    const title = agent === undefined ? known.title : `${label ?? agent}: ${known.title}`;
    const words = reason === undefined ? [] : [cutText(reason, MAX_REASON_CHARS)];
    const content = [
      ...words.map((text) => ({ type: "content", content: { type: "text", text } }) as const),
      ...known.content,
    ];
    return { ...known, toolCallId, name, title, content, status: "pending" };
  }

  /**
   * Asks the question that a suspended call carries. A call without one waits for a result from outside, which an editor cannot
   * give.
   */
  async #answerQuestion(pending: readonly PendingCall[]): Promise<CallInput | null> {
    const { client, sessionId, askTimeoutMs: timeoutMs } = this.#parts;
    for (const call of pending) {
      const { toolCallId, question } = call;
      if (question === undefined) continue;
      const options = { timeoutMs, signal: this.#stop.signal };
      const answer = await elicit(client, sessionId, question, options);
      return { answers: [{ toolCallId, ...answer }] };
    }
    return null;
  }

  /** Ends a turn that something still waits in. */
  async #leave(pending: readonly PendingCall[]): Promise<TurnEnd> {
    if (this.#state !== "cancelled") return "waiting";
    const { agent, userId, sessionId } = this.#parts;
    const left = await this.#stillWaiting();
    const open = pending.filter(({ toolCallId }) => left.has(toolCallId));
    // What another client has answered meanwhile is not for this editor to stop.
    if (open.length > 0) await agent.interrupt(userId, sessionId);
    for (const { toolCallId } of open)
      await this.#show({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
    return "cancelled";
  }
}
