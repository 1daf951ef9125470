import fc from "fast-check";
import { expect, test } from "vitest";
import { pieces } from "../../src/offline/offline-model.js";

test("pieces put together are the text, and only the last may be short", () => {
  const text = fc
    .array(fc.constantFrom(" ", "\n", "word", "a-longer-word", "é", "🌊"))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (whole) => {
      const parts = [...pieces(whole)];
      expect(parts.join("")).toBe(whole);
      for (const part of parts.slice(0, -1)) expect(part.length).toBeGreaterThanOrEqual(16);
    }),
  );
});
