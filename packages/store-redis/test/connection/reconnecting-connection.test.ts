import { UnknownOutcomeError } from "@holdfast/core";
import { expect, test } from "vitest";
import { ReconnectingConnection } from "../../src/connection/reconnecting-connection.js";

test("a new connection is used first by the callers that wait for it", async () => {
  let resolve = (): void => undefined;
  const opened = new Promise<void>((done) => {
    resolve = done;
  });
  let isOpen = false;
  const connection = new ReconnectingConnection(
    () => ({
      opened,
      get isOpen() {
        return isOpen;
      },
      drop() {},
    }),
    60_000,
  );
  const order: string[] = [];
  for (const name of ["first", "second"]) void connection.use(async () => order.push(name));
  isOpen = true;
  resolve();
  while (connection.current === undefined) await Promise.resolve();
  expect(order).toEqual(["first", "second"]);
  connection.close();
});

test("a connection that cannot be opened is dropped, and the next attempt opens another", async () => {
  const dropped: number[] = [];
  let made = 0;
  const connection = new ReconnectingConnection(() => {
    const number = made++;
    return {
      opened: number === 0 ? Promise.reject(new Error("refused")) : Promise.resolve(),
      isOpen: number > 0,
      drop: () => dropped.push(number),
    };
  }, 60_000);
  await expect(connection.use(async () => 1)).rejects.toThrow("refused");
  expect(dropped).toEqual([0]);
  expect(await connection.use(async () => 1)).toBe(1);
  expect(connection.current).toBeDefined();
  connection.close();
  expect(dropped).toEqual([0, 1]);
  expect(connection.isClosed).toBe(true);
});

test("a write that was lost is unknown also when its deadline comes before the next attempt", async () => {
  const socket = { opened: Promise.resolve(), isOpen: true, drop() {} };
  const connection = new ReconnectingConnection(() => socket, 60_000);
  let attempts = 0;
  const run = (deadlineMs: number) =>
    connection.run({
      ...{ what: "writing", writes: true, deadlineMs },
      exchange: () => {
        attempts++;
        return Promise.reject(new Error("Connection is closed."));
      },
    });
  // Shorter than the first pause.
  for (let round = 0; round < 20; round++)
    await expect(run(2)).rejects.toSatisfy(UnknownOutcomeError.is);
  const before = attempts;
  await expect(run(200)).rejects.toSatisfy(UnknownOutcomeError.is);
  expect(attempts).toBeGreaterThan(before + 1);
  const after = attempts;
  await new Promise((resolve) => setImmediate(resolve));
  expect(attempts, "attempts after the deadline").toBe(after);
  connection.close();
});
