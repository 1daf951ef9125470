import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { sampleSessions, seed } from "../migrate/sample-sessions.js";
import { holdfast } from "../support/in-process.js";

/** A directory with three sessions in `store`, and a config file that opens directories by the scheme `shelf:`. */
async function project() {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const root = join(directory.path, "store");
  const store = new JsonFileAgentStateStore({ root, durability: "os" });
  await seed(store.companions(), sampleSessions(3));
  const config = join(directory.path, "holdfast.config.mjs");
  await writeFile(
    config,
    `import { JsonFileAgentStateStore } from ${JSON.stringify(import.meta.resolve("@holdfast/store-json"))};
     const open = (root) => new JsonFileAgentStateStore({ root, durability: "os" });
     export default {
       store: open(${JSON.stringify(root)}),
       stores: {
         shelf: async (url) => open(${JSON.stringify(directory.path)} + "/" + url.slice("shelf:".length)),
         broken: () => ({}),
       },
     };`,
  );
  const run = (...args: readonly string[]) => holdfast([...args, "--config", config]);
  return { path: directory.path, run };
}

test("migrate copies from the store of the config file to a URL that it registers", async () => {
  const { path, run } = await project();
  const copied = await run("migrate", "--from", "config", "--to", "shelf:copy", "--json");
  expect(copied).toMatchObject({ code: 0, stderr: expect.not.stringContaining("error") });
  expect(copied.stdout).toContain('"copied":3');
  const checked = await run(
    "migrate",
    "--from",
    "shelf:store",
    "--to",
    `json:${path}/copy`,
    "--verify-only",
  );
  expect(checked.code).toBe(0);
  const same = await run("migrate", "--from", "shelf:copy", "--to", "shelf:copy");
  expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining("the same store") });
});

test("sessions and doctor take a registered URL, and the name of the config file's store", async () => {
  const { run } = await project();
  for (const store of ["shelf:store", "config"]) {
    const listed = await run("sessions", "list", "--store", store, "--json");
    expect(listed.json<{ sessions: unknown[] }>().sessions).toHaveLength(3);
    const health = await run("doctor", "--store", store, "--json");
    expect(health.stdout).toContain("store");
  }
});

test("what the config file does not register is refused, and so is what is no store", async () => {
  const { run } = await project();
  expect(await run("sessions", "list", "--store", "drawer:x")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no store "drawer".*`stores` of holdfast\.config\.ts/),
  });
  expect(await run("sessions", "list", "--store", "broken:x")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/stores\.broken of .* cannot be used: its store must be/),
  });
});

test("a module in place of a function that opens a store is refused, with what to pass", async () => {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const config = join(directory.path, "holdfast.config.mjs");
  await writeFile(config, "export default { stores: { shelf: { open: () => undefined } } };");
  expect(
    await holdfast(["sessions", "list", "--store", "shelf:x", "--config", config]),
  ).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /stores\.shelf is an object: must be a function that gets the URL/,
    ),
  });
});
