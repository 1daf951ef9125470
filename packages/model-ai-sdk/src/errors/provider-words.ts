/** Where a dump of a validation error begins to repeat the request. */
const echo = /(?<=[{,] ?)(['"])(?:input|content|text|prompt|arguments)\1 ?:.*$/s;
const quotation = /(?<!\w)(["'])(.*?)\1(?!\w)/gs;
/** A provider says what is wrong at once. */
const maxChars = 4_000;

/**
 * What a provider says, without what it quotes: a user who asks about rate limits must not make one, nor may the quotation
 * be logged. Single words stay, they are names; so do quotation marks around the answer of a server behind a proxy.
 */
export function withoutQuotations(text: string): string {
  const said = text.slice(0, maxChars).replace(echo, "…");
  if (said.includes("{")) return said;
  return said.replace(quotation, (all, mark: string, inner: string) =>
    /\s/.test(inner) ? `${mark}…${mark}` : all,
  );
}
