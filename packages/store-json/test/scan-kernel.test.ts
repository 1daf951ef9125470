import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import wabt from "wabt";
import { createKernel, MAX_GAP, plainKernel, WINDOW_BYTES } from "../src/scan/kernel.js";
import { KERNEL_BYTES } from "../src/scan/kernel-bytes.js";

test("the bytes of the kernel are what its source compiles to", async () => {
  const source = readFileSync(new URL("../src/scan/kernel.wat", import.meta.url), "utf8");
  const module = (await wabt()).parseWat("kernel.wat", source, { simd: true });
  expect(Buffer.from(module.toBinary({}).buffer).toString("base64")).toBe(KERNEL_BYTES);
});

test("the kernel finds what a loop in JavaScript finds, up to the end of its window", () => {
  const [fast, plain] = [createKernel(), plainKernel()];
  const byte = fc.integer({ min: 0, max: 3 });
  fc.assert(
    fc.property(
      fc.uint8Array({ max: 3, maxLength: 300 }),
      fc.tuple(byte, byte, byte, byte),
      fc.integer({ min: 0, max: MAX_GAP }),
      fc.integer({ min: 0, max: 400 }),
      fc.boolean(),
      (bytes, [a0, a1, b0, b1], gap, room, isLast) => {
        const at = isLast ? WINDOW_BYTES - bytes.length : room;
        const end = at + bytes.length;
        for (const { memory } of [fast, plain]) memory.fill(9).set(bytes, at);
        const all = ({ find }: typeof fast) => {
          const found: number[] = [];
          for (let next = at; next < end; next = (found.at(-1) as number) + 1) {
            const place = find(next, end, a0, a1, b0, b1, gap);
            if (place < 0 || place >= end) break;
            found.push(place);
          }
          return found;
        };
        expect(all(fast)).toEqual(all(plain));
      },
    ),
  );
});
