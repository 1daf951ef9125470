import { describeSlot, loadWhole } from "@holdfast/core/store-kit";
import { scaled } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { holdfast } from "../support/in-process.js";
import { freshStore, storeKinds } from "../support/stores.js";
import { talk, withStore } from "../support/talk.js";

interface Listing {
  readonly store: string;
  readonly sessions: readonly {
    sessionId: string;
    userId: string | null;
    agentId: string;
    messages?: number;
    title: string | null;
  }[];
  readonly cursor?: string;
}

interface Finds {
  readonly hits: readonly { sessionId: string; snippet: string; seq: number }[];
  readonly cursor?: string;
}

describe.each(scaled(["mysql"], storeKinds))("sessions in %s", (kind) => {
  test("are listed page by page, by agent and by user, and anonymous ones apart", async () => {
    await using store = await freshStore(kind);
    await talk(
      store,
      { user: "ada", session: "one", says: ["hello"] },
      { user: "ada", session: "two", says: ["hello"] },
      { user: "bob", session: "three", says: ["hello"], agent: "clerk" },
      { session: "four", says: ["hello"] },
    );
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = ["--limit", "3", ...(cursor === undefined ? [] : ["--cursor", cursor])];
      const outcome = await holdfast(["sessions", "list", "--store", store.url, "--json", ...page]);
      expect(outcome.code).toBe(0);
      const listing = outcome.json<Listing>();
      expect(listing.sessions.length).toBeLessThanOrEqual(3);
      found.push(...listing.sessions.map(({ sessionId }) => sessionId));
      cursor = listing.cursor;
    } while (cursor !== undefined);
    // One saved within a tick of the clock before the first page counts as saved meanwhile, and may come twice.
    expect([...new Set(found)].sort()).toEqual(["four", "one", "three", "two"]);

    const ids = async (...flags: string[]): Promise<string[]> => {
      const outcome = await holdfast([
        "sessions",
        "list",
        "--store",
        store.url,
        "--json",
        ...flags,
      ]);
      return outcome
        .json<Listing>()
        .sessions.map(({ sessionId }) => sessionId)
        .toSorted();
    };
    expect(await ids("--user", "ada")).toEqual(["one", "two"]);
    expect(await ids("--agent", "clerk")).toEqual(["three"]);
    expect(await ids("--anonymous")).toEqual(["four"]);
    const plain = await holdfast(["sessions", "list", "--store", store.url, "--user", "ada"]);
    expect(plain.stdout).toMatch(/^SESSION +USER +AGENT/u);
    // Every store tells how many messages there are, and the title: here the first words.
    expect(plain.stdout).toMatch(/^one +ada +assistant +2 +\S+Z +hello$/mu);
    const whole = await holdfast(["sessions", "list", "--store", store.url, "--json"]);
    const facts = whole
      .json<Listing>()
      .sessions.map(({ messages, title }) => ({ messages, title }));
    expect(facts).toEqual(Array.from({ length: 4 }, () => ({ messages: 2, title: "hello" })));
  });

  test("that wait for an answer are marked, and listed alone with --waiting", async () => {
    await using store = await freshStore(kind);
    await talk(
      store,
      { user: "ada", session: "asks", says: ["hello"] },
      { user: "ada", session: "asks nothing", says: ["hello"] },
    );
    const list = ["sessions", "list", "--store", store.url];
    expect((await holdfast([...list, "--waiting"])).stdout).toMatch(/^No sessions wait in /u);
    await withStore(store.url, async ({ stateStore }) => {
      const slot = { agentId: "assistant", userId: "ada", sessionId: "asks" };
      const loaded = await loadWhole(stateStore, slot);
      if (loaded === null) throw new Error("the session is not there");
      const { revision: expected, head, messages } = loaded;
      const change = { op: "asks", expected, head, keep: messages.length, replace: [], append: [] };
      await stateStore.save(slot, { ...change, info: { waiting: true } });
    });
    const waiting = await holdfast([...list, "--waiting", "--json"]);
    expect(waiting.json()).toMatchObject({ sessions: [{ sessionId: "asks", waiting: true }] });
    const all = (await holdfast([...list, "--json"])).json<Listing>().sessions;
    expect(all.find(({ sessionId }) => sessionId === "asks nothing")).toMatchObject({
      waiting: false,
    });
    const { stdout } = await holdfast(list);
    expect(stdout).toMatch(/^asks +ada .* waits for an answer$/mu);
    expect(stdout).not.toMatch(/^asks nothing .*waits/mu);
  });

  test("are searched across users, anonymous ones too, and every hit comes on one page", async () => {
    await using store = await freshStore(kind);
    const says = ["the Kettle is on", "nothing of note", "put the kettle off"];
    await talk(
      store,
      { user: "ada", session: "one", says },
      { user: "bob", session: "two", says, agent: "clerk" },
      { session: "three", says },
    );
    const hits: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = cursor === undefined ? [] : ["--cursor", cursor];
      const outcome = await holdfast([
        "sessions",
        "search",
        "KETTLE",
        "--exact",
        "--store",
        store.url,
        "--json",
        "--limit",
        "3",
        ...page,
      ]);
      expect(outcome.code).toBe(0);
      const finds = outcome.json<Finds>();
      hits.push(...finds.hits.map(({ sessionId, seq }) => `${sessionId} ${seq}`));
      cursor = finds.cursor;
      pages++;
    } while (cursor !== undefined && pages < 20);
    expect(hits).toHaveLength(6);
    expect(new Set(hits).size).toBe(6);
    const one = await holdfast([
      "sessions",
      "search",
      "kettle",
      "--exact",
      "--store",
      store.url,
      "--session",
      "three",
      "--json",
    ]);
    expect(one.json<Finds>().hits.map(({ sessionId }) => sessionId)).toEqual(["three", "three"]);
    const question = "Who put kettles off?";
    const ranked = await holdfast([
      "sessions",
      "search",
      question,
      "--store",
      store.url,
      "--limit",
      "3",
    ]);
    expect(ranked.stdout.match(/^ {2}put the kettle off$/gm)).toHaveLength(3);
    const [, next = ""] = /There may be more: --cursor (\S+)/.exec(ranked.stdout) ?? [];
    const more = ["sessions", "search", question, "--store", store.url, "--json", "--cursor", next];
    const rest = (await holdfast(more)).json<Finds>().hits;
    expect(rest.length).toBeGreaterThan(0);
    expect(await holdfast([...more, "--exact"])).toMatchObject({ code: 2 });
    const words = ["sessions", "search", ...question.split(" "), "--store", store.url];
    expect((await holdfast([...words, "--limit", "3"])).stdout).toBe(ranked.stdout);
    const none = await holdfast(["sessions", "search", "teapot", "--store", store.url]);
    expect(none).toMatchObject({ code: 0, stdout: expect.stringContaining("Not found") });
  });

  test("are deleted with state and log, once confirmed, and not while a call runs", async () => {
    await using store = await freshStore(kind);
    await talk(
      store,
      { user: "ada", session: "one", says: ["hello"] },
      { user: "ada", session: "two", says: ["hello"] },
    );
    const flags = ["--store", store.url, "--workspace", store.workspace];
    const unasked = await holdfast(["sessions", "delete", "one", ...flags]);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    const refused = await holdfast(["sessions", "delete", "one", ...flags], {
      isTerminal: true,
      input: "n\n",
    });
    expect(refused).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Nothing was deleted"),
    });
    // Ctrl-C, with the answer half typed.
    const left = await holdfast(["sessions", "delete", "one", ...flags], {
      isTerminal: true,
      input: "y\u0003",
    });
    expect(left).toMatchObject({ code: 130, stderr: expect.stringContaining("nothing was") });

    const slot = { agentId: "assistant", userId: "ada", sessionId: "one" };
    await withStore(store.url, async ({ stateStore, log, gate }) => {
      const lease = await gate.acquire(slot, { callId: "other" });
      const busy = await holdfast(["sessions", "delete", "one", "--yes", ...flags]);
      expect(busy).toMatchObject({
        code: 4,
        stderr: expect.stringContaining("has a running call"),
      });
      await lease.release();
      expect(await stateStore.load(slot)).not.toBeNull();

      const agreed = await holdfast(["sessions", "delete", "one", ...flags], {
        isTerminal: true,
        input: "y\n",
      });
      expect(agreed.stdout).toContain("Deleted 1 session");
      expect(agreed.stdout).toContain(describeSlot(slot));
      expect(await stateStore.load(slot)).toBeNull();
      expect(await log.read(slot)).toEqual([]);
      expect(await stateStore.load({ ...slot, sessionId: "two" })).not.toBeNull();
    });
    const gone = await holdfast(["sessions", "delete", "one", "--yes", ...flags]);
    expect(gone.code).toBe(3);
  });

  test("that are named and not there end a search with 3", async () => {
    await using store = await freshStore(kind);
    await talk(store, { user: "ada", session: "one", says: ["hello"] });
    const search = ["sessions", "search", "hello", "--store", store.url, "--session"];
    expect(await holdfast([...search, "one"])).toMatchObject({ code: 0 });
    expect(await holdfast([...search, "none"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('there is no session "none"'),
    });
  });

  test("go to a file and into another store unchanged, once, and never over another session", async () => {
    await using from = await freshStore(kind);
    await using to = await freshStore(kind === "json" ? "redis" : "json");
    const long = "x".repeat(70_000);
    await talk(
      from,
      { user: "ada", session: "one", says: ["hello \u2028 \u001b[31m", long] },
      { session: "two", says: ["hello"] },
    );
    const exported = await holdfast(["sessions", "export", "--store", from.url]);
    expect(exported).toMatchObject({ code: 0, stderr: expect.stringContaining("2 sessions") });
    const importing = ["sessions", "import", "--store", to.url, "--json"];
    const first = await holdfast(importing, { input: exported.stdout });
    expect(first.json()).toMatchObject({ written: 2, present: 0, conflicts: 0 });
    const again = await holdfast(importing, { input: exported.stdout });
    expect(again.json()).toMatchObject({ written: 0, present: 2, conflicts: 0 });
    const back = await holdfast(["sessions", "export", "--store", to.url]);
    expect(back.stdout.split("\n").toSorted()).toEqual(exported.stdout.split("\n").toSorted());

    await talk(to, { session: "three", says: ["of its own"] });
    const other = await holdfast(["sessions", "export", "--store", to.url, "three"]);
    await talk(from, { session: "three", says: ["quite another one"] });
    const conflict = await holdfast(["sessions", "import", "--store", from.url, "--json"], {
      input: other.stdout + exported.stdout,
    });
    expect(conflict.code).toBe(4);
    expect(conflict.json()).toMatchObject({ written: 0, present: 2, conflicts: 1 });
    const cut = await holdfast(["sessions", "import", "--store", to.url], {
      input: exported.stdout.slice(0, 500),
    });
    expect(cut.code).toBe(2);
    expect(cut.stderr).not.toContain("hello");
  });
});
