import type { Message } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import type { Dialect } from "../dialect.js";
import type { AiSdkUrls, SpecVersion } from "../language-model.js";

/** Content left out of the prompt because the provider refused it. */
export interface Omissions {
  /** Signatures, item ids and the thinking they belong to. */
  readonly metadata: boolean;
  /** Media types of files that are mentioned instead of shown, or `"all"`. */
  readonly media: ReadonlySet<string> | "all";
}

/** Leaves nothing out. */
export const nothingOmitted: Omissions = { metadata: false, media: new Set() };

/** Model and provider that a prompt is for. */
export interface PromptScope {
  readonly version: SpecVersion;
  readonly dialect: Dialect;
  /** Model whose metadata is sent back; see `keepMetadata`. */
  readonly owner: string;
  readonly supportedUrls: AiSdkUrls;
  /** True if the provider stores replies, so that they can be referred to by id. */
  readonly storesReplies: boolean;
  readonly omit: Omissions;
  /** Ids of the tool calls in this request, by their ids in the session. */
  readonly toolCallIds: ReadonlyMap<string, string>;
  /** Names of the offered tools. */
  readonly toolNames: ReadonlySet<string>;
}

/** Ids that Anthropic and OpenAI accept; Mistral is stricter. */
const usualId = /^[\w-]{1,40}$/;
const mistralId = /^[A-Za-z0-9]{9}$/;

/**
 * Returns the id of each tool call in a request: the one its provider gave it, if every provider accepts it and no other call
 * of the request has it; otherwise the session's own.
 */
export function toolCallIdsIn(messages: readonly Message[], dialect: Dialect): Map<string, string> {
  const form = dialect === "mistral" ? mistralId : usualId;
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  let count = 0;
  const free = (id: unknown): id is string =>
    typeof id === "string" && form.test(id) && !taken.has(id);
  for (const { content, metadata } of messages) {
    const given = isRecord(metadata?.["providerCallIds"]) ? metadata["providerCallIds"] : {};
    for (const block of content) {
      if (block.type !== "tool_call") continue;
      let id: unknown = given[block.id];
      if (!free(id)) id = block.id;
      // Nine characters, as Mistral requires.
      while (!free(id)) id = `call${String(++count).padStart(5, "0")}`;
      taken.add(id);
      ids.set(block.id, id);
    }
  }
  return ids;
}

/**
 * Returns a tool's name in a form that providers accept. Models call tools that do not exist, with names such as
 * `functions.read file`; such a call stays in the history, and a provider would refuse every later request because of it.
 */
export function toolNameIn(scope: PromptScope, name: string): string {
  if (scope.toolNames.has(name)) return name;
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "unknown_tool";
}
