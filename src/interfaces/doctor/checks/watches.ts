import { watch } from "node:fs";
import { messageOf } from "../../../foundation/errors.ts";
import type { Check, Finding } from "../finding.ts";
import { ok } from "../finding.ts";

/** Whether the system can notify a scheduler of changes of one more file; without that it has to poll. */
export const watches: Check = {
  name: "watches",
  run: ({ projectDir }) => [inspect(projectDir)],
};

function inspect(projectDir: string): Finding {
  try {
    watch(projectDir, { persistent: false }).close();
    return ok("the system reports changes of files");
  } catch (error) {
    return {
      severity: "warning",
      what: `the system can't watch one more file (${messageOf(error)}): changes are seen later`,
      where: null,
      fix: "sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024",
    };
  }
}
