import {
  type Component,
  type Focusable,
  Input,
  matchesKey,
  SelectList,
} from "@earendil-works/pi-tui";
import { safeLine } from "../../terminal/safe-text.js";
import type { PickItem } from "../commands/slash-command.js";
import type { Theme } from "../screen/theme.js";
import { fit } from "../view/entry.js";

/** Entries that are shown at once. */
const VISIBLE = 10;

/** List to pick from, with a search: the words that are typed select the entries that hold all of them. */
export class Picker implements Component, Focusable {
  readonly #theme: Theme;
  readonly #title: string;
  readonly #items: readonly PickItem[];
  readonly #done: (value: string | null) => void;
  readonly #input = new Input();
  #list: SelectList;

  constructor(
    theme: Theme,
    title: string,
    items: readonly PickItem[],
    done: (value: string | null) => void,
  ) {
    this.#theme = theme;
    this.#title = title;
    this.#items = items;
    this.#done = done;
    this.#list = this.#matching();
  }

  get focused(): boolean {
    return this.#input.focused;
  }

  set focused(focused: boolean) {
    this.#input.focused = focused;
  }

  handleInput(data: string): void {
    if (matchesKey(data, "escape")) this.#done(null);
    else if (matchesKey(data, "enter")) {
      const picked = this.#list.getSelectedItem();
      if (picked !== null) this.#done(picked.value);
    } else if (matchesKey(data, "up") || matchesKey(data, "down") || matchesKey(data, "ctrl+r"))
      this.#list.handleInput(matchesKey(data, "up") ? data : "\u001b[B");
    else {
      const before = this.#input.getValue();
      this.#input.handleInput(data);
      if (this.#input.getValue() !== before) this.#list = this.#matching();
    }
  }

  #matching(): SelectList {
    const words = this.#input.getValue().toLowerCase().split(/\s+/u);
    const found = this.#items.filter(({ label, detail = "" }) => {
      const text = `${label} ${detail}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const items = found.map(({ value, label, detail }) => ({
      value,
      label: safeLine(label),
      ...(detail !== undefined && { description: safeLine(detail) }),
    }));
    return new SelectList(items, VISIBLE, this.#theme.select, {
      minPrimaryColumnWidth: 20,
      maxPrimaryColumnWidth: 50,
    });
  }

  invalidate(): void {
    this.#list.invalidate();
  }

  render(width: number): string[] {
    const { dim, bold } = this.#theme;
    return [
      dim("─".repeat(width)),
      bold(this.#title),
      ...this.#input.render(width),
      ...this.#list.render(width),
      dim("type to search; ↑↓ and Enter pick; Esc goes back"),
    ].map((line) => fit(line, width));
  }
}
