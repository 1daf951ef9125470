import { parts, providers, stores, templates } from "./choices.js";
import { CreateError, exitCodes } from "./create-error.js";
import type { Project } from "./project-options.js";

/** Packages that every project needs. */
const everywhere = ["@holdfast/core", "@holdfast/demo", "@holdfast/harness"];
const forDevelopment = ["@holdfast/cli", "@holdfast/testing", "@types/node", "typescript"];
/** Packages that the page of the web chat is built from. */
const forPage = [
  "@ai-sdk/react",
  "@types/react",
  "@types/react-dom",
  "ai",
  "react",
  "react-dom",
  "react-markdown",
  "remark-gfm",
  "remend",
  "rolldown",
];

/** Writes the package.json of a project. @param ranges - versions of this release, by package */
export function projectManifest(
  project: Project,
  ranges: Readonly<Record<string, string>>,
): string {
  const { name, template, provider, store } = project;
  const isPage = template === "web-chat";
  const needed = new Set([
    ...everywhere,
    ...templates[template].packages,
    ...providers[provider].packages,
    ...stores[store].packages,
    ...project.parts.flatMap((part) => parts[part].packages),
  ]);
  const development = [...forDevelopment, ...(isPage ? forPage : [])].filter(
    (one) => !needed.has(one),
  );
  if (needed.has(name) || development.includes(name))
    throw new CreateError(
      exitCodes.usage,
      `The name "${name}" is that of a package which the project needs. Choose another with --name.`,
    );
  const withRanges = (names: Iterable<string>): Record<string, string> =>
    Object.fromEntries([...names].sort().map((one) => [one, rangeOf(one, ranges)]));
  const build = isPage ? "tsc && tsc -p src/page && node build-page.mjs dist/src/page" : "tsc";
  const manifest = {
    name,
    version: "0.0.0",
    private: true,
    type: "module",
    engines: { node: ">=20.19" },
    scripts: {
      build,
      start: `${build} && node dist/src/main.js`,
      ...(template === "worker" && { ask: `${build} && node dist/src/ask.js` }),
      test: `tsc && node --test dist/test/${isPage ? "desk-agent" : "agent"}.test.js`,
      typecheck: isPage ? "tsc --noEmit && tsc -p src/page" : "tsc --noEmit",
      chat: "holdfast chat",
      doctor: "holdfast doctor",
    },
    dependencies: withRanges(needed),
    devDependencies: withRanges(development),
  };
  return json(manifest);
}

function rangeOf(name: string, ranges: Readonly<Record<string, string>>): string {
  const range = ranges[name];
  if (range === undefined)
    throw new Error(`this release of create-holdfast has no version of ${name}`);
  return range;
}

/** Writes the tsconfig.json of a project. */
export function projectTsconfig({ template }: Project): string {
  return json({
    compilerOptions: {
      target: "ES2023",
      lib: ["ES2023"],
      types: ["node"],
      module: "NodeNext",
      rootDir: ".",
      outDir: "dist",
      strict: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      skipLibCheck: true,
    },
    include: ["src", "test", "holdfast.config.ts"],
    ...(template === "web-chat" && { exclude: ["src/page"] }),
  });
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
