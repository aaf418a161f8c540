import { useEffect, useRef, useState } from "preact/hooks";
import type { CallTree as Calls, HistoryEntry } from "../../../contracts/history.ts";
import { counted } from "../../../contracts/format.ts";
import { getJson } from "./api.ts";
import { callNodes, CallTree } from "./call-tree.tsx";
import { Preformatted } from "./preformatted.tsx";

/** Whether there is anything to show of the calls around an entry. */
export function hasCalls({ kind, calls, value }: HistoryEntry): boolean {
  return kind === "agent-call" || calls > 0 || value !== null;
}

/** The context and the value of an entry, and the calls around it; what can have changed is read again. */
export function CallsView({ entry }: { readonly entry: HistoryEntry }) {
  const [calls, setCalls] = useState<Calls | null>(null);
  const [note, setNote] = useState("Reading it …");
  const settledEntry = useRef("");
  useEffect(() => {
    const version = JSON.stringify(entry);
    if (version === settledEntry.current) return;
    const path = `/api/stats/triggers/${encodeURIComponent(entry.id)}/calls`;
    void getJson<Calls>(path).then((fetched) => {
      if (!fetched.ok) return setNote(fetched.detail);
      const isSettled = fetched.value.entries.every(({ outcome }) => outcome !== null);
      settledEntry.current = isSettled ? version : "";
      setCalls(fetched.value);
    });
  }, [entry]);
  // What was read before is better than nothing.
  if (calls === null) {
    return (
      <div class="calls">
        <p class="muted">{note}</p>
      </div>
    );
  }
  const { context, value, entries } = calls;
  const made = entries.length - 1;
  return (
    <div class="calls">
      {context !== null && <Fold label="Was told" text={prettyText(parsed(context))} />}
      {value !== null && <Fold label="Returned" text={prettyText(value)} />}
      {made > 0 && (
        <div class="tree-box">
          <h3>Calls ({counted(made, "call")})</h3>
          <CallTree nodes={callNodes(entries)} current={entry.id} />
        </div>
      )}
    </div>
  );
}

/** A short text is worth no fold. */
const unfoldedChars = 300;

function Fold({ label, text }: { readonly label: string; readonly text: string }) {
  const [isOpenAtFirst] = useState(text.length <= unfoldedChars);
  return (
    <details class="fold" open={isOpenAtFirst}>
      <summary>{label}</summary>
      <div>
        <Preformatted text={text} label={label} />
      </div>
    </details>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function prettyText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
