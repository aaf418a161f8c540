import { staleSchemas, writeSchemas } from "../../operations/editor-schemas.ts";
import type { Check } from "../finding.ts";
import { alCommand, ok } from "../finding.ts";

/** Whether editors find the schemas that the first lines of the config files name: no run needs them. */
export const editor: Check = {
  name: "editor",
  run: async ({ projectDir, unreadable }) => {
    if (unreadable !== null) return [];
    const stale = await staleSchemas(projectDir);
    if (stale.length === 0) return [ok("editors find this version's schemas in .al/schema")];
    const files = stale.map(({ file }) => `.al/schema/${file}`).join(" and ");
    return [
      {
        severity: "note",
        what: `${files}: missing or of another version, so editors can't check config.toml`,
        where: null,
        fix: alCommand({ projectDir }, "doctor"),
        repair: () => writeSchemas(projectDir),
      },
    ];
  },
};
