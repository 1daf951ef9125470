import { describe, expect, test } from "vitest";
import { mine, run, sandboxed } from "./sandboxed.js";

const megabyte = 1_048_576;
const fill = "head -c 5M /dev/zero";

describe("a command that fills the disk is stopped, also where a listing does not look", () => {
  test.each([
    ["under a name that is not UTF-8", `${fill} > "$(printf '\\377big')"`],
    ["below a name that is not UTF-8", `d="$(printf '\\377d')"; mkdir "$d"; ${fill} > "$d/big"`],
    [
      "deeper than a path can name",
      `p=$(printf 'd/%.0s' $(seq 120)); mkdir -p $p; ${fill} > $p/big`,
    ],
    ["in a directory without rights", `mkdir d; ${fill} > d/big; chmod 0 d`],
    ["in a directory that nobody may enter", `mkdir d; ${fill} > d/big; chmod 400 d`],
  ])("%s", async (_, command) => {
    await using box = await sandboxed({ maxTotalBytes: megabyte });
    const visit = await box.files.enter(mine);
    await expect(run(box.files, `${command}; sleep 10`)).rejects.toMatchObject({
      code: "TOO_LARGE",
      message: expect.stringContaining("maxTotalBytes"),
    });
    await run(box.files, "chmod -R u+rwx . ; rm -rf ./*");
    await visit.leave();
  });
});
