/** Named part of a file. */
export interface OutlineEntry {
  readonly title: string;
  /** Comment before it; "" where there is none. */
  readonly comment: string;
}

/** Returns the exports of a module with the comments before them, or the headings of a text. */
export function outlineOf(lines: readonly string[]): OutlineEntry[] {
  const entries: OutlineEntry[] = [];
  let comment = "";
  for (const line of lines) {
    const [, heading] = /^#{1,6} (.+)$/.exec(line) ?? [];
    const [, exported] = /^export (?:default )?(.+)$/.exec(line) ?? [];
    if (heading !== undefined) entries.push({ title: heading, comment: "" });
    if (exported !== undefined) entries.push({ title: headOf(exported), comment });
    const [, said] = /^\/\*\*\s*(.+?)\s*\*\/$/.exec(line) ?? [];
    comment = said ?? "";
  }
  return entries;
}

/** Returns a declaration without its body or value. */
function headOf(declaration: string): string {
  const isCallable = /^(?:async )?(?:function|class)\b/.test(declaration);
  return declaration.replace(isCallable ? /\s*\{[^{}]*\}?\s*$/ : /\s*(?:=.*|;)$/, "");
}
