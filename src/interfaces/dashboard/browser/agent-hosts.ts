import { denyProblems } from "../../../foundation/contracts/deny-reasons.ts";
import { hostAndPort } from "../../../foundation/contracts/host-and-port.ts";
import type { AgentHosts } from "../../../foundation/contracts/run-hosts.ts";
import { createAllowDialog } from "./allow-dialog.ts";
import { fetchJson } from "./api.ts";
import { byId, create, createButton, setAttribute, setText, showText } from "./dom.ts";
import { soonOnce } from "./soon-once.ts";
import { createTime } from "./time-cell.ts";
import { createViews } from "./views.ts";
import type { View } from "./views.ts";

type DeniedHost = AgentHosts["denied"][number];

/** The hosts that an agent's runs were denied. */
export interface AgentHostsView {
  /** Reads them again, soon. */
  read(): void;
  tick(now: number): void;
}

const maxShown = 20;

/** Fills the page's panel, and connects what allows a host. */
export function createAgentHosts(name: string): AgentHostsView {
  const path = `/api/agents/${encodeURIComponent(name)}`;
  const read = soonOnce(async () => {
    const fetched = await fetchJson<AgentHosts>(`${path}/hosts`);
    if (fetched.ok) show(fetched.value);
  });
  const allow = createAllowDialog(name, read);
  const keyOf = ({ host, port, denied }: DeniedHost) => `${denied} ${port} ${host}`;
  const views = createViews<DeniedHost>(byId("host-list"), keyOf, () => createItem(allow));
  const show = ({ days, denied }: AgentHosts): void => {
    views.show(denied.slice(0, maxShown));
    const more = denied.length - maxShown;
    const none = denied.length === 0 ? `No requests were denied in the last ${days} days.` : "";
    showText("hosts-note", more > 0 ? `and ${more} more` : none);
    showText("hosts-days", denied.length === 0 ? "" : `denied in the last ${days} days`);
  };
  return { read, tick: views.tick };
}

function createItem(allow: (host: DeniedHost) => Promise<void>): View<DeniedHost> {
  const name = create("code");
  const why = create("span");
  const at = createTime("past");
  const button = createButton("link acts", "Allow for this agent …");
  const note = create("span", "muted", "allowed by now");
  let shown: DeniedHost | null = null;
  button.addEventListener("click", () => {
    if (shown !== null) void allow(shown);
  });
  const line = create("div", "sub", why, at.element);
  const element = create("li", "", name, line, button, note);
  return {
    elements: () => [element],
    show: (host) => {
      shown = host;
      const isListable = host.denied === "not_allowed" || host.denied === "private_address";
      setText(name, host.port === 0 ? host.host : hostAndPort(host));
      const times = host.attempts === 1 ? "once" : `${host.attempts.toLocaleString("en")} times`;
      setText(why, `${denyProblems[host.denied]} · ${times} · `);
      at.show(host.lastAt, "–");
      button.hidden = host.entry === null;
      setAttribute(button, "aria-label", `Allow for this agent … ${hostAndPort(host)}`);
      note.hidden = !isListable || host.entry !== null;
    },
    tick: (now) => at.tick(now),
  };
}
