/** Program that installs packages. */
export type PackageManager = "npm" | "pnpm" | "yarn" | "bun";

/** Words of a package manager. */
interface Words {
  /** Runs a script of the project. */
  readonly run: (script: string) => string;
  /** Runs a program of an installed package. */
  readonly exec: string;
  /** Name of its lockfile. */
  readonly lockfile: string;
  /** Lines of a Dockerfile before the installation. */
  readonly setup: readonly string[];
  /** Command of a Dockerfile that removes what only the build needs. */
  readonly prune: string;
  /** File with its settings that the project needs. */
  readonly settings?: { readonly file: string; readonly text: string };
}

/** Package managers by name. */
export const packageManagers: Readonly<Record<PackageManager, Words>> = {
  npm: {
    run: (script) =>
      script === "start" || script === "test" ? `npm ${script}` : `npm run ${script}`,
    exec: "npx",
    lockfile: "package-lock.json",
    setup: [],
    prune: "npm prune --omit=dev",
  },
  pnpm: {
    run: (script) => `pnpm ${script}`,
    exec: "pnpm exec",
    lockfile: "pnpm-lock.yaml",
    setup: ["RUN npm install --global pnpm"],
    prune: "CI=true pnpm prune --prod",
    // It installs nothing while nobody has said whether such a script may run.
    settings: {
      file: "pnpm-workspace.yaml",
      text: "# Brings its binaries: its install script is not needed.\nallowBuilds:\n  koffi: false\n",
    },
  },
  yarn: {
    run: (script) => `yarn ${script}`,
    exec: "yarn",
    lockfile: "yarn.lock",
    setup: ["RUN corepack enable"],
    prune: "yarn workspaces focus --production",
    // Its other way to install needs a loader that plain `node` does not have.
    settings: { file: ".yarnrc.yml", text: "nodeLinker: node-modules\n" },
  },
  bun: {
    run: (script) => `bun run ${script}`,
    exec: "bunx",
    lockfile: "bun.lock",
    setup: ["RUN npm install --global bun"],
    prune: "rm -r node_modules && bun install --production",
  },
};

/** Returns the package manager that runs this program, by its `npm_config_user_agent`; npm when there is none. */
export function packageManagerOf(userAgent: string | undefined): PackageManager {
  const name = /^(\w+)\//u.exec(userAgent ?? "")?.[1] ?? "";
  return Object.hasOwn(packageManagers, name) ? (name as PackageManager) : "npm";
}
