import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { entryPoints } from "../entry-points.js";
import { bundle } from "./bundle.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Kilobytes that an agent with tools may have in a bundle, minified, with all that it needs. */
const agentLimit = 271;

/**
 * Kilobytes that the main entry point of each package may have, minified, without its dependencies: about a tenth more
 * than it has. A package that grows past its limit gets a new one in the change that makes it grow.
 */
const limits: Readonly<Record<string, number>> = {
  "@holdfast/acp": 35.5,
  "@holdfast/cli": 1,
  "@holdfast/compaction": 33,
  "@holdfast/core": 290,
  "@holdfast/demo": 22,
  "@holdfast/encryption": 16,
  "@holdfast/eviction": 8,
  "@holdfast/harness": 8.5,
  "@holdfast/mcp": 54,
  "@holdfast/memory-flush": 49,
  "@holdfast/model-ai-sdk": 32,
  "@holdfast/otel": 28,
  "@holdfast/permissions": 52,
  "@holdfast/planning": 10.5,
  "@holdfast/sandbox": 38,
  "@holdfast/server": 2.5,
  "@holdfast/session-tools": 45,
  "@holdfast/store-json": 97,
  "@holdfast/store-mysql": 108,
  "@holdfast/store-redis": 96,
  "@holdfast/subagents": 41,
  "@holdfast/testing": 164,
  "@holdfast/workspace": 72,
  "create-holdfast": 19,
};

const mains = entryPoints(root).filter(({ report }) => report.endsWith("index.api.md"));

describe("a minified bundle", () => {
  test.each(mains)("of $specifier is within its limit", async ({ specifier, folder }) => {
    const { dependencies, peerDependencies } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    const external = Object.keys({ ...dependencies, ...peerDependencies });
    expect(await kilobytes(`export * from "${specifier}";`, external)).toBeLessThanOrEqual(
      limits[specifier] ?? 0,
    );
  });

  test("of an agent is within its limit", async () => {
    const agent = `import { ReActAgent, tool } from "@holdfast/core"; console.log(ReActAgent, tool);`;
    expect(await kilobytes(agent, [])).toBeLessThanOrEqual(agentLimit);
  });
});

test("no package brings zod along, which is for the schemas of users", () => {
  const bringing = mains.filter(({ folder }) => {
    const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return Object.hasOwn(dependencies ?? {}, "zod");
  });
  // The SDK of the editors' protocol needs it.
  expect(bringing.map(({ specifier }) => specifier)).toEqual(["@holdfast/acp"]);
});

test("every limit is that of a package", () => {
  const names = mains.map(({ specifier }) => specifier);
  expect(Object.keys(limits).sort()).toEqual(names.sort());
});

async function kilobytes(source: string, external: string[]): Promise<number> {
  return (await bundle(source, { format: "esm", minify: true, external })).length / 1_000;
}
