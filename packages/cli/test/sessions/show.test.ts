import { readdir } from "node:fs/promises";
import { compaction } from "@holdfast/compaction";
import { tool } from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { holdfast } from "../support/in-process.js";
import { freshStore } from "../support/stores.js";
import { talk, withStore } from "../support/talk.js";

interface Shown {
  readonly state: {
    messages: number;
    bytes: number;
    tokens: number;
    summary: string | null;
  } | null;
  readonly records: readonly {
    seq: number;
    kind: string;
    outcome: string | null;
    visibility?: string;
    message?: { role: string; content: readonly { text?: string }[] };
  }[];
  readonly cursor?: string;
}

const dump = tool({
  name: "dump",
  description: "Dumps a lot.",
  input: z.object({}),
  execute: () => "0123456789".repeat(10_000),
});

describe("sessions show", () => {
  test("says of every message whether the model still sees it", async () => {
    await using store = await freshStore("json");
    await talk(store, {
      user: "ada",
      session: "s",
      says: ["first", `second ${"and so on ".repeat(60)}`, "third", "dump it"],
      replies: ({ messages, tools }) => {
        const last = messages.at(-1);
        const text = JSON.stringify(last?.content);
        if (tools.length === 0 || text.includes("SESSION INTENT")) return "All that was before.";
        return text.includes("dump it") ? { toolCalls: [{ name: "dump", input: {} }] } : "Yes.";
      },
      tools: [dump],
      plugins: [compaction({ triggerMessages: 6, keepMessages: 2 }), toolResultEviction()],
    });
    const slot = { agentId: "assistant", userId: "ada", sessionId: "s" };
    await withStore(store.url, async ({ log }) => {
      const at = new Date().toISOString();
      const message = {
        id: "m-x",
        role: "user",
        content: [{ type: "text", text: "taken back" }],
        createdAt: at,
      } as const;
      const record = { v: 1, callId: "c-x", at } as const;
      await log.append(slot, [
        { ...record, id: "r-x", kind: "message", message },
        { ...record, id: "r-y", kind: "mark", mark: { name: "call_end", outcome: "rolled_back" } },
        {
          ...record,
          id: "r-z",
          callId: "c-z",
          kind: "message",
          message: { ...message, id: "m-z" },
        },
      ]);
    });
    const outcome = await holdfast(["sessions", "show", "s", "--store", store.url, "--json"]);
    expect(outcome.code).toBe(0);
    const { state, records } = outcome.json<Shown>();
    expect(state?.summary).toContain("All that was before.");
    expect(state?.messages).toBeGreaterThan(2);
    const seen = records
      .filter(({ message }) => message)
      .map(
        ({ message, visibility }) => `${message?.content[0]?.text ?? message?.role} ${visibility}`,
      );
    expect(seen[0]).toBe("first compacted");
    expect(seen).toContain("dump it whole");
    expect(seen).toContain("tool evicted");
    expect(seen.slice(-2)).toEqual(["taken back discarded", "taken back unfinished"]);

    const plain = await holdfast(["sessions", "show", "s", "--store", store.url]);
    for (const note of ["[compacted]", "[evicted]", "[discarded]", "[unfinished]"])
      expect(plain.stdout).toContain(note);
    expect(plain.stdout).toContain("more, shown with --full");
    expect(plain.stdout.length).toBeLessThan(20_000);
    const full = await holdfast(["sessions", "show", "s", "--store", store.url, "--full"]);
    expect(full.stdout.length).toBeGreaterThan(100_000);

    // What was put aside goes with the session.
    const aside = async (): Promise<string[]> =>
      (await readdir(store.workspace, { recursive: true })).filter((path) =>
        /large_tool_results.+\.\w+$/u.test(path),
      );
    expect(await aside()).toHaveLength(1);
    const flags = ["--store", store.url, "--workspace", store.workspace];
    expect((await holdfast(["sessions", "delete", "s", "--yes", ...flags])).code).toBe(0);
    expect(await aside()).toEqual([]);
  });

  test("shows pages, the newest first, that put together are the whole", async () => {
    await using store = await freshStore("json");
    await talk(store, { user: "ada", session: "s", says: ["a", "b", "c"] });
    const whole = (
      await holdfast(["sessions", "show", "s", "--store", store.url, "--json"])
    ).json<Shown>();
    const found: number[] = [];
    let cursor: string | undefined;
    do {
      const page = ["--limit", "4", ...(cursor === undefined ? [] : ["--cursor", cursor])];
      const outcome = await holdfast([
        "sessions",
        "show",
        "s",
        "--store",
        store.url,
        "--json",
        ...page,
      ]);
      const shown = outcome.json<Shown>();
      found.unshift(...shown.records.map(({ seq }) => seq));
      cursor = shown.cursor;
    } while (cursor !== undefined);
    expect(found).toEqual(whole.records.map(({ seq }) => seq));
    expect(found).toHaveLength(9);
  });

  test("asks which one is meant when several have the id, and says when there is none", async () => {
    await using store = await freshStore("json");
    await talk(
      store,
      { user: "ada", session: "s", says: ["of ada"] },
      { user: "bob", session: "s", says: ["of bob"] },
    );
    const several = await holdfast(["sessions", "show", "s", "--store", store.url]);
    expect(several.code).toBe(2);
    expect(several.stderr).toContain('user "ada"');
    expect(several.stderr).toContain('user "bob"');
    const bobs = await holdfast(["sessions", "show", "s", "--user", "bob", "--store", store.url]);
    expect(bobs.stdout).toContain("of bob");
    expect((await holdfast(["sessions", "show", "t", "--store", store.url])).code).toBe(3);
    const named = ["sessions", "show", "t", "--agent", "assistant", "--user", "ada"];
    expect((await holdfast([...named, "--store", store.url])).code).toBe(3);
  });

  test("prints no control character, in messages of any role and in ids", async () => {
    await using store = await freshStore("json");
    const evil = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202egnp.exe\rover\u0000";
    await talk(store, {
      user: `u${evil}`,
      agent: `a${evil}`,
      session: `s${evil}`,
      says: [`look: ${evil}`],
      replies: [{ thinking: evil, text: evil }],
    });
    const commands = [
      ["list"],
      ["show", `s${evil}`],
      ["search", "look"],
      ["search", "look", "--exact"],
      ["list", "--json"],
      ["show", `s${evil}`, "--json"],
      ["search", "look", "--json"],
      ["export"],
      ["show", `t${evil}`],
      ["delete", `s${evil}`, "--yes"],
    ];
    for (const command of commands) {
      const { stdout, stderr } = await holdfast(["sessions", ...command, "--store", store.url]);
      expect(stdout + stderr).not.toBe("");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/u);
    }
  });
});
