import type {
  AutocompleteItem,
  AutocompleteProvider,
  AutocompleteSuggestions,
} from "@earendil-works/pi-tui";
import { safeName } from "../../terminal/safe-text.js";
import { commands } from "../commands/slash-commands.js";
import type { Chat } from "../open-chat.js";

/** Names of files that are suggested at most. */
const MAX_FILES = 20;
/** Time for which a listing of files is used again. */
const LISTING_MS = 5_000;

/** Completes `/` with commands, and `@` with paths of the agent's workspace, as its file tools take them. */
export class Completions implements AutocompleteProvider {
  readonly #chat: Chat;
  #files: { readonly at: number; readonly paths: Promise<readonly string[]> } | null = null;

  constructor(chat: Chat) {
    this.#chat = chat;
  }

  async getSuggestions(
    lines: string[],
    line: number,
    column: number,
  ): Promise<AutocompleteSuggestions | null> {
    const token = tokenBefore(lines, line, column);
    if (token === null) return null;
    const items = token.startsWith("/") ? commandItems(token) : await this.#fileItems(token);
    return items.length > 0 ? { items, prefix: token } : null;
  }

  /** Replaces what is typed of a name, as it is now: keys may have followed since the suggestion was made. */
  applyCompletion(
    lines: string[],
    cursorLine: number,
    cursorCol: number,
    { value }: AutocompleteItem,
  ): { lines: string[]; cursorLine: number; cursorCol: number } {
    const token = tokenBefore(lines, cursorLine, cursorCol);
    const isCommand = token?.startsWith("/");
    if (token === null || (isCommand && !value.startsWith(token)))
      return { lines, cursorLine, cursorCol };
    const text = lines[cursorLine] ?? "";
    const start = cursorCol - token.length;
    const whole = `${value}${isCommand ? "" : " "}`;
    const changed = text.slice(0, start) + whole + text.slice(cursorCol);
    return {
      lines: lines.map((old, index) => (index === cursorLine ? changed : old)),
      cursorLine,
      cursorCol: start + whole.length,
    };
  }

  /** Tab completes nothing else. */
  shouldTriggerFileCompletion(lines: string[], line: number, column: number): boolean {
    return tokenBefore(lines, line, column) !== null;
  }

  async #fileItems(token: string): Promise<AutocompleteItem[]> {
    const wanted = token.slice(1).toLowerCase();
    const paths = await this.#paths();
    return paths
      .filter((path) => isPart(wanted, path.toLowerCase()))
      .sort((one, other) => rank(wanted, one) - rank(wanted, other))
      .slice(0, MAX_FILES)
      .map((path) => ({ value: path, label: safeName(path) }));
  }

  #paths(): Promise<readonly string[]> {
    if (this.#files === null || Date.now() - this.#files.at > LISTING_MS)
      this.#files = { at: Date.now(), paths: this.#list() };
    return this.#files.paths;
  }

  async #list(): Promise<readonly string[]> {
    const { agent, userId, sessionId } = this.#chat;
    const slot = { agentId: agent.agentId, userId, sessionId };
    // Without files there is nothing to complete; an error shows when the agent reads one.
    const listed = await this.#chat
      .filesystem()
      ?.list(slot)
      .catch(() => []);
    return (listed ?? []).filter(({ kind }) => kind === "file").map(({ path }) => path);
  }
}

/** @returns the command or the `@name` that ends at the cursor; null when there is none */
function tokenBefore(lines: readonly string[], line: number, column: number): string | null {
  const before = (lines[line] ?? "").slice(0, column);
  if (line === 0 && /^\/[a-z]*$/u.test(before)) return before;
  return /(?:^|\s)(@\S*)$/u.exec(before)?.[1] ?? null;
}

function commandItems(token: string): AutocompleteItem[] {
  return Object.entries(commands)
    .filter(([name]) => name.startsWith(token))
    .map(([name, { usage, help }]) => ({ value: name, label: usage, description: help }));
}

/** @returns whether the characters of `wanted` are in `text`, in their order */
function isPart(wanted: string, text: string): boolean {
  let at = 0;
  for (const character of wanted) {
    at = text.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** @returns a smaller number for a better match: in the name of the file, then anywhere, then scattered */
function rank(wanted: string, path: string): number {
  const [lower, name] = [path.toLowerCase(), path.slice(path.lastIndexOf("/") + 1).toLowerCase()];
  if (name.startsWith(wanted)) return 0;
  return lower.includes(wanted) ? 1 : 2;
}
