import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { type Outcome, Schedule } from "../src/schedule/schedule.js";

/** A schedule whose work ends when the test says so. */
class Bench {
  time = 0;
  readonly log: string[] = [];
  readonly running: Map<string, (outcome?: Partial<Outcome>) => void> = new Map();
  readonly schedule: Schedule<string>;

  constructor(maxRunning: number) {
    this.schedule = new Schedule({
      now: () => this.time,
      maxRunning,
      run: (name, { forced, signal }) =>
        new Promise((resolve) => {
          this.log.push(forced ? `${name}!` : name);
          const end = (outcome: Partial<Outcome> = {}): void => {
            this.running.delete(name);
            resolve({ notBefore: 0, again: false, ...outcome });
          };
          this.running.set(name, end);
          signal.addEventListener("abort", () => end());
        }),
    });
  }

  async end(name: string, outcome?: Partial<Outcome>): Promise<void> {
    this.running.get(name)?.(outcome);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const bench = (maxRunning = 10): Bench => new Bench(maxRunning);

describe("work in the background", () => {
  test("runs at once, one piece per key, and once more when it was asked for meanwhile", async () => {
    const one = bench();
    const { schedule, log } = one;
    for (let n = 0; n < 5; n++) schedule.ask("a", "a");
    schedule.ask("b", "b");
    expect(log).toEqual(["a", "b"]);
    await one.end("a");
    expect(log).toEqual(["a", "b", "a"]);
    await one.end("a");
    expect(log).toEqual(["a", "b", "a"]);
  });

  test("runs no more pieces at a time than it may; the others follow in order", async () => {
    const one = bench(2);
    const { schedule, log, running } = one;
    for (const name of ["a", "b", "c", "d"]) schedule.ask(name, name);
    expect([...running.keys()]).toEqual(["a", "b"]);
    await one.end("a");
    await one.end("b");
    expect(log).toEqual(["a", "b", "c", "d"]);
  });

  test("waits for its time unless it is forced", async () => {
    const one = bench();
    one.schedule.ask("a", "a");
    await one.end("a", { notBefore: 1_000_000 });
    one.schedule.ask("a", "a");
    expect(one.log).toEqual(["a"]);
    one.schedule.ask("a", "a", true);
    expect(one.log).toEqual(["a", "a!"]);
    await one.end("a", { notBefore: 1_000_000 });
    one.time = 1_000_000;
    one.schedule.ask("a", "a");
    expect(one.log).toEqual(["a", "a!", "a"]);
  });

  test("comes by itself when its time has come, if there is more to do", async () => {
    const one = bench();
    one.schedule.ask("a", "a");
    await one.end("a", { notBefore: 20, again: true });
    expect(one.log).toEqual(["a"]);
    await eventually(() => one.log.length === 2);
  });

  test("is stopped and forgotten when it is cancelled", async () => {
    const one = bench(1);
    for (const name of ["a", "b", "c"]) one.schedule.ask(name, name);
    await one.schedule.cancel((name) => name !== "c");
    expect(one.log).toEqual(["a", "c"]);
    await one.end("c");
    await one.schedule.close(1_000, false);
  });

  test("that is under way or next is waited for at the end, and stopped when that takes too long", async () => {
    const one = bench(1);
    for (const name of ["a", "b"]) one.schedule.ask(name, name);
    const closed = one.schedule.close(60_000, false);
    one.schedule.ask("c", "c");
    await one.end("a");
    expect(one.log).toEqual(["a", "b"]);
    await one.end("b");
    await closed;
    expect(one.log).toEqual(["a", "b"]);
    const other = bench();
    other.schedule.ask("a", "a");
    await other.schedule.close(10, false);
    expect(other.running.size).toBe(0);
  });

  test("that is asked for again and again lets the others have their turn", async () => {
    const one = bench(1);
    one.schedule.ask("a", "a");
    one.schedule.ask("b", "b");
    one.schedule.ask("a", "a");
    await one.end("a");
    expect(one.log).toEqual(["a", "b"]);
    await one.end("b");
    expect(one.log).toEqual(["a", "b", "a"]);
  });

  test("that was asked for while a forced piece ran is finished at the end", async () => {
    const one = bench();
    one.schedule.ask("a", "a", true);
    one.schedule.ask("a", "a");
    const closed = one.schedule.close(60_000, true);
    await one.end("a", { notBefore: 1_000_000 });
    expect(one.log).toEqual(["a!", "a!"]);
    await one.end("a", { notBefore: 1_000_000, again: true });
    await closed;
    expect(one.log).toEqual(["a!", "a!"]);
  });

  test("does not wait for a time that a clock which was ahead has named", async () => {
    const one = bench();
    one.time = 10 * 365 * 86_400_000;
    one.schedule.ask("a", "a");
    await one.end("a", { notBefore: one.time + 600_000 });
    one.time = 0;
    one.schedule.ask("a", "a");
    expect(one.log).toEqual(["a", "a"]);
    await one.end("a", { notBefore: 600_000 });
    one.schedule.ask("a", "a");
    expect(one.log).toEqual(["a", "a"]);
  });

  test("that is asked for while what was cancelled comes to its end begins anew", async () => {
    const one = bench();
    one.schedule.ask("a", "a");
    const cancelled = one.schedule.cancel(() => true);
    one.schedule.ask("a", "a");
    await cancelled;
    await eventually(() => one.log.length === 2);
    await one.end("a");
    await one.schedule.close(1_000, false);
    expect(one.log).toEqual(["a", "a"]);
  });

  test("is bounded also when nothing of it waits for its time", async () => {
    const one = bench(1);
    for (let n = 0; n < 25_000; n++) one.schedule.ask(`${n}`, `${n}`);
    expect(one.schedule.size).toBe(10_000);
    await one.schedule.cancel(() => true);
    expect(one.schedule.size).toBe(0);
    expect(one.log).toEqual(["0"]);
  });
});
