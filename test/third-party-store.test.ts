import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { scaled, tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { pnpm } from "./release/pnpm.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const example = join(root, "examples/third-party-store");

test.each([
  ["sqlite-client.ts", 60],
  ["sqlite-state-store.ts", 260],
])("%s has fewer than %d lines", async (file, lines) => {
  const text = await readFile(join(example, "src", file), "utf8");
  expect(text.trimEnd().split("\n").length).toBeLessThan(lines);
});

test("the example builds outside the workspace, from tarballs only, and passes the suites", async () => {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const project = join(directory.path, "project");
  await install(project, directory.path);
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project]);
  const env: NodeJS.ProcessEnv = { ...process.env, SQLITE_DIRECTORY: quickDirectory() };
  for (const name of Object.keys(env)) if (/^(VITEST|NODE_TEST)/.test(name)) delete env[name];
  for (const suites of scaled<string>(["in processes that fail"], [])) env["SUITES"] = suites;
  const tests = (await readdir(join(project, "test"))).filter((name) => name.endsWith(".test.mjs"));
  const paths = tests.map((name) => join("test", name));
  const { stdout } = await run(process.execPath, ["--test", "--test-reporter=tap", ...paths], {
    ...{ cwd: project, env, maxBuffer: 2 ** 26 },
  }).catch((error) => error as { stdout: string });
  expect(stdout.match(/^ *not ok.*$/gm) ?? []).toEqual([]);
  expect(stdout).toMatch(/^# pass [1-9]\d*$/m);
  expect(stdout).toMatch(/^# fail 0$/m);
});

/** Makes a project of the example whose only packages of ours are tarballs. */
async function install(project: string, tarballs: string): Promise<void> {
  await mkdir(project);
  for (const part of ["src", "test"])
    await cp(join(example, part), join(project, part), { recursive: true });
  const manifest = JSON.parse(await readFile(join(example, "package.json"), "utf8"));
  await pack(["core", "testing"], tarballs);
  for (const file of (await readdir(tarballs)).filter((name) => name.endsWith(".tgz"))) {
    const name = /^holdfast-(.+)-\d+\.\d+\.\d+/u.exec(file)?.[1];
    manifest.dependencies[`@holdfast/${name}`] = `file:${join(tarballs, file)}`;
  }
  manifest.devDependencies = { "@types/node": "^20.19.0" };
  await writeFile(join(project, "package.json"), JSON.stringify(manifest));
  const compilerOptions = {
    ...{ module: "nodenext", target: "es2023", strict: true, declaration: true },
    ...{ rootDir: "src", outDir: "dist", types: ["node"] },
  };
  const tsconfig = { compilerOptions, include: ["src"] };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify(tsconfig));
  const quietly = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  await run(npmProgram("npm"), ["install", ...quietly], { cwd: project });
}

/** Packs packages with one start of pnpm. */
async function pack(names: readonly string[], into: string): Promise<void> {
  const filters = names.flatMap((name) => ["--filter", `@holdfast/${name}`]);
  await pnpm([...filters, "pack", "--pack-destination", into], root);
}

/** The programs beside the Node that runs this, where they are there. */
function npmProgram(name: string): string {
  const beside = join(dirname(process.execPath), name);
  return existsSync(beside) ? beside : name;
}

/** Memory instead of a disk, where there is: what kill -9 leaves is the same on both. */
function quickDirectory(): string | undefined {
  return existsSync("/dev/shm") ? "/dev/shm" : undefined;
}
