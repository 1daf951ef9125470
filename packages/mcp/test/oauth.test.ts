import {
  type AgentReply,
  ConfigurationError,
  InMemoryAgentStateStore,
  InMemoryKeyValueStore,
  InvalidInputError,
  type KeyValueStore,
  type PendingCall,
  ReActAgent,
  textOf,
  toolResultsOf,
} from "@holdfast/core";
import { type SpawnedScript, scriptedModel, spawnScript } from "@holdfast/testing";
import { freePort } from "@holdfast/testing/servers";
import { expect, test } from "vitest";
import { clientCredentials, type McpOAuthOptions, mcpTools, oauth } from "../src/index.js";
import { quick } from "./support/servers.js";
import { said } from "./support/tool-user.js";

const redirectUrl = "http://127.0.0.1:9/back";

interface Guarded extends AsyncDisposable {
  readonly script: SpawnedScript;
  readonly url: string;
  /** Tells the server to do something, and waits until it has. */
  tell(what: string): Promise<void>;
  count(line: string): number;
}

async function guardedServer(): Promise<Guarded> {
  const port = await freePort();
  const script = spawnScript(new URL("./fixtures/oauth-server.mjs", import.meta.url), [
    String(port),
  ]);
  await script.line("listening");
  return {
    script,
    url: `http://127.0.0.1:${port}/mcp`,
    tell: async (what) => {
      script.send(what);
      await script.line(`did ${what}`);
    },
    count: (line) => script.lines.filter((one) => one === line).length,
    [Symbol.asyncDispose]: () => script[Symbol.asyncDispose](),
  };
}

/** Stores that two agents share, as two processes would. */
function stores() {
  return { stateStore: new InMemoryAgentStateStore(), keyValue: new InMemoryKeyValueStore() };
}

type Stores = ReturnType<typeof stores>;

function signedIn(
  url: string,
  options: Partial<McpOAuthOptions>,
  { stateStore, keyValue }: Stores,
) {
  const auth = oauth({ redirectUrl, ...options });
  const plugin = mcpTools({ servers: { crm: { url, auth, retry: quick } } });
  // Calls the tool that the user names, and then tells the end.
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === "user" ? { toolCalls: [{ name: textOf(last), input: {} }] } : "done";
  });
  const agent = new ReActAgent({ name: "tester", model, plugins: [plugin], stateStore, keyValue });
  const results = async (userId: string | null = null) => {
    const state = await agent.getAgentState(userId, "s");
    return (state?.context ?? []).flatMap(toolResultsOf).map(said);
  };
  return { agent, plugin, results, [Symbol.asyncDispose]: () => agent.close() };
}

/** Plays the browser: opens the address and returns what it comes back with. */
async function browse(url: string): Promise<{ state: string; code: string }> {
  const response = await fetch(url, { redirect: "manual" });
  const { searchParams } = new URL(response.headers.get("location") as string);
  return { state: searchParams.get("state") as string, code: searchParams.get("code") as string };
}

function asked(reply: AgentReply): PendingCall & { url: string } {
  const [call] = "pending" in reply ? reply.pending : [];
  return { ...(call as PendingCall), url: call?.question?.url as string };
}

/** What the store holds, as text. */
async function contents(values: KeyValueStore): Promise<string> {
  const namespace = ["mcp", "tester", "oauth"];
  const { keys } = await values.list(namespace);
  return JSON.stringify(await values.getMany(namespace, keys));
}

test("a person signs in through the tool call, in one process, and the redirect comes to another", async () => {
  await using server = await guardedServer();
  const shared = stores();
  await using here = signedIn(server.url, {}, shared);
  const first = await here.agent.call("crm_authorize", { sessionId: "s" });
  const { url, toolCallId, question } = asked(first);
  expect(question?.message).toContain("crm asks you to sign in");
  const back = await browse(url);
  await using there = signedIn(server.url, {}, shared);
  await there.agent.ready();
  expect(await there.plugin.finishAuthorization(back)).toEqual({ server: "crm", userId: null });
  await expect(there.plugin.finishAuthorization(back)).rejects.toSatisfy(InvalidInputError.is);
  const end = await here.agent.call(
    { answers: [{ toolCallId, action: "accept" }] },
    { sessionId: "s" },
  );
  expect(end.reason).toBe("stop");
  expect(await here.results()).toEqual(["crm is authorized; use its tools now."]);
  await here.agent.call("crm_whoami", { sessionId: "s" });
  expect((await here.results())[1]).toMatch(/may read$/);
  // Neither the state nor the conversation has a secret of it.
  const state = JSON.stringify(await here.agent.getAgentState(null, "s"));
  expect(state).not.toMatch(/access-|refresh-|code-/);
  expect(await contents(shared.keyValue)).toMatch(/access-/);
});

