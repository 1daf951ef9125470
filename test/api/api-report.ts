/** One declaration in the API of an entry point. An overloaded function has several. */
export interface Declaration {
  readonly name: string;
  /** Its source without comments, bodies and private members, and without `export`. */
  readonly text: string;
  readonly isExported: boolean;
  readonly isDocumented: boolean;
}

/** The API of an entry point as api-extractor found it. */
export interface Extract {
  /** Import lines for what the declarations use of other packages. */
  readonly imports: readonly string[];
  readonly declarations: readonly Declaration[];
}

/** Reads the file that api-extractor writes: imports and declarations in one block of code, with an empty line between. */
export function readExtract(markdown: string): Extract {
  const code = /```ts\n(.*)```/s.exec(markdown)?.[1] ?? "";
  const blocks = code.split("\n\n").map((block) => block.trim());
  const imports = blocks.flatMap((block) => (block.startsWith("import ") ? block.split("\n") : []));
  return {
    imports: imports.map((line) => line.replace(/^import type /, "import ")),
    declarations: blocks.flatMap((block) => declarationIn(block) ?? []),
  };
}

const declarationStart =
  /^(export )?(?:(?:abstract |const )?(?:class|const|enum|function|interface|let|namespace|type|var) ([\w$]+)|\{ (?:[\w$]+ as )?([\w$]+) \})/m;

/** Reads one declaration; comments of api-extractor other than release tags and remarks on documentation stay. */
function declarationIn(block: string): Declaration | undefined {
  const [, exported, declared, reexported] = declarationStart.exec(block) ?? [];
  const name = declared ?? reexported;
  if (name === undefined) return undefined;
  const lines = block.split("\n");
  const text = lines
    .map((line) => line.replace(/^(\s*\/\/) @public\b/, "$1").replace(/ \(undocumented\)$/, ""))
    .filter((line) => line.trim() !== "//")
    .join("\n");
  return {
    name,
    text: text.replace(/^export (?!\{)/m, ""),
    isExported: exported !== undefined,
    isDocumented: !(lines[0] ?? "").endsWith("(undocumented)"),
  };
}

/** Writes the report of an entry point; `hidden` are declarations that it does not export but whose types it shows. */
export function renderReport(
  specifier: string,
  imports: readonly string[],
  exported: readonly Declaration[],
  hidden: readonly Declaration[],
): string {
  const names = new Set(exported.map(({ name }) => name)).size;
  const sections = [
    `# \`${specifier}\``,
    `${names} ${names === 1 ? "name" : "names"}. Written by \`npm run api\`; do not edit.`,
    codeBlock([...(imports.length > 0 ? [imports.join("\n")] : []), ...exported.map(sourceOf)]),
  ];
  if (hidden.length > 0)
    sections.push(
      `## Not exported, but visible`,
      `Types that the signatures above refer to and that cannot be imported: ${hidden.length}.`,
      codeBlock(hidden.map(sourceOf)),
    );
  return `${sections.join("\n\n")}\n`;
}

/** Lists the names whose declarations differ between two reports: `+` added, `-` removed, `~` changed. */
export function changedNames(before: string, after: string): string[] {
  const [old, now] = [declarationsByName(before), declarationsByName(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.flatMap((name) => {
    if (!old.has(name)) return `+ ${name}`;
    if (!now.has(name)) return `- ${name}`;
    return old.get(name) === now.get(name) ? [] : `~ ${name}`;
  });
}

/** Declarations of a report by name; overloads are joined. */
function declarationsByName(report: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [, code = ""] of report.matchAll(/```ts\n(.*?)```/gs))
    for (const block of code.split("\n\n")) {
      const declaration = declarationIn(block.trim());
      if (declaration === undefined) continue;
      const { name, text, isExported } = declaration;
      texts.set(name, `${texts.get(name) ?? ""}\n${isExported} ${text}`);
    }
  return texts;
}

function sourceOf({ text, isExported }: Declaration): string {
  if (!isExported || text.startsWith("export {")) return text;
  return text.replace(/^(?!\/\/)/m, "export ");
}

function codeBlock(blocks: readonly string[]): string {
  return `\`\`\`ts\n${blocks.join("\n\n")}\n\`\`\``;
}
