import type { Dialect } from "../dialect.js";
import type { AiSdkUrls, SpecVersion } from "../language-model.js";

/** What the prompt must do without, because the provider refused it. */
export interface Omissions {
  /** Signatures, item ids and the thinking they belong to. */
  readonly metadata: boolean;
  /** Media types of files that are mentioned instead of shown; `"all"` of them. */
  readonly media: ReadonlySet<string> | "all";
}

/** A prompt with everything in it. */
export const nothingOmitted: Omissions = { metadata: false, media: new Set() };

/** Whom a prompt is for. */
export interface PromptScope {
  readonly version: SpecVersion;
  readonly dialect: Dialect;
  /** Whose metadata goes back: see `keepMetadata`. */
  readonly owner: string;
  readonly supportedUrls: AiSdkUrls;
  /** Whether the provider keeps replies, so that they can be referred to by id. */
  readonly storesReplies: boolean;
  readonly omit: Omissions;
  /** The id a tool call goes by in this request. */
  readonly callIds: ReadonlyMap<string, string>;
  /** Names of the tools that are offered. */
  readonly toolNames: ReadonlySet<string>;
}
