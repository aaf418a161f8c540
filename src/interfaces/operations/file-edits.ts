import type { EditFileRequest } from "../../foundation/contracts/file-edits.ts";
import { storedSecrets } from "../../foundation/credentials/list-credentials.ts";
import type { AllowHostRequest } from "../../foundation/contracts/run-hosts.ts";
import { allowAlways } from "./allow-always.ts";
import type { AllowedAlways } from "./allow-always.ts";
import { allowHost } from "./allow-host.ts";
import { agentFiles, editFile } from "./edit-file.ts";
import type { EditContext } from "./edit-file.ts";

/** The operations that read and change agents' own files. The scheduler reads a file again when it changed. */
export function createFileEdits(context: EditContext) {
  let last: Promise<unknown> = Promise.resolve();
  const learned = new Set<string>();
  // A credential that no run has loaded yet is hidden too, and the text stays the same when one does.
  const learn = async (): Promise<void> => {
    const stored = await storedSecrets(context.home).catch(() => []);
    const added = stored.filter((secret) => !learned.has(secret));
    for (const secret of added) learned.add(secret);
    context.redactor.add(added);
  };
  // One after the other: each edit begins with the text that the edit before has written.
  const inTurn = <T>(edit: () => Promise<T>): Promise<T> => {
    const next = last.then(learn).then(edit);
    last = next.catch(() => undefined);
    return next;
  };
  return {
    /** The texts and problems of an agent's files, secrets redacted. Rejects with UserError `unknown_agent`. */
    agentFiles: async (agent: string) => {
      await learn();
      return agentFiles(agent, context);
    },
    /**
     * Replaces the text of an agent's file, or shows the change. Rejects with UserError `unknown_agent`, `read_only`,
     * `conflict`, `invalid_config` or `refused`.
     */
    editFile: (agent: string, request: EditFileRequest) =>
      inTurn(() => editFile(agent, request, context)),
    /** Changes the agent's file so that a gate no longer holds the host or call. Rejects as `editFile`. */
    allowAlways: (allowed: AllowedAlways, { dryRun }: { readonly dryRun: boolean }) =>
      inTurn(() => allowAlways(allowed, dryRun, context)),
    /** Adds a host to the allow list in the agent's file, or shows the change. Rejects as `editFile`, or with `invalid_host`. */
    allowHost: (agent: string, request: AllowHostRequest) =>
      inTurn(() => allowHost(agent, request, context)),
  };
}
