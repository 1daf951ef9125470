export type { EncryptionKey, EncryptionOptions } from "./key-ring.js";
export { type EncryptableParts, type EncryptedParts, withEncryption } from "./with-encryption.js";
