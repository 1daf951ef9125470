import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { endpoint } from "../src/http/endpoint.js";
import { handlerSettings } from "../src/http/handler-settings.js";
import { nodeListener } from "../src/node-listener.js";

async function portOf(listener: ReturnType<typeof nodeListener>): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test("a client that went away before there was an answer cancels it", async () => {
  let arrived = false;
  let answer = () => {};
  let isCancelled = false;
  const listener = nodeListener(async () => {
    arrived = true;
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return new Response(
      new ReadableStream({
        pull: () => new Promise<void>(() => undefined),
        cancel() {
          isCancelled = true;
        },
      }),
    );
  });
  let isGone = false;
  const port = await portOf((incoming, response) => {
    response.once("close", () => {
      isGone = true;
    });
    return listener(incoming, response);
  });
  const leave = new AbortController();
  const asked = fetch(`http://127.0.0.1:${port}/`, { signal: leave.signal });
  await eventually(async () => arrived);
  leave.abort();
  await expect(asked).rejects.toThrow();
  await eventually(async () => isGone);
  answer();
  await eventually(async () => isCancelled);
});

test.each([
  ["signed in", { authorization: "alice" }, 413],
  ["signed in, with a length", { authorization: "alice", "content-length": 300_000 }, 413],
  ["not signed in", {}, 401],
])("a body that is refused does not hold up the connection: %s", async (_, headers, status) => {
  const options = {
    agent: { stream: () => undefined },
    identify: (incoming: Request) => incoming.headers.get("authorization"),
    maxBodyBytes: 200_000,
  };
  const handler = endpoint(handlerSettings(options, {}, "test"), async ({ json }) =>
    Response.json(await json()),
  );
  const port = await portOf(nodeListener(handler));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const post = (body: Buffer, more: object): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const sent = request({
        ...{ agent, port, host: "127.0.0.1", method: "POST", timeout: 3_000 },
        headers: { "content-type": "application/json", ...more },
      });
      sent.on("response", (response) =>
        response.resume().on("end", () => resolve(response.statusCode)),
      );
      sent.on("timeout", () => sent.destroy(new Error("no answer")));
      sent.on("error", reject);
      sent.write(body);
      sent.end();
    });
  expect(await post(Buffer.alloc(300_000, "a"), headers)).toBe(status);
  expect(await post(Buffer.from("{}"), { authorization: "alice" })).toBe(200);
});
