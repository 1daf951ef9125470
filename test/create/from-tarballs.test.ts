import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { scaled, tempDirectory } from "@holdfast/testing";
import { privateRedis } from "@holdfast/testing/servers";
import { expect, onTestFinished, test } from "vitest";
import { packedRegistry } from "../release/packed-registry.js";
import { runIn } from "./run-project.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

type Case = readonly [manager: "npm" | "pnpm", template: string, flags: string];

const script: Case = ["npm", "script", "--parts all --provider anthropic"];
const cases: readonly Case[] = [
  script,
  ["pnpm", "script", "--parts all --provider openai"],
  ["npm", "worker", "--parts all --provider google"],
  ["pnpm", "web-chat", "--parts all --provider anthropic"],
];

// The long run does it with each package manager and each template.
test.each(scaled([script], cases))(
  "with %s, template %s: installs from tarballs, type-checks, passes its test, runs, and the doctor is content",
  async (manager, template, flags) => {
    const directory = await tempDirectory();
    onTestFinished(() => directory.cleanup());
    await using redis = await privateRedis();
    const env = { ...(await settings(directory.path)), REDIS_URL: redis.url, PORT: "0" };
    const inProject = async (...command: readonly string[]): Promise<string> => {
      const [program = "", ...args] = command;
      const { code, stdout, stderr } = await runIn(join(directory.path, "app"), program, args, env);
      expect(code, `${command.join(" ")}\n${stdout}${stderr}`).toBe(0);
      return stdout;
    };

    // What `npm create holdfast` does: it fetches the package, and runs its program.
    const fetched = join(directory.path, "fetched");
    await mkdir(fetched);
    await writeFile(join(fetched, "package.json"), '{ "private": true }\n');
    const fetch = await runIn(fetched, "npm", ["install", "create-holdfast@latest"], env);
    expect(fetch.code, fetch.stderr).toBe(0);
    const created = await runIn(
      directory.path,
      join(fetched, "node_modules/.bin/create-holdfast"),
      ["app", "--yes", "--template", template, ...flags.split(" ")],
      { ...env, npm_config_user_agent: `${manager}/1.0.0 node/v20` },
    );
    expect(created.code, created.stderr).toBe(0);
    expect(created.stdout).toContain(`${manager} test`);

    await inProject(manager, "run", "typecheck");
    expect(await inProject(manager, "test")).toMatch(/^# pass [1-9]/mu);
    if (template === "script") expect(await inProject(manager, "start")).toContain("4 degrees");
    else await inProject(manager, "run", "build");
    const doctor = await inProject("node", "node_modules/@holdfast/cli/dist/main.js", "doctor");
    expect(doctor).toContain(template === "worker" ? "ok      redis" : "All is well.");
  },
);

/** Packs the packages, and returns the environment in which package managers install them. */
async function settings(directory: string): Promise<Record<string, string>> {
  const registry = await packedRegistry();
  const file = join(directory, "npmrc");
  const lines = ["noproxy=127.0.0.1", "audit=false", "fund=false", "prefer-offline=true"];
  await writeFile(file, [`registry=${registry.url}`, ...lines, ""].join("\n"));
  // The pnpm of this repository, under its own name.
  const { packageManager } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const bin = join(directory, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "pnpm"), `#!/bin/sh\nexec npx --yes ${packageManager} "$@"\n`);
  await chmod(join(bin, "pnpm"), 0o755);
  const PATH = [bin, process.env["PATH"]].join(delimiter);
  return { NPM_CONFIG_USERCONFIG: file, npm_config_registry: registry.url, PATH };
}
