/** The items of the lists in a text, each once. */
export function itemsOf(text: string): string[] {
  const items = [...text.matchAll(/^[-*] (.+)$/gm)].map(([, item]) => (item as string).trim());
  return [...new Set(items)];
}
