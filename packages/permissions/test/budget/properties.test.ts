import { InMemoryAgentStateStore, InMemoryKeyValueStore, type KeyValueStore } from "@holdfast/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SpendCounter } from "../../src/budget/spend-counter.js";
import { agentWith } from "./budgeted-agent.js";

/** Store whose answers come in the order that the scheduler chooses. */
function scheduled(store: KeyValueStore, scheduler: fc.Scheduler): KeyValueStore {
  return Object.assign(Object.create(store) as KeyValueStore, {
    get: scheduler.scheduleFunction(store.get.bind(store)),
    put: scheduler.scheduleFunction(store.put.bind(store)),
  });
}

describe("counts in the key-value store", () => {
  test("equal the sum of all that was added, by several nodes in any order", async () => {
    const additions = fc.array(fc.record({ node: fc.nat(2), tokens: fc.nat(1_000) }), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), additions, async (scheduler, added) => {
        const store = new InMemoryKeyValueStore();
        const nodes = [0, 1, 2].map(() => new SpendCounter(scheduled(store, scheduler)));
        const at = { namespace: ["budget"], key: "alice" };
        const work = added.map(({ node, tokens }) => nodes[node]?.add(at, { tokens, money: 0 }));
        const counted = await scheduler.waitFor(Promise.all(work));
        const total = added.reduce((sum, { tokens }) => sum + tokens, 0);
        expect(await new SpendCounter(store).read(at)).toEqual({ tokens: total, money: 0 });
        // Each addition starts where another one ended: one sequence, in which one alone crosses a threshold.
        const ends = counted.map((one) => one?.after.tokens ?? 0);
        const starts = counted.map((one) => one?.before.tokens ?? 0);
        expect([...starts, total].sort(ascending)).toEqual([0, ...ends].sort(ascending));
      }),
      { numRuns: 60 },
    );
  });
});

const ascending = (one: number, other: number) => one - other;

describe("any calls of two agents on one store", () => {
  const call = fc.record({
    agent: fc.nat(1),
    user: fc.constantFrom("alice", "bob"),
    session: fc.constantFrom("one", "two", "three"),
    tokens: fc.integer({ min: 1, max: 100 }),
  });

  test("count what was reported, and spend no more than a request each past a limit", async () => {
    const rounds = fc.array(fc.array(call, { minLength: 1, maxLength: 5 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        rounds,
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 300 }),
        async (batches, perUser, perSession) => {
          const stateStore = new InMemoryAgentStateStore();
          const limits = { perUser: { tokens: perUser }, perSession: { tokens: perSession } };
          const agents = [0, 1].map(() => agentWith(limits, [], { stateStore }));
          const users = new Map<string, number>();
          const sessions = new Map<string, number>();
          for (const batch of batches) {
            const spentBefore = new Map(users);
            const sessionsBefore = new Map(sessions);
            const replies = await Promise.all(
              batch.map(({ agent, user, session, tokens }) =>
                agents[agent]?.say(`cost ${tokens}`, { userId: user, sessionId: session }),
              ),
            );
            for (const [index, { user, session, tokens }] of batch.entries()) {
              const reply = replies[index];
              const { inputTokens = 0, outputTokens = 0 } = reply?.usage ?? {};
              const used = inputTokens + outputTokens;
              expect([0, tokens]).toContain(used);
              expect(reply?.reason).toBe(used === 0 ? "middleware_stop" : "stop");
              if ((spentBefore.get(user) ?? 0) >= perUser) expect(used).toBe(0);
              const slot = `${user}/${session}`;
              if ((sessionsBefore.get(slot) ?? 0) >= perSession) expect(used).toBe(0);
              users.set(user, (users.get(user) ?? 0) + used);
              sessions.set(slot, (sessions.get(slot) ?? 0) + used);
            }
          }
          // Calls of one session run one after the other, so that only one can pass its limit.
          for (const used of sessions.values()) expect(used).toBeLessThan(perSession + 100);
          // A batch has at most three sessions of a user at once.
          for (const used of users.values()) expect(used).toBeLessThan(perUser + 3 * 100);
          const keyValue = stateStore.companions().keyValue;
          for (const [user, tokens] of users) {
            const stored = await keyValue.get(["budget", "guide", "users"], user);
            expect(stored?.value ?? { tokens: 0 }).toMatchObject({ tokens });
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
