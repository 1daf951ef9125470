import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tempDirectory } from "@holdfast/testing";
import { createProject, type PackageManager, type ProjectOptions } from "create-holdfast";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { parts, providers, stores, templates } from "../src/choices.js";
import { packageManagers } from "../src/package-manager.js";
import { storesOf } from "../src/project-options.js";

type Names<T> = (keyof T)[];
const templateNames = Object.keys(templates) as Names<typeof templates>;
const providerNames = Object.keys(providers) as Names<typeof providers>;
const managerNames = Object.keys(packageManagers) as PackageManager[];
const partNames = Object.keys(parts) as Names<typeof parts>;

/** Every template with every store, each with another provider and package manager. */
const projects: Omit<ProjectOptions, "directory">[] = templateNames.flatMap((template, row) =>
  storesOf(template).map((store, column) => ({
    ...{ template, store, parts: column === 0 ? partNames : [] },
    provider: providerNames[(row + column) % providerNames.length],
    packageManager: managerNames[(row * 3 + column) % managerNames.length],
  })),
);

async function written(options: Omit<ProjectOptions, "directory">) {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const project = await createProject({ directory: join(directory.path, "project"), ...options });
  const text = (path: string): string => readFileSync(join(project.directory, path), "utf8");
  return { ...project, text, manifest: JSON.parse(text("package.json")) };
}

const moduleOf = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/u.exec(specifier)?.[0] ?? "";

test.each(projects)(
  "$template on $store, $provider, $packageManager: depends on what it imports, and on nothing else",
  async (options) => {
    const { files, text, manifest } = await written(options);
    const declared = { ...manifest.dependencies, ...manifest.devDependencies };
    const sources = files.filter((path) => /\.(?:tsx?|mjs)$/u.test(path));
    const imported = sources.flatMap((path) =>
      [...text(path).matchAll(/(?:from|import) "([^".][^"]*)"/gu)].map(([, name = ""]) =>
        moduleOf(name),
      ),
    );
    const needed = new Set(imported.filter((name) => !name.startsWith("node:")));
    expect([...needed].filter((name) => declared[name] === undefined)).toEqual([]);
    const tools = [
      "typescript",
      "@types/node",
      "@types/react",
      "@types/react-dom",
      "@opentelemetry/api",
    ];
    expect(
      Object.keys(declared).filter((name) => !needed.has(name) && !tools.includes(name)),
    ).toEqual([]);
    const atRun = sources.filter((path) => /^src\/(?!page)/u.test(path));
    for (const path of atRun)
      for (const [, name = ""] of text(path).matchAll(/ from "([^".][^"]*)"/gu))
        if (!name.startsWith("node:"))
          expect(manifest.dependencies, path).toHaveProperty([moduleOf(name)]);
  },
);

test.each(projects)(
  "$template on $store, $provider, $packageManager: names the packages of this release, and those that they need beside them",
  async (options) => {
    const { manifest } = await written(options);
    const declared: Record<string, string> = {
      ...manifest.dependencies,
      ...manifest.devDependencies,
    };
    for (const [name, range] of Object.entries(declared)) {
      if (!name.startsWith("@holdfast/")) continue;
      const file = new URL(
        `../../${name.slice("@holdfast/".length)}/package.json`,
        import.meta.url,
      );
      const {
        version,
        peerDependencies = {},
        peerDependenciesMeta = {},
      } = JSON.parse(readFileSync(file, "utf8"));
      expect({ name, range }).toEqual({ name, range: `^${version}` });
      const peers = Object.keys(peerDependencies).filter(
        (peer) => !peerDependenciesMeta[peer]?.optional,
      );
      expect(peers.filter((peer) => declared[peer] === undefined)).toEqual([]);
    }
  },
);

