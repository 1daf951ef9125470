import { execFile } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { scaled } from "@holdfast/testing";
import { expect, test } from "vitest";
import { entryPoints } from "../entry-points.js";
import { bundle, emptyDirectory, portableAnswer, portableProgram } from "./bundle.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const specifiers = entryPoints(root).map(({ specifier }) => specifier);

/** What a program may not be told: that vitest runs it. */
const { VITEST: _, ...env } = process.env;

test("every entry point loads by require()", async () => {
  const script = `for (const name of ${JSON.stringify(specifiers)}) {
    const names = Object.keys(require(name)).length;
    if (names === 0) console.log(name + " is empty");
  }`;
  const options = { cwd: fileURLToPath(new URL("..", import.meta.url)), env };
  const { stdout } = await run(process.execPath, ["--eval", script], options);
  expect(stdout).toBe("");
});

test("every entry point loads in a CommonJS bundle of esbuild, and an agent with a token counter runs in one", async () => {
  const directory = await emptyDirectory();
  // The programs of the command line and of the test kit load their packages at run time.
  const external = ["vitest", "@ai-sdk/*", "jiti"];
  const everything = specifiers.map(
    (name) => `export * as x${name.replaceAll(/\W/gu, "_")} from "${name}";`,
  );
  const bundles = {
    "all.cjs": await bundle(everything.join("\n"), { format: "cjs", external }),
    "agent.cjs": await bundle(portableProgram, { format: "cjs" }),
    "tiktoken.cjs": await bundle(tiktokenProgram, { format: "cjs", external: ["tiktoken"] }),
  };
  for (const [name, contents] of Object.entries(bundles))
    await writeFile(join(directory, name), contents);
  const tiktoken = join(root, "packages/compaction/node_modules/tiktoken");
  const script = `
    console.log(Object.keys(require("./all.cjs")).length);
    require("./agent.cjs").main().then(console.log);
    console.log(require("./tiktoken.cjs").count(require(${JSON.stringify(tiktoken)})));
  `;
  await writeFile(join(directory, "main.cjs"), script);
  const { stdout } = await run(process.execPath, ["main.cjs"], { cwd: directory, env });
  const [entries, tokens, answer] = stdout.trim().split("\n");
  expect(Number(entries)).toBe(specifiers.length);
  expect(tokens).toBe('8 option "encoder"');
  expect(JSON.parse(answer ?? "")).toEqual(portableAnswer);
});

/** Counts with the encoder that it is given, and says what an error says when there is none. */
const tiktokenProgram = `
import { tiktokenCounter } from "@holdfast/compaction";
export function count({ get_encoding }) {
  const counter = tiktokenCounter({ encoder: get_encoding("o200k_base") });
  try {
    tiktokenCounter();
  } catch (error) {
    return counter.countText("お誕生日おめでとう") + " " + /option "encoder"/.exec(error.message);
  }
}
`;

test("the types of core need neither those of Node.js nor skipLibCheck", async () => {
  const directory = await emptyDirectory();
  const core = specifiers.filter((name) => name.startsWith("@holdfast/core"));
  const source = [
    ...core.map((name, index) => `import * as entry${index} from "${name}";`),
    `export const entries = [${core.map((_, index) => `entry${index}`).join(", ")}];`,
    "// @ts-expect-error: there are no types of Node.js",
    "process.exit();",
  ];
  await writeFile(join(directory, "main.ts"), source.join("\n"));
  await symlink(join(root, "test/node_modules"), join(directory, "node_modules"));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const options = [
    "--noEmit",
    "--strict",
    "--target",
    "es2022",
    "--types",
    "",
    "--module",
    "nodenext",
  ];
  const checked = run(process.execPath, [tsc, ...options, "main.ts"], { cwd: directory });
  expect((await checked.catch((error: { stdout: string }) => error)).stdout).toBe("");
});

// Workerd is a program of 150 MB, which only the long run installs.
test.each(scaled([], ["workerd"]))(
  "the portable packages load in %s, and an agent runs there",
  async (program) => {
    const directory = await emptyDirectory();
    const install = [
      "install",
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      `${program}@1.20261110.1`,
    ];
    await run("npm", install, { cwd: directory, shell: process.platform === "win32" });
    const source = `${portableProgram}
    export default { async test() { console.log("answer " + await main()); } };`;
    const conditions = ["workerd", "worker", "browser"];
    await writeFile(
      join(directory, "worker.mjs"),
      await bundle(source, { format: "esm", conditions }),
    );
    await writeFile(join(directory, "config.capnp"), workerdConfig);
    const workerd = join(directory, "node_modules/.bin", program);
    const { stdout, stderr } = await run(workerd, ["test", "config.capnp"], {
      cwd: directory,
      env,
    });
    const answer = /answer (.*)/.exec(stdout + stderr)?.[1];
    expect(JSON.parse(answer ?? stderr)).toEqual(portableAnswer);
  },
);

const workerdConfig = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .main)]);
const main :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.mjs")],
  compatibilityDate = "2025-10-01",
  compatibilityFlags = ["nodejs_compat"],
);
`;
