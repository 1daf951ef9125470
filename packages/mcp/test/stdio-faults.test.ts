import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { AgentEvent } from "@holdfast/core";
import { eventually, spawnScript, type TempDirectory, tempDirectory } from "@holdfast/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { McpServerError } from "../src/index.js";
import { everything, isAlive, tiny, tinyServer } from "./support/servers.js";
import { said, say, toolUser } from "./support/tool-user.js";

let directory: TempDirectory;
let journal: string;

beforeEach(async () => {
  directory = await tempDirectory();
  journal = join(directory.path, "journal");
});

afterEach(() => directory.cleanup());

/** What the servers of this test received so far. */
function received(): readonly string[] {
  if (!existsSync(journal)) return [];
  return readFileSync(journal, "utf8").trim().split("\n");
}

function pids(): readonly number[] {
  return received().flatMap((line) => (line.startsWith("start ") ? [Number(line.slice(6))] : []));
}

const countOf = (line: string) => received().filter((one) => one === line).length;

describe("a server that dies", () => {
  test("in the middle of a call: the call is not repeated, the model is told, and the next call works", async () => {
    await using user = toolUser({ servers: { tiny: tinyServer(journal) } });
    const result = await user.use("tiny_die");
    expect(result.state).toBe("error");
    expect(said(result)).toMatch(/^The MCP server tiny ended or closed the connection.*may have/);
    expect(said(await user.use("tiny_echo", { text: "again" }))).toBe("again");
    expect(countOf("tools/call die")).toBe(1);
    expect(pids()).toHaveLength(2);
  });

  test("killed with -9 while it works: as many calls as wait are told, and it is started again", async () => {
    await using user = toolUser({ servers: { tiny: tinyServer(journal) } });
    const waiting = [user.use("tiny_hang"), user.use("tiny_hang")];
    await eventually(() => countOf("tools/call hang") === 2);
    process.kill(pids()[0] as number, "SIGKILL");
    for (const result of await Promise.all(waiting)) {
      expect(result.state).toBe("error");
      expect(said(result)).toContain("look before you call it again");
    }
    await eventually(() => user.changes.filter(({ type }) => type === "connected").length === 2);
    expect(said(await user.use("tiny_pid"))).toBe(String(pids()[1]));
    expect(countOf("tools/call hang")).toBe(2);
  });

  test("is missed at once, also when a process it started still holds its pipes", async () => {
    await using user = toolUser({ servers: { tiny: tinyServer(journal) } });
    const child = Number(said(await user.use("tiny_leave_child")));
    try {
      expect(said(await user.use("tiny_die"))).toContain("ended or closed the connection");
      expect(said(await user.use("tiny_echo", { text: "again" }))).toBe("again");
      expect(isAlive(child)).toBe(true);
    } finally {
      process.kill(child);
    }
  });

  test("keeps its tools in the request, byte for byte, and a call made meanwhile waits for it", async () => {
    await using user = toolUser({ servers: { tiny: tinyServer(journal, {}) } });
    await user.use("tiny_echo", { text: "before" });
    const before = JSON.stringify(user.model.requests.at(-1)?.tools);
    process.kill(pids()[0] as number, "SIGKILL");
    await eventually(() => user.changes.some(({ type }) => type === "away"));
    expect(said(await user.use("tiny_echo", { text: "meanwhile" }))).toBe("meanwhile");
    expect(JSON.stringify(user.model.requests.at(-1)?.tools)).toBe(before);
  });

  test("for good: a call waits its time and is then told that it was not made", async () => {
    const server = { ...tinyServer(journal), timeoutMs: 2_000 };
    await using user = toolUser({ servers: { tiny: server } });
    await user.use("tiny_echo", { text: "before" });
    const [pid] = pids();
    // Without a place for its journal every start of it fails.
    await directory.cleanup();
    process.kill(pid as number, "SIGKILL");
    await eventually(() => user.changes.some(({ type }) => type === "away"));
    const result = await user.use("tiny_echo", { text: "meanwhile" });
    expect(result.state).toBe("error");
    expect(said(result)).toMatch(/^The MCP server tiny is away: .*the call was not made/);
    expect(user.offered()).toContain("tiny_echo");
  });
});