test("a redirect without a code finishes nothing, and one whose code is refused lets the person begin again", async () => {
  await using server = await guardedServer();
  await using here = signedIn(server.url, {}, stores());
  const first = asked(await here.agent.call("crm_authorize", { sessionId: "s" }));
  const { state, code } = await browse(first.url);
  // What a browser brings back from a person who denied the access.
  for (const missing of [null, "", undefined] as never[])
    await expect(here.plugin.finishAuthorization({ state, code: missing })).rejects.toSatisfy(
      InvalidInputError.is,
    );
  await expect(here.plugin.finishAuthorization({ state, code: `${code}-forged` })).rejects.toThrow(
    "begin again",
  );
  const again = asked(
    await here.agent.call(
      { answers: [{ toolCallId: first.toolCallId, action: "accept" }] },
      { sessionId: "s" },
    ),
  );
  expect(again.url).not.toBe(first.url);
  expect(await here.plugin.finishAuthorization(await browse(again.url))).toEqual({
    server: "crm",
    userId: null,
  });
});

test("an authorization that another user began is not finished for that user", async () => {
  await using server = await guardedServer();
  const shared = stores();
  await using here = signedIn(server.url, { per: "user" }, shared);
  const ctx = { userId: "mallory", sessionId: "s" };
  const { url } = asked(await here.agent.call("crm_authorize", ctx));
  // Alice opened the address that Mallory sent her, and her browser comes back.
  const back = { ...(await browse(url)), userId: "alice" };
  await expect(here.plugin.finishAuthorization(back)).rejects.toSatisfy(InvalidInputError.is);
  expect(server.count("token authorization_code")).toBe(0);
  expect(await contents(shared.keyValue)).not.toMatch(/access-/);
  const own = { ...ctx, userId: "alice" };
  const hers = asked(await here.agent.call("crm_authorize", own));
  expect(
    await here.plugin.finishAuthorization({ ...(await browse(hers.url)), userId: "alice" }),
  ).toEqual({ server: "crm", userId: "alice" });
});

test("tokens are refreshed when they are refused, by one of two processes for both, and asked for anew when they are revoked", async () => {
  await using server = await guardedServer();
  const shared = stores();
  let urls = 0;
  const onAuthorize = async (url: string): Promise<void> => {
    urls++;
    await here.plugin.finishAuthorization(await browse(url));
  };
  await using here = signedIn(server.url, { onAuthorize }, shared);
  await here.agent.call("crm_whoami", { sessionId: "s" });
  expect(urls).toBe(1);
  await using there = signedIn(server.url, {}, shared);
  await there.agent.call("crm_whoami", { sessionId: "s" });
  await server.tell("expire");
  await here.agent.call("crm_whoami", { sessionId: "s" });
  await there.agent.call("crm_whoami", { sessionId: "s" });
  expect(server.count("token refresh_token")).toBe(1);
  expect(server.count("ran whoami")).toBe(4);
  await server.tell("revoke");
  const reply = await there.agent.call("crm_whoami", { sessionId: "s" });
  const { url, toolCallId } = asked(reply);
  const refused = await there.agent.call(
    { answers: [{ toolCallId, action: "decline" }] },
    { sessionId: "s" },
  );
  expect(refused.reason).toBe("stop");
  expect((await there.results()).at(-1)).toContain("asks for an authorization");
  expect(url).toContain("/authorize?");
  expect(urls).toBe(1);
});

test("a call that needs more scopes asks for them, with those it has, and goes on", async () => {
  await using server = await guardedServer();
  const shared = stores();
  await using here = signedIn(server.url, {}, shared);
  const first = asked(await here.agent.call("crm_authorize", { sessionId: "s" }));
  await here.plugin.finishAuthorization(await browse(first.url));
  await here.agent.call(
    { answers: [{ toolCallId: first.toolCallId, action: "accept" }] },
    { sessionId: "s" },
  );
  await server.tell("stingy");
  const more = asked(await here.agent.call("crm_whoami", { sessionId: "s" }));
  expect(new URL(more.url).searchParams.get("scope")).toBe("read write");
  await here.plugin.finishAuthorization(await browse(more.url));
  await here.agent.call(
    { answers: [{ toolCallId: more.toolCallId, action: "accept" }] },
    { sessionId: "s" },
  );
  expect((await here.results()).at(-1)).toMatch(/may read write$/);
  expect(server.count("ran whoami")).toBe(1);
});

