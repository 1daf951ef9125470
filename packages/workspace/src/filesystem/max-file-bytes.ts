import { z } from "zod";

/** Largest file by default: 64 MB. Whole files pass through memory. */
export const DEFAULT_MAX_FILE_BYTES = 67_108_864;

/** The option `maxFileBytes` of every filesystem; a gigabyte is the most that one value in memory should be. */
export const maxFileBytesSchema: z.ZodDefault<z.ZodInt> = z
  .int()
  .min(1)
  .max(1_073_741_824)
  .default(DEFAULT_MAX_FILE_BYTES);
