import { readdirSync } from "node:fs";
import { ConfigurationError } from "@holdfast/core";
import { runDemo } from "@holdfast/demo";
import { tempDirectory } from "@holdfast/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { recordingTerminal } from "./recording-terminal.js";

describe("runDemo", () => {
  test("returns what it measured and prints it as one document", async () => {
    const terminal = recordingTerminal({ isJson: true });
    const outcome = await runDemo({ turns: 60, terminal });
    expect(outcome).toMatchObject({ turns: 60, lostTurns: [], kills: 1, problems: [] });
    expect(terminal.documents).toEqual([{ ...outcome, seconds: expect.any(Number) }]);
    expect(terminal.lines).toEqual([]);
  });

  test.each([59, 5_001, 60.5, Number.NaN])("refuses %d turns", async (turns) => {
    const terminal = recordingTerminal();
    await expect(runDemo({ turns, terminal })).rejects.toSatisfy(ConfigurationError.is);
    expect(terminal.lines).toEqual([]);
  });

  test("rejects with the reason of its signal and removes its files", async () => {
    await using directory = await tempDirectory();
    vi.stubEnv("TMPDIR", directory.path);
    onTestFinished(() => void vi.unstubAllEnvs());
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    await expect(runDemo({ terminal: recordingTerminal(), signal })).rejects.toBe(reason);
    expect(readdirSync(directory.path)).toEqual([]);
  });
});
