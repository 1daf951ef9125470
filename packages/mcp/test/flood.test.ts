import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  eventually,
  scaled,
  spawnScript,
  type TempDirectory,
  tempDirectory,
} from "@holdfast/testing";
import { freePort } from "@holdfast/testing/servers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { McpStdioServerOptions } from "../src/index.js";
import { quick, tinyServer } from "./support/servers.js";
import { said, type ToolUser, toolUser } from "./support/tool-user.js";

const flooding = fileURLToPath(new URL("./fixtures/flooding-server.mjs", import.meta.url));
const floodingHttp = new URL("./fixtures/flooding-http-server.mjs", import.meta.url);
const megabyte = 1_048_576;
/** Calls of another server while one floods. */
const calls = scaled(30, 100);

let directory: TempDirectory;
let count: string;
let memory: PeakMemory;

beforeEach(async () => {
  directory = await tempDirectory();
  count = join(directory.path, "count");
  memory = new PeakMemory();
});

afterEach(async () => {
  // Buffered, each of these floods takes hundreds of megabytes within seconds.
  expect(memory.stop()).toBeLessThan(128 * megabyte);
  await directory.cleanup();
});

/** Memory that this process has needed since it began to look. */
class PeakMemory {
  readonly #before = used();
  readonly #timer: NodeJS.Timeout;
  #peak = 0;

  constructor() {
    this.#timer = setInterval(() => {
      this.#peak = Math.max(this.#peak, used() - this.#before);
    }, 20);
  }

  stop(): number {
    clearInterval(this.#timer);
    return this.#peak;
  }
}

