import { editableFiles, type ShownFiles } from "../../src/foundation/contracts/file-edits.ts";
import type { AgentAnswer } from "../../src/foundation/contracts/operator-api.ts";
import type { AgentHosts } from "../../src/foundation/contracts/run-hosts.ts";
import type { FileContext } from "../../src/runtime/agents/operations.ts";
import { allowedHost } from "./fake-allowed-host.ts";

export const shownFiles: ShownFiles = {
  isEditable: true,
  files: editableFiles.map((name) => ({
    name,
    path: `agents/dev/${name}`,
    hash: "h",
    problems: [],
    text: name === "SKILL.md" ? "Do it.\n" : 'models = ["main"]\n',
  })),
};

interface FilesState {
  readonly shownFiles: ShownFiles;
  deniedHosts: AgentHosts["denied"];
  readonly details: ReadonlyMap<string, Pick<AgentAnswer, "config">>;
}

/** Operations on agents' files that write none. `find` throws for an unknown agent, `called` remembers the call. */
export function fakeFileOperations(
  state: FilesState,
  find: (name: string) => unknown,
  called: (...words: readonly unknown[]) => void,
): FileContext["files"] & Pick<FileContext, "agentHosts"> {
  return {
    allowAlways: () => Promise.resolve(() => Promise.reject(new Error("not undone"))),
    agentHosts: (name) => {
      find(name);
      const { isEditable } = state.shownFiles;
      return Promise.resolve({ days: 30, isEditable, denied: state.deniedHosts });
    },
    agentFiles: (name) => {
      find(name);
      const { files, ...shown } = state.shownFiles;
      const text = state.details.get(name)?.config?.instructions;
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
        state.deniedHosts = state.deniedHosts.map((one) =>
          one.host === host && one.port === port ? { ...one, entry: null } : one,
        );
      }
      return await Promise.resolve({ ...allowed, written: !dryRun });
    },
  };
}
