import { existsSync } from "node:fs";

// What the environment already has wins over the file.
if (existsSync(".env")) process.loadEnvFile(".env");
