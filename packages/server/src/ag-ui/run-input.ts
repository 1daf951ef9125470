import { createHash } from "node:crypto";
import {
  type Block,
  type CallInput,
  type Confirmation,
  type ExternalResult,
  type JsonObject,
  type JsonValue,
  type PendingCall,
  userMessage,
} from "@holdfast/core";
import * as z from "zod";
import { checkSessionId } from "../http/endpoint.js";
import { Refusal } from "../http/refusal.js";

/** Answer to an interrupt. */
interface ResumeEntry {
  readonly interruptId: string;
  readonly status: "resolved" | "cancelled";
  readonly payload?: unknown;
}

/** Message of the client's copy of the conversation. */
interface SentMessage {
  readonly id?: string | undefined;
  readonly role: string;
  readonly content?: unknown;
  readonly toolCallId?: string | undefined;
}

/** What a client sends to start a run. */
export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  readonly protocolVersion: string | undefined;
  readonly state: JsonObject;
  readonly messages: readonly SentMessage[];
  readonly resume: readonly ResumeEntry[];
}

const schema = z.object({
  threadId: z.unknown(),
  runId: z.string().regex(/^[\w.:~@-]{1,128}$/),
  protocolVersion: z.string().optional(),
  state: z.unknown().optional(),
  messages: z
    .array(
      z.object({
        id: z.string().optional(),
        role: z.string(),
        content: z.unknown().optional(),
        toolCallId: z.string().optional(),
      }),
    )
    .default([]),
  resume: z
    .array(
      z.object({
        interruptId: z.string(),
        status: z.enum(["resolved", "cancelled"]),
        payload: z.unknown().optional(),
      }),
    )
    .nullish(),
});

/** @throws Refusal 400 for what is not the input of a run */
export function runInput(body: unknown): RunInput {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw malformed();
  const { threadId, runId, protocolVersion, state, messages, resume } = parsed.data;
  const isObject = typeof state === "object" && state !== null && !Array.isArray(state);
  return {
    threadId: checkSessionId(threadId),
    runId,
    protocolVersion,
    state: isObject ? (state as JsonObject) : {},
    messages,
    resume: resume ?? [],
  };
}

/** Input of a call, and the id under which it may be repeated. */
export interface RunCall {
  readonly input: CallInput;
  readonly callId: string;
}

const payloadSchema = z.object({
  approved: z.boolean(),
  editedArgs: z.json().optional(),
  reason: z.string().optional(),
  remember: z.enum(["session", "user"]).optional(),
});

/**
 * Returns the call that a run is for: answers to interrupts, results of tools that the client ran, or else the newest words of
 * the user. The rest of the messages is the client's copy.
 *
 * @throws Refusal 400, or 409 when not every open interrupt is answered
 */
export function runCall(input: RunInput, pending: readonly PendingCall[]): RunCall {
  if (input.resume.length > 0) return answers(input.resume, pending);
  const last = input.messages.at(-1);
  if (last?.role === "tool") return results(input, pending);
  if (last?.role !== "user") throw malformed();
  const content = blocksOf(last.content);
  if (content.length === 0) throw new Refusal(400, "EMPTY_MESSAGE", "The message is empty.");
  const known = last.id !== undefined && /^[\w.:~@-]{1,128}$/.test(last.id) ? { id: last.id } : {};
  return { input: userMessage(content, known), callId: `run-${input.runId}` };
}

function answers(resume: readonly ResumeEntry[], pending: readonly PendingCall[]): RunCall {
  const open = pending.filter(({ state }) => state === "asking");
  const answered = new Set(resume.map(({ interruptId }) => interruptId));
  if (open.some(({ toolCallId }) => !answered.has(toolCallId)))
    throw new Refusal(409, "INTERRUPTS_OPEN", "Answer everything that waits at once.");
  const confirm = resume.map(({ interruptId, status, payload }): Confirmation => {
    if (status === "cancelled") return { toolCallId: interruptId, approve: false, interrupt: true };
    const parsed = payloadSchema.safeParse(payload);
    if (!parsed.success) throw malformed();
    const { approved: approve, editedArgs: edited, reason, remember } = parsed.data;
    return {
      toolCallId: interruptId,
      approve,
      ...(edited !== undefined && { input: edited as JsonValue }),
      ...(reason !== undefined && { reason }),
      ...(remember !== undefined && { remember }),
    };
  });
  // By the questions: the same answers once more get the same reply, and others are refused.
  const hash = createHash("sha256")
    .update([...answered].sort().join())
    .digest("base64url");
  return { input: { confirm }, callId: `answer-${hash}` };
}

function results({ messages, runId }: RunInput, pending: readonly PendingCall[]): RunCall {
  const suspended = pending.filter(({ state }) => state === "suspended");
  const given = suspended.flatMap(({ toolCallId }): ExternalResult[] => {
    const message = messages.findLast((one) => one.toolCallId === toolCallId);
    if (message?.role !== "tool") return [];
    return [{ toolCallId, output: (message.content ?? "") as JsonValue }];
  });
  if (given.length === 0)
    throw new Refusal(409, "NOTHING_WAITS", "Nothing is waiting for this answer any more.");
  return { input: { results: given }, callId: `run-${runId}` };
}

function blocksOf(content: unknown): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  const parts = z.array(z.looseObject({ type: z.string() })).safeParse(content);
  if (!parts.success) throw malformed();
  return parts.data.flatMap((part): Block[] => {
    if (part.type === "text" && typeof part["text"] === "string")
      return [{ type: "text", text: part["text"] }];
    const source = sourceSchema.safeParse(part["source"]);
    if (!source.success) return [];
    const { type, value, mimeType = "application/octet-stream" } = source.data;
    if (type === "url" && !/^https?:/i.test(value)) throw malformed();
    return [
      {
        type: "data",
        mediaType: mimeType,
        source: type === "url" ? { kind: "url", url: value } : { kind: "base64", data: value },
      },
    ];
  });
}

const sourceSchema = z.object({
  type: z.enum(["url", "data"]),
  value: z.string(),
  mimeType: z.string().optional(),
});

function malformed(): Refusal {
  return new Refusal(400, "INVALID_REQUEST", "The request is not the input of a run.");
}
