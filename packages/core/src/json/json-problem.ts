/** First place where a text is not valid JSON. */
export interface JsonProblem {
  /** Index of the first character that does not belong there; the text's length when the text ends too early. */
  readonly offset: number;
  /** Problem there, in words, without a piece of the text. */
  readonly problem: string;
}

const token =
  /(?:([{}[\],:])|("(?:[ !#-[\]-\u{10FFFF}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|true\b|false\b|null\b)|$)/uy;

/** Longest text that is searched. */
const maxChars = 1_000_000;

/** Token that may come next: a value, a key, and so on. */
type Expected =
  | "value"
  | "value or ]"
  | "key"
  | "key or }"
  | "colon"
  | "comma or }"
  | "comma or ]"
  | "end";

const words: Readonly<Record<Expected, string>> = {
  value: "a value was expected",
  "value or ]": "a value or ] was expected",
  key: "a key in double quotes was expected",
  "key or }": "a key in double quotes or } was expected",
  colon: "a colon was expected",
  "comma or }": "a comma or } was expected",
  "comma or ]": "a comma or ] was expected",
  end: "nothing more was expected",
};

/** Returns where and why a text is not valid JSON; null when it is. `JSON.parse` says where on some runtimes only. */
export function jsonProblem(text: string): JsonProblem | null {
  if (text.length > maxChars) return { offset: 0, problem: "it is too long to say where" };
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  const afterValue = (): Expected =>
    open.at(-1) === "{" ? "comma or }" : open.at(-1) === "[" ? "comma or ]" : "end";
  for (let offset = 0; ; offset = token.lastIndex) {
    while (" \t\n\r".includes(text[offset] ?? "x")) offset++;
    token.lastIndex = offset;
    const match = token.exec(text);
    if (!match) return unreadable(text, offset, expected);
    const [, mark, string, scalar] = match;
    const isEnd = mark === undefined && string === undefined && scalar === undefined;
    if (isEnd)
      return expected === "end"
        ? null
        : { offset: text.length, problem: `it ends there, and ${words[expected]}` };
    const next = step(expected, mark, string, open, afterValue);
    if (next === null) return { offset, problem: words[expected] };
    expected = next;
  }
}

function step(
  expected: Expected,
  mark: string | undefined,
  string: string | undefined,
  open: ("{" | "[")[],
  afterValue: () => Expected,
): Expected | null {
  const wantsKey = expected === "key" || expected === "key or }";
  const wantsValue = expected === "value" || expected === "value or ]";
  if (mark === undefined) {
    if (wantsKey) return string === undefined ? null : "colon";
    return wantsValue ? afterValue() : null;
  }
  if (wantsValue && mark === "{") {
    open.push("{");
    return "key or }";
  }
  if (wantsValue && mark === "[") {
    open.push("[");
    return "value or ]";
  }
  if (mark === ":") return expected === "colon" ? "value" : null;
  if (mark === ",")
    return expected === "comma or }" ? "key" : expected === "comma or ]" ? "value" : null;
  if (!expected.endsWith(`or ${mark}`)) return null;
  open.pop();
  return afterValue();
}

/** Describes something that is no token: above all a string without its end. */
function unreadable(text: string, offset: number, expected: Expected): JsonProblem {
  if (text[offset] !== '"') return { offset, problem: words[expected] };
  for (let at = offset + 1; at < text.length; at++) {
    const character = text[at] as string;
    if (character < " ")
      return { offset: at, problem: "a control character stands in a string; escape it" };
    if (character !== "\\") continue;
    if (
      !/^(?:["\\/bfnrt]|u[\da-fA-F]{4})/.test(text.slice(at + 1, at + 6)) &&
      at + 6 <= text.length
    )
      return { offset: at, problem: "a backslash in a string begins no valid escape" };
    at++;
  }
  return { offset: text.length, problem: "it ends there, in the middle of a string" };
}

/** Returns a short piece of the text around an index, with a mark in front of it. */
export function excerptAt(text: string, offset: number): string {
  const start = Math.max(0, offset - 30);
  const end = Math.min(text.length, offset + 20);
  const before = `${start > 0 ? "…" : ""}${text.slice(start, offset)}`;
  return `${before}⟨here⟩${text.slice(offset, end)}${end < text.length ? "…" : ""}`;
}
