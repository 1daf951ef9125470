import { access, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JsonObject } from "@holdfast/core";
import { planning } from "@holdfast/planning";
import { expect, test } from "vitest";
import { holdfast } from "../support/in-process.js";
import { freshStore } from "../support/stores.js";
import { talk } from "../support/talk.js";

const use = (name: string, input: JsonObject = {}) => ({ toolCalls: [{ name, input }] });

test("sessions delete deletes the plan file, also without a config file", async () => {
  await using store = await freshStore("json");
  await talk(store, {
    ...{ user: "ada", session: "one", says: ["Plan."], plugins: [planning()] },
    replies: [use("plan_enter"), use("plan_write", { content: "# Secret" }), "Planned."],
  });
  const plan = join(store.workspace, "users/ada/plans/one.md");
  expect(await readFile(plan, "utf8")).toContain("# Secret");
  const flags = ["--yes", "--store", store.url, "--workspace", store.workspace];
  expect((await holdfast(["sessions", "delete", "one", ...flags])).code).toBe(0);
  await expect(access(plan)).rejects.toMatchObject({ code: "ENOENT" });
});

test("sessions delete lets configured plugins delete, and starts no others and no MCP servers", async () => {
  await using store = await freshStore("json");
  await talk(store, { user: "ada", session: "one", says: ["Hello."] });
  const directory = dirname(store.workspace);
  const journal = join(directory, "journal");
  const config = join(directory, "holdfast.config.mjs");
  const noting = (name: string, ...hooks: readonly string[]) =>
    `{ name: "${name}", contract: 1, setup(host) {
      host.tool({ name: "todo_write", description: "Taken.", inputSchema: { type: "object" }, execute: () => "" });
      ${hooks.map((hook) => `host.${hook}(async () => note("${name} ${hook}"));`).join("\n")}
    } }`;
  const plugins = [
    noting("keeper", "onStart", "onDelete"),
    noting("connector", "onStart"),
    noting("mcp", "onStart", "onDelete"),
  ];
  await writeFile(
    config,
    `import { appendFileSync } from "node:fs";
    const note = (line) => appendFileSync(${JSON.stringify(journal)}, line + "\\n");
    export default { plugins: [${plugins.join()}] };`,
  );
  const flags = ["--yes", "--store", store.url, "--config", config, "--workspace", store.workspace];
  const { code, stderr } = await holdfast(["sessions", "delete", "one", ...flags]);
  expect([code, stderr]).toEqual([0, ""]);
  const noted = (await readFile(journal, "utf8")).trimEnd().split("\n");
  expect(noted.toSorted()).toEqual(["keeper onDelete", "keeper onStart", "mcp onDelete"]);
});
