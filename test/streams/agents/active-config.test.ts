import { map } from "rxjs";
import { activeConfig, type ActiveConfig } from "../../../streams/agents/active-config.ts";
import type { AgentChange } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";

/** A digit sets that version, `i` is invalid, `r` removed. */
function changeOf(letter: string): AgentChange {
  if (letter === "i") return { type: "invalid", name: "dev", problems: [], sources: [] };
  if (letter === "r") return { type: "removed", name: "dev" };
  return { type: "set", agent: anAgent("dev", { title: letter }), warnings: [] };
}

test.each([
  [
    "stays the last valid config through an invalid change",
    {
      changes: "-1-i-i-2-2-|",
      config: " -1-1-1-2-2-|",
      before: " -n-1-1-1-2-|",
      invalid: "-n-n-y-y-n-|",
    },
  ],
  [
    "stays for queued work of a removed agent, and is empty when the agent returns",
    {
      changes: "-1-r-2-r-i-3-|",
      config: " -1-1-2-2-n-3-|",
      before: " -n-1-n-2-n-n-|",
      invalid: "-n-n-n-n-n-y-|",
    },
  ],
])("the active config %s", (_what, { changes, config, before, invalid }) =>
  marbles(({ hot, expectObservable }) => {
    const active = (letterOf: (active: ActiveConfig) => string) =>
      hot(changes).pipe(map(changeOf), activeConfig(), map(letterOf));
    expectObservable(active((one) => one.config?.title ?? "n")).toBe(config);
    expectObservable(active((one) => one.before?.title ?? "n")).toBe(before);
    expectObservable(active((one) => (one.wasInvalid ? "y" : "n"))).toBe(invalid);
  }),
);
