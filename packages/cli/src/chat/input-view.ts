import type { JsonValue, PendingCall } from "@holdfast/core";
import { cutIndex, isRecord } from "@holdfast/core/plugin-kit";
import { formatCount, plural } from "../terminal/format.js";
import { safeName } from "../terminal/safe-text.js";
import { delegatedText } from "./status-line.js";

/** Characters of a value that are shown at first. */
const VALUE_CHARS = 400;
/** Lines of a value that are shown at first. */
const VALUE_LINES = 8;
/** Fields of an input that are shown at first. */
const FIELDS = 16;

/** Input of a tool call as text for a person. */
export interface InputView {
  readonly text: string;
  /** Something was left out; the text says how much. */
  readonly isCut: boolean;
}

/**
 * Describes the input of a tool call, one field after another, with long values cut.
 *
 * @param isWhole - leaves nothing out
 */
export function inputView(input: JsonValue, isWhole = false): InputView {
  const fields = isRecord(input) ? Object.entries(input) : [["input", input] as const];
  const shown = isWhole ? fields : fields.slice(0, FIELDS);
  const views = shown.map(([name, value]) => fieldView(name, valueText(value), isWhole));
  const rest = fields.length - shown.length;
  return {
    text: [
      ...views.map(({ text }) => text),
      ...(rest > 0 ? [`… ${plural(rest, "more field")}`] : []),
    ].join("\n"),
    isCut: rest > 0 || views.some(({ isCut }) => isCut),
  };
}

/** Describes the input of a tool call in a few words; they may hold control characters. */
export function briefInput({ name, input }: Pick<PendingCall, "name" | "input">): string {
  const delegated = delegatedText(name, input);
  if (delegated !== null) return delegated;
  const fields = isRecord(input) ? Object.entries(input) : [["", input] as const];
  const isOnly = fields.length === 1;
  return fields
    .map(([field, value]) => (isOnly ? briefValue(value) : `${field}: ${briefValue(value)}`))
    .join(", ");
}

function briefValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(briefValue).join(" ");
  return isRecord(value) ? "…" : String(value);
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function fieldView(name: string, value: string, isWhole: boolean): InputView {
  const shown = isWhole ? value : beginning(value);
  const isCut = shown.length < value.length;
  const note = isCut ? `… cut, ${formatCount(value.length)} characters in all` : "";
  const title = `${safeName(name)}:`;
  if (!shown.includes("\n")) return { text: `${title} ${shown}${isCut ? ` ${note}` : ""}`, isCut };
  // Indented, so that a line of a value does not look like another field.
  const lines = [...shown.split("\n"), ...(isCut ? [note] : [])];
  return { text: [title, ...lines.map((line) => `  ${line}`)].join("\n"), isCut };
}

/** Returns the first lines of a value, as far as they are short. */
function beginning(value: string): string {
  const short = value.slice(0, cutIndex(value, VALUE_CHARS));
  return short.split("\n").slice(0, VALUE_LINES).join("\n");
}
