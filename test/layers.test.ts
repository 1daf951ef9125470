import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { layers, layerViolations, specifiersIn } from "./layers.js";

test("every package keeps to the layers", () => {
  expect(layerViolations(fileURLToPath(new URL("..", import.meta.url)))).toEqual([]);
});

test("a package is in one layer only", () => {
  const names = layers.flatMap(({ packages }) => packages);
  expect(new Set(names).size).toBe(names.length);
});

test("imports are found in every form, and not in comments or strings", () => {
  const source = `
    import a from "plain";
    import type { B } from "type-only";
    import "side-effect";
    export * from "star";
    export type { C } from "named";
    const d = await import("dynamic");
    let e: import("import-type").E;
    const f = require("required");
    declare module "augmented" {}
    // import g from "comment";
    /** @example import { h } from "doc"; */
    const i = 'import j from "string"';
    const k = \`import l from "template"\`;
  `;
  expect(specifiersIn(source).sort()).toEqual(
    [
      "plain",
      "type-only",
      "side-effect",
      "star",
      "named",
      "dynamic",
      "import-type",
      "required",
      "augmented",
    ].sort(),
  );
});

describe("in a tree made to break the rules", () => {
  const roots: string[] = [];
  afterEach(() => {
    for (const root of roots.splice(0)) rmSync(root, { recursive: true });
  });

  function tree(files: Record<string, string | object>): string {
    const root = mkdtempSync(join(tmpdir(), "holdfast-layers-"));
    roots.push(root);
    for (const [name, content] of Object.entries(files)) {
      const file = join(root, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
    }
    return root;
  }

  test("what the table allows passes", () => {
    const root = tree({
      "packages/core/package.json": { dependencies: { zod: "^4" } },
      "packages/core/src/index.ts": 'import { z } from "zod";\nexport * from "./slot/slot.js";',
      "packages/core/src/slot/slot.ts": 'import type { A } from "../index.js";',
      "packages/eviction/package.json": {
        peerDependencies: { "@holdfast/core": "*" },
        devDependencies: {
          "@holdfast/core": "*",
          "@holdfast/testing": "*",
          "@holdfast/provider-rigs": "*",
        },
      },
      "packages/eviction/src/index.ts": 'import { A } from "@holdfast/core";',
      "packages/harness/package.json": { dependencies: { "@holdfast/eviction": "*" } },
      "packages/harness/src/index.ts": 'export * from "@holdfast/eviction";',
      "examples/chat/package.json": { dependencies: { "@holdfast/harness": "*" } },
      "examples/chat/src/main.ts": 'import "@holdfast/harness";\nimport "@holdfast/testing";',
      "bench/package.json": { dependencies: { "@holdfast/cli": "*" } },
    });
    expect(layerViolations(root)).toEqual([]);
  });

  test("core may import nothing of ours, not even a type", () => {
    const root = tree({
      "packages/core/package.json": {},
      "packages/core/src/deep/a.ts": 'import type { B } from "@holdfast/harness";',
    });
    expect(layerViolations(root)).toEqual([
      'packages/core/src/deep/a.ts: imports @holdfast/harness: layer "1 contracts + engine" may not use harness',
    ]);
  });

  test("a part may not import another part, by name, subpath or relative path", () => {
    const root = tree({
      "packages/compaction/package.json": {},
      "packages/compaction/src/a.ts": 'import "@holdfast/eviction";',
      "packages/compaction/src/b.ts": 'await import("@holdfast/eviction/inner");',
      "packages/compaction/src/c.ts": 'export * from "../../eviction/src/index.js";',
      "packages/compaction/src/d.ts": 'import { fake } from "@holdfast/testing";',
    });
    expect(layerViolations(root).sort()).toEqual([
      'packages/compaction/src/a.ts: imports @holdfast/eviction: layer "2 parts" may not use eviction',
      'packages/compaction/src/b.ts: imports @holdfast/eviction/inner: layer "2 parts" may not use eviction',
      'packages/compaction/src/c.ts: "../../eviction/src/index.js" leaves the package',
      'packages/compaction/src/d.ts: imports @holdfast/testing: layer "2 parts" may not use testing',
    ]);
  });

  test("sandbox may import workspace, and no other part", () => {
    const root = tree({
      "packages/sandbox/package.json": {
        peerDependencies: { "@holdfast/core": "*", "@holdfast/workspace": "*" },
      },
      "packages/sandbox/src/a.ts": 'import { A } from "@holdfast/workspace";',
      "packages/sandbox/src/b.ts": 'import { B } from "@holdfast/workspace/filesystem-kit";',
      "packages/sandbox/src/c.ts": 'import { C } from "@holdfast/store-json";',
    });
    expect(layerViolations(root)).toEqual([
      'packages/sandbox/src/c.ts: imports @holdfast/store-json: layer "2 parts on workspace" may not use store-json',
    ]);
  });

  test("otel may import types of the parts whose events it records, and nothing else of them", () => {
    const root = tree({
      "packages/otel/package.json": {
        peerDependencies: { "@holdfast/core": "*", "@holdfast/eviction": "*" },
        devDependencies: { "@holdfast/compaction": "*", "@holdfast/mcp": "*" },
      },
      "packages/otel/src/a.ts": 'import type {} from "@holdfast/compaction";',
      "packages/otel/src/b.ts": 'import "@holdfast/compaction";',
      "packages/otel/src/c.ts": 'import type {} from "@holdfast/mcp";',
    });
    expect(layerViolations(root).sort()).toEqual([
      'packages/otel/package.json: devDependencies names @holdfast/mcp: layer "2 parts that watch others" may not use mcp',
      'packages/otel/package.json: peerDependencies names @holdfast/eviction: layer "2 parts that watch others" may not use eviction',
      'packages/otel/src/b.ts: imports @holdfast/compaction: layer "2 parts that watch others" may not use compaction',
      'packages/otel/src/c.ts: imports @holdfast/mcp: layer "2 parts that watch others" may not use mcp',
    ]);
  });

  test("no other part may import workspace, and neither a part nor the harness may import sandbox", () => {
    const root = tree({
      "packages/eviction/package.json": {},
      "packages/eviction/src/a.ts": 'import "@holdfast/workspace/filesystem-kit";',
      "packages/harness/package.json": { dependencies: { "@holdfast/sandbox": "*" } },
      "packages/workspace/package.json": {},
      "packages/workspace/src/a.ts": 'import "@holdfast/sandbox";',
    });
    expect(layerViolations(root).sort()).toEqual([
      'packages/eviction/src/a.ts: imports @holdfast/workspace/filesystem-kit: layer "2 parts" may not use workspace',
      'packages/harness/package.json: dependencies names @holdfast/sandbox: layer "3 assembly" may not use sandbox',
      'packages/workspace/src/a.ts: imports @holdfast/sandbox: layer "2 parts" may not use sandbox',
    ]);
  });

  test("a manifest may not declare what the sources may not import", () => {
    const root = tree({
      "packages/mcp/package.json": {
        dependencies: { "@holdfast/testing": "*" },
        peerDependencies: { "@holdfast/harness": "*" },
        devDependencies: { "@holdfast/otel": "*", "@holdfast/testing": "*" },
      },
    });
    expect(layerViolations(root)).toEqual([
      'packages/mcp/package.json: dependencies names @holdfast/testing: layer "2 parts" may not use testing',
      'packages/mcp/package.json: peerDependencies names @holdfast/harness: layer "2 parts" may not use harness',
      'packages/mcp/package.json: devDependencies names @holdfast/otel: layer "2 parts" may not use otel',
    ]);
  });

  test("harness may not import a program", () => {
    const root = tree({
      "packages/harness/package.json": { dependencies: { "@holdfast/cli": "*" } },
    });
    expect(layerViolations(root)).toEqual([
      'packages/harness/package.json: dependencies names @holdfast/cli: layer "3 assembly" may not use cli',
    ]);
  });

  test("a package the table does not know must be added to it", () => {
    const root = tree({
      "packages/store-floppy/package.json": {},
      "examples/chat/package.json": {},
      "examples/chat/src/main.ts": 'import "@holdfast/store-floppy";',
    });
    expect(layerViolations(root)).toEqual([
      'packages/store-floppy: "store-floppy" is in no layer; add it to the table in test/layers.ts',
      'examples/chat/src/main.ts: imports @holdfast/store-floppy: "store-floppy" is in no layer; add it to the table in test/layers.ts',
    ]);
  });
});
