import { InMemoryAgentStateStore } from "@holdfast/core";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { newPlace, sharedStores } from "../fleet/every-store.js";
import { commands, wholePlan } from "./commands.js";
import { type OpenStore, PlannedSession } from "./planned-session.js";

/** Plays random sequences, each in a place of its own and each followed by a whole plan. */
async function playAll(
  numRuns: number,
  place: () => Promise<{ open: OpenStore } & AsyncDisposable>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(commands, fc.boolean(), async (sequence, hasFiles) => {
      await using made = await place();
      const session = new PlannedSession(made.open, hasFiles);
      try {
        for (const command of sequence) await session.play(command);
        const { writes, approvals } = session;
        for (const command of wholePlan) await session.play(command);
        expect(session.writes).toBe(writes + 1);
        expect(session.approvals).toBe(approvals + 1);
      } finally {
        await session.close();
      }
    }),
    { numRuns },
  );
}

test("whatever happens in memory, no write runs in plan mode and no reminder is stored", () =>
  playAll(scaled(25, 500), async () => {
    const parts = new InMemoryAgentStateStore().companions();
    return { open: () => parts, [Symbol.asyncDispose]: async () => undefined };
  }));

test.each(scaled(["redis"], sharedStores))(
  "whatever happens on %s, the same holds on every node",
  (kind) =>
    playAll(kind === "files" ? 125 : scaled(4, 60), async () => {
      const place = await newPlace(kind, 10_000);
      return {
        open: () => place.open(),
        [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
      };
    }),
);
