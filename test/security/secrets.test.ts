import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import {
  type DistributedStore,
  HoldfastError,
  ReActAgent,
  tool,
  userMessage,
} from "@holdfast/core";
import { withEncryption } from "@holdfast/encryption";
import { otel } from "@holdfast/otel";
import { scriptedModel } from "@holdfast/testing";
import { privateMariadb, privateRedis, redisCommand } from "@holdfast/testing/servers";
import { createConnection } from "mysql2/promise";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { said, slotOf, writeOn } from "../encryption/stored.js";
import { breakFiles } from "../encryption/subjects.js";
import { type NodeStoreChoice, openNodeStore } from "../history/node/open-node-store.mjs";
import { Observatory } from "../otel/span-tree.js";
import { report, slow } from "./corpus.js";
import { directoryFor } from "./every-place.js";

/** Text that is nowhere by accident. */
const freshSecret = (): string => `canary${randomBytes(12).toString("hex")}`;

/** All texts that the program, its console or its telemetry could show. */
class Shown {
  readonly texts: string[] = [];
  errors = 0;

  constructor() {
    for (const name of ["log", "info", "warn", "error", "debug", "trace"] as const) {
      const spy = vi.spyOn(console, name).mockImplementation((...args) => {
        this.texts.push(args.map((arg) => inspect(arg, { depth: 10 })).join(" "));
      });
      onTestFinished(() => spy.mockRestore());
    }
  }

  /** The error of `work`, in every form in which a program may print it. */
  async error(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      expect(error, String(error)).toSatisfy(HoldfastError.is);
      this.errors++;
      const { message, stack, cause } = error as Error;
      this.texts.push(
        inspect(error, { depth: 10, getters: true, maxStringLength: null }),
        inspect(error, { depth: 10, showHidden: true, maxStringLength: null }),
        inspect(cause, { depth: 10, showHidden: true, maxStringLength: null }),
        ...[message, String(stack), String(error), JSON.stringify(error) ?? ""],
      );
    }
  }

  /** The texts that hold one of these, cut to what is around it. */
  hits(secrets: readonly string[]): string[] {
    return secrets.flatMap((secret) =>
      this.texts.flatMap((text) => {
        const at = text.indexOf(secret);
        return at === -1 ? [] : [text.slice(Math.max(0, at - 200), at + 50)];
      }),
    );
  }
}

/** Everything a store can be given contents with. */
function writes(store: DistributedStore, secret: string): (() => unknown)[] {
  const { stateStore, log, keyValue, signals } = store;
  const slot = slotOf("secrets");
  const message = userMessage(secret, { metadata: { secret } });
  const at = new Date().toISOString();
  const entry = { id: "e", kind: "input", callId: "c", at, body: { secret } } as const;
  return [
    () => stateStore.save(slot, writeOn(null, [message], { head: { secret } })),
    () => stateStore.save(slot, writeOn(null, [message], { expected: "1-x" })),
    () => stateStore.load(slot),
    () => stateStore.inbox?.put(slot, entry),
    () => log.append(slot, [said(secret), said(secret.repeat(20_000))]),
    () => log.search({ ...slot, text: secret }),
    () => keyValue.put(["n"], "k", { secret }),
    () => keyValue.put(["n"], "k", { secret }, { expected: "1-x" }),
    () => keyValue.put(["n"], "big", secret.repeat(60_000)),
    () => signals.send(slot, "c", { kind: "interrupt", message }),
    () => stateStore.list({ ...slot, cursor: secret }),
    () => keyValue.list(["n"], { cursor: secret }),
  ];
}

/** A call with contents everywhere, to a model and with a tool that fail at times. */
async function callWith(store: DistributedStore, secret: string, shown: Shown): Promise<void> {
  const observatory = new Observatory();
  const { tracerProvider, meterProvider } = observatory;
  const echo = tool({
    name: "echo",
    description: "Says it again.",
    input: z.object({ text: z.string() }),
    execute: ({ text }) => {
      throw new Error(`cannot say ${text}`);
    },
  });
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? secret
      : { text: secret, toolCalls: [{ name: "echo", input: { text: secret } }] },
  );
  const agent = new ReActAgent({
    name: "a",
    model,
    tools: [echo],
    stateStore: store.stateStore,
    saveDeadlineMs: 1_000,
    plugins: [otel({ tracerProvider, meterProvider })],
  });
  const big = userMessage(secret.repeat(100_000));
  // Errors name the session, so that an id is no place for a secret; telemetry does not name the user.
  const userId = freshSecret();
  await shown.error(() => agent.call(secret, { userId, sessionId: "s" }));
  await shown.error(() => agent.call(big, { userId: "u", sessionId: "s" }));
  await shown.error(() => agent.call({ results: [{ toolCallId: "c", output: secret }] } as never));
  await shown.error(() => agent.call([{ role: "user", content: secret }] as never));
  await shown.error(() => agent.getAgentState(userId, "s"));
  await agent.close().catch(() => undefined);
  const exported = await observatory.exported();
  expect(exported).not.toContain(userId);
  shown.texts.push(exported);
}

test("files: no error, log or span shows what was said, whatever fails", slow, async (context) => {
  const root = await directoryFor("state");
  const { store, close } = openNodeStore({ kind: "json", root, leaseMs: 30_000 });
  onTestFinished(close);
  const [secret, shown] = [freshSecret(), new Shown()];
  for (const write of writes(store, secret)) await shown.error(write);
  await callWith(store, secret, shown);
  breakFiles(root);
  for (const write of writes(store, secret)) await shown.error(write);
  await callWith(store, secret, shown);
  expect(shown.errors).toBeGreaterThan(10);
  expect(shown.hits([secret])).toEqual([]);
  report(context, { errors: shown.errors, texts: shown.texts.length, hits: 0 });
});

