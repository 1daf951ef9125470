import { eventually } from "@holdfast/testing";
import { freePort } from "@holdfast/testing/servers";
import { expect, test } from "vitest";
import { cuttableProxy } from "./support/cuttable-proxy.js";
import { everythingOverHttp, quick } from "./support/servers.js";
import { said, say, toolUser } from "./support/tool-user.js";

const address = (port: number) => `http://127.0.0.1:${port}/mcp`;

test("the reference server over HTTP works, is told when a call is interrupted, and goes on", async () => {
  const port = await freePort();
  await using server = await everythingOverHttp(port);
  const limits = { maxMessageBytes: 50_000 };
  await using user = toolUser({
    servers: { every: { url: address(port), retry: quick, ...limits } },
  });
  expect(said(await user.use("every_echo", { message: "hello" }))).toBe("Echo: hello");

  // This server would repeat it for ever to a client that resumes its stream.
  const large = await user.use("every_echo", { message: "x".repeat(60_000) });
  expect(said(large)).toContain("sent a message larger than maxMessageBytes");
  // What one call reports may be more than that in all.
  const talk = { duration: 0.6, steps: 600 };
  const talked = await user.use("every_trigger-long-running-operation", talk);
  expect(said(talked)).toContain("operation completed");
  expect(server.lines.filter((line) => line.startsWith("Client reconnecting"))).toEqual([]);

  const ctx = { sessionId: "stop" };
  const posts = () => server.lines.filter((line) => line === "Received MCP POST request").length;
  const before = posts();
  const input = { duration: 60, steps: 120 };
  const reply = say(user.agent, [{ name: "every_trigger-long-running-operation", input }], ctx);
  await eventually(() => posts() > before);
  const during = posts();
  await user.agent.interrupt(ctx);
  expect((await reply).reason).toBe("interrupted");
  await eventually(() => posts() > during);
  expect(said(await user.use("every_echo", { message: "hello" }))).toBe("Echo: hello");
});

test("a server killed with -9 in the middle of a call: the call is told at once and not repeated, and the server is found again on its port", async () => {
  const port = await freePort();
  const first = await everythingOverHttp(port);
  await using user = toolUser({
    servers: { every: { url: new URL(address(port)), retry: quick } },
  });
  await user.agent.ready();
  const posts = () => first.lines.filter((line) => line === "Received MCP POST request").length;
  const before = posts();
  const running = user.use("every_trigger-long-running-operation", { duration: 60, steps: 600 });
  await eventually(() => posts() > before);
  await first.kill9();
  const result = await running;
  expect(result.state).toBe("error");
  expect(said(result)).toMatch(/^The MCP server every .*look before you call it again\.$/);
  await eventually(() => user.changes.some(({ type }) => type === "away"));

  const waiting = user.use("every_echo", { message: "meanwhile" });
  await using second = await everythingOverHttp(port);
  expect(said(await waiting)).toBe("Echo: meanwhile");
  expect(second.lines.some((line) => line.startsWith("Session initialized"))).toBe(true);
});

test("a server restarted between two calls has forgotten the session: the next call gets a new one and is made once", async () => {
  const port = await freePort();
  const first = await everythingOverHttp(port);
  await using user = toolUser({ servers: { every: { url: address(port), retry: quick } } });
  await user.use("every_echo", { message: "before" });
  await first.kill9();
  await using _second = await everythingOverHttp(port);
  const after = await user.use("every_echo", { message: "after" });
  expect(said(after)).toBe("Echo: after");
});

test("a connection that breaks under a running call is taken up again where the server can: the call runs once and ends well", async () => {
  const port = await freePort();
  await using server = await everythingOverHttp(port);
  await using proxy = await cuttableProxy(port);
  await using user = toolUser({ servers: { every: { url: address(proxy.port), retry: quick } } });
  await user.agent.ready();
  const seen = (text: string) => server.lines.filter((line) => line.startsWith(text)).length;
  // Over before the stream is asked for again: this server repeats what it has said, but does not go on from there.
  const running = user.use("every_trigger-long-running-operation", { duration: 0.45, steps: 3 });
  await eventually(() => proxy.passed("notifications/progress"));
  proxy.cut();
  expect(said(await running)).toBe(
    "Long running operation completed. Duration: 0.45 seconds, Steps: 3.",
  );
  expect(seen("Client reconnecting with Last-Event-ID")).toBeGreaterThan(0);
  expect(seen("Session initialized")).toBe(1);
});
