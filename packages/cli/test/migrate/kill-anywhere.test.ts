import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { tempDirectory } from "@holdfast/testing";
import fc from "fast-check";
import { expect, inject, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { addTurn } from "./add-turn.js";
import { migrate, startMigrate } from "./migrate-process.js";
import { type SampleSession, sampleSession, seed } from "./sample-sessions.js";
import { contentsOf, contentsOfAll } from "./store-contents.js";

const isLong = process.env["HOLDFAST_LONG"] === "1";

type Kind = "json" | "redis" | "mysql";

function urlOf(kind: Kind, directory: string, name: string): string {
  if (kind === "json") return `json:${directory}/${name}`;
  const prefix = `k${name}${randomUUID().slice(0, 8)}_`;
  return `${inject(kind === "redis" ? "redisUrl" : "mysqlUrl")}?prefix=${prefix}&leaseMs=500`;
}

const kinds = fc.constantFrom<Kind>("json", "redis", "mysql");

test("killed at any instant, between any stores: no half session is ever seen, and the end is the same", async () => {
  await fc.assert(
    fc.asyncProperty(
      kinds,
      kinds,
      fc.uniqueArray(fc.integer({ min: 0, max: 400 }), {
        minLength: 5,
        maxLength: isLong ? 80 : 30,
      }),
      fc.array(fc.integer({ min: 250, max: 1_500 }), { minLength: 1, maxLength: isLong ? 4 : 1 }),
      killAnywhere,
    ),
    isLong ? { numRuns: 25 } : { numRuns: 2 },
  );
});

/** An older copy on its way to a newer one may have more of the log already. */
function beginsWith(there: readonly string[], once: readonly string[]): boolean {
  return once.every((text, index) => there[index] === text);
}

async function killAnywhere(
  fromKind: Kind,
  toKind: Kind,
  numbers: readonly number[],
  killsAfterMs: readonly number[],
): Promise<void> {
  await using directory = await tempDirectory();
  const from = urlOf(fromKind, directory.path, "from");
  const to = urlOf(toKind, directory.path, "to");
  const sessions = numbers.map(sampleSession);
  const [source, target] = await Promise.all([openStore(from), openStore(to)]);
  try {
    await seed(source.parts, sessions);
    /** Everything a session ever was, as texts: what is on the target must be among it. */
    const past = new Map(sessions.map((session) => [session, [] as (readonly string[])[]]));
    const remember = async (session: SampleSession): Promise<void> => {
      past.get(session)?.push(await contentsOf(source.parts, session.slot));
    };
    for (const session of sessions) await remember(session);
    for (const [round, killAfterMs] of killsAfterMs.entries()) {
      const script = startMigrate(from, to);
      // No condition to wait for: any instant is a good one.
      await sleep(killAfterMs);
      await script.kill9();
      for (const session of sessions) {
        const there = await contentsOf(target.parts, session.slot);
        const isWhole = past.get(session)?.some((once) => beginsWith(there, once));
        expect(there[0] === "no state" || isWhole).toBe(true);
      }
      const [changed] = sessions.slice(round % sessions.length);
      if (changed === undefined) throw new Error("there is no session");
      await addTurn(source.parts, changed.slot, round);
      await remember(changed);
    }
    const last = await migrate(from, to);
    expect(last).toMatchObject({ code: 0, stderr: "" });
    expect(last.summary?.verified).toMatchObject({ sessions: sessions.length });
    expect(await contentsOfAll(target.parts, sessions)).toStrictEqual(
      await contentsOfAll(source.parts, sessions),
    );
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}
