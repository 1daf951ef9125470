import { quoteLines } from "../../terminal/quote-lines.js";
import { safeLine } from "../../terminal/safe-text.js";
import type { Terminal } from "../../terminal/terminal.js";
import type { ChoiceQuestion, Chosen, Questioner, TextQuestion } from "./questioner.js";

/** Options of {@link LineQuestioner}. */
export interface LineQuestionerOptions {
  readonly terminal: Terminal;
  readonly hasUser: boolean;
  /** Asks for a line. @param text - put there to be edited @returns null for Esc, Ctrl-C and the end of the chat */
  ask(question: string, text?: string): Promise<string | null>;
}

/** Asks on a terminal of lines: the question is printed, and the answer typed. */
export class LineQuestioner implements Questioner {
  readonly hasUser: boolean;
  readonly #options: LineQuestionerOptions;

  constructor(options: LineQuestionerOptions) {
    this.#options = options;
    this.hasUser = options.hasUser;
  }

  /** Prints the question, then asks for the key or the word of a choice until one is typed. */
  async choose(question: ChoiceQuestion): Promise<Chosen | null> {
    const { terminal, ask } = this.#options;
    const { title, body = "", choices, prompt, escapeHelp } = question;
    if (title !== undefined) terminal.line(terminal.colors.yellow(safeLine(title)));
    if (body !== "") for (const row of quoteLines(body, terminal.columns)) terminal.line(row);
    const keys = choices.map(({ key, help }) => `${key} ${help}`).join(", ");
    for (;;) {
      terminal.line(terminal.colors.dim(`${keys}; ${escapeHelp}`));
      const text = await ask(prompt);
      if (text === null) return null;
      const [, word = "", rest = ""] = /^(\S*)\s*(.*)$/su.exec(text.trim()) ?? [];
      const chosen = choices.find(({ key, word: whole }) =>
        [key, whole].includes(word.toLowerCase()),
      );
      if (chosen !== undefined) return { key: chosen.key, rest };
    }
  }

  /** Prints what is wrong with the last answer, or how to answer, then asks. */
  async ask(prompt: string, question: TextQuestion = {}): Promise<string | null> {
    const { terminal, ask } = this.#options;
    const { text, help, problem } = question;
    if (problem !== undefined) terminal.line(terminal.colors.yellow(safeLine(problem)));
    else if (help !== undefined) terminal.line(terminal.colors.dim(help));
    return ask(prompt, text);
  }
}
