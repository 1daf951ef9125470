/** The items of the lists in a text. */
export function factsIn(text: string): string[] {
  return [...text.matchAll(/^- (.+)$/gm)].map(([, fact]) => fact as string);
}
