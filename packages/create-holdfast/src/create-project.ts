import { resolve } from "node:path";
import { projectFiles } from "./project-files.js";
import { decide, type Project, type ProjectOptions } from "./project-options.js";
import { writeProject } from "./write-project.js";

/** Project that was written. */
export interface CreatedProject extends Project {
  /** Its files, by paths from its directory. */
  readonly files: readonly string[];
}

/**
 * Writes a project, whole or not at all. It installs nothing and asks nothing.
 *
 * @param signal - stops it; nothing is left behind then
 * @throws CreateError with the exit code of the command: 2 for a wrong option, 3 for a directory that cannot be used
 * @example
 * await createProject({ directory: "my-agent", provider: "anthropic", store: "redis" });
 */
export async function createProject(
  options: ProjectOptions,
  signal?: AbortSignal,
): Promise<CreatedProject> {
  const project = decide({ ...options, directory: resolve(options.directory) });
  const files = await projectFiles(project);
  await writeProject(project.directory, files, signal);
  return { ...project, files: [...files.keys()].sort() };
}
