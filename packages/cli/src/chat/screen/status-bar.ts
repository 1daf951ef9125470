import { type Component, visibleWidth } from "@earendil-works/pi-tui";
import { formatCount } from "../../terminal/format.js";
import { safeName } from "../../terminal/safe-text.js";
import type { Chat } from "../open-chat.js";
import { fit } from "../view/entry.js";
import type { Theme } from "./theme.js";

const SEPARATOR = " · ";

/** Part of the line; those of a lower rank are left out first where the window is narrow. */
interface Part {
  readonly text: string;
  readonly rank: number;
}

/** Line below the input: model, session, share of the window, tokens, money and permission mode. */
export class StatusBar implements Component {
  /** Permission mode of the session, and whether it plans. */
  mode = "default";
  isPlanning = false;
  /** Tokens of the next request, where they are known without one. */
  contextTokens: number | null = null;
  readonly #chat: Chat;
  readonly #theme: Theme;

  constructor(chat: Chat, theme: Theme) {
    this.#chat = chat;
    this.#theme = theme;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const parts = this.#parts();
    const shown = [...parts];
    const text = (): string => shown.map((part) => part.text).join(SEPARATOR);
    while (shown.length > 1 && visibleWidth(text()) > width) {
      const least = Math.min(...shown.map(({ rank }) => rank));
      shown.splice(
        shown.findIndex(({ rank }) => rank === least),
        1,
      );
    }
    return [this.#theme.dim(fit(text(), width))];
  }

  #parts(): readonly Part[] {
    const { model, sessionId, usage } = this.#chat;
    const { inputTokens, outputTokens, money } = usage;
    const { contextWindow, id } = model.model;
    const used = usage.contextTokens ?? this.contextTokens;
    const share =
      contextWindow !== undefined && used !== null
        ? `${Math.round((100 * used) / contextWindow)} % of ${shortCount(contextWindow)}`
        : null;
    const mode = this.isPlanning ? `${this.mode}, planning` : this.mode;
    const parts: readonly (Part | null)[] = [
      { text: safeName(id), rank: 3 },
      { text: safeName(sessionId), rank: 4 },
      share === null ? null : { text: share, rank: 5 },
      { text: `↑${shortCount(inputTokens)} ↓${shortCount(outputTokens)}`, rank: 1 },
      money === null ? null : { text: `$${money.toFixed(money < 1 ? 4 : 2)}`, rank: 2 },
      { text: `mode ${mode}`, rank: this.mode === "default" && !this.isPlanning ? 0 : 6 },
    ];
    return parts.filter((part) => part !== null);
  }
}

/** Formats a number of tokens: `812`, `34.1k`, `1.2M`. */
function shortCount(count: number): string {
  if (count < 1_000) return formatCount(count);
  const [value, unit] = count < 1_000_000 ? [count / 1_000, "k"] : [count / 1_000_000, "M"];
  return `${value.toFixed(value < 100 && !Number.isInteger(value) ? 1 : 0)}${unit}`;
}
