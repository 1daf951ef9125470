/** Colours of code. */
export interface CodeColors {
  readonly keyword: (text: string) => string;
  readonly string: (text: string) => string;
  readonly number: (text: string) => string;
  readonly comment: (text: string) => string;
}

/** Comments, strings and keywords of a family of languages. */
interface Family {
  readonly lineComment: RegExp | null;
  /** The language has comments in slashes and stars, which go over several lines. */
  readonly hasBlocks: boolean;
  /** Quotes of strings; those of the backtick go over several lines. */
  readonly quotes: string;
  readonly keywords: ReadonlySet<string>;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const slashes = /^\/\//u;
const hashes = /^#/u;

const families: Readonly<Record<string, Family>> = {
  script: {
    lineComment: slashes,
    hasBlocks: true,
    quotes: "\"'`",
    keywords: words(
      "abstract any as async await boolean break case catch class const continue declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface is keyof let new null number of private protected public readonly return set static string super switch this throw true try type typeof undefined unknown var void while yield",
    ),
  },
  curly: {
    lineComment: slashes,
    hasBlocks: true,
    quotes: "\"'",
    keywords: words(
      "abstract auto bool boolean break byte case catch char chan class const continue crate default defer do double else enum export extends extern false final finally float fn for func go goto if impl implements import in inline int interface let long loop match mod mut namespace new nil null nullptr override package private protected pub public range return self short signed sizeof static string struct super switch template this throw throws trait true try type typedef uint union unsafe unsigned use using var virtual void volatile where while",
    ),
  },
  python: {
    lineComment: hashes,
    hasBlocks: false,
    quotes: "\"'",
    keywords: words(
      "and as assert async await begin break class continue def del do elif else elsif end ensure except False finally for from global if import in is lambda match module None nonlocal not or pass raise rescue return self True try unless until while with yield",
    ),
  },
  shell: {
    lineComment: hashes,
    hasBlocks: false,
    quotes: "\"'",
    keywords: words(
      "alias case cd do done echo elif else esac exit export false fi for function if in local no null return set sudo then true unset until while yes",
    ),
  },
  sql: {
    lineComment: /^--/u,
    hasBlocks: true,
    quotes: "'\"",
    keywords: words(
      "add all alter and as asc between by case create delete desc distinct drop else end exists from full group having in index inner insert into is join key left like limit not null offset on or order outer primary references right select set table then union unique update values view when where with",
    ),
  },
  data: {
    lineComment: null,
    hasBlocks: false,
    quotes: '"',
    keywords: words("true false null"),
  },
};

const languages: Readonly<Record<string, string>> = {
  ...named("script", "javascript js jsx mjs cjs typescript ts tsx"),
  ...named("curly", "c cc cpp h java go rust rs kotlin kt swift csharp cs php scala dart css scss"),
  ...named("python", "python py ruby rb"),
  ...named("shell", "sh bash zsh shell console yaml yml toml ini dockerfile make makefile"),
  ...named("sql", "sql mysql postgres postgresql sqlite"),
  ...named("data", "json jsonc json5 ndjson"),
};

function named(family: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(" ").map((name) => [name, family]));
}

/** Kind of token that goes on in the next line: a comment, or a string with this quote. */
type Open = "comment" | "`" | null;

/** Line that was coloured before, so that a block that grows as it streams is not coloured anew. */
interface Seen {
  readonly colored: string;
  readonly open: Open;
}

/** Lines remembered for blocks that are drawn again and again. */
const MAX_SEEN = 2_000;
const seenBy = new WeakMap<CodeColors, Map<string, Seen>>();

/** Colours code line by line; unknown languages stay as they are, and a diff is coloured by its signs. */
export function highlightCode(
  code: string,
  language: string | undefined,
  colors: CodeColors,
): string[] {
  const lines = code.split("\n");
  const name = language?.toLowerCase() ?? "";
  if (name === "diff" || name === "patch") return lines.map((line) => diffLine(line, colors));
  const family = families[languages[name] ?? ""];
  if (family === undefined) return lines;
  const seen = seenBy.get(colors) ?? new Map<string, Seen>();
  seenBy.set(colors, seen);
  let open: Open = null;
  return lines.map((line) => {
    const key: string = `${name} ${open} ${line}`;
    let known = seen.get(key);
    if (known === undefined) {
      known = colorLine(line, open, family, colors);
      if (seen.size >= MAX_SEEN) seen.clear();
      seen.set(key, known);
    }
    open = known.open;
    return known.colored;
  });
}

function diffLine(line: string, { string, number, comment }: CodeColors): string {
  if (line.startsWith("+")) return string(line);
  if (line.startsWith("-")) return number(line);
  return line.startsWith("@") ? comment(line) : line;
}

function colorLine(line: string, before: Open, family: Family, colors: CodeColors): Seen {
  let [colored, rest, open] = ["", line, before];
  while (rest !== "") {
    const { text, paint, open: after } = nextToken(rest, open, family, colors);
    colored += paint ? paint(text) : text;
    rest = rest.slice(text.length);
    open = after;
  }
  return { colored, open };
}

interface Token {
  readonly text: string;
  readonly paint: ((text: string) => string) | null;
  readonly open: Open;
}

function nextToken(rest: string, open: Open, family: Family, colors: CodeColors): Token {
  if (open === "comment" || (family.hasBlocks && rest.startsWith("/*"))) {
    const end = rest.indexOf("*/", open === null ? 2 : 0);
    const text = end === -1 ? rest : rest.slice(0, end + 2);
    return { text, paint: colors.comment, open: end === -1 ? "comment" : null };
  }
  if (family.lineComment?.test(rest)) return { text: rest, paint: colors.comment, open: null };
  const quote = open ?? rest[0] ?? "";
  if (open !== null || family.quotes.includes(quote)) {
    const end = closingQuote(rest, quote, open === null ? 1 : 0);
    const isOpen = end === -1 && quote === "`";
    return {
      text: end === -1 ? rest : rest.slice(0, end + 1),
      paint: colors.string,
      open: isOpen ? "`" : null,
    };
  }
  const [word] = /^[A-Za-z_$][\w$]*/u.exec(rest) ?? [];
  if (word !== undefined) {
    const isKeyword = family.keywords.has(word) || family.keywords.has(word.toLowerCase());
    return { text: word, paint: isKeyword ? colors.keyword : null, open: null };
  }
  const [number] = /^\d[\w.]*/u.exec(rest) ?? [];
  if (number !== undefined) return { text: number, paint: colors.number, open: null };
  const [other = rest] = /^[^A-Za-z_$\d"'`/#-]+|^./su.exec(rest) ?? [];
  return { text: other, paint: null, open: null };
}

/** @returns the position of the quote that closes a string; -1 when it goes on behind the line */
function closingQuote(text: string, quote: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}
