import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { runFacts, runHostText } from "../../../foundation/contracts/run-facts.ts";
import type { RunView } from "../../../foundation/contracts/run-view.ts";
import { agentAddress } from "./addresses.ts";
import { callNodes, callTree } from "./call-tree.ts";
import { parsed, preformatted, prettyText } from "./calls-view.ts";
import { byId, create, createLink, setText } from "./dom.ts";
import { exactTime } from "./format.ts";
import { transcriptView } from "./markdown-view.ts";
import { runLink } from "./run-parts.ts";
import { showSince } from "./run-since.ts";
import { triggerWords } from "./trigger-words.ts";
import type { ReceiptView } from "../../../foundation/contracts/operator-api.ts";
import { fetchJson } from "./api.ts";
import { receiptParts } from "./trigger-details.ts";

/** Deliveries that were read: they don't change. */
const read = new Map<string, HTMLElement>();

/** The stored delivery that started a run; filled once it is read. */
function deliveryOf(receiptId: string): HTMLElement {
  const known = read.get(receiptId);
  if (known !== undefined) return known;
  const element = create("div", "delivery", create("p", "muted", "Reading the delivery …"));
  read.set(receiptId, element);
  const path = `/api/stats/webhooks/${encodeURIComponent(receiptId)}`;
  void fetchJson<ReceiptView>(path).then((fetched) => {
    const note = (text: string) => create("p", "muted", text);
    if (fetched.ok) return element.replaceChildren(...receiptParts(fetched.value));
    const isGone = fetched.status === 404;
    element.replaceChildren(note(isGone ? "Its delivery is no longer stored." : fetched.detail));
    // Another look may have more luck.
    if (!isGone) read.delete(receiptId);
  });
  return element;
}

interface Panel {
  /** What it shows of a run. */
  readonly of: (run: RunView) => unknown;
  readonly show: (run: RunView) => void;
}

const panels: readonly Panel[] = [
  { of: ({ value, lastWords, outcome }) => [value, lastWords, outcome], show: showResult },
  { of: ({ at, prompt, calls: { received } }) => [at, prompt, received], show: showTrigger },
  { of: ({ calls }) => calls, show: showCalls },
  { of: (run) => runFacts(run, String), show: showFacts },
  { of: ({ lastSuccess, outcome }) => [lastSuccess, outcome], show: showSince },
  { of: ({ hosts }) => hosts, show: showHosts },
];
const shown = new Map<Panel, string>();

/** Fills the panels of a run's page. One whose content stays is left alone: a selection in it stays, too. */
export function showRunPanels(run: RunView): void {
  for (const panel of panels) {
    const content = JSON.stringify(panel.of(run));
    if (shown.get(panel) === content) continue;
    shown.set(panel, content);
    panel.show(run);
  }
}

function showResult({ value, lastWords, outcome }: RunView): void {
  const hasValue = value !== null && value !== undefined;
  const nothing = outcome === null ? "Nothing yet." : "It returned nothing and said nothing.";
  byId("result-note").hidden = hasValue || lastWords !== null;
  setText(byId("result-note"), nothing);
  const returned = hasValue ? [preformatted(prettyText(value), "Returned")] : [];
  byId("value").replaceChildren(...titled("Returned", returned));
  const said = lastWords === null ? [] : transcriptView(plainText(lastWords));
  const words = said.length === 0 ? [] : [create("div", "markdown", ...said)];
  byId("last-words").replaceChildren(...titled("Said last", words));
}

/** Content below its title; none for no content. */
function titled(title: string, content: readonly HTMLElement[]): readonly HTMLElement[] {
  return content.length === 0 ? [] : [create("div", "said", create("h3", "", title), ...content)];
}

function showTrigger(run: RunView): void {
  setText(byId("trigger-words"), triggerWords(run));
  setText(byId("arrived"), exactTime(Date.parse(run.at)));
  const context = run.calls.received?.context ?? null;
  const prompt = run.prompt === null ? [] : [create("blockquote", "prompt", plainText(run.prompt))];
  const asked = context === null ? [] : [preformatted(prettyText(parsed(context)), "Context")];
  byId("asked").replaceChildren(
    ...titled("Prompt", prompt),
    ...titled("Context", asked),
    ...(run.receiptId === null ? [] : [deliveryOf(run.receiptId)]),
  );
}

function showCalls({ calls: { received, made } }: RunView): void {
  byId("calls").hidden = received === null && made.length === 0;
  byId("called-by").hidden = received === null;
  if (received !== null) byId("called-by").replaceChildren("Called by ", callerOf(received));
  byId("calls-made").replaceChildren(...(made.length === 0 ? [] : [callTree(callNodes(made), "")]));
}

type ReceivedCall = NonNullable<RunView["calls"]["received"]>;

function callerOf({ caller, callerInstance }: ReceivedCall): HTMLElement | string {
  if (caller === null) return "an agent that is not known";
  if (callerInstance !== null) return runLink(caller, callerInstance);
  return createLink(agentAddress(caller), "", caller);
}

function showFacts(run: RunView): void {
  const facts = runFacts(run, (at) => exactTime(Date.parse(at)));
  const rows = facts.flatMap(([label, text]) => [
    create("dt", "", label),
    create("dd", "", plainText(text)),
  ]);
  byId("facts").replaceChildren(...rows);
}

/** The others are in a fold. */
const shownHosts = 10;

function showHosts({ hosts }: RunView): void {
  byId("hosts").hidden = hosts.length === 0;
  const items = hosts.map((host) => {
    const name = create("code", host.denied === null ? "" : "outcome failed", runHostText(host));
    return create("li", "", name);
  });
  const rest = items.slice(shownHosts);
  const more = create("summary", "", `and ${rest.length} more`);
  const fold = create("li", "", create("details", "", more, create("ul", "claims", ...rest)));
  byId("host-list").replaceChildren(
    ...items.slice(0, shownHosts),
    ...(rest.length > 0 ? [fold] : []),
  );
}
