import { StateCorruptError, textOf, userMessage } from "@holdfast/core";
import type { LoadedState } from "@holdfast/core/store-kit";
import { withEncryption } from "@holdfast/encryption";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { agentOn } from "../engine/agent-on.js";
import { freshKey } from "./keys.js";
import { corruption, loadState, saveTexts, slotOf, tamper, writeOn } from "./stored.js";
import { memorySubject } from "./subjects.js";

const [one, two] = [slotOf("one"), slotOf("two")];
const runs = process.env["HOLDFAST_LONG"] === "1" ? 5_000 : 100;

async function twoSessions() {
  const subject = memorySubject();
  await saveTexts(subject.store, one, ["a", "b", "c"]);
  await saveTexts(subject.store, two, ["x", "y", "z"]);
  return subject;
}

describe("what was moved does not open:", () => {
  test("the head of another session", async () => {
    const { store, inner } = await twoSessions();
    const { head, revision } = await loadState(inner, two);
    await tamper(inner, one, () => ({ head }));
    await corruption(() => store.load(one));
    await tamper(inner, one, () => ({ head, revision }));
    expect((await corruption(() => store.load(one))).message).toContain('session "one"');
  });

  test("an older head under the newer revision, and the other way round", async () => {
    const { store, inner } = await twoSessions();
    const older = await loadState(inner, one);
    await store.save(one, writeOn(await loadState(store, one), [], { head: { note: "newer" } }));
    const newer = await loadState(inner, one);
    await tamper(inner, one, () => ({ head: older.head }));
    await corruption(() => store.load(one));
    await tamper(inner, one, () => ({ head: newer.head, revision: older.revision }));
    await corruption(() => store.load(one));
  });

  test("two messages of a session in each other's place", async () => {
    const { store, inner } = await twoSessions();
    await tamper(inner, one, ({ messages: [a, b, c] }) => ({
      messages: [b, a, c].flatMap((message) => message ?? []),
    }));
    expect((await corruption(() => store.load(one))).message).toContain("message 0");
  });

  test("a message of another session, at the very same place", async () => {
    const { store, inner } = await twoSessions();
    const { messages: others } = await loadState(inner, two);
    await tamper(inner, one, ({ messages }) => ({ messages: messages.with(1, at(others, 1)) }));
    expect((await corruption(() => store.load(one))).message).toContain("message 1");
  });

  test("a message as a head", async () => {
    const { store, inner } = await twoSessions();
    await tamper(inner, one, ({ messages }) => ({ head: at(messages, 0).metadata ?? {} }));
    await corruption(() => store.load(one));
  });

  test("fewer messages than there were, or more", async () => {
    const { store, inner } = await twoSessions();
    const { messages } = await loadState(inner, one);
    await tamper(inner, one, () => ({ messages: messages.slice(0, 2) }));
    await corruption(() => store.load(one));
    await tamper(inner, one, () => ({ messages: [...messages, at(messages, 2)] }));
    await corruption(() => store.load(one));
  });
});

test("a replaced message is bound to its place as an appended one is", async () => {
  const { store, inner } = await twoSessions();
  const replace = [[1, userMessage("B")]] as const;
  await store.save(one, writeOn(await loadState(store, one), [userMessage("d")], { replace }));
  expect((await loadState(store, one)).messages.map(textOf)).toEqual(["a", "B", "c", "d"]);
  await tamper(inner, one, ({ messages }) => ({
    messages: messages.with(1, at(messages, 3)).with(3, at(messages, 1)),
  }));
  await corruption(() => store.load(one));
});

test("readable records in an encrypted store are not read, and the error says what to do", async () => {
  const { store, inner } = await twoSessions();
  await tamper(inner, one, () => ({ head: { note: "forged" } }));
  expect((await corruption(() => store.load(one))).message).toContain("readPlaintext");
  await tamper(inner, two, ({ messages }) => ({
    messages: messages.with(0, userMessage("forged")),
  }));
  expect((await corruption(() => store.load(two))).message).toContain("message 0");
});

test("a key that is not there is named; another key under its id opens nothing", async () => {
  const { inner } = await twoSessions();
  const without = withEncryption(inner, { keys: [freshKey("k2")] });
  expect((await corruption(() => without.load(one))).message).toContain('key "k1"');
  const other = withEncryption(inner, { keys: [freshKey("k1")] });
  expect((await corruption(() => other.load(one))).message).toContain('key "k1"');
});

test("whichever bit is flipped, a state opens as it was or not at all", async () => {
  const { store, inner } = await twoSessions();
  const long = userMessage("a long text, which is compressed ".repeat(100));
  await store.save(one, writeOn(await loadState(store, one), [long]));
  const [good, stored] = [await loadState(store, one), await loadState(inner, one)];
  const { revision: _, ...contents } = stored;
  const text = JSON.stringify(contents);
  let corrupt = 0;
  const property = fc.asyncProperty(flips(text.length), async ([position, bit]) => {
    const flipped = flip(text, position, bit);
    const changed = parsed(flipped);
    if (changed === null) return;
    await tamper(inner, one, () => ({ ...changed, revision: stored.revision }));
    try {
      expect(await loadState(store, one)).toEqual(good);
    } catch (error) {
      expect(error).toSatisfy(StateCorruptError.is);
      corrupt++;
    }
  });
  await fc.assert(property, { numRuns: runs });
  expect(corrupt).toBeGreaterThan(runs / 4);
});

test("a session that does not open can still be deleted", async () => {
  const { store, inner } = memorySubject();
  await agentOn(store).call("hello", { userId: "u", sessionId: "one" });
  // Another agent, with nothing in its cache.
  const agent = agentOn(store);
  await tamper(inner, one, () => ({ head: { note: "forged" } }));
  await corruption(() => agent.call("again", { userId: "u", sessionId: "one" }));
  expect(await store.fuses?.gate?.calls(one)).toEqual([]);
  expect(await agent.deleteSession("u", "one")).toBe(true);
  expect((await agent.call("anew", { userId: "u", sessionId: "one" })).text).toBe("ok");
});

test("a lease keeps its live signal and its token, and its state is opened once", async () => {
  const { store, inner } = await twoSessions();
  const lease = await store.fuses?.gate?.acquire(one, { callId: "c" });
  const loaded = lease?.loaded as LoadedState;
  expect(loaded.messages.map(textOf)).toEqual(["a", "b", "c"]);
  expect(lease?.loaded).toBe(loaded);
  expect(lease?.lost).toBe(lease?.lost);
  const write = writeOn(loaded, [], { lease: lease?.token, release: true });
  await store.save(one, write);
  expect(await inner.fuses?.gate?.calls(one)).toEqual([]);
});

function at<T>(list: readonly T[], index: number): T {
  return list[index] as T;
}

function flips(length: number) {
  return fc.tuple(fc.nat({ max: length - 1 }), fc.nat({ max: 6 }));
}

function flip(text: string, position: number, bit: number): string {
  const flipped = String.fromCharCode(text.charCodeAt(position) ^ (1 << bit));
  return text.slice(0, position) + flipped + text.slice(position + 1);
}

/** What a store could still hand out; null for text that no store would read. */
function parsed(text: string): Pick<LoadedState, "head" | "messages"> | null {
  try {
    const { head, messages } = JSON.parse(text);
    return typeof head === "object" && Array.isArray(messages) ? { head, messages } : null;
  } catch {
    return null;
  }
}
