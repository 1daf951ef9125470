import { ConfigurationError } from "@holdfast/core";
import type { Claim, EnterAnswer, EnterTerms, SeenClaim } from "@holdfast/core/store-kit";
import { expect, test } from "vitest";
import type { RedisLeaseBackend } from "../../src/gate/redis-lease-backend.js";
import { Gates, slot } from "./gates.js";

const gates = new Gates();

function enter(
  backend: RedisLeaseBackend,
  token: string,
  replaces?: SeenClaim,
  mode: EnterTerms["mode"] = "queue",
): Promise<EnterAnswer> {
  const terms: EnterTerms = {
    ...{ mode, maxQueue: 10, known: undefined, put: undefined, deadlineMs: 5_000 },
    replaces,
  };
  return backend.enter(claimOf(token), terms);
}

const claimOf = (token: string): Claim => ({ slot, token, callId: `call-${token}` });

const callsOf = async (backend: RedisLeaseBackend) =>
  (await backend.calls(slot)).map(({ callId }) => callId);

/** The claim before one that has to wait, or may not. */
function before(answer: EnterAnswer): SeenClaim {
  if (answer.kind === "granted" || answer.before === undefined) throw new Error(answer.kind);
  return answer.before;
}

test("a holder gives way to the first that waits, unless it was heard of since it was seen", async () => {
  const { backend } = gates.open();
  expect(await enter(backend, "a")).toMatchObject({ kind: "granted" });
  const seen = before(await enter(backend, "b"));
  expect(seen.token).toBe("a");
  expect(await backend.renew(claimOf("a"), 5_000)).toBe(true);
  const renewed = before(await enter(backend, "b", seen));
  expect(renewed.token).toBe("a");
  expect(renewed.version).not.toBe(seen.version);
  expect(await enter(backend, "b", renewed)).toMatchObject({ kind: "granted" });
  expect(await callsOf(backend)).toEqual(["call-b"]);
  expect(await backend.renew(claimOf("a"), 5_000)).toBe(false);
  await backend.leave(claimOf("b"), []);
  expect(await backend.renew(claimOf("a"), 5_000), "the slot is free, but was another's").toBe(
    false,
  );
  expect(await callsOf(backend)).toEqual([]);
});

test("a call that waits gives way to the one behind it, which waits on", async () => {
  const { backend } = gates.open();
  for (const token of ["a", "b"]) await enter(backend, token);
  const seen = before(await enter(backend, "c"));
  expect(seen.token).toBe("b");
  const answer = await enter(backend, "c", seen);
  expect(answer).toMatchObject({ kind: "wait", ahead: 1, before: { token: "a" } });
  expect(await callsOf(backend)).toEqual(["call-a", "call-c"]);
  await backend.leave(claimOf("a"), []);
  expect(await enter(backend, "c")).toMatchObject({ kind: "granted" });
  await backend.leave(claimOf("c"), []);
  expect(await gates.keys()).toEqual([]);
});

test("a holder gives way to a call that may not wait, unless it was heard of since it was seen", async () => {
  const { backend } = gates.open();
  await enter(backend, "a");
  const seen = before(await enter(backend, "b", undefined, "refuse"));
  expect(await backend.calls(slot)).toEqual([{ callId: "call-a", claim: seen }]);
  expect(await backend.renew(claimOf("a"), 5_000)).toBe(true);
  const renewed = before(await enter(backend, "b", seen, "refuse"));
  expect(renewed).toMatchObject({ token: "a" });
  expect(await enter(backend, "b", renewed, "refuse")).toMatchObject({ kind: "granted" });
  expect(await callsOf(backend)).toEqual(["call-b"]);
  expect(await backend.renew(claimOf("a"), 5_000)).toBe(false);
  await backend.leave(claimOf("b"), []);
  expect(await backend.renew(claimOf("a"), 5_000), "the slot is free, but was another's").toBe(
    false,
  );
});

test("one that may not wait comes behind those that wait, and replaces them first", async () => {
  const { backend } = gates.open();
  await enter(backend, "a");
  const holder = before(await enter(backend, "b"));
  expect(await enter(backend, "c", holder, "refuse")).toMatchObject({ kind: "busy", waiting: 1 });
  const waiter = before(await enter(backend, "c", undefined, "refuse"));
  expect(waiter.token).toBe("b");
  const answer = await enter(backend, "c", waiter, "refuse");
  expect(answer).toMatchObject({ kind: "busy", waiting: 0, before: holder });
  expect(await enter(backend, "c", holder, "refuse")).toMatchObject({ kind: "granted" });
});

test("nodeTimeoutMs must be less than leaseMs, and is none where leases are that short", () => {
  expect(gates.open().backend.nodes?.timeoutMs).toBe(4_000);
  expect(gates.open({ leaseMs: 4_000 }).backend.nodes).toBeUndefined();
  expect(gates.open({ leaseMs: 3_000, nodeTimeoutMs: 1_000 }).backend.nodes?.timeoutMs).toBe(1_000);
  expect(() => gates.open({ leaseMs: 3_000, nodeTimeoutMs: 3_000 })).toThrow(ConfigurationError);
});
