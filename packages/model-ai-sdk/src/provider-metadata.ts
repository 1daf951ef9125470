import type { JsonObject, JsonValue } from "@holdfast/core";
import { isRecord, toJsonValue } from "@holdfast/core/plugin-kit";

/** What a provider package attaches to a part, by the package's own namespace. */
export type PartMetadata = Readonly<Record<string, JsonObject>>;

/**
 * Metadata as a message keeps it: under the name of the model it is from.
 *
 * Signatures and item ids mean nothing to another provider, and a signature is bound to the model that made it. Under
 * its own name each model finds what is its own and never sees the rest.
 */
export function keepMetadata(owner: string, metadata: PartMetadata): JsonObject {
  return { [owner]: metadata };
}

/** What {@link keepMetadata} kept for this model; undefined when a block is another's. */
export function metadataFor(
  owner: string,
  block: { readonly providerMetadata?: JsonObject | undefined },
): PartMetadata | undefined {
  const kept = block.providerMetadata?.[owner];
  return isRecord(kept) ? (kept as PartMetadata) : undefined;
}

/** The metadata of a stream part as JSON, or undefined when there is none that JSON can hold. */
export function readMetadata(value: unknown): PartMetadata | undefined {
  if (!isRecord(value)) return undefined;
  const metadata: Record<string, JsonObject> = {};
  for (const [namespace, fields] of Object.entries(value)) {
    const kept = jsonOf(fields);
    if (isRecord(kept)) metadata[namespace] = kept as JsonObject;
  }
  return Object.keys(metadata).length > 0 ? metadata : undefined;
}

/** Later metadata laid over earlier, field by field: providers send an id first and a signature last. */
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

/** A field of the metadata, whichever namespace it is in: packages name theirs after the provider's configured name. */
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