function used(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Messages that the server could send so far. */
function sent(): number {
  return existsSync(count) ? Number(readFileSync(count, "utf8")) : 0;
}

/** Seconds for which a server was read, with two on top: what is free at first, and the time between two looks. */
function secondsSince(began: number): number {
  return (performance.now() - began) / 1_000 + 2;
}

function floodingServer(limits: Partial<McpStdioServerOptions> = {}): McpStdioServerOptions {
  return { command: process.execPath, args: [flooding, count], retry: quick, ...limits };
}

const other = (): McpStdioServerOptions => tinyServer(join(directory.path, "journal"));

async function worksOn(user: ToolUser, server: string, times = 3): Promise<void> {
  for (let time = 0; time < times; time++)
    expect(said(await user.use(`${server}_echo`, { text: `call ${time}` }))).toBe(`call ${time}`);
}

const awayReason = (user: ToolUser): string | undefined =>
  user.changes.flatMap((change) => (change.type === "away" ? [change.reason] : []))[0];

describe("a server process that floods", () => {
  test("with requests, and does not read the answers, is left with a reason and started again", async () => {
    const limits = { maxUnsentBytes: 200_000, maxMessagesPerSecond: 100_000 };
    await using user = toolUser({ servers: { flood: floodingServer(limits), other: other() } });
    const [result] = await Promise.all([
      user.use("flood_flood", { kind: "requests" }),
      worksOn(user, "other"),
    ]);
    expect(result.state).toBe("error");
    expect(said(result)).toMatch(/does not read what it is sent: more than maxUnsentBytes, 200000/);
    expect(await eventually(() => awayReason(user))).toMatch(/maxUnsentBytes/);
    await eventually(
      () =>
        user.changes.filter(({ type, server }) => type === "connected" && server === "flood")
          .length === 2,
    );
    await worksOn(user, "flood");
  });

  test.each(["notifications", "results"])(
    "with %s is the one that waits, and other servers go on working",
    async (kind) => {
      const server = floodingServer({ maxMessagesPerSecond: 1 });
      await using user = toolUser({ servers: { flood: server, other: other() } });
      const began = performance.now();
      await user.use("flood_flood", { kind, chars: 20_000 });
      await worksOn(user, "other", calls);
      // Read once per second, and what is under way in pipes and buffers.
      expect(sent()).toBeLessThan(secondsSince(began) + 60);
    },
  );

  test("with large messages is the one that waits, and other servers go on working", async () => {
    const server = floodingServer({ maxBytesPerSecond: 20_000 });
    await using user = toolUser({ servers: { flood: server, other: other() } });
    const began = performance.now();
    await user.use("flood_flood", { kind: "notifications", chars: 20_000 });
    await worksOn(user, "other", calls);
    expect(sent()).toBeLessThan(secondsSince(began) + 60);
  });

  test("on stderr is the one that waits, and its tools go on working", async () => {
    let lines = 0;
    const onStderr = (): void => {
      lines++;
    };
    const server = { ...floodingServer({ maxBytesPerSecond: 20_000 }), onStderr };
    await using user = toolUser({ servers: { flood: server, other: other() } });
    const began = performance.now();
    await user.use("flood_flood", { kind: "stderr", chars: 3_999 });
    await eventually(() => lines > 0);
    await worksOn(user, "flood");
    await worksOn(user, "other", calls);
    expect(lines).toBeLessThan(5 * secondsSince(began) + 60);
  });

  test.each(["notifications", "results", "stderr"])(
    "with %s goes on working within the limits",
    async (kind) => {
      await using user = toolUser({ servers: { flood: floodingServer() } });
      await user.use("flood_flood", { kind, chars: 200 });
      await eventually(() => sent() > 100);
      await worksOn(user, "flood");
      expect(awayReason(user)).toBeUndefined();
    },
  );

  test("with a line that never ends is left with a reason", async () => {
    const server = floodingServer({ maxMessageBytes: megabyte });
    await using user = toolUser({ servers: { flood: server, other: other() } });
    await user.use("flood_flood", { kind: "line" });
    await eventually(() => awayReason(user));
    expect(awayReason(user)).toBe("sent a message larger than maxMessageBytes");
    await worksOn(user, "other");
    await worksOn(user, "flood");
  });

  test("not at all, but stops reading, is left when its time is over", async () => {
    const server = floodingServer({ writeTimeoutMs: 1_000 });
    await using user = toolUser({ servers: { flood: server, other: other() } });
    expect(said(await user.use("flood_deaf"))).toBe("deaf");
    const result = await user.use("flood_echo", { text: "x".repeat(500_000) });
    expect(result.state).toBe("error");
    expect(said(result)).toMatch(/has not read what it was sent for writeTimeoutMs, 1000 ms/);
    await worksOn(user, "other");
    await worksOn(user, "flood");
  });
});

describe("a server over HTTP that floods", () => {
  test("its event stream is the one that waits, and its tools go on working", async () => {
    const port = await freePort();
    await using server = spawnScript(floodingHttp, [String(port), count, "notifications"]);
    await server.line("listening");
    const url = `http://127.0.0.1:${port}/mcp`;
    const paced = { url, retry: quick, maxMessagesPerSecond: 1 };
    await using user = toolUser({ servers: { flood: paced, other: other() } });
    const began = performance.now();
    await user.agent.ready();
    await eventually(() => sent() > 0);
    await worksOn(user, "other", calls);
    // Sockets hold more than pipes.
    expect(sent()).toBeLessThan(secondsSince(began) + 120);
    await using within = toolUser({ servers: { flood: { url, retry: quick } } });
    await worksOn(within, "flood");
  });

  test("with requests whose answers it never takes is left with a reason", async () => {
    const port = await freePort();
    await using server = spawnScript(floodingHttp, [String(port), count, "requests"]);
    await server.line("listening");
    const address = { url: `http://127.0.0.1:${port}/mcp`, retry: quick };
    await using user = toolUser({ servers: { flood: address, other: other() } });
    await user.agent.ready();
    await eventually(() => awayReason(user), { timeoutMs: 30_000 });
    expect(awayReason(user)).toBe("does not take the answers to its requests: 32 wait for it");
    await worksOn(user, "other");
    // Each connection is left after as many.
    const connections = user.changes.filter(({ type }) => type === "connected").length;
    const untaken = server.lines.filter((line) => line.startsWith("untaken")).length;
    expect(untaken).toBeLessThanOrEqual(32 * (connections + 1));
  });
});
