import { StateTooLargeError } from "@holdfast/core";
import { privateMariadb, tcpProxy } from "@holdfast/testing/servers";
import { createPool } from "mysql2/promise";
import { expect, test } from "vitest";
import { asBytes } from "../../src/connection/cells.js";
import { openDatabase } from "../../src/connection/open-database.js";

test.each([1, 64])(
  "what is too large for a server that takes %i MB is refused before it is sent, and no less",
  async (megabytes) => {
    await using mariadb = await privateMariadb({ args: [`--max-allowed-packet=${megabytes}M`] });
    await using proxy = await tcpProxy(mariadb);
    const pool = createPool({
      host: proxy.host,
      port: proxy.port,
      user: "root",
      database: "holdfast",
    });
    await pool.query("CREATE TABLE bodies (id INT PRIMARY KEY, body MEDIUMBLOB NOT NULL)");
    const database = openDatabase({
      pool,
      tablePrefix: "",
      migrate: true,
      commandTimeoutMs: 30_000,
    });
    const sql = "REPLACE INTO bodies (id, body) VALUES (?, ?)";
    await database.write("writing", sql, [0, Buffer.alloc(100_000)]);
    // What a column holds, or what the server takes: whichever is less.
    const limit = Math.min(megabytes * 1_048_576, 16_777_215);
    const sentBefore = proxy.bytesUp;
    const tooMuch = [1, Buffer.alloc(limit + 1)];
    for (const work of [
      () => database.write("writing", sql, tooMuch),
      () => database.insert("writing", sql, tooMuch),
      () => database.transaction("writing", (tx) => tx.write(sql, tooMuch)),
    ])
      await expect(work()).rejects.toSatisfy(StateTooLargeError.is);
    expect(proxy.bytesUp - sentBefore).toBeLessThan(1_000);
    const most = Buffer.alloc(limit - 2_048, 1);
    await database.write("writing", sql, [2, most]);
    const [stored] = await database.read("reading", "SELECT body FROM bodies WHERE id = 2");
    expect(asBytes(stored?.[0]).equals(most)).toBe(true);
    await pool.end();
  },
);