test(
  "redis: no error, log or span shows what was said or the password, whatever fails",
  slow,
  async (context) => {
    const [password, secret, shown] = [freshSecret(), freshSecret(), new Shown()];
    const server = await privateRedis({ args: ["--requirepass", password] });
    onTestFinished(() => server.stop());
    const open = async (url: string, work: (store: DistributedStore) => Promise<void>) => {
      const choice: NodeStoreChoice = { kind: "redis", url, prefix: "t_", commandTimeoutMs: 500 };
      const { store, close } = openNodeStore(choice);
      await work(store);
      await close().catch(() => undefined);
    };
    const everything = async (store: DistributedStore): Promise<void> => {
      for (const write of writes(store, secret)) await shown.error(write);
    };
    await open(server.url, async (store) => {
      await everything(store);
      await callWith(store, secret, shown);
      const before = shown.errors;
      await redisCommand(server, "CONFIG", "SET", "maxmemory", "1");
      await everything(store);
      await callWith(store, secret, shown);
      await redisCommand(server, "CONFIG", "SET", "maxmemory", "0");
      expect(shown.errors).toBeGreaterThan(before + 5);
    });
    const wrong = freshSecret();
    await open(server.url.replace(password, wrong), everything);
    await server.process.kill9();
    await open(server.url, everything);
    expect(shown.errors).toBeGreaterThan(25);
    expect(shown.hits([secret, password, wrong])).toEqual([]);
    report(context, { errors: shown.errors, texts: shown.texts.length, hits: 0 });
  },
);

test(
  "mysql: no error, log or span shows what was said or the password, whatever fails",
  slow,
  async (context) => {
    const [password, secret, shown] = [freshSecret(), freshSecret(), new Shown()];
    const server = await privateMariadb({ args: ["--max-allowed-packet=1M"] });
    onTestFinished(() => server.stop());
    const admin = await createConnection(server.url);
    await admin.query(`CREATE USER clerk@'%' IDENTIFIED BY '${password}'`);
    await admin.query(`GRANT ALL ON ${server.database}.* TO clerk@'%'`);
    const urlWith = (word: string) => server.url.replace("root@", `clerk:${word}@`);
    const open = async (url: string, work: (store: DistributedStore) => Promise<void>) => {
      const choice: NodeStoreChoice = { kind: "mysql", url, prefix: "t_", commandTimeoutMs: 2_000 };
      const { store, close } = openNodeStore(choice);
      await work(store);
      await close().catch(() => undefined);
    };
    const everything = async (store: DistributedStore): Promise<void> => {
      for (const write of writes(store, secret)) await shown.error(write);
    };
    await open(urlWith(password), async (store) => {
      await everything(store);
      await callWith(store, secret, shown);
      const before = shown.errors;
      await admin.query("SET GLOBAL read_only = 1");
      await everything(store);
      await callWith(store, secret, shown);
      await admin.query("SET GLOBAL read_only = 0");
      expect(shown.errors).toBeGreaterThan(before + 3);
      // Statements that fail name themselves in the driver's errors.
      const [tables] = await admin.query("SHOW TABLES LIKE 't\\_%'");
      await admin.query("SET FOREIGN_KEY_CHECKS = 0");
      for (const row of tables as Record<string, string>[])
        for (const table of Object.values(row)) await admin.query(`DROP TABLE IF EXISTS ${table}`);
      await everything(store);
    });
    const wrong = freshSecret();
    await open(urlWith(wrong), everything);
    await admin.end();
    await server.process.kill9();
    await open(urlWith(password), everything);
    expect(shown.errors).toBeGreaterThan(25);
    expect(shown.hits([secret, password, wrong])).toEqual([]);
    report(context, { errors: shown.errors, texts: shown.texts.length, hits: 0 });
  },
);

test("no error shows an encryption key, or what it hides", slow, async (context) => {
  const [secret, shown] = [freshSecret(), new Shown()];
  const { store, close } = openNodeStore({
    ...{ kind: "json", root: await directoryFor("state"), leaseMs: 30_000 },
  });
  onTestFinished(close);
  const key = randomBytes(32);
  const sealed = withEncryption(store, { keys: [{ id: "k", key }] });
  await callWith(sealed, secret, shown);
  for (const write of writes(sealed, secret)) await shown.error(write);
  const other = withEncryption(store, { keys: [{ id: "k", key: randomBytes(32) }] });
  for (const write of writes(other, secret)) await shown.error(write);
  await callWith(other, secret, shown);
  const text = key.toString("base64");
  for (const keys of [
    [{ id: "k", key: text.slice(0, 40) }],
    [
      { id: text, key: text },
      { id: text, key },
    ],
    [{ id: "k", key: [...key] }],
    text,
  ])
    await shown.error(() => withEncryption(store, { keys: keys as never }));
  shown.texts.push(inspect(sealed, { depth: 10 }), JSON.stringify(sealed.stateStore) ?? "");
  const forms = [text.slice(0, 40), key.toString("hex"), [...key.subarray(0, 8)].join(", ")];
  expect(shown.errors).toBeGreaterThan(8);
  expect(shown.hits([secret, ...forms])).toEqual([]);
  report(context, { errors: shown.errors, texts: shown.texts.length, hits: 0 });
});
