import { type Component, truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

/** Part of a conversation as it is shown. It is drawn again only when it has changed, or the window has. */
export abstract class Entry implements Component {
  /** An empty line stands above it, unless it follows one of its own kind. */
  abstract readonly kind: string;
  #drawn: { readonly width: number; readonly lines: string[] } | null = null;
  #isOpen = false;

  /** Everything is shown, also what is cut otherwise. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  set isOpen(isOpen: boolean) {
    if (isOpen === this.#isOpen) return;
    this.#isOpen = isOpen;
    this.changed();
  }

  /** Forgets how it was drawn. */
  changed(): void {
    this.#drawn = null;
  }

  /** Does the same as {@link changed}. */
  invalidate(): void {
    this.changed();
  }

  /** Returns its lines, none of them wider than the window. */
  render(width: number): string[] {
    if (this.#drawn?.width === width) return this.#drawn.lines;
    const lines = this.draw(width).map((line) => fit(line.trimEnd(), width));
    this.#drawn = { width, lines };
    return lines;
  }

  /** Draws it. */
  protected abstract draw(width: number): readonly string[];
}

/** Cuts a line that is wider than the window. */
export function fit(line: string, width: number): string {
  return visibleWidth(line) > width ? truncateToWidth(line, width, "…") : line;
}
