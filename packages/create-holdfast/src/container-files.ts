import { providers, type Store } from "./choices.js";
import { packageManagers } from "./package-manager.js";
import type { Project } from "./project-options.js";

/** Writes the Dockerfile of a project: built in one stage, run in another as a user without rights. */
export function dockerfile({ template, packageManager }: Project): string {
  const { setup, lockfile, prune, run, settings } = packageManagers[packageManager];
  const isPage = template === "web-chat";
  const pageFiles = isPage ? " build-page.mjs" : "";
  const lines = [
    "FROM node:22-slim AS build",
    "WORKDIR /app",
    ...setup,
    "# The lockfile is there once the packages have been installed for the first time.",
    `COPY ${["package.json", `${lockfile}*`, ...(settings ? [settings.file] : [])].join(" ")} ./`,
    `RUN ${packageManager} install`,
    `COPY tsconfig.json holdfast.config.ts${pageFiles} ./`,
    "COPY src ./src",
    "COPY test ./test",
    `RUN ${run("build")}`,
    `RUN ${prune}`,
    "",
    "FROM node:22-slim",
    `ENV NODE_ENV=production${isPage ? " HOST=0.0.0.0" : ""}`,
    "WORKDIR /app",
    "COPY --from=build /app/package.json ./",
    "COPY --from=build /app/node_modules ./node_modules",
    "COPY --from=build /app/dist ./dist",
    "# Files of the agent, and sessions where they are stored in files: mount a volume here.",
    "RUN mkdir .holdfast && chown node:node .holdfast",
    "USER node",
    ...(isPage ? ["EXPOSE 3000"] : []),
    'ENTRYPOINT ["node", "dist/src/main.js"]',
  ];
  return `${lines.join("\n")}\n`;
}

/** Server of a store, as a service of a compose file. */
const servers: Readonly<Record<Store, readonly string[]>> = {
  json: [],
  redis: [
    "  redis:",
    "    image: redis:8-alpine",
    "    # What is confirmed is on the disk, and nothing is evicted.",
    '    command: ["redis-server", "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"]',
    "    ports:",
    '      - "127.0.0.1:6379:6379"',
    "    volumes:",
    "      - redis:/data",
    "    healthcheck:",
    '      test: ["CMD", "redis-cli", "ping"]',
    "      interval: 2s",
    "      retries: 30",
  ],
  mysql: [
    "  mysql:",
    "    image: mysql:8.4",
    "    environment:",
    "      MYSQL_ROOT_PASSWORD: holdfast",
    "      MYSQL_DATABASE: holdfast",
    "    ports:",
    '      - "127.0.0.1:3306:3306"',
    "    volumes:",
    "      - mysql:/var/lib/mysql",
    "    healthcheck:",
    '      test: ["CMD", "mysqladmin", "ping", "-h", "127.0.0.1", "-pholdfast"]',
    "      interval: 2s",
    "      retries: 60",
  ],
};

/** Variable with the address of a store, and its value inside the network of the compose file. */
const addresses: Readonly<Record<Store, readonly string[]>> = {
  json: [],
  redis: ["      REDIS_URL: redis://redis:6379"],
  mysql: ["      MYSQL_URL: mysql://root:holdfast@mysql:3306/holdfast"],
};

/** Writes the compose.yaml of a project: the program, and the server of its store. */
export function composeFile({ template, provider, store }: Project): string {
  // Without a provider it is the key of the one that the README adds.
  const key = providers[provider].key ?? providers.anthropic.key;
  const environment = [`      ${key}: \${${key}:-}`, ...addresses[store]];
  const volumes = ["files", ...(store === "json" ? [] : [store])];
  const lines = [
    "services:",
    "  app:",
    "    build: .",
    "    # Ends the processes in order: they give back what they were doing.",
    "    stop_grace_period: 30s",
    "    environment:",
    ...environment,
    ...(template === "web-chat" ? ["    ports:", '      - "127.0.0.1:3000:3000"'] : []),
    "    volumes:",
    "      - files:/app/.holdfast",
    ...(template === "script" ? [] : ["    restart: unless-stopped"]),
    ...(store === "json"
      ? []
      : ["    depends_on:", `      ${store}:`, "        condition: service_healthy"]),
    ...servers[store],
    "volumes:",
    ...volumes.map((name) => `  ${name}:`),
  ];
  return `${lines.join("\n")}\n`;
}
