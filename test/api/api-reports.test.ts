import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changedNames } from "./api-report.js";
import { type ApiReport, apiReports, strayReports } from "./api-reports.js";

const files: Readonly<Record<string, string>> = {
  "tsconfig.base.json": JSON.stringify({
    compilerOptions: { module: "NodeNext", target: "ES2023", lib: ["ES2023"], types: [] },
  }),
  "packages/lamp/package.json": JSON.stringify({
    name: "@holdfast/lamp",
    type: "module",
    exports: {
      ".": { types: "./dist/index.d.ts" },
      "./kit": { types: "./dist/kit.d.ts" },
      "./package.json": "./package.json",
    },
  }),
  "packages/lamp/dist/index.d.ts": `
    export { Lamp } from "./lamp.js";
    export { plug } from "./plug.js";
  `,
  "packages/lamp/dist/kit.d.ts": `
    import { Lamp } from "./lamp.js";
    import { Socket } from "./socket.js";
    export declare function fit(lamp: Lamp, socket: Socket): void;
  `,
  "packages/lamp/dist/lamp.d.ts": `
    /** Gives light. */
    export declare class Lamp {
      #private;
      private colour;
      /** Watts. */
      readonly power: number;
    }
  `,
  "packages/lamp/dist/plug.d.ts": `
    import { Lamp } from "./lamp.js";
    /** Connects a lamp. */
    export declare function plug(lamp: Lamp): void;
    export declare function plug(lamp: Lamp, socket: number): void;
  `,
  "packages/lamp/dist/socket.d.ts": `
    /** Holds a lamp. */
    export interface Socket {
      readonly width: number;
    }
  `,
  "packages/rig/package.json": JSON.stringify({
    name: "@holdfast/rig",
    private: true,
    exports: { ".": { types: "./dist/index.d.ts" } },
  }),
  "packages/lamp/api/index.api.md": "",
  "packages/lamp/api/gone.api.md": "",
};

describe("reports of a tree made up", () => {
  let root: string;
  let reports: readonly ApiReport[];

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "holdfast-api-test-"));
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), content);
    }
    reports = apiReports(root);
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("are one for each entry point of a published package", () => {
    expect(
      reports.map(({ entryPoint }) => [entryPoint.specifier, relative(root, entryPoint.report)]),
    ).toEqual([
      ["@holdfast/lamp", "packages/lamp/api/index.api.md"],
      ["@holdfast/lamp/kit", "packages/lamp/api/kit.api.md"],
    ]);
  });

  test("show declarations by name, without comments and private members", () => {
    expect(reports[0]?.text).toBe(`# \`@holdfast/lamp\`

2 names. Written by \`npm run api\`; do not edit.

\`\`\`ts
export class Lamp {
    readonly power: number;
}

export function plug(lamp: Lamp): void;

export function plug(lamp: Lamp, socket: number): void;
\`\`\`
`);
  });

  test("list types that are visible but not exported, unless another entry point exports them", () => {
    expect(reports[1]?.text).toBe(`# \`@holdfast/lamp/kit\`

1 name. Written by \`npm run api\`; do not edit.

\`\`\`ts
export function fit(lamp: Lamp, socket: Socket): void;
\`\`\`

## Not exported, but visible

Types that the signatures above refer to and that cannot be imported: 1.

\`\`\`ts
interface Socket {
    readonly width: number;
}
\`\`\`
`);
  });

  test("tell names without documentation; one documented overload is enough", () => {
    expect(reports.map(({ undocumented }) => undocumented)).toEqual([[], ["fit"]]);
  });

  test("leave no file of an entry point that is gone unnoticed", () => {
    expect(strayReports(root)).toEqual([join(root, "packages/lamp/api/gone.api.md")]);
  });

  test("differ by names added, removed and changed", () => {
    const [before = "", other = ""] = reports.map(({ text }) => text);
    const after = before.replace("readonly power: number", "readonly power: bigint");
    expect(changedNames(before, before)).toEqual([]);
    expect(changedNames(before, after)).toEqual(["~ Lamp"]);
    expect(changedNames(before, other)).toEqual(["- Lamp", "+ Socket", "+ fit", "- plug"]);
  });
});
