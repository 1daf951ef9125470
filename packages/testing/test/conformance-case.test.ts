import { expect, test } from "vitest";
import { caseFactory } from "../src/conformance/conformance-case.js";
import { nastyIds } from "../src/index.js";

interface Thing {
  readonly name: string;
}

function recording(failOn?: string) {
  const events: string[] = [];
  let made = 0;
  const check = caseFactory<Thing>(
    {
      create: () => ({ name: `made ${++made}` }),
      reopen: (thing) => ({ name: `reopened ${thing.name}` }),
      async cleanup({ name }) {
        events.push(`cleaned ${name}`);
        if (name === failOn) throw new Error(`cannot clean ${name}`);
      },
    },
    async ({ name }) => void events.push(`closed ${name}`),
  );
  return { check, events };
}

test("a case gets a fresh subject, and every instance is cleaned up, newest first", async () => {
  const { check, events } = recording();
  const body = check("title", async (thing, reopen) => {
    events.push(`used ${thing.name}`, `used ${(await reopen()).name}`);
  });
  await body.run();
  await body.run();
  expect(events).toEqual(
    [1, 2].flatMap((run) => [
      `used made ${run}`,
      `used reopened made ${run}`,
      `closed reopened made ${run}`,
      `cleaned reopened made ${run}`,
      `closed made ${run}`,
      `cleaned made ${run}`,
    ]),
  );
});

test("a case that fails is cleaned up all the same and fails with its own error", async () => {
  const { check, events } = recording();
  const failure = new Error("broken");
  const body = check("title", async () => {
    throw failure;
  });
  await expect(body.run()).rejects.toBe(failure);
  expect(events).toEqual(["closed made 1", "cleaned made 1"]);
});

test("a cleanup that fails fails the case, beside the case's own error", async () => {
  const passing = recording("made 1").check("title", async () => {});
  await expect(passing.run()).rejects.toThrow("cannot clean made 1");
  const failing = recording("made 1").check("title", async () => {
    throw new Error("broken");
  });
  await expect(failing.run()).rejects.toMatchObject({
    errors: [{ message: "broken" }, { message: "cannot clean made 1" }],
  });
});

test("the awkward ids are all different, and all allowed", () => {
  expect(new Set(nastyIds).size).toBe(nastyIds.length);
  for (const id of nastyIds) expect(id.length).toBeGreaterThan(0);
  expect(Math.max(...nastyIds.map((id) => id.length))).toBe(255);
});
