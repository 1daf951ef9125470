import type { JsonValue, ModelChunk } from "@holdfast/core";
import { isRecord, toJsonValue } from "@holdfast/core/plugin-kit";
import type { SpecVersion } from "../language-model.js";
import {
  keepMetadata,
  mergeMetadata,
  type PartMetadata,
  readMetadata,
} from "../provider-metadata.js";
import { fileSource } from "./file-source.js";
import { finishOf, type ReplyFinish } from "./finish-of.js";
import { RawChunks } from "./raw-chunks.js";
import { ReportedError } from "./reported-error.js";

type Part = Readonly<Record<string, unknown>>;
type DeltaType = "text_delta" | "thinking_delta";

/**
 * Turns the stream parts of a reply into chunks.
 *
 * Left out: tools the provider runs itself with their results and approvals, sources, files that are part of thinking, and
 * content of a provider's own kind.
 */
export class ReplyReader {
  readonly #owner: string;
  readonly #version: SpecVersion;
  readonly #metadata = new Map<string, PartMetadata>();
  /** Names of the tools whose input is being written, by call id. */
  readonly #toolNames = new Map<string, string>();
  readonly #callIds = new Set<string>();
  /** Set by the `finish` part. */
  finish: ReplyFinish | null = null;
  /** What the provider's own chunks tell besides; empty where the package does not hand them on. */
  readonly raw: RawChunks = new RawChunks();
  /** Whether there is text, a file or a tool call. */
  saidSomething = false;

  constructor(owner: string, version: SpecVersion) {
    this.#owner = owner;
    this.#version = version;
  }

  get calledTools(): boolean {
    return this.#callIds.size > 0;
  }

  /** @throws ReportedError for an `error` part, and for an error in a `raw` one, which some packages pass over */
  *read(value: unknown): Generator<ModelChunk> {
    if (!isRecord(value)) return;
    const type = String(value["type"]);
    const [kind, , rest] = type.split(/(-)/, 3);
    if (kind === "text") yield* this.#delta("text_delta", value);
    else if (kind === "reasoning" && rest !== "file") yield* this.#delta("thinking_delta", value);
    else if (type === "tool-input-start") this.#startInput(value);
    else if (type === "tool-input-delta") yield* this.#inputDelta(value);
    else if (type === "tool-call") yield* this.#toolCall(value);
    else if (type === "file") yield* this.#file(value);
    else if (type === "finish") this.finish = finishOf(value, this.#version);
    else if (type === "raw") this.raw.read(value["rawValue"]);
    else if (type === "error") throw new ReportedError(value["error"]);
  }

  *#delta(type: DeltaType, part: Part): Generator<ModelChunk> {
    const block = String(part["id"] ?? "");
    const text = typeof part["delta"] === "string" ? part["delta"] : "";
    const key = `${type}:${block}`;
    const isFirst = !this.#metadata.has(key);
    const fresh = readMetadata(part["providerMetadata"]);
    // Thinking is marked as this model's own even when there is nothing to remember about it.
    const known = this.#metadata.get(key) ?? (type === "thinking_delta" ? {} : undefined);
    const metadata = mergeMetadata(known, fresh);
    if (metadata !== undefined) this.#metadata.set(key, metadata);
    const tells = metadata !== undefined && (fresh !== undefined || isFirst);
    if (text === "" && !tells) return;
    if (type === "text_delta" && text.trim() !== "") this.saidSomething = true;
    yield {
      type,
      text,
      block,
      ...(tells && { providerMetadata: keepMetadata(this.#owner, metadata) }),
    };
  }

  #startInput(part: Part): void {
    if (part["providerExecuted"] !== true)
      this.#toolNames.set(String(part["id"]), String(part["toolName"]));
  }

  *#inputDelta(part: Part): Generator<ModelChunk> {
    const id = String(part["id"]);
    const name = this.#toolNames.get(id);
    if (name !== undefined && typeof part["delta"] === "string" && part["delta"] !== "")
      yield { type: "tool_call_delta", id, name, inputDelta: part["delta"] };
  }

  *#toolCall(part: Part): Generator<ModelChunk> {
    if (part["providerExecuted"] === true) return;
    let id = String(part["toolCallId"] || "call");
    // Some servers number the calls of every reply alike, or not at all.
    while (this.#callIds.has(id)) id += "_";
    this.#callIds.add(id);
    this.saidSomething = true;
    const metadata = readMetadata(part["providerMetadata"]);
    yield {
      type: "tool_call",
      id,
      name: String(part["toolName"]),
      input: inputOf(part["input"]),
      ...(metadata && { providerMetadata: keepMetadata(this.#owner, metadata) }),
    };
  }

  *#file(part: Part): Generator<ModelChunk> {
    const source = fileSource(part["data"]);
    if (source === null) return;
    this.saidSomething = true;
    const metadata = readMetadata(part["providerMetadata"]);
    yield {
      type: "data",
      mediaType: String(part["mediaType"] ?? "application/octet-stream"),
      source,
      ...(metadata && { providerMetadata: keepMetadata(this.#owner, metadata) }),
    };
  }
}

/** The arguments of a call. Broken JSON stays text, which no tool's schema takes: the model is told and can try again. */
function inputOf(input: unknown): JsonValue {
  if (typeof input !== "string") return toJsonValue(input ?? {}, "the input of a tool call");
  if (input.trim() === "") return {};
  try {
    return toJsonValue(JSON.parse(input), "the input of a tool call");
  } catch {
    return input;
  }
}
