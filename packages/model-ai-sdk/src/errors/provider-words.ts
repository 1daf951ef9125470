/** Part of a validation error from where it repeats the request. */
const echo = /(?<=[{,] ?)(['"])(?:input|content|text|prompt|arguments)\1 ?:.*$/s;
const quotation = /(?<!\w)(?:(["'`])(.*?)\1|“(.*?)”|„(.*?)[“”]|‘(.*?)’|«(.*?)»)(?!\w)/gs;
/** Start of the response of a server behind a proxy, as JSON or as a Python literal. */
const answer =
  /(?<=^|[\s([:-]|b['"])\{\s*(['"])(?:error|errors|object|type|code|message|detail)\1\s*:/;
/** A string in such a response. */
const textInAnswer = /(["'])((?:\\.|(?!\1|\\).)*)\1/gs;
/** Characters to read: a provider states the problem at the start. */
const maxChars = 4_000;

/** Fields with the provider's own words. Any other may repeat the request. */
export const spokenFields: readonly string[] = [
  "message",
  "msg",
  "type",
  "code",
  "status",
  "param",
  "reason",
  "functionality",
];
/** Fields that contain the provider's error, as an object or as text. */
const holders = ["error", "errors", "detail", "details", "raw"];

/**
 * Removes quotations from a provider's message: a user who asks about rate limits must not cause one, and a quotation must not
 * be logged. Single words stay, because they are names; so does the message of a server behind a proxy, without its own
 * quotations.
 */
export function withoutQuotations(text: string): string {
  const said = text.slice(0, maxChars).replace(echo, "…");
  const start = said.search(answer);
  if (start < 0 || isInQuotation(said.slice(0, start))) return stripped(said);
  // A truncated response has no end.
  const end = said.includes("}", start) ? said.lastIndexOf("}") + 1 : said.length;
  return (
    stripped(said.slice(0, start)) + spokenIn(said.slice(start, end)) + stripped(said.slice(end))
  );
}

/** Keeps only the strings of a response that are the server's own words. */
function spokenIn(object: string): string {
  let field = "";
  return object.replace(textInAnswer, (all, mark: string, inner: string, at: number) => {
    const isName = /^\s*:/.test(object.slice(at + all.length, at + all.length + 9));
    if (isName) field = inner;
    if (isName || !/\s/.test(inner)) return all;
    const isSpoken = spokenFields.includes(field) || holders.includes(field);
    return mark + (isSpoken ? ownWords(inner) : "…") + mark;
  });
}

function stripped(said: string): string {
  return said.replace(quotation, (all: string) =>
    /\s/.test(all) ? `${all.slice(0, 1)}…${all.slice(-1)}` : all,
  );
}

/** Unescapes a string of a response, which may itself contain the response of yet another server. */
function ownWords(inner: string): string {
  return withoutQuotations(inner.replace(/\\(["'\\])/g, "$1"));
}

/** Tells whether a quotation is open. Apostrophes do not count, nor does the prefix of Python bytes. */
function isInQuotation(before: string): boolean {
  const marks = before.replace(/\bb['"]$/, "").match(/(?<!\w)["'`]|["'`](?!\w)|[“”„‘«»]/g);
  return (marks?.length ?? 0) % 2 === 1;
}
