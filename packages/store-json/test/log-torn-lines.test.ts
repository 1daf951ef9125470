import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { JsonlConversationLog, type StoreReport } from "@holdfast/store-json";
import { expect, test } from "vitest";
import { idsOf, logFile, loggedSlot, record, records } from "./log-records.js";
import { temporaryRoot } from "./temporary-root.js";

test("cut at any byte of the last append, a log keeps its whole lines, and the append can be repeated", async () => {
  const source = temporaryRoot();
  const log = new JsonlConversationLog({ root: source, durability: "os" });
  await log.append(loggedSlot, records("a", 2));
  const before = readFileSync(logFile(source)).length;
  // Text that looks like the end of a record, and like a line.
  const last = records("b", 2, '"}]}} zwölf \n {"v":1,"id":"c1"}');
  await log.append(loggedSlot, last);
  const bytes = readFileSync(logFile(source));
  const lineEnds = [...bytes.keys()].filter((at) => at >= before && bytes[at] === 10);
  expect(lineEnds).toHaveLength(3);
  const root = temporaryRoot();
  mkdirSync(dirname(logFile(root)), { recursive: true });
  for (let cut = before; cut <= bytes.length; cut++) {
    const reports: StoreReport[] = [];
    const onReport = (report: StoreReport) => reports.push(report);
    const torn = new JsonlConversationLog({ root, durability: "os", onReport });
    writeFileSync(logFile(root), bytes.subarray(0, cut));
    // The first line end stands before the first record, and the last one is whole also without its line end.
    const whole = lineEnds.slice(1).filter((end) => end <= cut).length;
    const expected = ["a1", "a2", ...idsOf(last).slice(0, whole)];
    const range = cut % 2 === 0 ? {} : { after: 0 };
    expect(idsOf(await torn.read(loggedSlot, range))).toEqual(expected);
    expect(reports).toEqual([]);
    await torn.append(loggedSlot, [...last, record("next")]);
    expect(idsOf(await torn.read(loggedSlot, range))).toEqual(["a1", "a2", "b1", "b2", "next"]);
    expect(readFileSync(logFile(root)).subarray(0, cut).equals(bytes.subarray(0, cut))).toBe(true);
    const isTorn = cut > before + 1 && !lineEnds.includes(cut) && !lineEnds.includes(cut - 1);
    expect(reports.map(({ kind }) => kind)).toEqual(isTorn ? ["torn_record"] : []);
  }
});

test.each([
  ["is not JSON", (line: string) => line.replace('"call"', "call")],
  ["was overwritten with zeros", (line: string) => line.replace(/./g, "\0")],
  ["is JSON but no record", () => '{"v":1,"id":"a2","text":"?"}'],
  ["is a list", () => "[1,2,3]"],
  ["claims another place", (line: string) => line.replace('{"v":1,', '{"v":1,"seq":1,')],
])(
  "a line in the middle that %s is skipped and reported without its contents",
  async (_, damage) => {
    const root = temporaryRoot();
    const reports: StoreReport[] = [];
    const log = new JsonlConversationLog({ root, onReport: (report) => reports.push(report) });
    await log.append(loggedSlot, records("a", 3, "a secret"));
    const lines = readFileSync(logFile(root), "utf8").split("\n");
    const at = lines.findIndex((line) => line.includes('"id":"a2"'));
    lines[at] = damage(lines[at] ?? "");
    writeFileSync(logFile(root), lines.join("\n"));
    expect(idsOf(await log.read(loggedSlot))).toEqual(["a1", "a3"]);
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatchObject({
      kind: "torn_record",
      message: expect.stringMatching(/^the log of session "session".* at byte \d+/),
    });
    expect(JSON.stringify(reports)).not.toContain("secret");
    // It was never stored whole, as far as anybody can tell, and so it may come again.
    const reopened = new JsonlConversationLog({ root });
    await reopened.append(loggedSlot, [record("a2")]);
    expect(idsOf(await reopened.read(loggedSlot))).toEqual(["a1", "a3", "a2"]);
  },
);

test("a message without the form of one does not stop a search", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  await log.append(loggedSlot, records("a", 3, "needle"));
  const text = readFileSync(logFile(root), "utf8");
  writeFileSync(
    logFile(root),
    text.replace('"content":[{"type":"text","text":"a2', '"contents":[{"x":"'),
  );
  const { hits } = await log.search({ ...loggedSlot, text: "needle" });
  expect(hits.map((hit) => hit.record.id)).toEqual(["a3", "a1"]);
});
