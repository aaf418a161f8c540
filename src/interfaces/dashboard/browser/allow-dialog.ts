import { differenceLine } from "../../../foundation/contracts/difference-line.ts";
import type {
  AgentHosts,
  AllowHostRequest,
  HostAllowed,
} from "../../../foundation/contracts/run-hosts.ts";
import { announce, onPress, post, showToast } from "./actions.ts";
import { byId, create, setText } from "./dom.ts";

type DeniedHost = AgentHosts["denied"][number];

/** Connects the dialog that shows what allows a host, and writes it then; returns what opens it. */
export function createAllowDialog(
  agent: string,
  onAllowed: () => void,
): (host: DeniedHost) => Promise<void> {
  const dialog = byId("allow-dialog", HTMLDialogElement);
  const path = `/api/agents/${encodeURIComponent(agent)}/allow-host`;
  let asked: Omit<AllowHostRequest, "dryRun"> | null = null;
  byId("allow-cancel").addEventListener("click", () => dialog.close());
  onPress(byId("allow-write"), async () => {
    const answer = await post<HostAllowed>(path, { ...asked, dryRun: false });
    dialog.close();
    if (answer === null) return;
    announce(`${agent} may reach ${answer.entry}`);
    onAllowed();
  });
  return async ({ host, port, entry }) => {
    asked = { host, port, private: entry?.endsWith(" private") === true };
    const answer = await post<HostAllowed>(path, { ...asked, dryRun: true });
    if (answer === null) return;
    // The list is older than the file.
    if (answer.change === "") return showToast(`${answer.file} has ${answer.entry} already.`);
    setText(byId("allow-title"), `Allow ${answer.entry} for ${agent}`);
    setText(byId("allow-file"), answer.file);
    byId("allow-change").replaceChildren(...changedLines(answer.change));
    dialog.showModal();
  };
}

/** Without the names of the files, which stand above. */
function changedLines(change: string): readonly HTMLElement[] {
  return change
    .trimEnd()
    .split("\n")
    .filter((line) => !["file", "place"].includes(differenceLine(line)))
    .map((line) => create("span", differenceLine(line), line));
}
