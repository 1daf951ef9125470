import { definePlugin, type Message, type Plugin, toolResultsOf } from "@holdfast/core";

/** Options of {@link redaction}. */
export interface RedactionOptions {
  /** Patterns to replace, by the word that takes their place. Each needs the flag `g`. */
  readonly patterns: Readonly<Record<string, RegExp>>;
}

/** Keeps personal data out of everything that is stored or sent. */
export function redaction({ patterns }: RedactionOptions): Plugin {
  const redact = (text: string): string =>
    Object.entries(patterns).reduce(
      (rest, [word, pattern]) => rest.replaceAll(pattern, `[${word}]`),
      text,
    );
  return definePlugin({
    name: "redaction",
    contract: 1,
    setup(host) {
      host.use({
        name: "redaction",
        onIncoming: (message) => inEveryText(message, redact, filesIn(message)) as Message,
      });
    },
  });
}

/** The files in a message as base64, in which digits and letters are no text. */
function filesIn(message: Message): Set<unknown> {
  const outputs = toolResultsOf(message).flatMap(({ output }) => output);
  const sources = [...message.content, ...outputs].flatMap((block) =>
    block.type === "data" ? [block.source] : [],
  );
  return new Set(sources.filter(({ kind }) => kind === "base64"));
}

/** Applies `change` to all texts in a value but `kept`: results, metadata, names and inputs of tools have them too. */
function inEveryText(
  value: unknown,
  change: (text: string) => string,
  kept: ReadonlySet<unknown>,
): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value === "number")
    return change(`${value}`) === `${value}` ? value : change(`${value}`);
  if (Array.isArray(value)) return value.map((item) => inEveryText(item, change, kept));
  if (typeof value !== "object" || value === null || kept.has(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [change(key), inEveryText(item, change, kept)]),
  );
}
