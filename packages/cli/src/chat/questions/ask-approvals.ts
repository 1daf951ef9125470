import type { Confirmation, JsonValue, PendingCall } from "@holdfast/core";
import { formatRule } from "@holdfast/permissions";
import { safeJson, safeLine } from "../../terminal/safe-text.js";
import { inputView } from "../input-view.js";
import { agentTitle } from "../status-line.js";
import type { Choice, Questioner } from "./questioner.js";

/** Longest input, as JSON, that can be edited. */
const EDIT_CHARS = 4_000;

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
    const answer = await new Approval(questioner, call, escapeHelp).ask(place);
    if (answer === null) return null;
    answers.push({ toolCallId: call.toolCallId, ...answer });
  }
  return answers;
}

type Answer = Omit<Confirmation, "toolCallId">;

interface Offer extends Choice {
  /** Returns the answer; null to ask again. @param rest - what was typed behind the key */
  run(rest: string): Promise<Answer | null>;
}

/** Question about one tool call. */
class Approval {
  readonly #questioner: Questioner;
  readonly #call: PendingCall;
  readonly #escapeHelp: string;
  /** The input is to be shown whole. */
  #isWhole = false;

  constructor(questioner: Questioner, call: PendingCall, escapeHelp: string) {
    this.#questioner = questioner;
    this.#call = call;
    this.#escapeHelp = escapeHelp;
  }

  /** Shows the call and asks until there is an answer; null for none. */
  async ask(place: string): Promise<Answer | null> {
    const { name, agent, label } = this.#call;
    const owner = agent === undefined ? "" : ` of ${agentTitle(agent, label)}`;
    let title: string | undefined = `${name}${owner} asks for your approval${place}`;
    for (;;) {
      const offers = this.#offers();
      const chosen = await this.#questioner.choose({
        title,
        body: this.#about(),
        prompt: `run ${safeLine(name)}?`,
        choices: offers,
        escapeHelp: this.#escapeHelp,
      });
      if (chosen === null) return null;
      const answer = await offers.find(({ key }) => key === chosen.key)?.run(chosen.rest);
      if (answer) return answer;
      title = `${name}${owner}`;
    }
  }

  /** Returns the reason and the input, with space between a reason of several lines, such as a plan, and the input. */
  #about(): string {
    const { reason, input } = this.#call;
    const { text } = inputView(input, this.#isWhole);
    const about = [reason, text].filter((part) => part !== undefined && part !== "");
    return about.join(reason?.includes("\n") ? "\n\n" : "\n");
  }

  #offers(): readonly Offer[] {
    const { suggestions = [], input } = this.#call;
    const json = safeJson(input);
    const isCut = !this.#isWhole && inputView(input).isCut;
    const offered: readonly (Offer | false)[] = [
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
      isCut && { key: "v", word: "view", help: "view all", run: () => this.#viewAll() },
    ];
    return offered.filter((offer) => offer !== false);
  }

  /** Shows the rules, which are remembered exactly as they are shown. */
  async #always(): Promise<Answer | null> {
    const { suggestions = [] } = this.#call;
    const shown = suggestions.map((rule) => {
      const title = rule.text === undefined ? "" : `${rule.text}: `;
      return `${title}${formatRule(rule)}${rule.broad ? " (covers more than this call)" : ""}`;
    });
    const user = { key: "u", word: "user", help: "in all your sessions with this agent" };
    const chosen = await this.#questioner.choose({
      title: "from now on these calls run without asking:",
      body: shown.join("\n"),
      prompt: "remember?",
      choices: [
        { key: "s", word: "session", help: "in this session" },
        ...(this.#questioner.hasUser ? [user] : []),
      ],
      escapeHelp: "Esc goes back",
    });
    if (chosen === null) return null;
    const rules = suggestions.map(({ tool, pattern }) => ({
      tool,
      ...(pattern !== undefined && { pattern }),
    }));
    return { approve: true, remember: { scope: chosen.key === "u" ? "user" : "session", rules } };
  }

  async #edit(json: string): Promise<Answer | null> {
    const help = "Enter runs it with this input; Esc goes back";
    let [text, problem]: [string, string | undefined] = [json, undefined];
    for (;;) {
      const typed = await this.#questioner.ask("input:", { text, help, problem });
      if (typed === null) return null;
      const parsed = parseJson(typed);
      if ("value" in parsed) return { approve: true, input: parsed.value };
      [text, problem] = [typed, parsed.problem];
    }
  }

  async #deny(rest: string): Promise<Answer | null> {
    const typed = rest === "" ? await this.#questioner.ask("why? (Enter: no reason)") : rest;
    if (typed === null) return null;
    const reason = typed.trim();
    return { approve: false, ...(reason !== "" && { reason }) };
  }

  async #viewAll(): Promise<null> {
    this.#isWhole = true;
    return null;
  }
}

function parseJson(text: string): { readonly value: JsonValue } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : ""}` };
  }
}
