import type { EditorTheme, MarkdownTheme, SelectListTheme } from "@earendil-works/pi-tui";
import type { Colors } from "../../terminal/terminal.js";
import { highlightCode } from "../view/highlight-code.js";

/** Colours by meaning. All are among the terminal's own 16, so that its palette decides how they look. */
export interface Theme {
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly accent: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly added: (text: string) => string;
  readonly removed: (text: string) => string;
  readonly markdown: MarkdownTheme;
  readonly select: SelectListTheme;
  readonly editor: EditorTheme;
}

/** Brightness of the terminal's background. */
export type Background = "light" | "dark";

/** Returns the background that the terminal tells of in `COLORFGBG`; dark where it does not. */
export function backgroundOf(env: NodeJS.ProcessEnv): Background {
  const [, color] = /;(\d+)$/u.exec(env["COLORFGBG"] ?? "") ?? [];
  const code = Number(color ?? 0);
  return code === 7 || code > 8 ? "light" : "dark";
}

/** Creates the theme of a chat. Yellow and cyan, which are hard to read on white, are replaced on a light background. */
export function createTheme(colors: Colors, background: Background): Theme {
  const { dim, bold, green, red } = colors;
  const [accent, warning] =
    background === "light" ? [colors.blue, colors.magenta] : [colors.cyan, colors.yellow];
  const strong = (text: string): string => bold(accent(text));
  const code = { keyword: colors.magenta, string: green, number: warning, comment: dim };
  const select: SelectListTheme = {
    selectedPrefix: accent,
    selectedText: strong,
    description: dim,
    scrollInfo: dim,
    noMatch: dim,
  };
  return {
    ...{ dim, bold, accent, good: green, bad: red, warning, added: green, removed: red },
    select,
    editor: { borderColor: dim, selectList: select },
    markdown: {
      heading: strong,
      link: (text) => colors.underline(accent(text)),
      linkUrl: dim,
      code: accent,
      codeBlock: (text) => text,
      codeBlockBorder: dim,
      quote: colors.italic,
      quoteBorder: dim,
      hr: dim,
      listBullet: accent,
      bold,
      italic: colors.italic,
      strikethrough: colors.strikethrough,
      underline: colors.underline,
      highlightCode: (text, language) => highlightCode(text, language, code),
    },
  };
}
