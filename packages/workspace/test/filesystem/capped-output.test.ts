import fc from "fast-check";
import { expect, test } from "vitest";
import { CappedOutput } from "../../src/filesystem/capped-output.js";

function capped(limit: number, chunks: readonly Uint8Array[]): CappedOutput {
  const output = new CappedOutput(limit);
  for (const chunk of chunks) output.push(chunk);
  return output;
}

test("up to the limit everything comes back, however it was cut into chunks", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "\0", "ü", "漢", "🌤"), maxLength: 60 }),
      fc.array(fc.nat({ max: 60 })),
      fc.nat({ max: 20 }),
      (text, cuts, room) => {
        const bytes = Buffer.from(text);
        const at = [
          0,
          ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b),
          bytes.length,
        ];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        const output = capped(bytes.length + room, chunks);
        expect(output.isTruncated).toBe(false);
        expect(output.text()).toBe(bytes.toString());
      },
    ),
  );
});

test("over the limit head and tail come back, with the number of bytes between them", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ min: 32, max: 126, maxLength: 40 })),
      fc.integer({ min: 0, max: 50 }),
      (chunks, limit) => {
        const all = Buffer.concat(chunks).toString("latin1");
        fc.pre(all.length > limit);
        const head = Math.ceil(limit / 2);
        const tail = limit - head;
        const output = capped(limit, chunks);
        expect(output.isTruncated).toBe(true);
        expect(output.text()).toBe(
          `${all.slice(0, head)}\n[... ${all.length - limit} bytes left out ...]\n${all.slice(all.length - tail)}`,
        );
      },
    ),
  );
});

test("no character is cut in two, and every byte is kept or counted", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "ü", "漢", "🌤"), minLength: 20, maxLength: 60 }),
      fc.integer({ min: 0, max: 19 }),
      (text, limit) => {
        const shown = capped(limit, [Buffer.from(text)]).text();
        const [, head = "", missing, tail = ""] =
          /^([^\n]*)\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n([^\n]*)$/.exec(shown) ?? [];
        expect(text.startsWith(head)).toBe(true);
        expect(text.endsWith(tail)).toBe(true);
        const kept = Buffer.byteLength(head + tail);
        expect(kept).toBeLessThanOrEqual(limit);
        expect(kept).toBeGreaterThan(limit - 7);
        expect(kept + Number(missing)).toBe(Buffer.byteLength(text));
      },
    ),
  );
});
