import { InMemoryKeyValueStore } from "@holdfast/core";
import { freePort } from "@holdfast/testing/servers";
import { afterEach, expect, test, vi } from "vitest";
import { Authorizers } from "../src/auth/authorizers.js";
import { TokenStore } from "../src/auth/token-store.js";
import { UserServer } from "../src/connection/user-server.js";
import { readOptions } from "../src/options/read-options.js";
import type { ServerSettings } from "../src/options/server-settings.js";
import { tinyOverHttp } from "./support/servers.js";

afterEach(() => vi.useRealTimers());

test("a connection that replaced a lost one is shared, and kept while it is used", async () => {
  const port = await freePort();
  await using _script = await tinyOverHttp(port);
  const [settings] = readOptions({
    servers: { notes: { url: `http://127.0.0.1:${port}/mcp` } },
  }).servers;
  const server = new UserServer({
    settings: settings as ServerSettings,
    authorizers: new Authorizers(undefined),
    store: new TokenStore(new InMemoryKeyValueStore(), "tester"),
    onTools: () => false,
  });
  const slot = { agentId: "tester", userId: "alice", sessionId: "s" };
  const use = () => server.use(slot, new AbortController().signal);
  const first = await use();
  first.connection.fail("cut");
  first.release();
  // The time after which an unused connection is closed, and no other.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const [one, other] = await Promise.all([use(), use()]);
  expect(one.connection).toBe(other.connection);
  expect(one.connection).not.toBe(first.connection);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(one.connection.isLost).toBe(false);
  one.release();
  other.release();
  vi.useRealTimers();
  await server.close();
});
