import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { boundedFetch } from "../src/connection/bounded-fetch.js";

const server = createServer(async (request, response) => {
  const { type, chunks } = JSON.parse(decodeURIComponent(request.url?.slice(1) ?? ""));
  response.writeHead(200, { "content-type": type });
  response.flushHeaders();
  for (const chunk of chunks) {
    response.write(chunk);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  response.end();
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => new Promise<unknown>((resolve) => server.close(resolve)));

async function fits(maxBytes: number, type: string, chunks: readonly string[]): Promise<boolean> {
  const { port } = server.address() as AddressInfo;
  let told = false;
  const limits = { maxMessagesPerSecond: 1_000_000, maxBytesPerSecond: 1_000_000_000 };
  const bounded = boundedFetch({ ...limits, maxMessageBytes: maxBytes }, () => {
    told = true;
  });
  const path = encodeURIComponent(JSON.stringify({ type, chunks }));
  const response = await bounded(`http://127.0.0.1:${port}/${path}`);
  const read = await response.text().catch(() => null);
  expect(read).toBe(told ? null : chunks.join(""));
  return !told;
}

test("an answer is bounded as a whole, a stream of events by each of them, however it is cut", async () => {
  expect(await fits(8, "application/json", ["12345", "678"])).toBe(true);
  expect(await fits(8, "application/json", ["12345", "6789"])).toBe(false);
  const stream = "text/event-stream; charset=utf-8";
  expect(await fits(12, stream, ["data: 1234\n\ndata: 5678\n\n", "data: 90\n\n"])).toBe(true);
  expect(await fits(12, stream, ["data: 12345\n\ndata: 6\n\n"])).toBe(false);
  expect(await fits(14, stream, ["data: 1234\r", "\n\r", "\ndata: 5678\r\n", "\r\n"])).toBe(true);
  expect(await fits(12, stream, ["data: 1\n", "data: 2\n", "data: 3\n\n"])).toBe(false);
});
