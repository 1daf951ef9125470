import {
  type Component,
  decodeKittyPrintable,
  matchesKey,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui";
import { plural } from "../../terminal/format.js";
import { quoteLines } from "../../terminal/quote-lines.js";
import { safeLine } from "../../terminal/safe-text.js";
import type { ChoiceQuestion, Chosen } from "../questions/questioner.js";
import type { Theme } from "../screen/theme.js";
import { fit } from "../view/entry.js";

/** Rows around the text of a question. */
const OTHER_ROWS = 10;

/** Question with a few answers: a key chooses one at once, arrows and Enter the one that is marked. */
export class ChoiceDialog implements Component {
  readonly #theme: Theme;
  readonly #question: ChoiceQuestion;
  readonly #rows: () => number;
  readonly #done: (chosen: Chosen | null) => void;
  #marked = 0;

  /** @param rows - height of the window */
  constructor(
    theme: Theme,
    question: ChoiceQuestion,
    rows: () => number,
    done: (chosen: Chosen | null) => void,
  ) {
    this.#theme = theme;
    this.#question = question;
    this.#rows = rows;
    this.#done = done;
  }

  handleInput(data: string): void {
    const { choices } = this.#question;
    const count = choices.length;
    if (matchesKey(data, "escape")) this.#done(null);
    else if (matchesKey(data, "up") || matchesKey(data, "shift+tab"))
      this.#marked = (this.#marked + count - 1) % count;
    else if (matchesKey(data, "down") || matchesKey(data, "tab"))
      this.#marked = (this.#marked + 1) % count;
    else {
      const typed = (decodeKittyPrintable(data) ?? data).toLowerCase();
      const chosen = matchesKey(data, "enter")
        ? choices[this.#marked]
        : choices.find(({ key }) => key === typed);
      if (chosen !== undefined) this.#done({ key: chosen.key, rest: "" });
    }
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { warning, dim, bold, accent } = this.#theme;
    const { title, body = "", prompt, choices, escapeHelp } = this.#question;
    const quoted = body === "" ? [] : quoteLines(body, width);
    // So that the choices are in the window, whatever it is about.
    const room = Math.max(3, this.#rows() - OTHER_ROWS - choices.length);
    const hidden = quoted.length - room;
    const shown = hidden > 0 ? quoted.slice(0, room - 1) : quoted;
    const titles =
      title === undefined ? [] : wrapTextWithAnsi(bold(warning(safeLine(title))), width);
    return [
      dim("─".repeat(width)),
      ...titles,
      ...shown,
      ...(hidden > 0 ? [dim(`… ${plural(quoted.length - shown.length, "more line")}`)] : []),
      bold(safeLine(prompt)),
      ...choices.map(({ key, help }, index) =>
        index === this.#marked ? accent(`→ ${key}  ${help}`) : `  ${key}  ${help}`,
      ),
      dim(`↑↓ and Enter, or the key; ${escapeHelp}`),
    ].map((line) => fit(line, width));
  }
}
