/** How people mark what is to last. */
const lasting =
  /^(?:please )?(?:(?:note|remember)\b(?: that|:)?|(decision|rule|fact|from now on|keep in mind)\b[:,]?) +(\S[^\n]*)$/i;

/** What a line says that is meant to last, as a sentence of its own; undefined when it says no such thing. */
export function statementIn(line: string): string | undefined {
  const [, , said] = lasting.exec(line.trim()) ?? [];
  if (said === undefined || said.endsWith("?")) return undefined;
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** Everything in a text that is meant to last, in its own words, each once. */
export function statementsIn(text: string): string[] {
  const found = text.split("\n").map(statementIn);
  return [...new Set(found.filter((statement) => statement !== undefined))];
}
