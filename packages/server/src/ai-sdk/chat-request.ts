import { createHash } from "node:crypto";
import {
  type Block,
  type Confirmation,
  type ExternalResult,
  type JsonObject,
  type JsonValue,
  type PendingCall,
  userMessage,
} from "@holdfast/core";
import type { QuestionAnswer } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { checkSessionId } from "../http/endpoint.js";
import { Refusal } from "../http/refusal.js";
import type { AnsweringCall, NamedCall } from "../run/given-results.js";

/** Answer to a tool call that asks, beside what the AI SDK's own messages can say. */
export interface ChatApproval {
  /** @default the answer in the message */
  readonly approve?: boolean | undefined;
  /** Input to run the call with, instead of the model's. */
  readonly input?: JsonValue | undefined;
  /** Remembers the rules that `pending` suggests, or those named. */
  readonly remember?: Confirmation["remember"] | undefined;
  /** Told to the model when denied. */
  readonly reason?: string | undefined;
  /** Ends the turn with the denial. @default false */
  readonly interrupt?: boolean | undefined;
}

/** Answer to the question of a tool call. */
export interface ChatAnswer {
  readonly action: "accept" | "decline" | "cancel";
  /** Fields that the person filled in, with `accept`. */
  readonly content?: JsonObject | undefined;
  /** `questionNumber` of the question that the person saw: an answer to another one does not count. @default the one that waits */
  readonly number?: number | undefined;
}

/** Part of a message that a client sends; what is not known here is ignored. */
interface SentPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Message that a client sends. */
interface SentMessage {
  readonly id?: string | undefined;
  readonly role: string;
  readonly parts: readonly SentPart[];
}

/** Body of a POST: what `DefaultChatTransport` sends, or the last message alone, with what the page adds. */
export interface ChatRequest {
  readonly sessionId: string;
  /** Last message; absent when there are only approvals. */
  readonly message: SentMessage | undefined;
  readonly approvals: Readonly<Record<string, ChatApproval>>;
  readonly answers: Readonly<Record<string, ChatAnswer>>;
}

const messageSchema = s.object({
  id: s.string().optional(),
  role: s.string(),
  parts: s.array(s.looseObject({ type: s.string() })),
});

const rule = s.object({ tool: s.string(), pattern: s.string().optional() });
const scope = s.enum(["session", "user"]);
const approvalSchema = s.strictObject({
  approve: s.boolean().optional(),
  input: s.json().optional(),
  remember: s.union([scope, s.strictObject({ scope, rules: s.array(rule) })]).optional(),
  reason: s.string().optional(),
  interrupt: s.boolean().optional(),
});

const answerSchema = s.strictObject({
  action: s.enum(["accept", "decline", "cancel"]),
  content: s.record(s.string(), s.json()).optional(),
  number: s.int().positive().optional(),
});

const bodySchema = s.object({
  id: s.unknown(),
  messages: s.array(s.unknown()).optional(),
  message: s.unknown().optional(),
  approvals: s.record(s.string(), approvalSchema).optional(),
  answers: s.record(s.string(), answerSchema).optional(),
});

/** @throws Refusal 400 for a body that is none of a chat */
export function chatRequest(body: unknown): ChatRequest {
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) throw malformed();
  const { id, messages, message = messages?.at(-1), approvals = {}, answers = {} } = parsed.data;
  const last = message === undefined ? undefined : messageSchema.safeParse(message);
  if (last && !last.success) throw malformed();
  if (!last && !parsed.data.approvals && !parsed.data.answers) throw malformed();
  return { sessionId: checkSessionId(id), message: last?.data, approvals, answers };
}

/** Begins the ids of calls that answer what waits, and so go on with the last message. */
const ANSWER = "answer-";

/** Tells whether a call goes on with the last assistant message. */
export function isAnswer(callId: string): boolean {
  return callId.startsWith(ANSWER);
}

const idPattern = /^[\w.:~@-]{1,128}$/;

/**
 * Returns the words of the user as the input of a call. Its id is that of the message: a request that is sent again goes on with
 * its call, or shows its reply again.
 *
 * @throws Refusal 400 for a message without words
 */
