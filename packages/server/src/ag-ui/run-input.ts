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
import { isRecord, type QuestionAnswer } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { checkSessionId } from "../http/endpoint.js";
import { Refusal } from "../http/refusal.js";
import type { AnsweringCall, NamedCall, ResultCall } from "../run/given-results.js";
import { interruptedCall, interruptIdOf } from "./ag-ui-interrupts.js";

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

/** Body of a request that starts a run. */
export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  readonly protocolVersion: string | undefined;
  readonly state: JsonObject;
  readonly messages: readonly SentMessage[];
  readonly resume: readonly ResumeEntry[];
}

const schema = s.object({
  threadId: s.unknown(),
  runId: s.string().regex(/^[\w.:~@-]{1,128}$/),
  protocolVersion: s.string().optional(),
  state: s.unknown().optional(),
  messages: s
    .array(
      s.object({
        id: s.string().optional(),
        role: s.string(),
        content: s.unknown().optional(),
        toolCallId: s.string().optional(),
      }),
    )
    .default([]),
  resume: s
    .array(
      s.object({
        interruptId: s.string(),
        status: s.enum(["resolved", "cancelled"]),
        payload: s.unknown().optional(),
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

const payloadSchema = s.object({
  approved: s.boolean(),
  editedArgs: s.json().optional(),
  reason: s.string().optional(),
  remember: s.enum(["session", "user"]).optional(),
});

/**
 * Returns the call that a run is for: answers to interrupts, results of tools that the client ran, or else the newest words of
 * the user. The rest of the messages is the client's copy.
 *
 * @throws Refusal 400, or 409 when not every open interrupt is answered
 */
export function runCall(input: RunInput, pending: readonly PendingCall[]): AnsweringCall {
  const given = results(input, pending);
  if (input.resume.length > 0) return { ...answers(input.resume, pending), results: given };
  const last = input.messages.at(-1);
  if (last?.role === "tool") {
    if (given) return given;
    throw new Refusal(409, "NOTHING_WAITS", "Nothing is waiting for this answer any more.");
  }
  if (last?.role !== "user") throw malformed();
  const content = blocksOf(last.content);
  if (content.length === 0) throw new Refusal(400, "EMPTY_MESSAGE", "The message is empty.");
  const known = last.id !== undefined && /^[\w.:~@-]{1,128}$/.test(last.id) ? { id: last.id } : {};
  return { input: userMessage(content, known), callId: `run-${input.runId}` };
}

function answers(resume: readonly ResumeEntry[], pending: readonly PendingCall[]): NamedCall {
  const asking = pending.filter(({ state }) => state === "asking");
  const open = asking.length > 0 ? asking : pending.filter(({ question }) => question);
  // A client may name a question by its call alone.
  const byCall = new Map(open.map((call) => [call.toolCallId, interruptIdOf(call)]));
  const ids = resume.map(({ interruptId: id }) => byCall.get(id) ?? id);
  if (open.some((call) => !ids.includes(interruptIdOf(call))))
    throw new Refusal(409, "INTERRUPTS_OPEN", "Answer everything that waits at once.");
  // By the questions: the same answers once more get the same reply, and others are refused.
  const hash = createHash("sha256")
    .update([...new Set(ids)].sort().join())
    .digest("base64url");
  const areQuestions = ids.every((id) => interruptedCall(id) !== id);
  return {
    input: areQuestions ? questionAnswers(resume) : confirmations(resume),
    callId: `answer-${hash}`,
  };
}

function confirmations(resume: readonly ResumeEntry[]): CallInput {
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
  return { confirm };
}

/** Returns the answers to questions of tools: the payload is what the person filled in. */
function questionAnswers(resume: readonly ResumeEntry[]): CallInput {
  const answers = resume.map(({ interruptId, status, payload }): QuestionAnswer => {
    const toolCallId = interruptedCall(interruptId);
    if (status === "cancelled") return { toolCallId, action: "cancel" };
    const hasContent = isRecord(payload) && Object.keys(payload).length > 0;
    return {
      ...{ toolCallId, action: "accept" },
      ...(hasContent && { content: payload as JsonObject }),
    };
  });
  return { answers };
}

function results(
  { messages, runId }: RunInput,
  pending: readonly PendingCall[],
): ResultCall | undefined {
  const suspended = pending.filter(({ state }) => state === "suspended");
  const given = suspended.flatMap(({ toolCallId }): ExternalResult[] => {
    const message = messages.findLast((one) => one.toolCallId === toolCallId);
    if (message?.role !== "tool") return [];
    return [{ toolCallId, output: (message.content ?? "") as JsonValue }];
  });
  return given.length > 0 ? { input: { results: given }, callId: `run-${runId}` } : undefined;
}

function blocksOf(content: unknown): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  const parts = s.array(s.looseObject({ type: s.string() })).safeParse(content);
  if (!parts.success) throw malformed();
  return parts.data.flatMap((part): Block[] => {
    if (part.type === "text" && typeof part["text"] === "string")
      return part["text"] === "" ? [] : [{ type: "text", text: part["text"] }];
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

const sourceSchema = s.object({
  type: s.enum(["url", "data"]),
  value: s.string(),
  mimeType: s.string().optional(),
});

function malformed(): Refusal {
  return new Refusal(400, "INVALID_REQUEST", "The request is not the input of a run.");
}
