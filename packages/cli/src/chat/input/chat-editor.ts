import { Editor, matchesKey, type TUI } from "@earendil-works/pi-tui";
import { commandNames } from "../commands/slash-commands.js";
import type { Theme } from "../screen/theme.js";
import { fit } from "../view/entry.js";

/** Input of several lines with completion and history. */
export class ChatEditor extends Editor {
  readonly #theme: Theme;
  readonly #history: string[] = [];

  constructor(tui: TUI, theme: Theme) {
    super(tui, theme.editor, { paddingX: 2, autocompleteMaxVisible: 8 });
    this.#theme = theme;
  }

  /** Messages that were sent, oldest first, each once. */
  get sent(): readonly string[] {
    return this.#history;
  }

  /** Remembers a message for the arrow keys and the search. */
  override addToHistory(text: string): void {
    const at = this.#history.indexOf(text);
    if (at !== -1) this.#history.splice(at, 1);
    this.#history.push(text);
    super.addToHistory(text);
  }

  override handleInput(data: string): void {
    // A command that is complete is sent as it is, whichever the list below it proposes.
    if (matchesKey(data, "enter") && this.isShowingAutocomplete()) {
      const text = this.getText();
      if (commandNames.includes(text) || /^\/\S*\s/u.test(text)) super.handleInput("\u001b");
    }
    super.handleInput(data);
  }

  override render(width: number): string[] {
    const [top = "", first = "", ...rest] = super.render(width);
    const prompt = first.startsWith("  ") ? `${this.#theme.accent("›")}${first.slice(1)}` : first;
    return [top, prompt, ...rest].map((line) => fit(line, width));
  }
}
