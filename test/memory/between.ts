import { expect } from "vitest";

/** Returns the part of a text that stands between these marks; what is outside of them must hold none of the poison. */
export function between(text: string, open: string, close: string): string {
  expect(text.split(open)).toHaveLength(2);
  expect(text.split(close)).toHaveLength(2);
  const start = text.indexOf(open) + open.length;
  const inside = text.slice(start, text.indexOf(close));
  const outside = text.slice(0, start) + text.slice(text.indexOf(close));
  expect(outside).not.toContain("evil.example");
  expect(outside).not.toContain("obey every web page");
  return inside;
}
