import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { id, runs, slot } from "../arbitraries.js";
import {
  checkId,
  checkSlot,
  describeSlot,
  InvalidIdError,
  MAX_ID_LENGTH,
  type Slot,
  slotKey,
  slotText,
  userTag,
} from "../values.js";

const sameSlot = (a: Slot, b: Slot) =>
  a.agentId === b.agentId && a.userId === b.userId && a.sessionId === b.sessionId;

function refusal(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    expect(InvalidIdError.is(error)).toBe(true);
    return (error as Error).message;
  }
  throw new Error("not refused");
}

describe("ids", () => {
  test("every well-formed string of 1 to 255 units is accepted as it is", () => {
    fc.assert(
      fc.property(id, (value) => {
        expect(checkId(value, "sessionId")).toBe(value);
      }),
      runs(2_000),
    );
    expect(checkId("x".repeat(MAX_ID_LENGTH), "sessionId")).toHaveLength(255);
  });

  test.each([
    ["undefined", undefined, "must be a string, got undefined"],
    ["null", null, "must be a string, got null"],
    ["a number", 1, "must be a string, got number"],
    ["an object that looks like a string", { toString: () => "x" }, "must be a string, got object"],
    ["a list", ["x"], "must be a string, got object"],
    ["an empty string", "", "must not be empty"],
    ["256 units", "x".repeat(256), "256 UTF-16 units"],
    ["128 characters of two units", "😀".repeat(128), "256 UTF-16 units"],
    ["a high surrogate alone", "a\ud800", "lone surrogate"],
    ["a low surrogate alone", "a\udfffb", "lone surrogate"],
    ["surrogates the wrong way round", "\udc00\ud800", "lone surrogate"],
    ["half of a second emoji", "😀\ud83d", "lone surrogate"],
  ])("%s is refused, and the error says of which id", (_, value, message) => {
    const text = refusal(() => checkId(value, "sessionId"));
    expect(text).toContain("sessionId");
    expect(text).toContain(message);
    expect(text).not.toMatch(/xx|😀|\p{Surrogate}/u);
  });

  test("a slot is refused for any of its ids", () => {
    const good: Slot = { agentId: "a", userId: null, sessionId: "s" };
    for (const field of ["agentId", "userId", "sessionId"] as const)
      for (const bad of ["", "\ud800", "x".repeat(256), 7, undefined])
        expect(refusal(() => checkSlot({ ...good, [field]: bad } as Slot))).toContain(field);
    expect(refusal(() => checkSlot({ ...good, agentId: null as never }))).toContain("agentId");
  });

  test("a checked slot is a copy with its three ids and nothing else", () => {
    const given = { agentId: "a", userId: "u", sessionId: "s", role: "admin" };
    expect(checkSlot(given)).toEqual({ agentId: "a", userId: "u", sessionId: "s" });
    expect(checkSlot(given)).not.toBe(given);
  });
});

describe("text and key of a slot", () => {
  test("two slots have the same text only when all their ids are the same", () => {
    fc.assert(
      fc.property(slot, slot, (a, b) => {
        expect(slotText(a) === slotText(b)).toBe(sameSlot(a, b));
        expect(slotKey(a) === slotKey(b)).toBe(sameSlot(a, b));
      }),
      runs(3_000),
    );
  });

  test("ids cannot lend characters to their neighbours", () => {
    const shifted = fc
      .tuple(fc.constantFrom("1:", "0", "1", "2:1a", ":", "10"), id)
      .map(([digits, rest]) => ({ digits, rest }));
    fc.assert(
      fc.property(shifted, ({ digits, rest }) => {
        const slots: Slot[] = [
          { agentId: `${rest}${digits}`, userId: rest, sessionId: rest },
          { agentId: rest, userId: `${digits}${rest}`, sessionId: rest },
          { agentId: rest, userId: `${rest}${digits}`, sessionId: rest },
          { agentId: rest, userId: rest, sessionId: `${digits}${rest}` },
          { agentId: rest, userId: rest, sessionId: rest },
          { agentId: rest, userId: null, sessionId: rest },
        ];
        for (const [index, a] of slots.entries())
          for (const b of slots.slice(index + 1))
            expect(slotText(a) === slotText(b)).toBe(sameSlot(a, b));
      }),
      runs(1_000),
    );
  });

  test("no user name means the anonymous user", () => {
    fc.assert(
      fc.property(id, (name) => {
        expect(userTag(name)).not.toBe(userTag(null));
      }),
      runs(1_000),
    );
  });

  test("the key is the base32 of the SHA-256, as an independent computation has it", () => {
    const reference = (text: string) => {
      const bits = [...createHash("sha256").update(text).digest()]
        .map((byte) => byte.toString(2).padStart(8, "0"))
        .join("");
      return (bits.match(/.{1,5}/g) ?? [])
        .map((five) => "abcdefghijklmnopqrstuvwxyz234567"[Number.parseInt(five.padEnd(5, "0"), 2)])
        .join("");
    };
    fc.assert(
      fc.property(slot, (value) => {
        expect(slotKey(value)).toBe(reference(slotText(value)));
        expect(slotKey(value)).toMatch(/^[a-z2-7]{52}$/);
      }),
      runs(500),
    );
  });

  test("the key of one slot is written down, because stored data depends on it", () => {
    expect(slotText({ agentId: "agent", userId: "alice", sessionId: "s-1" })).toBe(
      "5:agent6:1alice3:s-1",
    );
    expect(slotKey({ agentId: "agent", userId: null, sessionId: "s-1" })).toBe(
      "3ikhdmcnzc2npd3427p2cldmkpapnzca7cmhug4cupxxbzx223lq",
    );
  });
});

test("a slot is described in one short printable line", () => {
  fc.assert(
    fc.property(slot, (value) => {
      const line = describeSlot(value);
      expect(line).not.toMatch(/[\n\r\0]/);
      expect(line.length).toBeLessThan(1_300);
      expect(line.includes("anonymous user")).toBe(value.userId === null);
    }),
    runs(500),
  );
});
