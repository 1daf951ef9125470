import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { scaled } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { firstExample, readmes, runExample, weatherProvider } from "../readme-example.js";
import { npm } from "./local-registry.js";
import { packedRegistry } from "./packed-registry.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A README of what is published, its first example, and the packages of the `npm install` before it. */
const published = readmes
  .filter((file) => existsSync(join(root, file)) && !file.includes("provider-rigs"))
  .map((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const example = firstExample(text) ?? "";
    const before = text.slice(0, text.indexOf(example));
    const lines = [...before.matchAll(/npm install ([^`\n]+)/gu)].map(([, line = ""]) => line);
    const installed =
      lines
        .at(-1)
        ?.split(" ")
        .filter((word) => !word.startsWith("-")) ?? [];
    return { file, example, installed };
  });

describe.each(published)("the install line of $file", ({ example, installed }) => {
  test("names every package that its example imports", () => {
    const imported = [...example.matchAll(/(?:from |import |resolve\()"([^".][^"]*)"/gu)]
      .map(([, specifier = ""]) => /^(?:@[^/]+\/)?[^/]+/u.exec(specifier)?.[0] ?? "")
      .filter((name) => !name.startsWith("node:"));
    expect(imported.filter((name) => !installed.includes(name))).toEqual([]);
  });

  test("names every package that those packages need beside them", () => {
    const needed = installed
      .filter((name) => name.startsWith("@holdfast/"))
      .flatMap((name) => {
        const file = join(root, name.replace("@holdfast", "packages"), "package.json");
        const { peerDependencies = {}, peerDependenciesMeta = {} } = JSON.parse(
          readFileSync(file, "utf8"),
        );
        return Object.keys(peerDependencies).filter(
          (peer) => !peerDependenciesMeta[peer]?.optional,
        );
      });
    expect(needed.filter((name) => !installed.includes(name))).toEqual([]);
  });
});

// The long run installs what each line says, from packed packages and the registry of npm.
test.each(scaled([], ["an empty project"]))(
  "every example runs in %s after its install line",
  async () => {
    const registry = await packedRegistry();
    for (const { file, example, installed } of published) {
      const directory = await registry.project();
      onTestFinished(() => rm(directory, { recursive: true, force: true }));
      await npm(
        ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...installed],
        directory,
      );
      await using provider = await weatherProvider();
      const { status, stderr } = await runExample(example, directory, provider);
      expect({ file, status, stderr }).toEqual({ file, status: 0, stderr: "" });
    }
  },
);
