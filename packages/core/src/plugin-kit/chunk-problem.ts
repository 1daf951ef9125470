import { isRecord } from "../json/json.js";
import type { ModelChunk } from "../ports/model.js";
import { showKind } from "./show-value.js";
import { unknownNames } from "./unknown-names.js";

/** A field that a chunk needs: its name, what it must be, and the test of it. */
type Field = readonly [name: string, must: string, isSound: (value: unknown) => boolean];

const textField = (name: string): Field => [name, "a string", (value) => typeof value === "string"];

const isCount = (value: unknown) => typeof value === "number" && value >= 0;

const usage: Field = [
  "usage",
  "{ inputTokens, outputTokens } in numbers",
  (value) => isRecord(value) && isCount(value["inputTokens"]) && isCount(value["outputTokens"]),
];

const source: Field = [
  "source",
  "base64 data or a url",
  (value) =>
    isRecord(value) &&
    ((value["kind"] === "base64" && typeof value["data"] === "string") ||
      (value["kind"] === "url" && typeof value["url"] === "string")),
];

const needed: { readonly [T in ModelChunk["type"]]: readonly Field[] } = {
  text_delta: [textField("text")],
  thinking_delta: [textField("text")],
  data: [textField("mediaType"), source],
  tool_call_delta: ["id", "name", "inputDelta"].map(textField),
  tool_call: [...["id", "name"].map(textField), ["input", "given", (value) => value !== undefined]],
  finish: [textField("reason"), usage],
};

/** Returns what is wrong with a value that should be a chunk, as the end of a sentence, without its contents; or null. */
export function chunkProblem(value: unknown): string | null {
  const type: unknown = isRecord(value) ? value["type"] : undefined;
  if (!isRecord(value) || typeof type !== "string") {
    const kind = isRecord(value) ? "an object without a type" : showKind(value);
    return `yielded ${kind} where a chunk is needed; yield objects such as { type: "text_delta", text }`;
  }
  if (!Object.hasOwn(needed, type)) {
    const [unknown] = unknownNames({ [type]: true }, Object.keys(needed), "chunk type");
    return `yielded an ${unknown}`;
  }
  const wrong = needed[type as ModelChunk["type"]].find(
    ([name, , isSound]) => !isSound(value[name]),
  );
  if (!wrong) return null;
  const [name, must] = wrong;
  return `yielded a ${type} chunk whose ${name} must be ${must}, got ${showKind(value[name])}`;
}