test("every user signs in for themselves, and another process knows the tools", async () => {
  await using server = await guardedServer();
  const shared = stores();
  await using here = signedIn(server.url, { per: "user" }, shared);
  const whoIs = async (one: typeof here, userId: string, name = "crm_whoami"): Promise<string> => {
    const ctx = { userId, sessionId: "s" };
    const reply = await one.agent.call(name, ctx);
    if (reply.reason === "tool_suspended") {
      const { url, toolCallId } = asked(reply);
      const finished = await one.plugin.finishAuthorization(await browse(url));
      expect(finished).toEqual({ server: "crm", userId });
      await one.agent.call({ answers: [{ toolCallId, action: "accept" }] }, ctx);
    }
    return (await one.results(userId)).at(-1) as string;
  };
  await whoIs(here, "alice", "crm_authorize");
  const alice = await whoIs(here, "alice");
  await using there = signedIn(server.url, { per: "user" }, shared);
  const bob = await whoIs(there, "bob");
  expect(await whoIs(there, "alice")).toBe(alice);
  expect(bob).toMatch(/may read$/);
  expect(bob).not.toBe(alice);
  // One client for all of them.
  expect(server.count("register")).toBe(1);
  expect(server.count("authorize read")).toBe(2);
});

test.each([["a user", "alice"] as const, ["a session without a user", null] as const])(
  "deleting %s deletes their tokens, also for other processes, and what they have begun",
  async (_, userId) => {
    await using server = await guardedServer();
    const shared = stores();
    await using here = signedIn(server.url, { per: "user" }, shared);
    await using there = signedIn(server.url, { per: "user" }, shared);
    const ctx = { ...(userId !== null && { userId }), sessionId: "s" };
    const signIn = asked(await here.agent.call("crm_authorize", ctx));
    await here.plugin.finishAuthorization(await browse(signIn.url));
    const { toolCallId } = signIn;
    await here.agent.call({ answers: [{ toolCallId, action: "accept" }] }, ctx);
    await there.agent.call("crm_whoami", ctx);
    expect((await there.results(userId)).at(-1)).toMatch(/may read$/);
    // A second authorization is still open in the browser.
    await server.tell("stingy");
    const open = await browse(asked(await here.agent.call("crm_whoami", ctx)).url);
    const others = asked(await here.agent.call("crm_whoami", { userId: "bob", sessionId: "s" }));

    if (userId === null) await there.agent.deleteSession(ctx);
    else await there.agent.deleteUser(userId);
    expect(await contents(shared.keyValue)).not.toMatch(/access-|refresh-/);
    await expect(here.plugin.finishAuthorization(open)).rejects.toSatisfy(InvalidInputError.is);
    const ran = server.count("ran whoami");
    for (const one of [here, there]) {
      expect((await one.agent.call("crm_whoami", ctx)).reason).toBe("tool_suspended");
      await one.agent.interrupt(userId, ctx.sessionId);
    }
    expect(server.count("ran whoami")).toBe(ran);
    expect(await here.plugin.finishAuthorization(await browse(others.url))).toMatchObject({
      userId: "bob",
    });
  },
);

test("a program signs in with a secret of its own, which no error shows", async () => {
  await using server = await guardedServer();
  const make = (clientSecret: string) => {
    const auth = clientCredentials({ clientId: "machine", clientSecret });
    const plugin = mcpTools({ servers: { crm: { url: server.url, auth, required: true } } });
    const model = scriptedModel([{ toolCalls: [{ name: "crm_whoami", input: {} }] }, "done"]);
    return new ReActAgent({ name: "tester", model, plugins: [plugin] });
  };
  const agent = make("machine-secret");
  await agent.call("go", { sessionId: "s" });
  const state = await agent.getAgentState(null, "s");
  expect((state?.context ?? []).flatMap(toolResultsOf).map(said)).toEqual(["machine may read"]);
  await agent.close();
  const wrong = make("wrong-secret");
  const failed = wrong.call("go", { sessionId: "s" });
  await expect(failed).rejects.toThrow(/authorization that could not be had \(invalid_client\)/);
  await expect(failed).rejects.not.toThrow(/wrong-secret/);
  await wrong.close();
});

test("options of an authorization are checked, and secrets not shown", () => {
  expect(() => oauth({ redirectUrl: "back" })).toThrow(ConfigurationError);
  expect(() => oauth({ redirectUrl, clientSecret: "hush-hush" })).toThrow("needs a clientId");
  expect(() => oauth({ redirectUrl, clientSecret: "hush-hush" })).not.toThrow("hush-hush");
  expect(() => clientCredentials({ clientId: "me" })).toThrow("either clientSecret or privateKey");
  const auth = {} as never;
  expect(() => mcpTools({ servers: { crm: { url: "http://a.example", auth } } })).toThrow(
    "auth must be",
  );
});
