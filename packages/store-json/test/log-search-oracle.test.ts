import { appendFileSync, rmSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  assistantMessage,
  InMemoryConversationLog,
  type Message,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import type { LogDraft, LogFinds, LogHit, LogPosition, LogQuery } from "@holdfast/core/store-kit";
import { JsonlConversationLog } from "@holdfast/store-json";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type SearchOptions, searchSessions } from "../src/log/search-sessions.js";
import { logFile, loggedSlot, record } from "./log-records.js";
import { temporaryRoot } from "./temporary-root.js";

const { agentId, userId } = loggedSlot;
const ignore = (): void => undefined;

const piece = fc.constantFrom(
  ...'aAbnkKsSſKéÉßẞσςΣιвВТⱥȺ "\\/\n\t\u0001\u001f.*[]{}:,019f中',
  "🙂",
  "\ud800",
  "\udc00",
  "\\n",
  "\\u0041",
  '"blobs":[{',
);
const text = fc.array(piece, { minLength: 1, maxLength: 40 }).map((pieces) => pieces.join(""));
/** Stands for a text that is too long for a line; so a counterexample is not. */
const LONG = "⟦long⟧";
const longText = text.map((each) => `${LONG}${each}${LONG}`);
const anyText = fc.oneof({ weight: 12, arbitrary: text }, { weight: 1, arbitrary: longText });

const message: fc.Arbitrary<Message> = fc.oneof(
  anyText.map((each) => userMessage(each)),
  fc.tuple(anyText, anyText, text).map(([said, one, other]) =>
    assistantMessage([
      { type: "text", text: said },
      {
        type: "tool_call",
        id: "c",
        name: "write",
        input: { [other]: one, list: [other, 1.5, null] },
      },
    ]),
  ),
  anyText.map((each) =>
    toolResultMessage({
      type: "tool_result",
      toolCallId: "c",
      name: "write",
      state: "success",
      output: [{ type: "text", text: each }],
    }),
  ),
);

const logs = fc.array(fc.array(message, { minLength: 1, maxLength: 12 }), {
  minLength: 1,
  maxLength: 4,
});

/** A part of something that was said, or anything. */
const queries = fc.array(
  fc.record({
    message: fc.nat(),
    start: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 1, max: 8 }),
    form: fc.constantFrom("as it is", "as JSON", "in capitals", "anything"),
    anything: fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join("")),
    limit: fc.constantFrom(1, 2, 7, 1_000),
  }),
  { minLength: 1, maxLength: 6 },
);

test("it finds what the reference finds, page by page, wherever reads end", async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      logs,
      queries,
      fc.integer({ min: 1, max: 3_000 }),
      fc.constantFrom(0, 60_000),
      async (shortened, asked, firstBytes, maxMs) => {
        const sessions = shortened.map((messages) => messages.map(atFullLength));
        const { root, reference } = await written(sessions);
        const all = sessions.flat();
        for (const { message: index, start, length, form, anything, limit } of asked) {
          const source = JSON.stringify({ ...record("id"), message: all[index % all.length] });
          const said = form === "as JSON" ? source : textIn(all[index % all.length] as Message);
          const from = Math.floor(start * said.length);
          const part = form === "anything" ? anything : said.slice(from, from + length);
          const wanted = (form === "in capitals" ? part.toUpperCase() : part) || "a";
          const query = { agentId, userId, text: wanted };
          const expected = await reference.search({ ...query, limit: 10_000 });
          const options = { report: ignore, firstBytes, maxMs };
          const hits = await everything(root, { ...query, limit }, options);
          expect(shown(hits), JSON.stringify(wanted)).toEqual(shown(expected.hits));
          found += hits.length;
        }
        // There are many of them.
        rmSync(root, { recursive: true });
      },
    ),
    { numRuns: scaled(30, 1_000) },
  );
  expect(found).toBeGreaterThan(50);
});

function atFullLength(message: Message): Message {
  return JSON.parse(JSON.stringify(message).replaceAll(LONG, "zz\\n".repeat(12_000)));
}

/** The same records in files and in the reference; the later the session, the later it was written to. */
async function written(
  sessions: readonly (readonly Message[])[],
): Promise<{ readonly root: string; readonly reference: InMemoryConversationLog }> {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root, durability: "os" });
  const reference = new InMemoryConversationLog();
  for (const [session, messages] of sessions.entries()) {
    const slot = { ...loggedSlot, sessionId: `session-${session}` };
    const drafts = messages.map(
      (each, index): LogDraft => ({ ...record(`${session}.${index}`), message: each }),
    );
    await log.append(slot, drafts);
    await reference.append(slot, drafts);
    const file = join(dirname(logFile(root)), `${slot.sessionId}.log.jsonl`);
    // As a crash leaves it: what is cut short does not count, whatever it holds.
    const torn = JSON.stringify(drafts.at(-1)).slice(0, -1);
    appendFileSync(file, session % 2 === 0 ? `\n${torn}\n` : torn);
    utimesSync(file, 1_000 + session, 1_000 + session);
  }
  return { root, reference };
}

async function everything(
  root: string,
  query: LogQuery & { readonly limit: number },
  options: SearchOptions,
): Promise<LogHit[]> {
  const hits: LogHit[] = [];
  let before: LogPosition | undefined;
  do {
    const finds: LogFinds = await searchSessions(root, { ...query, before }, options);
    expect(finds.hits.length).toBeLessThanOrEqual(query.limit);
    hits.push(...finds.hits);
    // It gets on: a page is another record, another part of a file, or another session.
    expect(finds.next === undefined || JSON.stringify(finds.next) !== JSON.stringify(before)).toBe(
      true,
    );
    before = finds.next;
  } while (before !== undefined);
  return hits;
}

function shown(hits: readonly LogHit[]): unknown[] {
  return hits.map(({ slot, record: { id }, snippet }) => [slot.sessionId, id, snippet]);
}

function textIn({ content }: Message): string {
  return content.map((block) => ("text" in block ? block.text : JSON.stringify(block))).join("");
}
