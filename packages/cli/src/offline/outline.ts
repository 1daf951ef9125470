/** A part of a file that can be named. */
export interface OutlineEntry {
  readonly title: string;
  /** What the comment before it says; "" where there is none. */
  readonly comment: string;
}

/** Exports of a module with the comments before them, or headings of a text. */
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

/** A declaration without its body or value. */
function headOf(declaration: string): string {
  const isCallable = /^(?:async )?(?:function|class)\b/.test(declaration);
  return declaration.replace(isCallable ? /\s*\{[^{}]*\}?\s*$/ : /\s*(?:=.*|;)$/, "");
}
