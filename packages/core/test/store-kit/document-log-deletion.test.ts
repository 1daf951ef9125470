import { expect, test, vi } from "vitest";
import { type ConversationLog, userMessage } from "../../src/index.js";
import { documentStore, type LogDraft } from "../../src/store-kit/index.js";
import { type Fault, MapClient } from "./map-client.js";
import { newSlot } from "./state-writes.js";

const slot = newSlot();

/** The log as a process has it that was just started. */
function logOver(client: MapClient): ConversationLog {
  const { log } = documentStore(client, { reach: "distributed" }).companions?.() ?? {};
  if (log === undefined) throw new Error("it has a log");
  return log;
}

function draft(id: string, text = `secret ${id}`): LogDraft {
  const at = new Date(0).toISOString();
  return { v: 1, id, callId: "c", at, kind: "message", message: userMessage(text) };
}

function longDraft(id: string): LogDraft {
  return draft(id, `secret ${id} `.repeat(20_000));
}

/** As many records as fill a page. */
const page = pageOf("r");

function pageOf(name: string): LogDraft[] {
  return Array.from({ length: 100 }, (_, index) => draft(`${name}-${index}`));
}

/** Keys of the documents that hold something that was said. */
function secrets(client: MapClient): string[] {
  return [...client.values].filter(([, { value }]) => value.includes("secret")).map(([key]) => key);
}

test.each<[string, (log: ConversationLog) => Promise<unknown>]>([
  ["fills a page", (log) => log.append(slot, page)],
  ["appends a long text", (log) => log.append(slot, [longDraft("long")])],
  ["deletes the log", (log) => log.delete(slot)],
])(
  "whenever a process dies that %s, deleting the log leaves nothing that was said",
  async (_, work) => {
    const ways: readonly Fault[] = ["refused", "answer lost"];
    let deaths = 0;
    for (let hasEnded = false; !hasEnded; deaths++)
      for (const way of ways)
        for (const goesOn of [false, true]) {
          const client = new MapClient();
          await logOver(client).append(slot, [...pageOf("before"), longDraft("before")]);
          await logOver(client).append(slot, [draft("open")]);
          let left = deaths;
          client.fault = () => (left-- > 0 ? undefined : left === -1 ? way : "refused");
          hasEnded = await work(logOver(client)).then(
            () => left >= 0,
            () => false,
          );
          client.fault = () => undefined;
          if (goesOn) await logOver(client).append(slot, [...pageOf("after"), longDraft("after")]);
          await logOver(client).delete(slot);
          expect(secrets(client), `${way} at command ${deaths}`).toEqual([]);
        }
    expect(deaths).toBeGreaterThan(5);
  },
);

test.each([
  ["a long text", "-blob", [longDraft("long")]],
  ["a page", "-page", page],
])(
  "a delete that overtakes %s being written leaves nothing of it behind",
  async (_, suffix, drafts) => {
    const client = new MapClient();
    const write = client.compareAndSet.bind(client);
    let isDeleted = false;
    client.compareAndSet = async (key, value, version) => {
      if (key.endsWith(suffix) && !isDeleted) {
        isDeleted = true;
        await logOver(client).delete(slot);
      }
      return write(key, value, version);
    };
    await logOver(client).append(slot, drafts);
    expect(isDeleted).toBe(true);
    await logOver(client).delete(slot);
    expect(secrets(client)).toEqual([]);
  },
);

test("a session whose log begins again with a long text, as one is deleted, is listed", async () => {
  const client = new MapClient();
  const write = client.compareAndSet.bind(client);
  client.compareAndSet = async (key, value, version) => {
    if (key.endsWith("-blob")) {
      client.compareAndSet = write;
      await logOver(client).delete(slot);
    }
    return write(key, value, version);
  };
  await logOver(client).append(slot, [longDraft("long")]);
  expect(await logOver(client).read(slot)).toHaveLength(1);
  const { agentId, userId } = slot;
  const { sessions } = await logOver(client).sessions({ agentId, userId: userId ?? "" });
  expect(sessions).toHaveLength(1);
});

test("a delete leaves nothing of a page that a slow process writes while the delete is under way", async () => {
  const client = new MapClient();
  const write = client.compareAndSet.bind(client);
  const remove = client.delete.bind(client);
  let isHeld = false;
  let goOn = () => {};
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  client.compareAndSet = async (key, value, version) => {
    if (key.endsWith("-page")) {
      client.compareAndSet = write;
      isHeld = true;
      await mayGoOn;
    }
    return write(key, value, version);
  };
  const slow = logOver(client).append(slot, page);
  await vi.waitFor(() => expect(isHeld).toBe(true));
  await logOver(client).append(slot, [draft("next")]);
  client.delete = async (key) => {
    client.delete = remove;
    const wasThere = await remove(key);
    goOn();
    await slow;
    return wasThere;
  };
  await logOver(client).delete(slot);
  expect(secrets(client)).toEqual([]);
});

test("a page that a process began before it died is finished by the next append", async () => {
  const client = new MapClient();
  const write = client.compareAndSet.bind(client);
  let isDead = false;
  client.compareAndSet = async (key, value, version) => {
    isDead ||= key.endsWith("-page");
    if (isDead) throw new Error("connection refused");
    return write(key, value, version);
  };
  const pages = () => [...client.values.keys()].filter((key) => key.endsWith("-page"));
  await logOver(client).append(slot, page);
  expect(pages()).toEqual([]);
  client.compareAndSet = write;
  await logOver(client).append(slot, [draft("next")]);
  expect(pages()).toHaveLength(1);
  const read = await logOver(client).read(slot, { limit: 1_000 });
  expect(read.map(({ id }) => id)).toEqual([...page.map(({ id }) => id), "next"]);
});

test("two processes that fill a page at once make one page of it", async () => {
  const client = new MapClient();
  const [one, other] = [logOver(client), logOver(client)];
  await one.append(slot, page.slice(0, 99));
  await Promise.all([one.append(slot, [draft("a")]), other.append(slot, [draft("b")])]);
  expect([...client.values.keys()].filter((key) => key.endsWith("-page"))).toHaveLength(1);
  const ids = (await logOver(client).read(slot, { limit: 1_000 })).map(({ id }) => id);
  expect(ids.toSorted()).toEqual([...page.slice(0, 99).map(({ id }) => id), "a", "b"].toSorted());
});

test("a page begun while a process of an earlier release made another of its records is given up", async () => {
  const client = new MapClient();
  const log = logOver(client);
  await log.append(slot, page);
  // Such a process keeps what it does not know of the log.
  const [key = "", { value = "", version = "" } = {}] =
    [...client.values].find(([name]) => name.endsWith("-log")) ?? [];
  const begun = { ...JSON.parse(value), pending: { name: "begun", first: 1, last: 90 } };
  await client.compareAndSet(key, JSON.stringify(begun), version);
  await client.compareAndSet("begun-page", JSON.stringify({ v: 1, records: [] }), null);
  for (const name of ["more", "most"]) await log.append(slot, pageOf(name));
  const read = await log.read(slot, { limit: 1_000 });
  const all = [...page, ...pageOf("more"), ...pageOf("most")];
  expect(read.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  expect([...client.values.keys()].filter((name) => name.endsWith("-page"))).toHaveLength(2);
  expect(client.values.has("begun-page")).toBe(false);
});
