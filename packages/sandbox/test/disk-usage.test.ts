import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { mine, run, sandboxed } from "./sandboxed.js";

const megabyte = 1_048_576;
const fill = "head -c 5M /dev/zero";

describe.each(["memory", "disk"] as const)(
  "a command that fills %s is stopped, also where a listing does not look",
  (storage) => {
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
      await using box = await sandboxed({ storage, maxTotalBytes: megabyte });
      const visit = await box.files.enter(mine);
      await expect(run(box.files, `${command}; sleep 50`)).rejects.toMatchObject({
        code: "TOO_LARGE",
        message: expect.stringContaining("maxTotalBytes"),
      });
      // Ended again where it has not got far enough when the files are next measured.
      const clear = () => run(box.files, "chmod -R u+rwx . ; rm -rf ./*");
      await eventually(() => clear().then(Boolean, () => false));
      await visit.leave();
    });
  },
);