describe("a server that is down at the start", () => {
  test("does not fail the agent; its tools come when it comes", async () => {
    await using user = toolUser({
      servers: {
        late: tinyServer(journal, { startsFailing: 3 }),
        prompt: { ...tinyServer(join(directory.path, "other")), include: ["echo"] },
      },
    });
    await user.use("prompt_echo", { text: "hello" });
    await eventually(() =>
      user.changes.some(({ type, server }) => type === "connected" && server === "late"),
    );
    expect(said(await user.use("late_echo", { text: "hello" }))).toBe("hello");
    expect(pids()).toHaveLength(4);
    // The order is that of the options, not of arrival.
    expect(user.offered().at(-1)).toBe("prompt_echo");
  });

  test("fails the start when it is required, with its name and its last words but without secrets, and leaves nothing running", async () => {
    const env = { SECRET_TOKEN: "hunter2hunter2" };
    const lastWords = `bundled${"x".repeat(5_000)}\nbad token hunter2hunter2`;
    const dying = { startsFailing: 1, stderr: "starting", lastWords };
    const lines: string[] = [];
    const onStderr = (line: string) => lines.push(line);
    // Not again of itself while the other server is still starting: then its words would not be the last.
    const retry = { baseDelayMs: 60_000, maxDelayMs: 60_000 };
    await using user = toolUser({
      servers: {
        fine: tinyServer(join(directory.path, "other")),
        broken: { ...tinyServer(journal, dying), env, onStderr, required: true, retry },
      },
    });
    const error = await user.agent.ready().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(McpServerError.is(error) && error.server).toBe("broken");
    expect(String(error)).toContain('"broken" is required and ended or closed the connection');
    expect(String(error)).toContain("bad token [redacted]");
    expect(lines.at(-1)).toBe("bad token hunter2hunter2");
    const [fine] = readFileSync(join(directory.path, "other"), "utf8").match(/\d+/) ?? [];
    expect(isAlive(Number(fine))).toBe(false);
    // The next try starts anew, and now it works.
    expect(said(await user.use("broken_echo", { text: "hello" }))).toBe("hello");
  });

  test("says so when its command does not exist or it never answers", async () => {
    await using user = toolUser({
      servers: {
        nowhere: { command: join(directory.path, "nowhere") },
        mute: { ...tinyServer(journal, { silent: true }), connectTimeoutMs: 300 },
      },
    });
    await user.agent.ready();
    const reasons = user.changes.map(
      (change) => change.type === "away" && `${change.server} ${change.reason}`,
    );
    expect(reasons).toContain("nowhere could not be started (ENOENT): check command and cwd");
    expect(reasons).toContain("mute did not answer in time");
    expect(pids().filter(isAlive).length).toBeLessThanOrEqual(1);
  });
});

test("the start does not wait for the end of a server that did not answer; close does", async () => {
  const behaviour = { silent: true, stubborn: true };
  const mute = { ...tinyServer(journal, behaviour), connectTimeoutMs: 3_000 };
  await using user = toolUser({ servers: { mute } });
  // Node.js 20 collects some signals before their time has come.
  setFlagsFromString("--expose-gc");
  const collecting = setInterval(runInNewContext("gc") as () => void, 100);
  await user.agent.ready();
  clearInterval(collecting);
  // It is on its way out: neither the end of its stdin nor SIGTERM impresses it.
  const pid = await eventually(() => pids()[0]);
  expect(isAlive(pid as number)).toBe(true);
  expect(countOf("SIGTERM")).toBe(0);
  expect(user.changes).toMatchObject([{ type: "away", reason: "did not answer in time" }]);
  await user.agent.close();
  expect(countOf("SIGTERM")).toBe(1);
  expect(pids()).toStrictEqual([pid]);
  expect(isAlive(pid as number)).toBe(false);
});

test("a server that did not answer is not started again beside itself", async () => {
  const behaviour = { silent: true, stubborn: true };
  const mute = { ...tinyServer(journal, behaviour), connectTimeoutMs: 3_000 };
  await using user = toolUser({ servers: { mute } });
  await user.agent.ready();
  const [first] = pids();
  await eventually(() => pids().length === 2);
  expect(isAlive(first as number)).toBe(false);
});

describe("tools that come and go", () => {
  test("are offered with the next request, and an unchanged list changes nothing", async () => {
    await using user = toolUser({ servers: { tiny: tinyServer(journal) } });
    await user.use("tiny_same_tools");
    await user.use("tiny_add_tool", { name: "brand new" });
    const change = await eventually(() =>
      user.changes.find(({ type }) => type === "tools_changed"),
    );
    const added = change?.type !== "away" && change?.tools.find((name) => name.includes("brand"));
    expect(added).toMatch(/^tiny_brand_new_[0-9a-f]{6}$/);
    expect(said(await user.use(String(added), { text: "hello" }))).toBe("hello");
    await user.use("tiny_remove_tool", { name: "brand new" });
    await eventually(
      () => user.changes.filter(({ type }) => type === "tools_changed").length === 2,
    );
    const gone = await user.use(String(added), { text: "hello" });
    expect(said(gone)).toContain(`There is no tool ${added}`);
  });
});

test("a server that reports a change whenever it is asked for its tools, or what is not MCP, is not asked without end", async () => {
  const other = join(directory.path, "other");
  await using user = toolUser({
    servers: {
      restless: tinyServer(journal, { restless: true }),
      chatty: tinyServer(other, { chatty: true }),
    },
  });
  await user.agent.ready();
  await sleep(1_500);
  expect(countOf("tools/list")).toBeLessThanOrEqual(5);
  expect(readFileSync(other, "utf8").match(/^tools\/list$/gm)).toHaveLength(1);
});

