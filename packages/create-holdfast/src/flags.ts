import { parseArgs } from "node:util";
import {
  type Part,
  type Provider,
  parts,
  providers,
  type Store,
  stores,
  type Template,
  templates,
} from "./choices.js";
import { CreateError, exitCodes } from "./create-error.js";
import { type PackageManager, packageManagers } from "./package-manager.js";
import type { ProjectOptions } from "./project-options.js";

/** Options that were given on the command line; what is undefined was not. */
export type GivenOptions = { readonly [K in keyof ProjectOptions]?: ProjectOptions[K] | undefined };

/** Flags of the command line. */
export interface Flags {
  readonly given: GivenOptions;
  readonly install: boolean | undefined;
  readonly git: boolean | undefined;
  /** Takes the defaults for what is not given. */
  readonly yes: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

const listed = (choices: object): string => Object.keys(choices).join(", ");

/** Text of `--help`. */
export const usage: string = `Usage: npm create holdfast@latest [directory] -- [options]

Writes a project with an agent that survives restarts. Asks for what is not given, in a terminal.

  --template <name>         ${listed(templates)}
  --provider <name>         ${listed(providers)}
  --store <name>            ${listed(stores)}
  --parts <names>           of ${listed(parts)};
                            separated by commas, "all" or "none"
  --name <name>             name of the package; that of the directory unless given
  --package-manager <name>  ${listed(packageManagers)}; the one that runs this unless given
  --install, --no-install   install the packages, or not
  --git, --no-git           make a git repository, or not
  -y, --yes                 ask nothing: take the defaults for what is not given
  -h, --help                print this
  -v, --version             print the version

Exit codes: 0 done; 1 the project is there, but the installation or git failed; 2 an option is wrong;
3 the directory cannot be used; 130 Ctrl-C. After 2, 3 and 130 nothing was written, unless it says so.
`;

/** Reads the arguments of the command. Values are checked when the project is made. @throws CreateError (2) */
export function readFlags(args: readonly string[]): Flags {
  const { values, positionals } = parse(args);
  const [directory, ...others] = positionals;
  if (others.length > 0)
    throw new CreateError(
      exitCodes.usage,
      `One directory is enough, and there are more: ${positionals.join(", ")}.`,
    );
  return {
    given: {
      directory,
      name: values.name,
      template: values.template as Template | undefined,
      provider: values.provider as Provider | undefined,
      store: values.store as Store | undefined,
      parts: values.parts === undefined ? undefined : partsIn(values.parts),
      packageManager: values["package-manager"] as PackageManager | undefined,
    },
    install: values.install,
    git: values.git,
    yes: values.yes === true,
    help: values.help === true,
    version: values.version === true,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      allowNegative: true,
      options: {
        template: { type: "string" },
        provider: { type: "string" },
        store: { type: "string" },
        parts: { type: "string" },
        name: { type: "string" },
        "package-manager": { type: "string" },
        install: { type: "boolean" },
        git: { type: "boolean" },
        yes: { type: "boolean", short: "y" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
  } catch (error) {
    const [reason = ""] = (error as Error).message.split(". ");
    throw new CreateError(
      exitCodes.usage,
      `${reason.replace(/\.$/u, "")}. --help lists the options.`,
    );
  }
}

function partsIn(text: string): readonly Part[] {
  if (text === "none") return [];
  if (text === "all") return Object.keys(parts) as Part[];
  const names = text.split(",").map((name) => name.trim());
  return names.filter((name) => name !== "") as Part[];
}
