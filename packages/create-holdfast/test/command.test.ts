import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { CTRL_C, PseudoTerminal } from "../../cli/test/support/pseudo-terminal.js";

const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const DOWN = "\u001b[B";

async function place(): Promise<string> {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  return directory.path;
}

/** Runs the command without a terminal. */
function unattended(args: readonly string[], cwd: string, env: Record<string, string> = {}) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    // As npm starts it, whatever runs the tests.
    const byNpm = { npm_config_user_agent: "npm/11.0.0 node/v22.0.0" };
    const options = { cwd, env: { ...process.env, ...byNpm, ...env } };
    const child = execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
    child.stdin?.end();
  });
}

test("without a terminal it asks nothing, takes the defaults and says what they are", async () => {
  const cwd = await place();
  const env = { npm_config_user_agent: "pnpm/10.0.0 npm/? node/v22.0.0" };
  const { code, stdout, stderr } = await unattended(["--no-install"], cwd, env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(
    "template script, provider offline, store json, parts: compaction, session-tools.",
  );
  expect(stdout).toContain("cd my-agent");
  expect(stdout).toContain("pnpm exec holdfast doctor");
  expect(existsSync(join(cwd, "my-agent/.git"))).toBe(true);
});

test("wrong options and full directories have exit codes and sentences of their own", async () => {
  const cwd = await place();
  writeFileSync(join(cwd, "notes.txt"), "mine");
  const [wrong, full, help] = await Promise.all([
    unattended(["x", "--store", "floppy"], cwd),
    unattended([".", "--yes"], cwd),
    unattended(["--help"], cwd),
  ]);
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(wrong.stderr).toBe('There is no store "floppy". Choose one of: json, redis, mysql.\n');
  expect(full).toMatchObject({ code: 3, stdout: "" });
  expect(full.stderr).toContain("is not empty: it has notes.txt.");
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(readdirSync(cwd)).toEqual(["notes.txt"]);
});

test("an installation that fails leaves a whole project, and says what to do", async () => {
  const cwd = await place();
  const nowhere = { PATH: join(cwd, "nowhere") };
  const { code, stdout, stderr } = await unattended(["app", "--yes"], cwd, nowhere);
  expect(code).toBe(1);
  expect(stderr).toBe(
    "The packages are not installed: there is no program npm. The project itself is complete.\n",
  );
  expect(stdout).toContain("npm install");
  expect(existsSync(join(cwd, "app/package.json"))).toBe(true);
});

test("at a terminal it asks for what is not given, and a worker for no store", async () => {
  const cwd = await place();
  await using terminal = new PseudoTerminal(["--no-git"], { cwd, program });
  await terminal.shows("Where is the project to be?");
  terminal.enter("helper");
  await terminal.shows("What do you want to begin with?");
  terminal.type(`${DOWN}${DOWN}\r`);
  await terminal.shows("Whose models?");
  terminal.type(`${DOWN}\r`);
  await terminal.shows("Which parts?");
  terminal.type(`${DOWN} \r`);
  await terminal.shows("Install the packages now?");
  terminal.type("n");
  await terminal.shows("Next:");
  expect(await terminal.exited).toBe(0);
  expect(terminal.text).toContain(
    "template worker, provider openai, store redis, parts: compaction, eviction, session-tools.",
  );
  expect(terminal.text).not.toContain("Where are sessions stored?");
  expect(readFileSync(join(cwd, "helper/src/parts.ts"), "utf8")).toContain("toolResultEviction()");
});

test("Ctrl-C at a question writes nothing, and ends with 130", async () => {
  const cwd = await place();
  await using terminal = new PseudoTerminal(["helper"], { cwd, program });
  await terminal.shows("What do you want to begin with?");
  terminal.type(CTRL_C);
  expect(await terminal.exited).toBe(130);
  expect(terminal.text).toContain("Nothing was written.");
  expect(readdirSync(cwd)).toEqual([]);
});
