import { describe, expect, test } from "vitest";
import { wrapped } from "../src/display/format.js";
import { glyphsFor } from "../src/display/glyphs.js";
import { tokenPlot } from "../src/display/token-plot.js";
import type { TurnTokens } from "../src/outcome/outcome.js";
import { programCommand, shellWord } from "../src/run-demo.js";
import { plainColors } from "./recording-terminal.js";

function turnsOf(count: number): TurnTokens[] {
  return Array.from({ length: count }, (_, index) => ({
    turn: index + 1,
    withHoldfast: 1_000 + (index % 50) * 100,
    wholeHistory: 1_000 + index * 1_000,
    isCompacted: index > 0 && index % 50 === 0,
  }));
}

describe("the plot", () => {
  test.each([40, 80, 120, 300])("fits a terminal of %i columns", (columns) => {
    for (const count of [60, 200, 5_000]) {
      const lines = tokenPlot(
        turnsOf(count),
        { columns, colors: plainColors },
        glyphsFor({ LANG: "C.UTF-8" }),
      );
      const drawn = lines.split("\n").slice(0, 14);
      for (const line of drawn) expect(line.length, line).toBeLessThan(columns);
    }
  });

  test("marks each compaction below its turn", () => {
    const lines = tokenPlot(
      turnsOf(60),
      { columns: 100, colors: plainColors },
      glyphsFor({}),
    ).split("\n");
    expect(lines[13]).toBe(`${" ".repeat(10)}${" ".repeat(50)}^`);
  });

  test("is drawn in ASCII unless the locale is UTF-8", () => {
    const draw = (env: NodeJS.ProcessEnv): string =>
      tokenPlot(turnsOf(60), { columns: 80, colors: plainColors }, glyphsFor(env, "linux"));
    expect(draw({ LANG: "en_GB.UTF-8" })).toContain("╭");
    for (const env of [{}, { LANG: "C" }, { LANG: "en_GB.UTF-8", LC_ALL: "POSIX" }])
      expect(draw(env)).toMatch(/^[\x20-\x7e\n]*$/);
  });
});

test("text is wrapped at spaces and never longer than the line", () => {
  expect(wrapped("one two three four", 9)).toEqual(["one two", "three", "four"]);
});

describe("commands that are shown", () => {
  test("name the program as it was started", () => {
    expect(programCommand("/p/node_modules/.bin/holdfast", "/p")).toBe("holdfast");
    expect(programCommand("/p/packages/cli/dist/main.js", "/p")).toBe(
      "node packages/cli/dist/main.js",
    );
  });

  test("quote what a shell would take apart", () => {
    expect(shellWord("json:/tmp/a-1/store")).toBe("json:/tmp/a-1/store");
    expect(shellWord("/it's here")).toBe("'/it'\\''s here'");
  });
});
