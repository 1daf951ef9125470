import { badIds } from "@holdfast/testing";

const objects: readonly unknown[] = [
  Number.NaN,
  -1,
  10n,
  false,
  new Date(),
  new Map([["userId", "u"]]),
  new Set(["s"]),
  new String("alice"),
  Object("s"),
  () => "s",
  { id: "alice" },
  { $ne: null },
  { toString: () => "alice", length: 5 },
  ["alice", "s"],
  Buffer.from("s"),
  /s/,
  Promise.resolve("s"),
  Symbol("s"),
];

/** 200 and more things that are no ids, many of which a careless program would take for one. */
export const strangeIds: readonly unknown[] = [
  ...badIds,
  ...objects,
  ...Array.from({ length: 85 }, (_, index) => [[index], { [`k${index}`]: "s" }]).flat(),
];
