import { InvalidInputError, type Model } from "@holdfast/core";
import { FileCache, type FileInfo, reasonOf, type SharedFiles } from "@holdfast/core/plugin-kit";
import type { ParsedDefinition } from "./parse-definition.js";
import { isAgentName, type SubagentDefinition } from "./subagent-definition.js";

/** Most files that are read. */
const MAX_FILES = 200;
const MAX_FILE_BYTES = 262_144;

/** Options of {@link DefinitionFiles}. */
export interface DefinitionFilesOptions {
  /** Files that all users share; without them there are no definitions. */
  readonly shared: SharedFiles | undefined;
  /** Directory of the definitions; false when none are read. */
  readonly directory: string | false;
  /** Models that files may name. */
  readonly models: Readonly<Record<string, Model>>;
  /** Names of the agents that are not defined in files. They win. */
  readonly taken: readonly string[];
}

/** Reason why a file is not used, in words for the people who write it. */
export interface DefinitionProblem {
  /** Path of the file, or of the directory. */
  readonly file: string;
  readonly problem: string;
}

/** Agents that files define, in the order of their names, and problems with the other files. */
export interface ReadDefinitions {
  readonly definitions: readonly SubagentDefinition[];
  readonly problems: readonly DefinitionProblem[];
}

/**
 * Reads the definitions `<directory>/<name>.md` of the shared files. A file with a problem is not used and hides no other;
 * files in directories below and hidden ones are no definitions. Files that have not changed are not read again.
 */
export class DefinitionFiles {
  readonly #options: DefinitionFilesOptions;
  readonly #parsed = new FileCache<ParsedDefinition>(MAX_FILES);

  constructor(options: DefinitionFilesOptions) {
    this.#options = options;
  }

  /** Reads all definitions as they are now; rejects when the directory cannot be listed. */
  async read(): Promise<ReadDefinitions> {
    const { shared, directory, taken } = this.#options;
    if (!shared || directory === false) return { definitions: [], problems: [] };
    const files = (await shared.list(directory)).filter((info) => isDefinition(directory, info));
    const definitions: SubagentDefinition[] = [];
    const problems: DefinitionProblem[] = [];
    const names = new Set(taken.map((name) => name.toLowerCase()));
    for (const info of files.slice(0, MAX_FILES)) {
      const parsed = await this.#parse(shared, info, names);
      if ("definition" in parsed) {
        definitions.push(parsed.definition);
        names.add(parsed.definition.name.toLowerCase());
      } else problems.push(...parsed.problems.map((problem) => ({ file: info.path, problem })));
    }
    if (files.length > MAX_FILES)
      problems.push({
        file: directory,
        problem: `it has ${files.length} files; those after the first ${MAX_FILES} are not read`,
      });
    return { definitions, problems };
  }

  async #parse(
    shared: SharedFiles,
    info: FileInfo,
    names: ReadonlySet<string>,
  ): Promise<ParsedDefinition> {
    const name = nameOf(info.path);
    if (!isAgentName(name))
      return wrong(
        "its name cannot be that of an agent: letters, digits, _ and - are accepted, at most 64, the first a letter or digit",
      );
    if (names.has(name.toLowerCase()))
      return wrong("another agent has this name already; rename the file or delete it");
    if (info.bytes > MAX_FILE_BYTES) return tooLarge(info.bytes);
    try {
      return await this.#parsed.get(info, async () => {
        const bytes = await shared.read(info.path);
        // Thrown, so that it is not cached: the file may be back soon, as it was.
        if (bytes === null) throw new InvalidInputError("it is not there any more");
        if (bytes.length > MAX_FILE_BYTES) return tooLarge(bytes.length);
        const text = decode(bytes);
        if (text === null) return wrong("it is not a text in UTF-8");
        // Loaded with the first file, for the sake of its YAML parser: most agents have none.
        const { parseDefinition } = await import("./parse-definition.js");
        return parseDefinition(name, text, this.#options.models);
      });
    } catch (error) {
      return wrong(`it cannot be read: ${reasonOf(error)}`);
    }
  }
}

function isDefinition(directory: string, { path, kind }: FileInfo): boolean {
  if (kind !== "file" || !path.startsWith(`${directory}/`)) return false;
  return /^[^/.][^/]*\.md$/.test(path.slice(directory.length + 1));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1, -".md".length);
}

/** Returns the text of bytes, without a byte order mark; null unless they are UTF-8. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function tooLarge(bytes: number): ParsedDefinition {
  return wrong(`it has ${bytes} bytes, and at most ${MAX_FILE_BYTES} are read`);
}

function wrong(problem: string): ParsedDefinition {
  return { problems: [problem] };
}
