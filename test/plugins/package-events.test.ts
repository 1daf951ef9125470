import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "holdfast-package-events-"));
  await mkdir(join(directory, "node_modules/@types"), { recursive: true });
  await symlink(join(root, "packages"), join(directory, "node_modules/@holdfast"));
  await symlink(
    join(root, "node_modules/@types/node"),
    join(directory, "node_modules/@types/node"),
  );
  await writeFile(join(directory, "package.json"), '{ "type": "module" }');
});

afterAll(() => rm(directory, { recursive: true, force: true }));

/** What the compiler says about a program that reads an event after these imports. */
async function check(imports: string, ...events: readonly string[]): Promise<string> {
  const program = `
    import type { AgentEvent } from "@holdfast/core";
    ${imports}
    export const readers = [
      ${events.map((event) => `(event: AgentEvent) => event.type === "${event}" ? event.callId : "",`).join("\n")}
    ];
  `;
  await writeFile(join(directory, "main.ts"), program);
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const options = ["--strict", "--noEmit", "--skipLibCheck", "--module", "nodenext"];
  const { stdout } = await run(process.execPath, [tsc, ...options, "main.ts"], {
    cwd: directory,
  }).catch((error: { stdout: string }) => error);
  return stdout;
}

const known = [
  ["compaction", "compaction_end"],
  ["eviction", "tool_result_evicted"],
  ["memory-flush", "consolidation"],
  ["planning", "plan_exited"],
  ["mcp", "mcp_away"],
  ["permissions", "budget_exceeded"],
] as const;

test.each(known)("a program that imports %s knows the event %s", async (name, event) => {
  expect(await check(`import "@holdfast/${name}";`, event)).toBe("");
});

test("a program that imports none of them has no such types", async () => {
  const events = known.map(([, event]) => event);
  const said = (await check("", ...events)).split("\n").filter((line) => line.includes(" TS2367:"));
  expect(said).toEqual(
    events.map((event) => expect.stringMatching(new RegExp(`'"${event}"' have no overlap`, "u"))),
  );
});
