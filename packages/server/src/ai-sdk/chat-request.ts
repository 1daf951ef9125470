import { createHash } from "node:crypto";
import {
  type Block,
  type CallInput,
  type Confirmation,
  type ExternalResult,
  type JsonValue,
  type PendingCall,
  userMessage,
} from "@holdfast/core";
import * as z from "zod";
import { checkSessionId } from "../http/endpoint.js";
import { Refusal } from "../http/refusal.js";

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
}

const messageSchema = z.object({
  id: z.string().optional(),
  role: z.string(),
  parts: z.array(z.looseObject({ type: z.string() })),
});

const rule = z.object({ tool: z.string(), pattern: z.string().optional() });
const scope = z.enum(["session", "user"]);
const approvalSchema = z.strictObject({
  approve: z.boolean().optional(),
  input: z.json().optional(),
  remember: z.union([scope, z.strictObject({ scope, rules: z.array(rule) })]).optional(),
  reason: z.string().optional(),
  interrupt: z.boolean().optional(),
});

const bodySchema = z.object({
  id: z.unknown(),
  messages: z.array(z.unknown()).optional(),
  message: z.unknown().optional(),
  approvals: z.record(z.string(), approvalSchema).optional(),
});

/** @throws Refusal 400 for a body that is none of a chat */
export function chatRequest(body: unknown): ChatRequest {
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) throw malformed();
  const { id, messages, message = messages?.at(-1), approvals = {} } = parsed.data;
  const last = message === undefined ? undefined : messageSchema.safeParse(message);
  if (last && !last.success) throw malformed();
  return { sessionId: checkSessionId(id), message: last?.data, approvals };
}

/** Input of the call that a request is for, and the id under which it may be repeated. */
export interface ChatCall {
  readonly input: CallInput;
  readonly callId: string;
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
export function wordsCall({ id, parts }: SentMessage): ChatCall {
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
  { message, approvals }: Pick<ChatRequest, "message" | "approvals">,
  pending: readonly PendingCall[],
): ChatCall {
  const parts = new Map(message?.parts.map((part) => [part["toolCallId"], part]));
  const confirm = pending.flatMap(({ toolCallId, state }): Confirmation[] => {
    const given = approvals[toolCallId] ?? {};
    const approve = given.approve ?? approvalIn(parts.get(toolCallId));
    if (state !== "asking" || approve === undefined) return [];
    const reason = given.reason ?? reasonIn(parts.get(toolCallId));
    return [{ toolCallId, ...given, approve, ...(reason !== undefined && { reason }) }];
  });
  const results = pending.flatMap(({ toolCallId, state }): ExternalResult[] =>
    state === "suspended" ? resultIn(toolCallId, parts.get(toolCallId)) : [],
  );
  const answers = confirm.length > 0 ? confirm : results;
  if (answers.length === 0)
    throw new Refusal(409, "NOTHING_WAITS", "Nothing is waiting for this answer any more.");
  const ids = answers.map(({ toolCallId }) => toolCallId).sort();
  const hash = createHash("sha256").update(ids.join()).digest("base64url");
  return { input: confirm.length > 0 ? { confirm } : { results }, callId: `${ANSWER}${hash}` };
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
