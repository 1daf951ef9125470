import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Seals } from "../../src/providers/seals.js";

describe("a token a provider hands out", () => {
  test("is known for its content, and for no other, by any server of that provider alone", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (content, other) => {
        const token = new Seals("one").issue(content);
        const again = new Seals("one");
        expect(again.check(token)).toBe("valid");
        expect(again.check(token, content)).toBe("valid");
        expect(again.check(token, other)).toBe(other === content ? "valid" : "altered");
        expect(new Seals("two").check(token, content)).toBe("unknown");
      }),
    );
  });

  test("is known by the server that gave it, when the script chose it", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (content, given) => {
        const seals = new Seals("one");
        expect(seals.check(given)).toBe("unknown");
        expect(seals.issue(content, given)).toBe(given);
        expect(seals.check(given, content)).toBe("valid");
        expect(seals.check(given, `${content}.`)).toBe("altered");
      }),
    );
  });
});
