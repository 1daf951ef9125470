/** Where a dump of a validation error begins to repeat the request. */
const echo = /(?<=[{,] ?)(['"])(?:input|content|text|prompt|arguments)\1 ?:.*$/s;
const quotation = /(?<!\w)(?:(["'`])(.*?)\1|“(.*?)”|„(.*?)[“”]|‘(.*?)’|«(.*?)»)(?!\w)/gs;
/** Where the answer of a server behind a proxy begins, as JSON or as Python writes it. */
const answer =
  /(?<=^|[\s([:-]|b['"])\{\s*(['"])(?:error|errors|object|type|code|message|detail)\1\s*:/;
/** A text in such an answer. */
const textInAnswer = /(["'])((?:\\.|(?!\1|\\).)*)\1/gs;
/** A provider says what is wrong at once. */
const maxChars = 4_000;

/** Fields in which a provider speaks. Any other may repeat the request. */
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
/** Fields that hold what a provider says, as an object or as a text. */
const holders = ["error", "errors", "detail", "details", "raw"];

/**
 * What a provider says, without what it quotes: a user who asks about rate limits must not make one, nor may the quotation
 * be logged. Single words stay, they are names; so does what the answer of a server behind a proxy says, without what that
 * quotes in turn.
 */
export function withoutQuotations(text: string): string {
  const said = text.slice(0, maxChars).replace(echo, "…");
  const start = said.search(answer);
  if (start < 0 || isInQuotation(said.slice(0, start))) return stripped(said);
  // One that was cut short has no end.
  const end = said.includes("}", start) ? said.lastIndexOf("}") + 1 : said.length;
  return (
    stripped(said.slice(0, start)) + spokenIn(said.slice(start, end)) + stripped(said.slice(end))
  );
}

/** An answer with only those texts in which the server speaks. */
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

/** The words of a text in an answer, which may be the answer of yet another server. */
function ownWords(inner: string): string {
  return withoutQuotations(inner.replace(/\\(["'\\])/g, "$1"));
}

/** Whether a quotation that began has not ended. Apostrophes are none, nor is the mark of Python's bytes. */
function isInQuotation(before: string): boolean {
  const marks = before.replace(/\bb['"]$/, "").match(/(?<!\w)["'`]|["'`](?!\w)|[“”„‘«»]/g);
  return (marks?.length ?? 0) % 2 === 1;
}