export function wordsCall({ id, parts }: SentMessage): NamedCall {
  const content = parts.flatMap((part): Block[] => {
    if (part.type === "text" && typeof part["text"] === "string" && part["text"] !== "")
      return [{ type: "text", text: part["text"] }];
    return part.type === "file" ? [fileBlock(part)] : [];
  });
  if (content.length === 0) throw new Refusal(400, "EMPTY_MESSAGE", "The message is empty.");
  const known = id !== undefined && idPattern.test(id) ? { id } : {};
  const message = userMessage(content, known);
  return { input: message, callId: `message-${message.id}` };
}

function fileBlock({ url, mediaType, filename }: SentPart): Block {
  if (typeof url !== "string" || typeof mediaType !== "string") throw malformed();
  const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
  if (data === undefined && !/^https?:/i.test(url)) throw malformed();
  return {
    type: "data",
    mediaType,
    source: data === undefined ? { kind: "url", url } : { kind: "base64", data },
    ...(typeof filename === "string" && { name: filename }),
  };
}

/**
 * Returns the answers in a request to calls that wait. What a message says of other calls is the client's copy, and does not
 * count.
 *
 * @throws Refusal 409 when nothing that waits is answered
 */
export function answerCall(
  { message, approvals, answers: said }: Omit<ChatRequest, "sessionId">,
  pending: readonly PendingCall[],
): AnsweringCall {
  const parts = new Map(message?.parts.map((part) => [part["toolCallId"], part]));
  const confirm = pending.flatMap(({ toolCallId, state }): Confirmation[] => {
    const approval = approvals[toolCallId] ?? {};
    const approve = approval.approve ?? approvalIn(parts.get(toolCallId));
    if (state !== "asking" || approve === undefined) return [];
    const reason = approval.reason ?? reasonIn(parts.get(toolCallId));
    return [{ toolCallId, ...approval, approve, ...(reason !== undefined && { reason }) }];
  });
  const results = pending.flatMap(({ toolCallId, state }): ExternalResult[] =>
    state === "suspended" ? resultIn(toolCallId, parts.get(toolCallId)) : [],
  );
  const answers = pending.flatMap((call) => questionAnswer(call, said[call.toolCallId]));
  // A call may ask first and wait for its result then: that is another answer.
  const resultIds = results.map(({ toolCallId }) => `${toolCallId}#result`);
  const given =
    results.length > 0 ? { input: { results }, callId: answerId(resultIds) } : undefined;
  if (confirm.length > 0) {
    const callId = answerId(confirm.map(({ toolCallId }) => toolCallId));
    return { input: { confirm }, callId, results: given };
  }
  if (answers.length > 0) {
    const input = { answers: answers.map(({ answer }) => answer) };
    return { input, callId: answerId(answers.map(({ id }) => id)), results: given };
  }
  if (given) return given;
  throw new Refusal(409, "NOTHING_WAITS", "Nothing is waiting for this answer any more.");
}

/** Returns the id of a call by what it answers: the same answers once more get the same reply, and others are refused. */
function answerId(ids: readonly string[]): string {
  return `${ANSWER}${createHash("sha256")
    .update([...ids].sort().join())
    .digest("base64url")}`;
}

/** Returns the answer to the question of a call, with an id that the next question of the same call does not have. */
function questionAnswer(
  { toolCallId, question, questionNumber = 1 }: PendingCall,
  given: ChatAnswer | undefined,
): readonly { readonly answer: QuestionAnswer; readonly id: string }[] {
  if (!question || !given || (given.number ?? questionNumber) !== questionNumber) return [];
  const { action, content } = given;
  const answer = { toolCallId, action, ...(content && { content }) };
  return [{ answer, id: `${toolCallId}#${questionNumber}` }];
}

function approvalIn(part: SentPart | undefined): boolean | undefined {
  if (part?.["state"] !== "approval-responded") return undefined;
  const { approved } = (part["approval"] ?? {}) as { readonly approved?: unknown };
  return typeof approved === "boolean" ? approved : undefined;
}

function reasonIn(part: SentPart | undefined): string | undefined {
  const { reason } = (part?.["approval"] ?? {}) as { readonly reason?: unknown };
  return typeof reason === "string" ? reason : undefined;
}

function resultIn(toolCallId: string, part: SentPart | undefined): ExternalResult[] {
  if (part?.["state"] === "output-available")
    return [{ toolCallId, output: (part["output"] ?? null) as JsonValue }];
  if (part?.["state"] === "output-error")
    return [{ toolCallId, output: String(part["errorText"] ?? "It failed."), state: "error" }];
  return [];
}

function malformed(): Refusal {
  return new Refusal(400, "INVALID_REQUEST", "The request is not one of a chat.");
}
