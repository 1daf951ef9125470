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
async function check(imports: string, event: string): Promise<string> {
  const program = `
    import type { AgentEvent } from "@holdfast/core";
    ${imports}
    export const read = (event: AgentEvent) => (event.type === "${event}" ? event.callId : "");
  `;
  await writeFile(join(directory, "main.ts"), program);
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const options = ["--strict", "--noEmit", "--skipLibCheck", "--module", "nodenext"];
  const { stdout } = await run(process.execPath, [tsc, ...options, "main.ts"], {
    cwd: directory,
  }).catch((error: { stdout: string }) => error);
  return stdout;
}

test.each([
  ["compaction", "compaction_end"],
  ["eviction", "tool_result_evicted"],
  ["memory-flush", "consolidation"],
  ["planning", "plan_exited"],
  ["mcp", "mcp_away"],
  ["permissions", "budget_exceeded"],
])(
  "a program that imports %s knows the event %s, and one that does not has no such type",
  async (name, event) => {
    expect(await check(`import "@holdfast/${name}";`, event)).toBe("");
    expect(await check("", event)).toContain("have no overlap");
  },
);
