import { isAbsolute, join } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { JsonValue } from "@holdfast/core";
import { cutText, isRecord } from "@holdfast/core/plugin-kit";

/** Longest input, as JSON, and longest text of a diff that an editor is sent. */
const MAX_INPUT_CHARS = 65_536;
const MAX_DIFF_CHARS = 1_048_576;
const MAX_TITLE_CHARS = 200;

/** Kinds of Holdfast's own tools; all others are `other`, unless an option says more. */
const kinds: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  read_offloaded: "read",
  write_file: "edit",
  edit_file: "edit",
  list_files: "search",
  glob_files: "search",
  grep_files: "search",
  execute: "execute",
  todo_write: "think",
  plan_write: "think",
  plan_enter: "switch_mode",
  plan_exit: "switch_mode",
  session_list: "search",
  session_search: "search",
  session_history: "read",
  memory_search: "search",
  memory_get: "read",
};

/** Words for the titles of tools that work on a path. */
const verbs: Readonly<Record<string, string>> = {
  read_file: "Read",
  write_file: "Write",
  edit_file: "Edit",
  list_files: "List",
};

/** View of a tool call in an editor. */
export interface ToolDescription {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
  /** Change of a file that the call makes. */
  readonly content: ToolCallContent[];
  /** Absent when it is too long. */
  readonly rawInput?: JsonValue;
}

/** Finds kind, title, places and changes of tool calls, as an editor shows them. */
export class ToolView {
  readonly #cwd: string;
  readonly #kindOf: (name: string) => ToolKind | undefined;

  /** @param kindOf - kinds of tools that this package does not know */
  constructor(cwd: string, kindOf: (name: string) => ToolKind | undefined = () => undefined) {
    this.#cwd = cwd;
    this.#kindOf = kindOf;
  }

  kind(name: string): ToolKind {
    return this.#kindOf(name) ?? (Object.hasOwn(kinds, name) ? kinds[name] : undefined) ?? "other";
  }

  /**
   * Returns what is known of a call once its input is.
   *
   * @param oldText - content of the file that `write_file` replaces, where it is known
   */
  describe(name: string, input: JsonValue, oldText?: string | null): ToolDescription {
    const isShort = JSON.stringify(input).length <= MAX_INPUT_CHARS;
    return {
      title: cutText(titleOf(name, input), MAX_TITLE_CHARS),
      kind: this.kind(name),
      locations: this.#locations(input),
      content: this.#changes(name, input, oldText),
      ...(isShort && { rawInput: input }),
    };
  }

  #changes(name: string, input: JsonValue, oldText?: string | null): ToolCallContent[] {
    if (!isRecord(input) || typeof input["path"] !== "string") return [];
    const { old_string: from, new_string: to, content } = input;
    const path = this.at(input["path"]);
    const [before, after] =
      name === "edit_file" ? [from, to] : name === "write_file" ? [oldText, content] : [];
    if (typeof after !== "string" || after.length > MAX_DIFF_CHARS) return [];
    const isShown = typeof before === "string" && before.length <= MAX_DIFF_CHARS;
    return [{ type: "diff", path, newText: after, ...(isShown && { oldText: before }) }];
  }

  /** Returns the absolute form of a path of the project. */
  at(path: string): string {
    return isAbsolute(path) ? path : join(this.#cwd, path);
  }

  #locations(input: JsonValue): ToolCallLocation[] {
    if (!isRecord(input) || typeof input["path"] !== "string" || input["path"] === "") return [];
    const { offset } = input;
    const isLine = typeof offset === "number" && Number.isInteger(offset) && offset > 0;
    return [{ path: this.at(input["path"]), ...(isLine && { line: offset }) }];
  }
}

function titleOf(name: string, input: JsonValue): string {
  if (!isRecord(input)) return name;
  const { path, pattern, command, url } = input;
  if (name === "execute" && typeof command === "string") return `\`${command}\``;
  if (typeof pattern === "string") return `${name} ${JSON.stringify(pattern)}`;
  if (typeof path === "string") return `${verbs[name] ?? name} ${path}`;
  return typeof url === "string" ? `${name} ${url}` : name;
}
