import { readFileSync } from "node:fs";
import type { JsonValue, LogRecord, Message, Slot } from "@holdfast/core";

/** Where the fixtures of version 0.1.0 are; `make-fixtures.mjs` tells how they were made. */
export const fixtures: URL = new URL("0.1.0/", import.meta.url);

export const kinds = ["json", "redis", "mysql"] as const;
export type Kind = (typeof kinds)[number];

/** `plain` as it is, `vault` encrypted. */
export const parts = ["plain", "vault"] as const;
export type Part = (typeof parts)[number];

/** A session as the old release read it back. */
export interface OldSession {
  readonly slot: Slot;
  readonly head: { readonly [field: string]: JsonValue };
  readonly messages: readonly Message[];
  readonly records: readonly LogRecord[];
}

/** A value as the old release read it back. */
export interface OldValue {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonValue;
  readonly version: string;
}

/** What the old release said about all it had stored. */
export interface OldData {
  readonly sessions: readonly OldSession[];
  readonly values: readonly OldValue[];
  /** Replies to calls with a `callId`, by that. */
  readonly replies: Readonly<Record<string, { readonly text: string; readonly reason: string }>>;
}

/** Reads what the old release said. */
export function oldData(kind: Kind, part: Part): OldData {
  const text = readFileSync(new URL(`${kind}.expected.json`, fixtures), "utf8");
  const told: OldData = JSON.parse(text)[part];
  const sessions = told.sessions.map((session) => {
    const byId = new Map<unknown, Message>(session.messages.map((each) => [each.id, each]));
    const records = session.records.map((record) => {
      // Written once where the log and the state hold the same message.
      const message = byId.get(record.message);
      return message === undefined ? record : { ...record, message };
    });
    return { ...session, records };
  });
  return { ...told, sessions };
}

/**
 * A value as JSON has it, with one name for the id of a tool call where releases differ: in tool results and in calls
 * that wait for an answer, where it was `callId` and is `toolCallId`.
 */
export function normal(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, part) => {
    if (typeof part !== "object" || part === null || !("callId" in part)) return part;
    const isPending = "input" in part && (part.state === "asking" || part.state === "suspended");
    if (part.type !== "tool_result" && !isPending) return part;
    const { callId, ...rest } = part;
    return { ...rest, toolCallId: callId };
  });
}

/** Ids of the tool calls that messages have results of, by the name that the old release gave them. */
export function oldAnsweredCalls(messages: readonly Message[]): unknown[] {
  return messages
    .flatMap(({ content }) => content)
    .filter(({ type }) => type === "tool_result")
    .map((block) => Reflect.get(block, "callId"));
}

/** The words in a value that the conversations were given to be searched for. */
export function marksIn(value: unknown): string[] {
  return [...new Set(JSON.stringify(value).match(/mark-[\w-]+/g))].sort();
}

/** Whether a call on this store saves its input first: files have no inbox that a lease is granted with. */
export function opensWithSave(kind: Kind): boolean {
  return kind === "json";
}
