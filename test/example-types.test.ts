import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));

const documents = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
  ...readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`),
];

/** Examples that stand by themselves, by document and number: those that begin with their imports. */
function examples(): Record<string, string> {
  return Object.fromEntries(
    documents.flatMap((document) => {
      const blocks = readFileSync(join(root, document), "utf8").matchAll(/^```ts\n(.*?)^```$/gms);
      return [...blocks]
        .map(([, source = ""], index) => [`${document} ${index + 1}`, source] as const)
        .filter(([, source]) => /^(?:\/\/.*\n)*import /.test(source));
    }),
  );
}

/** Checks sources in one program where the workspace's packages resolve, and returns the errors of each that has any. */
async function typeErrors(
  sources: Readonly<Record<string, string>>,
): Promise<Record<string, string[]>> {
  const base = join(root, "test", ".holdfast");
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, "types-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const names = Object.keys(sources);
  for (const [index, source] of Object.values(sources).entries())
    writeFileSync(join(directory, `example-${index}.ts`), source);
  writeFileSync(
    join(directory, "tsconfig.json"),
    // With the types of browsers, as a project has them that says nothing about `lib`.
    JSON.stringify({
      extends: "../../tsconfig.json",
      compilerOptions: { lib: ["ES2023", "DOM", "DOM.AsyncIterable"] },
      include: ["*.ts"],
    }),
  );
  const child = spawn(process.execPath, [tsc, "-p", ".", "--pretty", "false"], {
    cwd: directory,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const output = await text(child.stdout);
  const found: Record<string, string[]> = {};
  for (const [, index, error = ""] of output.matchAll(/^example-(\d+)\.ts(\(.*)$/gm)) {
    const name = names[Number(index)] ?? "";
    found[name] = [...(found[name] ?? []), error];
  }
  const status = await ended;
  // An error that is in no example, such as one of the configuration, must not pass for none.
  if ((status === 0) !== (Object.keys(found).length === 0))
    throw new Error(`tsc ended with ${status}: ${output}`);
  return found;
}

test("every example that stands by itself has no type errors", async () => {
  const all = examples();
  const first = documents.filter((name) => name.endsWith("README.md")).map((name) => `${name} 1`);
  expect(Object.keys(all)).toEqual(expect.arrayContaining(first));
  expect(await typeErrors(all)).toEqual({});
});

test("an example with a value that may be null would be found", async () => {
  const source = (access: string): string =>
    `import type { AgentState } from "@holdfast/core";\nexport const count = (state: AgentState | null) => ${access};\n`;
  const sources = { good: source("state?.context.length"), bad: source("state.context.length") };
  expect(await typeErrors(sources)).toEqual({
    bad: [expect.stringContaining("'state' is possibly 'null'")],
  });
});
