import type { JsonObject, JsonValue } from "@holdfast/core";
import { isRecord, toJsonValue } from "@holdfast/core/plugin-kit";

/** Metadata that a provider package attaches to a part, by namespace of the package. */
export type PartMetadata = Readonly<Record<string, JsonObject>>;

/**
 * Puts metadata under the name of its model, as a message keeps it.
 *
 * Signatures and item ids mean nothing to another provider, and a signature is bound to the model that made it. Each model
 * finds its own metadata under its name and never sees the rest.
 */
export function keepMetadata(owner: string, metadata: PartMetadata): JsonObject {
  return { [owner]: metadata };
}

/** Returns what {@link keepMetadata} kept for this model; undefined for a block of another model. */
export function metadataFor(
  owner: string,
  block: { readonly providerMetadata?: JsonObject | undefined },
): PartMetadata | undefined {
  const kept = block.providerMetadata?.[owner];
  return isRecord(kept) ? (kept as PartMetadata) : undefined;
}

/** Returns the metadata of a stream part as JSON; undefined if there is none that JSON can represent. */
export function readMetadata(value: unknown): PartMetadata | undefined {
  if (!isRecord(value)) return undefined;
  const metadata: Record<string, JsonObject> = {};
  for (const [namespace, fields] of Object.entries(value)) {
    const kept = jsonOf(fields);
    if (isRecord(kept)) metadata[namespace] = kept as JsonObject;
  }
  return Object.keys(metadata).length > 0 ? metadata : undefined;
}

/** Merges later metadata into earlier, field by field: providers send an id first and a signature last. */
export function mergeMetadata(
  earlier: PartMetadata | undefined,
  later: PartMetadata | undefined,
): PartMetadata | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier;
  const merged: Record<string, JsonObject> = { ...earlier };
  for (const [namespace, fields] of Object.entries(later))
    merged[namespace] = { ...merged[namespace], ...fields };
  return merged;
}

/** Returns a field from any namespace: packages name theirs after the provider's configured name. */
export function metadataField(metadata: PartMetadata | undefined, name: string): JsonValue {
  for (const fields of Object.values(metadata ?? {})) {
    const value = fields[name];
    if (value !== undefined && value !== null) return value;
  }
  return null;
}

function jsonOf(value: unknown): JsonValue | undefined {
  try {
    return toJsonValue(value, "provider metadata");
  } catch {
    // Metadata that cannot be kept is not worth failing a reply for.
    return undefined;
  }
}
