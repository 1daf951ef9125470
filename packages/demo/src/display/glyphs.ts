/** Characters that plots are drawn with. */
export interface Glyphs {
  /** Levels of a sparkline, lowest first; "" where there are none. */
  readonly levels: string;
  readonly full: string;
  readonly empty: string;
  /** Symbols for asciichart, in its order; undefined for its defaults. */
  readonly chart: string[] | undefined;
}

const unicode: Glyphs = { levels: "▁▂▃▄▅▆▇█", full: "█", empty: "░", chart: undefined };
const ascii: Glyphs = {
  levels: "",
  full: "#",
  empty: ".",
  chart: ["+", "|", "-", "-", "-", "`", ".", ".", "'", "|"],
};

/** Returns box-drawing characters for UTF-8 locales and plain ASCII for others. */
export function glyphsFor(env: NodeJS.ProcessEnv, platform: string = process.platform): Glyphs {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return /utf-?8/i.test(locale) || platform === "win32" ? unicode : ascii;
}