test.each(projects)(
  "$template on $store, $provider, $packageManager: its container files name what is there",
  async (options) => {
    const { files, text, manifest, store, packageManager } = await written(options);
    const lockfile = packageManagers[packageManager].lockfile;
    const copied = [...text("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gmu)].flatMap(
      ([, names = ""]) => names.split(" "),
    );
    expect(copied).toContain(`${lockfile}*`);
    const missing = copied.filter(
      (name) =>
        name !== `${lockfile}*` &&
        !files.some((path) => path === name || path.startsWith(`${name}/`)),
    );
    expect(missing).toEqual([]);
    expect(text("Dockerfile")).toMatch(/^ENTRYPOINT \["node", "dist\/src\/main.js"\]$/mu);
    expect(manifest.scripts.start).toContain("node dist/src/main.js");
    const { services, volumes } = parse(text("compose.yaml"));
    expect(Object.keys(services)).toEqual(store === "json" ? ["app"] : ["app", store]);
    expect(Object.keys(services.app.depends_on ?? {})).toEqual(store === "json" ? [] : [store]);
    if (store !== "json") expect(services[store].healthcheck.test).toBeInstanceOf(Array);
    for (const service of Object.values<{ volumes: string[] }>(services))
      for (const volume of service.volumes)
        expect(volumes).toHaveProperty(volume.split(":")[0] ?? "");
    expect(text(".gitignore").split("\n")).toEqual(
      expect.arrayContaining(["node_modules", "dist", ".env"]),
    );
  },
);

test("a README begins with the three commands to type, in the words of the package manager", async () => {
  const { text } = await written({
    template: "worker",
    packageManager: "pnpm",
    provider: "google",
  });
  expect(text("README.md")).toContain(
    "```\npnpm install  # installs the packages\npnpm test     #",
  );
  expect(text("README.md")).toContain("GOOGLE_GENERATIVE_AI_API_KEY");
  expect(text(".env.example")).toMatch(/^GOOGLE_GENERATIVE_AI_API_KEY=$/mu);
});

test("the key that a README asks for reaches the container", async () => {
  for (const provider of providerNames) {
    const { text } = await written({ provider });
    const [, key = ""] = /^#? ?([A-Z_]+_KEY)=/mu.exec(text(".env.example")) ?? [];
    const { environment } = parse(text("compose.yaml")).services.app;
    expect(environment).toHaveProperty([key], `\${${key}:-}`);
  }
});

test("a README without a provider names all that a real model changes", async () => {
  const { text } = await written({ provider: "offline" });
  const readme = text("README.md");
  for (const [, name] of text("src/model.ts").matchAll(/^export function (\w+)/gmu))
    expect(readme).toContain(`\`${name}\``);
});

test.each([
  ["pnpm", "pnpm-workspace.yaml", { allowBuilds: { koffi: false } }],
  ["yarn", ".yarnrc.yml", { nodeLinker: "node-modules" }],
] as const)(
  "what %s needs to install is in its settings, in the container too",
  async (packageManager, file, settings) => {
    const { text } = await written({ packageManager });
    expect(parse(text(file))).toEqual(settings);
    expect(text("Dockerfile")).toMatch(new RegExp(`^COPY package.json \\S+ ${file} ./$`, "mu"));
  },
);

test.each([
  ["openai", /openai\("gpt-5\.6"\), \{ contextWindow: 400_000 \}/u],
  ["google", /google\("gemini-flash-latest"\), \{ contextWindow: 1_000_000 \}/u],
] as const)("the model of %s is its own, in every word", async (provider, call) => {
  const { text } = await written({ provider });
  expect(text("src/model.ts")).toMatch(call);
  expect(text("src/model.ts")).not.toMatch(/anthropic|claude/iu);
});

test("an agent has the name of its package, without the scope", async () => {
  const { text } = await written({ name: "@acme/helper" });
  expect(text("src/agent.ts")).toContain('agentName = "helper"');
});

test.each([
  [
    { template: "desktop" },
    'There is no template "desktop". Choose one of: script, web-chat, worker.',
  ],
  [
    { provider: "acme" },
    'There is no provider "acme". Choose one of: anthropic, openai, google, offline.',
  ],
  [{ store: "floppy" }, 'There is no store "floppy". Choose one of: json, redis, mysql.'],
  [{ parts: ["wings"] }, 'There is no part "wings".'],
  [{ template: "worker", store: "mysql" }, "A worker takes its jobs from Redis"],
  [{ name: "My Agent" }, 'The name "My Agent" has capital letters.'],
  [{ name: "zod" }, 'The name "zod" is that of a package which the project needs.'],
])("%j is refused in a plain sentence, and nothing is written", async (options, message) => {
  const refused = written(options as unknown as ProjectOptions);
  await expect(refused).rejects.toMatchObject({ name: "CreateError", exitCode: 2 });
  await expect(refused).rejects.toThrow(message);
});

test("every store has a template and a choice", () => {
  expect(Object.keys(stores)).toEqual(storesOf("script"));
});
