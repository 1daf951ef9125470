import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OpaqueTokens } from "../src/opaque-tokens.js";

describe("a token a provider hands out", () => {
  test("is known for its content, and for no other, by any server of that provider alone", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (content, other) => {
        const token = new OpaqueTokens("one").issue(content);
        const again = new OpaqueTokens("one");
        expect(again.check(token)).toBe("valid");
        expect(again.check(token, content)).toBe("valid");
        expect(again.check(token, other)).toBe(other === content ? "valid" : "altered");
        expect(new OpaqueTokens("two").check(token, content)).toBe("unknown");
      }),
    );
  });

  test("is known by the server that gave it, when the script chose it", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (content, given) => {
        const opaqueTokens = new OpaqueTokens("one");
        expect(opaqueTokens.check(given)).toBe("unknown");
        expect(opaqueTokens.issue(content, given)).toBe(given);
        expect(opaqueTokens.check(given, content)).toBe("valid");
        expect(opaqueTokens.check(given, `${content}.`)).toBe("altered");
      }),
    );
  });
});
