import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import type { Manifest } from "./workspace-copy.js";

const run = promisify(execFile);

/** Outcome of an installation. */
export interface Installed {
  /** Error code of npm, such as `ERESOLVE`, or null. */
  readonly error: string | null;
  /** Versions of core in the tree. */
  readonly cores: readonly string[];
}

/** A registry on loopback with the packages of this repository, from tarballs in a directory; it sends npm elsewhere for others. */
export class LocalRegistry {
  readonly #tarballs: string;
  readonly #server: Server;
  /** Registry of packages of others: the one that npm uses on this machine. */
  #upstream = "";

  constructor(tarballs: string) {
    this.#tarballs = tarballs;
    this.#server = createServer((request, response) => {
      const url = request.url ?? "/";
      this.#answer(decodeURIComponent(url).slice(1)).then(
        (body) => {
          const location = new URL(url, this.#upstream).href;
          if (body !== null) response.writeHead(200).end(body);
          else if (url.startsWith("/@holdfast")) response.writeHead(404).end();
          else response.writeHead(302, { location }).end();
        },
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  }

  async start(): Promise<void> {
    this.#upstream = (await npm(["config", "get", "registry"], tmpdir())).trim();
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Its address. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Makes an empty project whose npm finds the packages here. */
  async project(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), "holdfast-project-"));
    await writeFile(join(directory, "package.json"), '{ "private": true, "type": "module" }\n');
    const settings = `registry=${this.url}\nnoproxy=127.0.0.1\n`;
    await writeFile(join(directory, ".npmrc"), settings);
    return directory;
  }

  /** Lets npm work out the tree of an empty project with packages, such as `@holdfast/core@1.0.0`. */
  async resolve(packages: readonly string[]): Promise<Installed> {
    const directory = await this.project();
    const flags = [
      "--package-lock-only",
      "--no-audit",
      "--no-fund",
      "--cache",
      join(directory, "cache"),
    ];
    try {
      await npm(["install", "--package-lock=true", ...flags, ...packages], directory);
      const lock = JSON.parse(await readFile(join(directory, "package-lock.json"), "utf8"));
      const entries = Object.entries<{ version: string }>(lock.packages);
      const cores = entries.filter(([path]) => path.endsWith("node_modules/@holdfast/core"));
      return { error: null, cores: cores.map(([, { version }]) => version) };
    } catch (error) {
      const { stderr = String(error) } = error as { stderr?: string };
      return { error: /npm (?:error|ERR!) code (\w+)/u.exec(stderr)?.[1] ?? stderr, cores: [] };
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** Manifests of all versions of a package, as packed. */
  async manifests(name: string): Promise<readonly (Manifest & { readonly file: string })[]> {
    const prefix = `${name.replace("@", "").replace("/", "-")}-`;
    const files = (await readdir(this.#tarballs)).filter((file) =>
      new RegExp(`^${prefix}\\d`, "u").test(file),
    );
    return Promise.all(
      files.map(async (file) => ({
        ...manifestIn(await readFile(join(this.#tarballs, file))),
        file,
      })),
    );
  }

  async #answer(path: string): Promise<string | Buffer | null> {
    if (path.endsWith(".tgz") && !path.includes("/")) return readFile(join(this.#tarballs, path));
    const manifests = await this.manifests(path);
    const newest = manifests
      .map(({ version }) => version)
      .sort()
      .at(-1);
    if (newest === undefined) return null;
    const versions = await Promise.all(
      manifests.map(async ({ file, ...manifest }) => {
        const bytes = await readFile(join(this.#tarballs, file));
        const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
        const tarball = `${this.url}${file}`;
        return [manifest.version, { ...manifest, dist: { tarball, integrity } }] as const;
      }),
    );
    return JSON.stringify({
      name: path,
      "dist-tags": { latest: newest },
      versions: Object.fromEntries(versions),
    });
  }
}

/** Reads the manifest of a tarball here: npm asks for so many that a process for each takes longer than npm does. */
function manifestIn(tarball: Buffer): Manifest {
  const tar = gunzipSync(tarball);
  for (let at = 0; at < tar.length; ) {
    const field = (from: number, length: number) =>
      /^[^\0]*/u.exec(tar.toString("utf8", at + from, at + from + length))?.[0] ?? "";
    const size = Number.parseInt(field(124, 12), 8) || 0;
    const content = at + 512;
    if (field(0, 100) === "package/package.json")
      return JSON.parse(tar.toString("utf8", content, content + size));
    at = content + Math.ceil(size / 512) * 512;
  }
  throw new Error("the tarball has no manifest");
}

/** Runs npm in a directory. */
export async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await run("npm", args, { cwd, shell: process.platform === "win32" });
  return stdout;
}
