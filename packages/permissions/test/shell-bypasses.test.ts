import { describe, expect, test } from "vitest";
import { shellBypasses, writingBypasses } from "./corpus/shell-bypasses.js";
import { command } from "./decisions.js";

test("the corpus has at least 150 commands, each once", () => {
  const all = [...shellBypasses, ...writingBypasses].flatMap(({ commands }) => commands);
  expect(new Set(all).size).toBeGreaterThan(150);
});

describe.each(shellBypasses)("$name", ({ allow, deny, commands }) => {
  test.each(commands)("%j does not run under allow rules for other commands", (line) => {
    expect(command(line, { allow }).decision).toBe("ask");
    expect(command(line, { allow }, "dont_ask").decision).toBe("deny");
  });

  test.each(commands)("%j is stopped by the deny rule", (line) => {
    expect(command(line, { deny: [deny] }).decision).not.toBe("allow");
    expect(command(line, { deny: [deny] }, "bypass").decision).not.toBe("allow");
    expect(command(line, { allow: ["*"], deny: [deny] }).decision).not.toBe("allow");
  });

  test.each(commands)("%j is stopped by the ask rule", (line) => {
    const decision = command(line, { ask: [deny] }, "bypass");
    expect(decision.decision).toBe("ask");
    expect(decision).not.toHaveProperty("suggestions");
  });
});

describe.each(writingBypasses)("$name", ({ allow, commands }) => {
  test.each(commands)("%j does not run under allow rules for commands that read", (line) => {
    expect(command(line, { allow }).decision).toBe("ask");
  });
});
