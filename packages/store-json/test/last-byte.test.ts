import { expect, test } from "vitest";
import { encodeLine, lineKind } from "../src/document/record-line.js";

test("a record whose last byte a power loss left as NUL was cut short, and is not damage", () => {
  const line = encodeLine('"turn":1').subarray(1);
  const whole = line.subarray(0, -1);
  expect(lineKind(whole)).toBe("whole");
  expect(lineKind(Buffer.concat([whole, Buffer.alloc(1)]))).toBe("cut");
  expect(lineKind(Buffer.concat([whole.subarray(0, -1), Buffer.alloc(1)]))).toBe("cut");
  const holed = Buffer.from(whole);
  holed[12] = 0;
  expect(lineKind(holed)).toBe("changed");
});
