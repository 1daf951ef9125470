/** Characters that pictures are drawn with. */
export interface Glyphs {
  /** Levels of a small plot in one line, lowest first; "" where there are none. */
  readonly levels: string;
  readonly full: string;
  readonly empty: string;
  /** Symbols of asciichart, in its order; undefined takes its own. */
  readonly chart: string[] | undefined;
}

const unicode: Glyphs = { levels: "▁▂▃▄▅▆▇█", full: "█", empty: "░", chart: undefined };
const ascii: Glyphs = {
  levels: "",
  full: "#",
  empty: ".",
  chart: ["+", "|", "-", "-", "-", "`", ".", ".", "'", "|"],
};

/** Box-drawing characters where the locale is UTF-8, plain ASCII elsewhere. */
export function glyphsFor(env: NodeJS.ProcessEnv, platform: string = process.platform): Glyphs {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return /utf-?8/i.test(locale) || platform === "win32" ? unicode : ascii;
}
