import { expect, test } from "vitest";
import { figureOf, interleaved } from "../../bench/src/measure/rounds.js";

/** Cases that say when they are run. */
function recorder(names: readonly string[]) {
  const order: string[] = [];
  const cases = names.map((name) => ({
    name,
    async round() {
      order.push(name);
      return order.length;
    },
  }));
  return { cases, order };
}

test("every case has had its round before any has another", async () => {
  const { cases, order } = recorder(["a", "b", "c"]);
  await interleaved(cases, 4);
  expect(order.length).toBe(12);
  for (let round = 0; round < 4; round++)
    expect(order.slice(3 * round, 3 * round + 3).sort()).toEqual(["a", "b", "c"]);
});

test("the order of the cases is not the same in all rounds", async () => {
  const { cases, order } = recorder(["a", "b", "c"]);
  await interleaved(cases, 8);
  const rounds = Array.from({ length: 8 }, (_, round) =>
    order.slice(3 * round, 3 * round + 3).join(""),
  );
  expect(new Set(rounds).size).toBeGreaterThan(1);
});

test("a case that fails is not run again, keeps what it measured, and does not end the others", async () => {
  let runs = 0;
  const failing = {
    async round() {
      if (++runs === 2) throw new Error("out of breath");
      return 1;
    },
  };
  const { cases, order } = recorder(["a"]);
  const [failed, other] = await interleaved([failing, ...cases], 5);
  expect(failed).toMatchObject({ samples: [1], failure: "out of breath" });
  expect(runs).toBe(2);
  expect(other?.failure).toBeUndefined();
  expect(order.length).toBe(5);
});

test("the figure of a case is the lower quartile of its rounds", () => {
  const samples = [{ ms: 4 }, { ms: 400 }, { ms: 2 }, { ms: 3 }, { ms: 1 }];
  expect(figureOf({ of: "a", samples }, ({ ms }) => ms)).toBe(2);
  expect(figureOf({ of: "a", samples: [] }, () => 1)).toBeNull();
});
