import { chmodSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Filesystem, InMemoryFilesystem, InMemoryKeyValueStore } from "@holdfast/core";
import type { FileNamespace, FileVisit } from "@holdfast/core/plugin-kit";
import { describeFilesystem } from "@holdfast/testing";
import { RemoteFilesystem } from "@holdfast/workspace";
import { afterAll } from "vitest";
import { SandboxFilesystem } from "../src/index.js";

const scratch = mkdtempSync(join(tmpdir(), "holdfast-test-"));
chmodSync(scratch, 0o755);
afterAll(() => rm(scratch, { recursive: true, force: true }));

const stores = new WeakMap<Filesystem, InMemoryKeyValueStore>();

function over(keyValue: InMemoryKeyValueStore): SandboxFilesystem {
  const files = new SandboxFilesystem({ files: new RemoteFilesystem({ keyValue }), scratch });
  stores.set(files, keyValue);
  return files;
}

describeFilesystem("SandboxFilesystem between calls", {
  create: () => over(new InMemoryKeyValueStore()),
  reopen: (files) => over(stores.get(files) ?? new InMemoryKeyValueStore()),
  cleanup: (files) => files.close?.(),
});

/** Enters each namespace before it is first used, so that everything happens in the scratch directory. */
class Entered extends SandboxFilesystem {
  readonly #visits = new Map<string, Promise<FileVisit>>();

  override async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    await this.#enter(namespace);
    return super.read(namespace, path);
  }

  override async write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    await this.#enter(namespace);
    return super.write(namespace, path, bytes);
  }

  override async append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    await this.#enter(namespace);
    return super.append(namespace, path, bytes);
  }

  async #enter(namespace: FileNamespace): Promise<void> {
    const key = JSON.stringify(namespace);
    const visit = this.#visits.get(key) ?? this.enter(namespace);
    this.#visits.set(key, visit);
    await visit;
  }
}

for (const storage of ["memory", "disk"] as const)
  describeFilesystem(`SandboxFilesystem during a call, in ${storage}`, {
    create: () => new Entered({ files: new InMemoryFilesystem(), scratch, storage }),
    cleanup: (files) => files.close?.(),
  });
