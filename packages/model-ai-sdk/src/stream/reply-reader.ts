import type { DataSource, JsonValue, ModelChunk } from "@holdfast/core";
import { isRecord, toJsonValue } from "@holdfast/core/plugin-kit";
import type { SpecVersion } from "../language-model.js";
import {
  keepMetadata,
  mergeMetadata,
  type PartMetadata,
  readMetadata,
} from "../provider-metadata.js";
import { finishOf, type ReplyFinish } from "./finish-of.js";
import { RawChunks, ReportedError } from "./raw-chunks.js";

type Part = Readonly<Record<string, unknown>>;
type DeltaType = "text_delta" | "thinking_delta";

/**
 * Turns the stream parts of a reply into chunks.
 *
 * Leaves out tools that the provider runs itself with their results and approvals, sources, files within thinking, and
 * provider-specific content.
 */
export class ReplyReader {
  readonly #owner: string;
  readonly #version: SpecVersion;
  readonly #metadata = new Map<string, PartMetadata>();
  /** Names of the tools whose input is being streamed, by tool call id. */
  readonly #toolNames = new Map<string, string>();
  readonly #toolCallIds = new Set<string>();
  /** Set by the `finish` part. */
  finish: ReplyFinish | null = null;
  /** Findings in the provider's own chunks; none if the package does not pass them on. */
  readonly raw: RawChunks = new RawChunks();
  /** True once there is text, a file or a tool call. */
  saidSomething = false;

  constructor(owner: string, version: SpecVersion) {
    this.#owner = owner;
    this.#version = version;
  }

  get calledTools(): boolean {
    return this.#toolCallIds.size > 0;
  }

  /** @throws ReportedError for an `error` part, and for an error in a `raw` part, which some packages ignore */
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
    // Thinking is marked as this model's own even without metadata.
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
    // Some servers number the calls of every reply from the same start, or give no ids.
    while (this.#toolCallIds.has(id)) id += "_";
    this.#toolCallIds.add(id);
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

/** Returns the arguments of a call. Broken JSON stays text, which no tool's schema accepts: the model learns of it and can retry. */
function inputOf(input: unknown): JsonValue {
  if (typeof input !== "string") return toJsonValue(input ?? {}, "the input of a tool call");
  if (input.trim() === "") return {};
  try {
    return toJsonValue(JSON.parse(input), "the input of a tool call");
  } catch {
    return input;
  }
}

/** Returns the source of a generated file: bare bytes or base64 in V2 and V3, tagged in V4; null for anything else. */
function fileSource(data: unknown): DataSource | null {
  if (typeof data === "string") return { kind: "base64", data };
  if (data instanceof Uint8Array)
    return { kind: "base64", data: Buffer.from(data).toString("base64") };
  if (data instanceof URL) return { kind: "url", url: data.href };
  if (!isRecord(data)) return null;
  return fileSource(data["type"] === "url" ? toUrl(data["url"]) : data["data"]);
}

function toUrl(url: unknown): unknown {
  return typeof url === "string" && URL.canParse(url) ? new URL(url) : url;
}
