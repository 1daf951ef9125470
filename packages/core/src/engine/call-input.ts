import { createHash } from "node:crypto";
import { InvalidInputError } from "../errors/errors.js";
import { canonicalJson, isRecord, type JsonObject, type JsonValue } from "../json/json.js";
import { adoptMessage, createMessage } from "../message/create-message.js";
import type { DataBlock, Message, TextBlock, ToolResultState } from "../message/message.js";
import { showValue } from "../plugin-kit/show-value.js";
import type { InboxEntry } from "../ports/inbox.js";
import { uuidv7 } from "../slot/uuid.js";
import type { PermissionRule } from "../state/sections.js";
import { confirmations, externalResults, questionAnswers } from "./check-answers.js";
import { checkMessages } from "./check-messages.js";

/** A person's answer about a tool call that asks. */
export interface Confirmation {
  readonly toolCallId: string;
  readonly approve: boolean;
  /** Runs the call with this input instead of the model's. */
  readonly input?: JsonValue | undefined;
  /** Told to the model when denied. */
  readonly reason?: string | undefined;
  /** Ends the turn with the denial: everything else that waits is closed, and the model is not asked again. @default false */
  readonly interrupt?: boolean | undefined;
  /**
   * Rules to remember with an approval, for the session or for all sessions of the user: those that the guard suggested, or
   * rules of the person's own. @default none
   */
  readonly remember?:
    | "session"
    | "user"
    | { readonly scope: "session" | "user"; readonly rules: readonly PermissionRule[] }
    | undefined;
}

/** Result of a suspended tool call. */
export interface ExternalResult {
  readonly toolCallId: string;
  /** Text, blocks, or anything JSON can hold. */
  readonly output: string | readonly (TextBlock | DataBlock)[] | JsonValue;
  /** @default "success" */
  readonly state?: ToolResultState | undefined;
}

/** A person's answer to the question of a tool call. */
export interface QuestionAnswer {
  readonly toolCallId: string;
  /** `accept`: answered; `decline`: refused; `cancel`: put aside without a choice. */
  readonly action: "accept" | "decline" | "cancel";
  /** Fields that the person filled in, with `accept`. Those that are left out get the default of the question's schema. */
  readonly content?: JsonObject | undefined;
}

/** Input of a call: something new to say, or an answer about open tool calls. */
export type CallInput =
  | string
  | Message
  | readonly Message[]
  | { readonly confirm: readonly Confirmation[] }
  | { readonly results: readonly ExternalResult[] }
  | { readonly answers: readonly QuestionAnswer[] };

/** Input of a call, checked and told apart by kind. */
export type ReadInput =
  | {
      readonly kind: "messages";
      readonly messages: readonly Message[];
      /** The ids were chosen by the caller and may be taken already. */
      readonly foreignIds: boolean;
    }
  | { readonly kind: "confirm"; readonly confirm: readonly Confirmation[] }
  | { readonly kind: "results"; readonly results: readonly ExternalResult[] }
  | { readonly kind: "answers"; readonly answers: readonly QuestionAnswer[] };

/** Returns a hash of what an input says, whatever ids and times its messages have: equal for a repeated call. */
export function hashInput(input: ReadInput): string {
  const said =
    input.kind === "messages"
      ? input.messages.map(({ role, name, content }) => ({ role, name, content }))
      : input;
  return createHash("sha256").update(canonicalJson(said)).digest("base64url");
}

/** Input in an inbox: what a call was to take in when its process died. */
export interface KeptInput {
  readonly input: ReadInput;
  /** Present when the caller chose the `callId`. */
  readonly hash?: string | undefined;
}

/** Returns the body of an inbox entry that keeps an input. */
export function inputBody({ input, hash }: KeptInput): JsonObject {
  return { input: input as unknown as JsonObject, ...(hash !== undefined && { hash }) };
}

/** Returns the input that an inbox entry keeps; null when a newer release wrote it in another form. */
export function readInputBody({ body }: Pick<InboxEntry, "body">): KeptInput | null {
  const { input, hash } = body;
  if (!isRecord(input)) return null;
  const kept = { ...(typeof hash === "string" && { hash }) };
  const { kind } = input;
  try {
    if (kind === "messages" && Array.isArray(input["messages"]))
      return {
        input: {
          kind,
          messages: input["messages"].map(adoptMessage),
          foreignIds: input["foreignIds"] !== false,
        },
        ...kept,
      };
    if (kind === "confirm")
      return { input: { kind, confirm: confirmations(input[kind]) }, ...kept };
    if (kind === "results")
      return {
        input: { kind, results: externalResults(input[kind]) },
        ...kept,
      };
    if (kind === "answers")
      return { input: { kind, answers: questionAnswers(input[kind]) }, ...kept };
  } catch (error) {
    if (!InvalidInputError.is(error)) throw error;
  }
  return null;
}

/** @throws InvalidInputError */
export function readInput(input: CallInput, now: () => Date): ReadInput {
  if (typeof input === "string")
    return {
      kind: "messages",
      messages: [createMessage("user", input, { createdAt: now() })],
      foreignIds: false,
    };
  if (isRecord(input) && "confirm" in input) {
    refuseOthers(input, "confirm");
    return { kind: "confirm", confirm: confirmations(input["confirm"]) };
  }
  if (isRecord(input) && "results" in input) {
    refuseOthers(input, "results");
    return { kind: "results", results: externalResults(input["results"]) };
  }
  if (isRecord(input) && "answers" in input) {
    refuseOthers(input, "answers");
    return { kind: "answers", answers: questionAnswers(input["answers"]) };
  }
  return { kind: "messages", messages: checkMessages(input), foreignIds: true };
}

function refuseOthers(input: Record<string, unknown>, kind: string): void {
  const other = Object.keys(input).find((key) => key !== kind);
  if (other !== undefined)
    throw new InvalidInputError(
      `an input with ${kind} has nothing beside it, got ${showValue(other)} too; make a second call with that`,
    );
}

/** Ids are unique within a session: a message that was sent before gets a new one. */
export function withFreshIds(
  messages: readonly Message[],
  context: readonly Message[],
): readonly Message[] {
  const wanted = new Set(messages.map(({ id }) => id));
  const taken = new Set<string>();
  for (const { id } of context) if (wanted.has(id)) taken.add(id);
  return messages.map((message) => {
    if (!taken.has(message.id)) {
      taken.add(message.id);
      return message;
    }
    return Object.freeze({ ...message, id: uuidv7() });
  });
}
