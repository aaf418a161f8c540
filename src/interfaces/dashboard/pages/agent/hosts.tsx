import { useState } from "preact/hooks";
import { denyProblems, hostAndPort } from "../../../../foundation/contracts/deny-reasons.ts";
import type { AgentHosts, HostAllowed } from "../../../../foundation/contracts/run-hosts.ts";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import { post } from "../../live/api.ts";
import { announce, showToast } from "../../live/toasts.ts";
import { agentApi } from "../../text/addresses.ts";
import { Action } from "../../kit/action.tsx";
import { Items, Panel } from "../../kit/panel.tsx";
import { ListTime } from "../../kit/time.tsx";
import { useDialog } from "../../kit/dialog.tsx";
import { WriteDialog } from "./write-dialog.tsx";

type DeniedHost = AgentHosts["denied"][number];

interface HostsProps {
  readonly agent: string;
  readonly first: FirstDocument<AgentHosts>;
}

const maxShown = 20;

/** The panel with the hosts that an agent's runs were denied, and the dialog that allows one of them. */
export function Hosts({ agent, first }: HostsProps) {
  const path = () => `${agentApi(agent)}/hosts`;
  const { value: hosts, refresh } = useDocument(path, { ...first, agent, isQuiet: true });
  /** A host that may be allowed, and the change of the config. */
  const [asked, setAsked] = useState<{ body: object; answer: HostAllowed } | null>(null);
  const dialog = useDialog();
  const allowPath = `${agentApi(agent)}/allow-host`;
  const ask = async ({ host, port, entry }: DeniedHost): Promise<void> => {
    const body = { host, port, private: entry?.endsWith(" private") === true };
    const answer = await post<HostAllowed>(allowPath, { ...body, dryRun: true });
    if (answer === null) return;
    // The list is older than the file.
    if (answer.change === "") return showToast(`${answer.file} has ${answer.entry} already.`);
    setAsked({ body, answer });
    dialog.open();
  };
  const allow = async (): Promise<void> => {
    const answer = await post<HostAllowed>(allowPath, { ...asked?.body, dryRun: false });
    if (answer === null) return;
    announce(`${agent} may reach ${answer.entry}`);
    refresh();
  };
  const denied = hosts?.denied ?? [];
  return (
    <Panel
      id="hosts"
      title="Hosts"
      after={
        denied.length > 0 && <span class="muted after">denied in the last {hosts?.days} days</span>
      }
    >
      <Items id="hosts" items={denied} most={maxShown} note={hosts === null ? "" : noteOf(hosts)}>
        {(host) => (
          <Host
            host={host}
            ask={hosts?.isEditable ? ask : null}
            key={`${host.denied} ${hostAndPort(host)}`}
          />
        )}
      </Items>
      <WriteDialog
        id="allow-dialog"
        title={`Allow ${asked?.answer.entry ?? ""} for ${agent}`}
        edit={asked?.answer ?? null}
        onConfirm={() => void allow()}
        {...dialog}
      >
        applies immediately, including in running runs.
      </WriteDialog>
    </Panel>
  );
}

function noteOf({ days, denied }: AgentHosts): string {
  if (denied.length === 0) return `No requests were denied in the last ${days} days.`;
  return denied.length > maxShown ? `and ${denied.length - maxShown} more` : "";
}

interface HostProps {
  readonly host: DeniedHost;
  /** Null where files are not edited over HTTP. */
  readonly ask: ((host: DeniedHost) => unknown) | null;
}

function Host({ host, ask }: HostProps) {
  const { port, denied, attempts, lastAt, entry } = host;
  const isListable = denied === "not_allowed" || denied === "private_address";
  const times = attempts === 1 ? "once" : `${attempts.toLocaleString("en")} times`;
  return (
    <li>
      <code>{port === 0 ? host.host : hostAndPort(host)}</code>
      <div class="sub">
        {`${denyProblems[denied]} · ${times} · `}
        <ListTime at={lastAt} />
      </div>
      {entry !== null && ask !== null && (
        <Action
          class="link acts"
          label={`Allow for this agent … ${hostAndPort(host)}`}
          act={() => ask(host)}
        >
          Allow for this agent …
        </Action>
      )}
      {isListable && entry === null && <span class="muted">allowed by now</span>}
    </li>
  );
}
