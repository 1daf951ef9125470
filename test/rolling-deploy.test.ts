import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { scaled } from "@holdfast/testing";
import { describe, expect, inject, test } from "vitest";

const program = fileURLToPath(new URL("../examples/rolling-deploy/dist/main.js", import.meta.url));
const [sessions, calls] = [scaled(10, 50), scaled(12, 60)];
const timeout = 60_000 + calls * 10_000;

function deploy(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { VITEST: _, ...env } = process.env;
  return spawnSync(process.execPath, [program, ...args], { env, encoding: "utf8", timeout });
}

describe.each(scaled(["mysqlUrl"], ["redisUrl", "mysqlUrl"] as const))("on %s", (url) => {
  test("two processes replaced three times each under load answer every call, once and in order", () => {
    const args = [
      "--store",
      inject(url),
      "--sessions",
      String(sessions),
      "--calls",
      String(calls),
      "--json",
    ];
    const { status, stdout, stderr } = deploy(...args);
    // What is wrong stands in the summary, or in stderr when there is none.
    expect({ status, said: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, said: "" });
    const summary = JSON.parse(stdout);
    expect(summary).toMatchObject({
      calls: sessions * calls,
      answered: sessions * calls,
      replacedProcesses: 6,
      problems: [],
    });
    expect(stderr.match(/got SIGTERM and left/g)).toHaveLength(6);
  });
});

test("a person who runs it sees progress and a summary, with a Redis of its own", () => {
  const { status, stdout, stderr } = deploy("--sessions", "5", "--calls", "8", "--deploys", "1");
  expect(status).toBe(0);
  expect(stdout).toMatch(/calls answered +40 of 40/);
  expect(stdout).toMatch(/sessions stored +all complete and in order/);
  expect(stderr).toMatch(/#+\.* \d+ of 40 calls answered/);
});
