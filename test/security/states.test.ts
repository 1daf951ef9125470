import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { JsonObject, JsonValue } from "@holdfast/core";
import { scaled, spawnScript } from "@holdfast/testing";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { jsonValue, stateDocument } from "../../packages/core/test/arbitraries.js";
import { newPlace } from "../fleet/every-store.js";
import { report, samples, slow } from "./corpus.js";
import { directoryFor, sharedStores } from "./every-place.js";

const script = new URL("state-hops.mjs", import.meta.url);

/** Data that some deserializer turns into objects, calls or code; here it is data like any other. */
const revivalPayloads: readonly JsonValue[] = JSON.parse(
  readFileSync(new URL("revival-payloads.json", import.meta.url), "utf8"),
);

interface Case {
  readonly document: JsonObject;
  readonly isMutated: boolean;
}

/** A payload wherever a state has room for one. */
function withPayload(document: JsonObject, payload: JsonValue): JsonObject {
  const metadata = { payload };
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  const at = "2026-11-16T12:00:00.000Z";
  const message = (role: string, content: JsonValue): JsonValue => ({
    ...{ id: role, role, content, createdAt: at, metadata },
  });
  const call = {
    type: "tool_call",
    id: "c",
    name: "t",
    input: payload,
    providerMetadata: metadata,
  };
  const output = [{ type: "text", text }];
  const result = { type: "tool_result", toolCallId: "c", name: "t", output, state: "success" };
  const context = [
    message("user", [{ type: "text", text }]),
    message("assistant", [call]),
    message("tool", [{ ...result, metadata }]),
  ];
  return { ...document, extensions: { plugin: payload }, unknown: payload, context };
}

/** Every property of every object and list in a document, its ids left out. */
function placesIn(value: unknown): [owner: object, key: string][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key): [object, string][] => [
    [value, key],
    ...placesIn((value as Record<string, unknown>)[key]),
  ]);
}

/** The document with one of its values replaced by another. */
function mutated(document: JsonObject, which: number, value: JsonValue): JsonObject {
  const { sessionId, userId, context, ...rest } = structuredClone(document) as Record<
    string,
    never
  >;
  // A store keeps a list of messages; what is in them is up to who writes it.
  const messages: unknown[] = context ?? [];
  const places = [...placesIn(rest), ...messages.flatMap(placesIn)];
  const [owner, key] = places[which % places.length] as [object, string];
  Object.defineProperty(owner, key, { value, enumerable: true });
  return { ...rest, context, sessionId, userId } as unknown as JsonObject;
}

function cases(count: number): Case[] {
  const named = samples(fc.tuple(stateDocument, fc.nat(), jsonValue), count).map(
    ([document, which, value], index) => {
      const own = { ...document, sessionId: `s${index}`, userId: index % 3 === 0 ? null : "u" };
      return { own, which, value };
    },
  );
  return named.map(({ own, which, value }, index): Case => {
    if (index < revivalPayloads.length)
      return { document: withPayload(own, revivalPayloads[index] ?? null), isMutated: false };
    const isMutated = index % 2 === 1;
    return { document: isMutated ? mutated(own, which, value) : own, isMutated };
  });
}

test.for(sharedStores)(
  "%s: states come back equal, as plain data, or are refused, and no prototype changes",
  slow,
  async (kind, context) => {
    const all = cases(scaled(60, 10_000));
    const file = await directoryFor("cases.jsonl");
    writeFileSync(file, all.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const place = await newPlace(kind, 30_000);
    onTestFinished(() => place[Symbol.asyncDispose]());
    const child = spawnScript(script, [JSON.stringify(place.choice), file], {
      env: { NODE_OPTIONS: "--disable-proto=throw" },
      cwd: dirname(file),
    });
    onTestFinished(() => child[Symbol.asyncDispose]());
    const answer = await child.line((line) => line.startsWith("done "), slow.timeout);
    const counts = JSON.parse(answer.slice("done ".length));
    const mutations = all.filter(({ isMutated }) => isMutated).length;
    expect(counts.equal).toBe(all.length - mutations);
    expect(counts.loaded + counts.refused).toBe(mutations);
    expect(counts.loaded).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
    report(context, {
      "states, two hops, equal": counts.equal,
      "of them revival payloads": revivalPayloads.length,
      "mutated, loaded as plain data": counts.loaded,
      "mutated, refused": counts.refused,
    });
  },
);
