import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const documents = [
  ...markdownIn(""),
  ...markdownIn("docs"),
  ...markdownIn("docs/decisions"),
  ...foldersIn("packages").flatMap(markdownIn),
  ...foldersIn("examples").flatMap(markdownIn),
];

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}

function foldersIn(folder: string): string[] {
  return readdirSync(join(root, folder)).map((name) => join(folder, name));
}

describe.each(documents)("%s", (document) => {
  const text = readFileSync(join(root, document), "utf8");

  test("links only to files that are there", () => {
    const targets = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1] ?? "");
    const missing = targets.filter((target) => !existsSync(join(root, dirname(document), target)));
    expect(missing).toEqual([]);
  });

  test("names only commands whose test files are there", () => {
    const files = [...text.matchAll(/\bnpx vitest run ([^`\n]+)/g)].flatMap(
      (match) => match[1]?.split(" ") ?? [],
    );
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test("names only tests that are there", () => {
    const named = [...text.matchAll(/`((?:test|packages\/[\w-]+\/test)\/[\w./-]+)`/g)].map(
      ([, file = ""]) => file,
    );
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test("names only commands of the project that need nothing but Node and npm", () => {
    const names = [...text.matchAll(/\bnpm (?:run )?(start|test|(?<=run )[\w:-]+)/g)].map(
      ([, name = ""]) => name,
    );
    const needPnpm = names.filter((name) => /\b(turbo|pnpm)\b/.test(scripts[name] ?? "pnpm"));
    expect(needPnpm).toEqual([]);
    expect(text).not.toMatch(/\bnpx turbo\b/);
  });
});

test("every promise, and every section about them, names its command", () => {
  const text = readFileSync(join(root, "docs/guarantees.md"), "utf8");
  const sections = text.split(/^## /m).slice(1);
  const names = sections.map((section) => section.split(" ")[0]);
  const promises = names.filter((name) => /^P\d+$/.test(name ?? ""));
  expect(promises.length).toBe(14);
  expect(names).toEqual([...promises.map((_, index) => `P${index + 1}`), "And", "The"]);
  for (const section of sections) expect(section).toMatch(/^npx vitest run /m);
});

test("every kind of fault names its tests and what a long run does", () => {
  const text = readFileSync(join(root, "docs/guarantees.md"), "utf8");
  const rows = [...text.matchAll(/^\| T(\d+) [^|]+\|([^|]+)\|([^|]+)\|$/gm)];
  expect(rows.map(([, number]) => Number(number))).toEqual(
    Array.from({ length: 18 }, (_, index) => index + 1),
  );
  for (const [, , files, counts] of rows) {
    expect(files).toMatch(/`[^`]+`/);
    expect(counts?.trim()).not.toBe("");
  }
});

test("every package is in the layers, in the map, and on the front page if it is published", () => {
  const architecture = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const map = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
  const frontPage = readFileSync(join(root, "README.md"), "utf8");
  for (const name of readdirSync(join(root, "packages"))) {
    const manifest = readFileSync(join(root, "packages", name, "package.json"), "utf8");
    expect(architecture).toContain(`\`${name}\``);
    expect(map).toContain(`| \`packages/${name}\` `);
    if (!("private" in JSON.parse(manifest)))
      expect(frontPage).toContain(`| [\`${JSON.parse(manifest).name}\`](packages/${name}) `);
  }
  for (const name of foldersIn("examples")) {
    expect(map).toContain(`| \`${name}\` `);
    expect(frontPage).toContain(`](${name})`);
  }
});

test("the architecture page names every folder of core and of its engine", () => {
  const architecture = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const folders = ["packages/core/src", "packages/core/src/engine"].flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory()),
  );
  expect(folders.length).toBeGreaterThan(15);
  const unnamed = folders.filter(({ name }) => !new RegExp(`[\`/]${name}[\`/]`).test(architecture));
  expect(unnamed.map(({ name }) => name)).toEqual([]);
});

test("the path of a call names files that are there", () => {
  const architecture = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const [, path = ""] = architecture.split(/^## The path of a call$/m);
  const files = [...(path.split(/^## /m)[0] ?? "").matchAll(/`([\w/-]+\.ts)`/g)].map(
    ([, file = ""]) => (file.startsWith("packages/") ? file : `packages/core/src/${file}`),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test("the documents are found", () => {
  for (const document of ["README.md", "docs/guarantees.md", "packages/core/README.md"])
    expect(documents).toContain(document);
});

describe.each(markdownIn(".changeset").filter((name) => !name.endsWith("README.md")))(
  "%s",
  (changeset) => {
    test("says what kind of change it is for packages that are there", () => {
      const text = readFileSync(join(root, changeset), "utf8");
      const [, header = ""] =
        /^---\n((?:"(?:@holdfast\/)?[a-z-]+": (?:major|minor|patch)\n)+)---\n\n\S/.exec(text) ?? [];
      const names = [...header.matchAll(/"(?:@holdfast\/)?([a-z-]+)"/g)].map(
        (match) => match[1] ?? "",
      );
      expect(names).not.toEqual([]);
      expect(names.filter((name) => !existsSync(join(root, "packages", name)))).toEqual([]);
    });
  },
);
