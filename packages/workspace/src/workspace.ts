import {
  characterEstimate,
  definePlugin,
  type Filesystem,
  type Middleware,
  type Plugin,
  type PluginHost,
} from "@holdfast/core";
import { type FileVisit, parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { LocalFilesystem } from "./filesystem/index.js";
import { deleteNamespace, deleteOffloaded } from "./offload/delete-files.js";
import { WorkspaceOffloader } from "./offload/workspace-offloader.js";
import { type Skill, skillEntry, skillPath, skillSchema, skillText } from "./prompt/skill.js";
import { WorkspacePrompt } from "./prompt/workspace-prompt.js";
import { FileView, VirtualFiles } from "./tools/file-view.js";
import { ProtectedPaths } from "./tools/protected-paths.js";
import { readOffloadedTool, workspaceTools } from "./tools/workspace-tools.js";

/** Options of {@link workspace}. */
export interface WorkspaceOptions {
  /** Workspace directory; a `LocalFilesystem` is created in it. */
  readonly root?: string | undefined;
  /** Allows the filesystem in `root` to run commands, as this process's user. @default false */
  readonly shell?: boolean | undefined;
  /** Filesystem that the caller closes. Without this and `root` the agent must have one. */
  readonly filesystem?: Filesystem | undefined;
  /** Gives the model the file tools. @default true */
  readonly tools?: boolean | undefined;
  /** Budget in tokens for everything the workspace adds to the system prompt; 0 adds nothing. @default 8_000 */
  readonly promptTokens?: number | undefined;
  /** Skills beside those in `skills/`; of two with the same name, these win. */
  readonly skills?: readonly Skill[] | undefined;
  /** Groups of skills that are active in a session that never changed its groups. @default none */
  readonly activeGroups?: readonly string[] | undefined;
  /** Lines of one page of `read_file`. @default 2_000 */
  readonly maxReadLines?: number | undefined;
  /** UTF-8 bytes of one page of `read_file`. @default 65_536 */
  readonly maxReadBytes?: number | undefined;
  /** Largest image or other media file that `read_file` shows. @default 700_000 */
  readonly maxDataBytes?: number | undefined;
}

const optionsSchema = s
  .strictObject({
    root: s.string().min(1).optional(),
    shell: s.boolean().default(false),
    filesystem: s
      .custom<Filesystem>((value) => (value as Filesystem)?.contract === 1, "must be a Filesystem")
      .optional(),
    tools: s.boolean().default(true),
    promptTokens: s.int().min(0).default(8_000),
    skills: s.array(skillSchema).default([]),
    activeGroups: s.array(s.string().min(1)).default([]),
    maxReadLines: s.int().min(1).default(2_000),
    maxReadBytes: s.int().min(1_024).max(1_048_576).default(65_536),
    maxDataBytes: s.int().min(0).default(700_000),
  })
  .refine(({ root, filesystem }) => root === undefined || filesystem === undefined, {
    path: ["root"],
    message: "give root or filesystem, not both",
  })
  .refine(({ root, shell }) => !shell || root !== undefined, {
    path: ["shell"],
    message: "needs root; other filesystems decide for themselves",
  })
  .refine(({ skills }) => new Set(skills.map(({ name }) => name)).size === skills.length, {
    path: ["skills"],
    message: "two skills have the same name",
  });

type Settings = s.Infer<typeof optionsSchema>;

/**
 * Gives an agent files: file tools, sections of the system prompt, and an offloader for content that leaves the context.
 *
 * @throws ConfigurationError
 * @example
 * const agent = new ReActAgent({ name: "assistant", model, plugins: [workspace({ root: "./workspace" })] });
 */
export function workspace(options: WorkspaceOptions = {}): Plugin {
  const settings = parseOptions(optionsSchema, options, "workspace");
  return definePlugin({
    name: "workspace",
    contract: 1,
    setup: (host) => setUp(host, settings),
  });
}

function setUp(host: PluginHost, settings: Settings): void {
  const { root, shell, skills } = settings;
  const made = root === undefined ? undefined : new LocalFilesystem({ root, shell });
  const offered = made ?? settings.filesystem;
  if (offered) host.provide("filesystem", offered);
  if (made) host.onClose(() => (made as Filesystem).close?.());
  // The agent's own filesystem wins over the one provided here, so everything below asks the host for it.
  const filesystem = host.require("filesystem");
  const protectedPaths = new ProtectedPaths();
  const virtual = new VirtualFiles(
    new Map(skills.map((skill) => [skillPath(skill.name), skillText(skill)])),
  );
  const view = new FileView({ filesystem, virtual, protectedPaths });
  const parts = { agentId: host.agent.agentId, filesystem, view, protectedPaths, limits: settings };
  if (settings.tools) {
    const known = host.optional("filesystem")();
    // A filesystem of a plugin that is set up later is not known yet: `execute` checks when it is called.
    const canRun = known === undefined || known.run !== undefined;
    for (const tool of workspaceTools(parts, canRun)) host.tool(tool);
  }
  const readBackTool = settings.tools ? undefined : readOffloadedTool(parts);
  host.provide("offloader", new WorkspaceOffloader({ filesystem, readBackTool }));
  host.onStart(async () => filesystem.check?.());
  host.use(visitFiles(filesystem));
  if (settings.promptTokens > 0) {
    const prompt = workspacePrompt(host, filesystem, settings, protectedPaths);
    host.promptSection(
      (text, step) => prompt.append(text, step),
      (step) => prompt.prefetch(step),
    );
  }
  host.onDelete((slot) =>
    slot.userId === null ? deleteNamespace(filesystem, slot) : deleteOffloaded(filesystem, slot),
  );
  // A user's files are the same in every session, so any session id will do.
  host.onDeleteUser((userId) =>
    deleteNamespace(filesystem, { agentId: host.agent.agentId, userId, sessionId: "-" }),
  );
}

function workspacePrompt(
  host: PluginHost,
  filesystem: Filesystem,
  settings: Settings,
  protectedPaths: ProtectedPaths,
): WorkspacePrompt {
  const counter = host.optional("tokenCounter");
  const estimate = characterEstimate();
  return new WorkspacePrompt({
    filesystem,
    counter: () => counter() ?? estimate,
    maxTokens: settings.promptTokens,
    skills: settings.skills.map(skillEntry),
    activeGroups: settings.activeGroups,
    hasTools: settings.tools,
    readOnlyNames: protectedPaths.names,
  });
}

/** Enters the filesystem before a call and leaves it afterwards, where the filesystem needs it. */
function visitFiles(filesystem: Filesystem): Middleware {
  return {
    name: "workspace",
    onCall: (step, next) => (filesystem.enter ? during(filesystem.enter(step.slot), next) : next()),
  };
}

async function during<T>(entering: Promise<FileVisit>, work: () => Promise<T>): Promise<T> {
  const visit = await entering;
  const result = await work().catch(async (error) => {
    // The error of the call matters more than a failure to write its files back.
    await visit.leave().catch(() => undefined);
    throw error;
  });
  await visit.leave();
  return result;
}
