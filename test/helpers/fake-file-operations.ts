import { editableFiles } from "../../src/foundation/contracts/file-edits.ts";
import { allowedHost } from "./fake-allowed-host.ts";
import type { FakeOperations } from "./fake-operations.ts";

type FileOperations = Pick<
  FakeOperations,
  "deniedHosts" | "agentHosts" | "shownFiles" | "agentFiles" | "editFile" | "allowHost"
>;

/** Operations on agents' files that write none. `find` throws for an unknown agent, `called` remembers the call. */
export function fakeFileOperations(
  fake: () => FakeOperations,
  find: (name: string) => unknown,
  called: (...words: readonly unknown[]) => void,
): FileOperations {
  return {
    deniedHosts: [],
    agentHosts: (name) => {
      find(name);
      const { isEditable } = fake().shownFiles;
      return Promise.resolve({ days: 30, isEditable, denied: fake().deniedHosts });
    },
    shownFiles: {
      isEditable: true,
      files: editableFiles.map((name) => ({
        name,
        path: `agents/dev/${name}`,
        hash: "h",
        problems: [],
        text: name === "SKILL.md" ? "Do it.\n" : 'models = ["main"]\n',
      })),
    },
    agentFiles: (name) => {
      find(name);
      const { files, ...shown } = fake().shownFiles;
      const text = fake().details.get(name)?.config?.instructions;
      const own = (file: string) => (file === "SKILL.md" && text ? { text } : {});
      return Promise.resolve({
        ...shown,
        files: files.map((one) => ({ ...one, ...own(one.name) })),
      });
    },
    editFile: async (agent, { file, dryRun }) => {
      called("editFile", agent, file, dryRun);
      const path = `agents/${agent}/${file}`;
      const change = `--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-one\n+two\n`;
      return await Promise.resolve({ success: true, agent, file: path, change, written: !dryRun });
    },
    allowHost: async (agent, { host, port, dryRun, ...rest }) => {
      called("allowHost", agent, host, port, rest.private, dryRun);
      const allowed = allowedHost(agent, { host, port, private: rest.private });
      if (!dryRun) {
        fake().deniedHosts = fake().deniedHosts.map((one) =>
          one.host === host && one.port === port ? { ...one, entry: null } : one,
        );
      }
      return await Promise.resolve({ ...allowed, written: !dryRun });
    },
  };
}
