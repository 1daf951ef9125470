import type { Confirmation, JsonValue, PendingCall } from "@holdfast/core";
import { formatRule } from "@holdfast/permissions";
import { quoteLines } from "../terminal/quote-lines.js";
import { safeJson, safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { inputView } from "./input-view.js";
import { agentTitle } from "./status-line.js";

/** Longest input, as JSON, that can be edited on a line. */
const EDIT_CHARS = 4_000;

/** Place where a person is asked. */
export interface Questioner {
  readonly terminal: Terminal;
  /** There is a user whose later sessions can remember a rule. */
  readonly hasUser: boolean;
  /**
   * Asks for a line.
   *
   * @param text - put there to be edited
   * @returns null for Esc, Ctrl-C and the end of the chat
   */
  ask(question: string, text?: string): Promise<string | null>;
}

/**
 * Asks a person about tool calls, one after another, and returns the answers to all of them. Esc or Ctrl-C denies all and
 * ends the turn.
 */
export async function askApprovals(
  questioner: Questioner,
  pending: readonly PendingCall[],
): Promise<readonly Confirmation[]> {
  return (
    (await askEach(questioner, pending, "Esc denies everything and stops")) ??
    pending.map(({ toolCallId }) => ({ toolCallId, approve: false, interrupt: true }))
  );
}

/**
 * Asks as {@link askApprovals} does; null after Esc or Ctrl-C, which answer nothing.
 *
 * @param escapeHelp - says what Esc does
 */
export async function askEach(
  questioner: Questioner,
  pending: readonly PendingCall[],
  escapeHelp: string,
): Promise<readonly Confirmation[] | null> {
  const answers: Confirmation[] = [];
  for (const [index, call] of pending.entries()) {
    const place = pending.length === 1 ? "" : ` (${index + 1} of ${pending.length})`;
    const answer = await new Question(questioner, call).ask(place, escapeHelp);
    if (answer === null) return null;
    answers.push({ toolCallId: call.toolCallId, ...answer });
  }
  return answers;
}

type Answer = Omit<Confirmation, "toolCallId">;

interface Choice {
  readonly key: string;
  readonly word: string;
  readonly help: string;
  /** Returns the answer; null to ask again. @param rest - what was typed behind the key */
  run(rest: string): Promise<Answer | null>;
}

/** Question about one tool call. */
class Question {
  readonly #questioner: Questioner;
  readonly #terminal: Terminal;
  readonly #call: PendingCall;
  readonly #name: string;

  constructor(questioner: Questioner, call: PendingCall) {
    this.#questioner = questioner;
    this.#terminal = questioner.terminal;
    this.#call = call;
    this.#name = safeLine(call.name);
  }

  /** Shows the call and asks until there is an answer; null for none. */
  async ask(place: string, escapeHelp: string): Promise<Answer | null> {
    const { colors } = this.#terminal;
    const { reason, input, agent, label } = this.#call;
    const view = inputView(input);
    const owner = agent === undefined ? "" : ` of ${safeLine(agentTitle(agent, label))}`;
    this.#terminal.line(
      colors.yellow(`${colors.bold(this.#name)}${owner} asks for your approval${place}`),
    );
    // Space between a reason of several lines, such as a plan, and the input.
    const about = [reason, view.text].filter((text) => text !== undefined && text !== "");
    if (about.length > 0) this.#quote(about.join(reason?.includes("\n") ? "\n\n" : "\n"));
    const choices = this.#choices(view.isCut);
    const keys = choices.map(({ key, help }) => `${key} ${help}`).join(", ");
    for (;;) {
      this.#terminal.line(colors.dim(`${keys}; ${escapeHelp}`));
      const text = await this.#questioner.ask(`run ${this.#name}?`);
      if (text === null) return null;
      const [, word = "", rest = ""] = /^(\S*)\s*(.*)$/su.exec(text.trim()) ?? [];
      const chosen = choices.find(({ key, word: whole }) =>
        [key, whole].includes(word.toLowerCase()),
      );
      const answer = await chosen?.run(rest);
      if (answer) return answer;
    }
  }

  #choices(isCut: boolean): readonly Choice[] {
    const { suggestions = [], input } = this.#call;
    const json = safeJson(input);
    const offered: readonly (Choice | false)[] = [
      { key: "y", word: "yes", help: "once", run: async () => ({ approve: true }) },
      suggestions.length > 0 && {
        key: "a",
        word: "always",
        help: "always",
        run: () => this.#always(),
      },
      json.length <= EDIT_CHARS && {
        key: "e",
        word: "edit",
        help: "edit",
        run: () => this.#edit(json),
      },
      { key: "n", word: "no", help: "no", run: (rest) => this.#deny(rest) },
      isCut && { key: "v", word: "view", help: "view all", run: () => this.#view() },
    ];
    return offered.filter((choice) => choice !== false);
  }

  /** Shows the rules, which are remembered exactly as they are shown. */
  async #always(): Promise<Answer | null> {
    const { suggestions = [] } = this.#call;
    const { terminal, hasUser } = this.#questioner;
    terminal.line("from now on these calls run without asking:");
    for (const rule of suggestions) {
      const title = rule.text === undefined ? "" : `${rule.text}: `;
      const broad = rule.broad ? " (covers more than this call)" : "";
      this.#quote(`${title}${formatRule(rule)}${broad}`);
    }
    const user = hasUser ? ", u in all your sessions with this agent" : "";
    for (;;) {
      terminal.line(terminal.colors.dim(`s in this session${user}; Esc goes back`));
      const text = (await this.#questioner.ask("remember?"))?.trim().toLowerCase();
      if (text === undefined) return null;
      const isSession = text === "s" || text === "session";
      const isUser = hasUser && (text === "u" || text === "user");
      if (!isSession && !isUser) continue;
      const rules = suggestions.map(({ tool, pattern }) => ({
        tool,
        ...(pattern !== undefined && { pattern }),
      }));
      return { approve: true, remember: { scope: isUser ? "user" : "session", rules } };
    }
  }

  async #edit(json: string): Promise<Answer | null> {
    const { terminal } = this.#questioner;
    terminal.line(terminal.colors.dim("Enter runs it with this input; Esc goes back"));
    for (let text: string | null = json; ; ) {
      text = await this.#questioner.ask("input:", text);
      if (text === null) return null;
      const parsed = parseJson(text);
      if ("value" in parsed) return { approve: true, input: parsed.value };
      terminal.line(terminal.colors.yellow(safeLine(parsed.problem)));
    }
  }

  async #deny(rest: string): Promise<Answer | null> {
    const typed = rest === "" ? await this.#questioner.ask("why? (Enter: no reason)") : rest;
    if (typed === null) return null;
    const reason = typed.trim();
    return { approve: false, ...(reason !== "" && { reason }) };
  }

  async #view(): Promise<null> {
    this.#quote(inputView(this.#call.input, true).text);
    return null;
  }

  #quote(text: string): void {
    for (const row of quoteLines(text, this.#terminal.columns)) this.#terminal.line(row);
  }
}

function parseJson(text: string): { readonly value: JsonValue } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : ""}` };
  }
}