describe("the time a call may take", () => {
  test("silence ends it, the server is told to stop, and the connection stays", async () => {
    await using user = toolUser({
      servers: { tiny: { ...tinyServer(journal), timeoutMs: 1_500 } },
    });
    const result = await user.use("tiny_hang");
    expect(result.state).toBe("error");
    expect(said(result)).toContain("The MCP server tiny gave no result within 1500 ms");
    await eventually(() => received().some((line) => line.startsWith("notifications/cancelled")));
    await user.use("tiny_echo", { text: "hello" });
    expect(pids()).toHaveLength(1);
  });

  test("progress extends a call, but not for ever", async () => {
    const server = { ...tinyServer(journal), timeoutMs: 1_500, maxTimeoutMs: 5_000 };
    await using user = toolUser({ servers: { tiny: server } });
    const [enough, endless] = await Promise.all([
      user.use("tiny_count", { steps: 8, everyMs: 250 }),
      user.use("tiny_count", { steps: 100_000, everyMs: 100 }),
    ]);
    expect(said(enough)).toBe("counted");
    expect(said(endless)).toContain("gave no result within 5000 ms");
  });

  test("progress is told as events of the tool call", async () => {
    const told: AgentEvent[] = [];
    await using user = toolUser(
      { servers: { tiny: tinyServer(journal) } },
      { onEvent: (event) => void (event.type === "tool_progress" && told.push(event)) },
    );
    await user.use("tiny_count", { steps: 3, everyMs: 10 });
    expect(told[0]).toMatchObject({ name: "tiny_count", progress: { progress: 1 } });
  });

  test("an interrupt is passed on to the server", async () => {
    await using user = toolUser({ servers: { tiny: tinyServer(journal) } });
    const ctx = { sessionId: "stop" };
    const reply = say(user.agent, [{ name: "tiny_hang", input: {} }], ctx);
    await eventually(() => countOf("tools/call hang") === 1);
    await user.agent.interrupt(ctx);
    expect((await reply).reason).toBe("interrupted");
    await eventually(() => received().some((line) => line.startsWith("notifications/cancelled")));
  });
});

describe("what a server says", () => {
  test("an error of the protocol is told to the model without the server's secrets", async () => {
    const env = { SECRET_TOKEN: "hunter2hunter2" };
    await using user = toolUser({ servers: { tiny: { ...tinyServer(journal), env } } });
    const result = await user.use("tiny_refuse");
    expect(result.state).toBe("error");
    expect(said(result)).toBe(
      "The MCP server tiny answered with an error: not with [redacted] (code -32000).",
    );
  });

  test("too much of it is cut, and a message beyond all bounds ends the connection, not the agent", async () => {
    const server = { ...tinyServer(journal), maxResultChars: 1_000, maxMessageBytes: 100_000 };
    await using user = toolUser({ servers: { tiny: server } });
    const large = said(await user.use("tiny_big", { chars: 5_000 }));
    expect(large).toContain("[4000 characters of this result were left out");
    const huge = await user.use("tiny_big", { chars: 500_000 });
    expect(huge.state).toBe("error");
    expect(said(huge)).toContain("sent a message larger than maxMessageBytes");
    expect(said(await user.use("tiny_echo", { text: "hello" }))).toBe("hello");
  });

  test("stderr is read however much it is, and passed to the listener", async () => {
    const lines: string[] = [];
    const stderr = "noise ".repeat(1_000);
    const server = {
      ...tinyServer(journal, { stderr }),
      onStderr: (line: string) => lines.push(line),
    };
    await using user = toolUser({ servers: { tiny: server } });
    expect(said(await user.use("tiny_echo", { text: "hello" }))).toBe("hello");
    await eventually(() => lines.length === 100);
  });
});

describe("no process is left", () => {
  test("after close, even of a server that does not want to end", async () => {
    const user = toolUser({
      servers: {
        tiny: tinyServer(journal),
        stubborn: tinyServer(journal, { stubborn: true }),
        every: { command: process.execPath, args: [everything] },
      },
    });
    await user.agent.ready();
    const started = pids();
    expect(started.filter(isAlive)).toHaveLength(2);
    await user.agent.close();
    expect(started.filter(isAlive)).toEqual([]);
    expect(countOf("SIGTERM")).toBe(1);
    const starts = pids().length;
    await sleep(150);
    expect(pids()).toHaveLength(starts);
  });

  test("after close in the middle of connecting", async () => {
    const user = toolUser({ servers: { mute: tinyServer(journal, { silent: true }) } });
    const ready = user.agent.ready();
    const pid = await eventually(() => pids()[0]);
    await user.agent.close();
    await ready;
    expect(isAlive(pid as number)).toBe(false);
  });

  test("after the agent's own process was killed with -9", async () => {
    const script = new URL("./fixtures/agent-with-server.mjs", import.meta.url);
    await using agent = spawnScript(script, [everything, tiny, journal]);
    await agent.line("ready");
    await eventually(() => countOf("tools/call hang") === 1);
    // The id of the reference server is known only where the system tells whose child it is.
    const children =
      process.platform === "linux"
        ? readFileSync(`/proc/${agent.pid}/task/${agent.pid}/children`, "utf8").trim().split(" ")
        : pids();
    expect(children).toHaveLength(process.platform === "linux" ? 2 : 1);
    expect(children.map(Number)).toContain(pids()[0]);
    await agent.kill9();
    await eventually(() => !children.map(Number).some(isAlive));
  });
});
