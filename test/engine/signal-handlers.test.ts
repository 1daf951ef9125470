import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  InvalidInputError,
  installSignalHandlers,
  type SignalHandlerOptions,
} from "@holdfast/core";
import { afterEach, describe, expect, test } from "vitest";

describe("signal handlers in a program of their own", () => {
  let child: ChildProcess | undefined;
  afterEach(() => {
    if (child?.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  });

  function start(mode: string): AsyncIterator<string> {
    const script = fileURLToPath(new URL("./signal-child.mjs", import.meta.url));
    child = spawn(process.execPath, [script, mode], { stdio: ["ignore", "pipe", "inherit"] });
    if (!child.stdout) throw new Error("no stdout");
    return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }
  const nextLine = async (lines: AsyncIterator<string>) => (await lines.next()).value;

  test("SIGTERM stops the call at a safe point, saves it, and then ends the process by the signal", async () => {
    const lines = start("gentle");
    expect(await nextLine(lines)).toBe("running");
    const exit = once(child as ChildProcess, "exit");
    child?.kill("SIGTERM");
    expect(await nextLine(lines)).toBe("draining");
    expect(await nextLine(lines)).toBe("saved shutdownInterrupted=true messages=3");
    expect(await nextLine(lines)).toBe("ended shutdown");
    expect(await exit).toEqual([null, "SIGTERM"]);
  });

  test("SIGTERM ends the process although the store answers no save, the tool heeds no signal and a plugin does not close", async () => {
    const lines = start("dead");
    expect(await nextLine(lines)).toBe("running");
    const exit = once(child as ChildProcess, "exit");
    child?.kill("SIGTERM");
    expect(await nextLine(lines)).toBe("draining");
    expect(await nextLine(lines)).toBe("ended error");
    expect(await nextLine(lines)).toBe("failed SHUTTING_DOWN");
    expect(await exit).toEqual([null, "SIGTERM"]);
  });

  test("a second SIGTERM ends the process at once", async () => {
    const lines = start("stubborn");
    expect(await nextLine(lines)).toBe("running");
    const exit = once(child as ChildProcess, "exit");
    child?.kill("SIGTERM");
    expect(await nextLine(lines)).toBe("draining");
    child?.kill("SIGTERM");
    expect(await exit).toEqual([null, "SIGTERM"]);
    expect(await nextLine(lines)).toBeUndefined();
  });
});

test.each<[unknown, RegExp]>([
  [{ timeoutMs: Number.NaN }, /installSignalHandlers: timeoutMs must be a number of milliseconds/],
  [{ timeoutMs: "20s" }, /timeoutMs must be a number of milliseconds/],
  [{ timeoutMs: -1 }, /timeoutMs must be a number of milliseconds/],
  [{ timeout: 20 }, /unknown option "timeout"; did you mean timeoutMs/],
  [{ signals: ["TERM"] }, /signals must be a list of names such as "SIGTERM"/],
  [{ signals: "SIGTERM" }, /signals must be a list of names such as "SIGTERM"/],
])("signal handlers with %j are refused when they are installed", (options, expected) => {
  const before = process.listenerCount("SIGTERM");
  const agent = { shutdown: async () => undefined };
  const install = () => installSignalHandlers(agent, options as SignalHandlerOptions);
  expect(install).toThrow(InvalidInputError);
  expect(install).toThrow(expected);
  expect(process.listenerCount("SIGTERM")).toBe(before);
});
