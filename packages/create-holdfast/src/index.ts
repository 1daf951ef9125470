export type { Part, Provider, Store, Template } from "./choices.js";
export { CreateError, type ExitCode } from "./create-error.js";
export { type CreatedProject, createProject } from "./create-project.js";
export type { PackageManager } from "./package-manager.js";
export type { Project, ProjectOptions } from "./project-options.js";
