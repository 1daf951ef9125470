import {
  type Component,
  Editor,
  type Focusable,
  matchesKey,
  type TUI,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui";
import { safeLine } from "../../terminal/safe-text.js";
import type { TextQuestion } from "../questions/questioner.js";
import type { Theme } from "../screen/theme.js";
import { fit } from "../view/entry.js";

/** Question that is answered with a text. */
export class TextDialog implements Component, Focusable {
  readonly #theme: Theme;
  readonly #prompt: string;
  readonly #question: TextQuestion;
  readonly #editor: Editor;
  readonly #done: (text: string | null) => void;

  constructor(
    tui: TUI,
    theme: Theme,
    prompt: string,
    question: TextQuestion,
    done: (text: string | null) => void,
  ) {
    this.#theme = theme;
    this.#prompt = prompt;
    this.#question = question;
    this.#done = done;
    this.#editor = new Editor(tui, theme.editor, { paddingX: 2 });
    if (question.text !== undefined) this.#editor.setText(question.text);
    this.#editor.onSubmit = done;
  }

  get focused(): boolean {
    return this.#editor.focused;
  }

  set focused(focused: boolean) {
    this.#editor.focused = focused;
  }

  handleInput(data: string): void {
    if (matchesKey(data, "escape")) this.#done(null);
    else this.#editor.handleInput(data);
  }

  invalidate(): void {
    this.#editor.invalidate();
  }

  render(width: number): string[] {
    const { bold, dim, warning } = this.#theme;
    const { help = "Enter answers; Esc goes back", problem } = this.#question;
    const told = problem === undefined ? [] : wrapTextWithAnsi(warning(safeLine(problem)), width);
    return [bold(safeLine(this.#prompt)), ...told, ...this.#editor.render(width), dim(help)].map(
      (line) => fit(line, width),
    );
  }
}
