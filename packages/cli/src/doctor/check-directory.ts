import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { getuid } from "node:process";
import { formatBytes } from "../terminal/format.js";
import { broken, type Finding, fine, warning } from "./finding.js";

/** Network file systems, by their type in `statfs`. */
const networkTypes: Readonly<Record<number, string>> = {
  26985: "NFS",
  20859: "SMB",
  4283649346: "CIFS",
  4266872130: "SMB2",
};

const LEAST_FREE_BYTES = 100_000_000;

/** Checks that a directory, or its parent, is writable, private, local and not full. */
export async function checkDirectory(check: string, path: string): Promise<readonly Finding[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    const parent = await nearest(path);
    if (await isWritable(parent))
      return [fine(check, `${path} does not exist yet; it is created at the first save`)];
    return [
      broken(
        check,
        `${path} cannot be created: ${parent} is not writable`,
        "choose another directory, or make it writable",
      ),
    ];
  }
  if (!found.isDirectory())
    return [broken(check, `${path} is not a directory`, "move the file away, or choose another")];
  if (!(await isWritable(path)))
    return [
      broken(check, `${path} is not writable`, `make it writable: chown, or chmod u+rwx ${path}`),
    ];
  const findings: Finding[] = [];
  if (getuid !== undefined && found.uid !== getuid())
    findings.push(
      warning(
        check,
        `${path} belongs to user ${found.uid}, not to you (${getuid()})`,
        "run the agent as its owner, or choose a directory of your own: its owner can read every conversation",
      ),
    );
  if ((found.mode & 0o022) !== 0)
    findings.push(
      warning(
        check,
        `${path} is writable for ${found.mode & 0o002 ? "all users" : "its group"}`,
        `others could change or remove sessions: chmod go-w ${path}`,
      ),
    );
  findings.push(...(await checkDisk(check, path)));
  return findings.length > 0 ? findings : [fine(check, `${path} is writable, and yours`)];
}

async function checkDisk(check: string, path: string): Promise<readonly Finding[]> {
  const disk = await statfs(path).catch(() => undefined);
  if (disk === undefined) return [];
  const findings: Finding[] = [];
  const network = networkTypes[disk.type];
  if (network !== undefined)
    findings.push(
      warning(
        check,
        `${path} is on ${network}`,
        "appends and links over a network do not guarantee saves; use a local disk, Redis or MySQL",
      ),
    );
  const free = disk.bavail * disk.bsize;
  if (free < LEAST_FREE_BYTES)
    findings.push(
      warning(
        check,
        `${formatBytes(free)} are free at ${path}`,
        "free some space: saves fail on a full disk",
      ),
    );
  return findings;
}

async function nearest(path: string): Promise<string> {
  let parent = dirname(path);
  while ((await stat(parent).catch(() => undefined)) === undefined) parent = dirname(parent);
  return parent;
}

async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}
