import { eventually, type SpawnedScript } from "@holdfast/testing";
import { freePort } from "@holdfast/testing/servers";
import { describe, expect, test } from "vitest";
import { type McpHttpServerOptions, McpServerError } from "../src/index.js";
import { quick, tinyOverHttp } from "./support/servers.js";
import { said, toolUser } from "./support/tool-user.js";

const address = (port: number): McpHttpServerOptions => ({
  url: `http://127.0.0.1:${port}/mcp`,
  retry: quick,
});

const count = (server: SpawnedScript, line: string) =>
  server.lines.filter((one) => one === line).length;

describe("a call", () => {
  test("that the server refused for its lost session is made once more in a new one, and so are those made with it", async () => {
    const port = await freePort();
    await using server = await tinyOverHttp(port, { forgetAfter: 1 });
    await using user = toolUser({ servers: { tiny: address(port) } });
    expect(said(await user.use("tiny_echo", { text: "one" }))).toBe("one");
    const together = await Promise.all([1, 2, 3].map(() => user.use("tiny_pid")));
    expect(together.map(said)).toEqual(together.map(() => String(server.pid)));
    expect(count(server, "tools/call pid")).toBeGreaterThan(3);
    expect(count(server, "ran pid")).toBe(3);
    expect(count(server, "initialize")).toBe(2);
  });

  test("whose answer was cut off may have run and is not repeated", async () => {
    const port = await freePort();
    await using server = await tinyOverHttp(port, { cut: ["pid"], empty: ["cwd"] });
    await using user = toolUser({ servers: { tiny: address(port) } });
    for (const tool of ["tiny_pid", "tiny_cwd"]) {
      const result = await user.use(tool);
      expect(result.state).toBe("error");
      expect(said(result)).toMatch(/broke (off its answer|the connection).*may have done its work/);
    }
    expect(said(await user.use("tiny_echo", { text: "next" }))).toBe("next");
    expect(count(server, "ran pid")).toBe(1);
  });

  test("to a server that died says so, waits for it and is made when it is back", async () => {
    const port = await freePort();
    const first = await tinyOverHttp(port);
    await using user = toolUser({ servers: { tiny: address(port) } });
    await user.use("tiny_echo", { text: "one" });
    await first.kill9();
    const waiting = user.use("tiny_pid");
    await eventually(() => user.changes.some(({ type }) => type === "away"));
    await using second = await tinyOverHttp(port);
    expect(said(await waiting)).toBe(String(second.pid));
    expect(count(second, "ran pid")).toBe(1);
  });

  test("that the server answers with a status says which, and whether it may have run", async () => {
    const port = await freePort();
    await using _server = await tinyOverHttp(port, { status: { pid: 429, cwd: 503, big: 403 } });
    await using user = toolUser({ servers: { tiny: address(port) } });
    expect(said(await user.use("tiny_pid"))).toBe(
      "The MCP server tiny refused the request (HTTP 429).",
    );
    expect(said(await user.use("tiny_cwd"))).toMatch(/failed \(HTTP 503\).*may have done/);
    expect(said(await user.use("tiny_big"))).toContain("(HTTP 403): check headers");
  });

  test("with an answer beyond all bounds fails alone", async () => {
    const port = await freePort();
    await using _server = await tinyOverHttp(port);
    await using user = toolUser({
      servers: { tiny: { ...address(port), maxMessageBytes: 50_000 } },
    });
    const huge = await user.use("tiny_big", { chars: 100_000 });
    expect(huge.state).toBe("error");
    expect(said(huge)).toContain("sent a message larger than maxMessageBytes");
    expect(said(await user.use("tiny_echo", { text: "next" }))).toBe("next");
  });

  test("to a server that does not even take the cancellation lets go of its connections", async () => {
    const port = await freePort();
    await using server = await tinyOverHttp(port, {
      stall: ["tools/call", "notifications/cancelled"],
    });
    await using user = toolUser({ servers: { tiny: { ...address(port), timeoutMs: 1_000 } } });
    expect(said(await user.use("tiny_pid"))).toContain("gave no result within 1000 ms");
    await eventually(() => count(server, "left notifications/cancelled") === 1);
    await eventually(() => count(server, "left tools/call pid") === 1);
  });

  test("without an answer is over in time, and its connection is given back", async () => {
    const port = await freePort();
    await using server = await tinyOverHttp(port);
    await using user = toolUser({ servers: { tiny: { ...address(port), timeoutMs: 1_000 } } });
    expect(said(await user.use("tiny_hang"))).toContain("gave no result within 1000 ms");
    await eventually(() => count(server, "notifications/cancelled") === 1);
    await eventually(() => count(server, "left tools/call hang") === 1);
    expect(said(await user.use("tiny_echo", { text: "next" }))).toBe("next");
    expect(count(server, "initialize")).toBe(1);
  });
});

test("a server that is down at the start is found when it is up", async () => {
  const port = await freePort();
  await using user = toolUser({ servers: { tiny: address(port) } });
  await user.agent.ready();
  expect(user.changes[0]).toMatchObject({
    type: "away",
    server: "tiny",
    reason: "could not be reached (ECONNREFUSED)",
  });
  await using _server = await tinyOverHttp(port);
  await eventually(() => user.changes.some(({ type }) => type === "connected"));
  expect(said(await user.use("tiny_echo", { text: "hello" }))).toBe("hello");
});

test("a server that stalls in the handshake is waited for no longer than it may take, and can be left", async () => {
  const port = await freePort();
  await using _server = await tinyOverHttp(port, { stall: ["notifications/initialized"] });
  const user = toolUser({ servers: { tiny: { ...address(port), connectTimeoutMs: 300 } } });
  await user.agent.ready();
  expect(user.changes[0]).toMatchObject({ type: "away", reason: "did not answer in time" });
  await user.agent.close();
});

test("a server that says too much of its own accord is left", async () => {
  const port = await freePort();
  await using _server = await tinyOverHttp(port, { flood: true });
  const server = { ...address(port), maxMessageBytes: 50_000 };
  await using user = toolUser({ servers: { tiny: server } });
  await user.agent.ready();
  const away = await eventually(() => user.changes.find(({ type }) => type === "away"));
  expect(away).toMatchObject({ reason: "sent a message larger than maxMessageBytes" });
});

test("a server that lets nobody in is named when it is required, without the headers", async () => {
  const port = await freePort();
  await using _server = await tinyOverHttp(port, { deny: true });
  const headers = { Authorization: "Bearer hunter2hunter2" };
  await using user = toolUser({ servers: { shut: { ...address(port), headers, required: true } } });
  const error = await user.agent.ready().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(McpServerError.is(error) && error.message).toBe(
    'the MCP server "shut" is required and does not let this client in (HTTP 401): check headers',
  );
  expect((error as Error).cause).toBeUndefined();
});

test("the session is ended when the agent closes", async () => {
  const port = await freePort();
  await using server = await tinyOverHttp(port);
  const user = toolUser({ servers: { tiny: address(port) } });
  await user.agent.ready();
  await user.agent.close();
  await eventually(() => count(server, "DELETE") === 1);
});
